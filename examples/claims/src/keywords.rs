//! The classification without a model: it looks for words and does not understand the text.

use crate::classification::{Category, Claim, Severity};
use crate::model::Answer;

/// The words of each category. If several categories have the same number of matches, the first one wins.
const WORDS: &[(Category, &[&str])] = &[
    (
        Category::Health,
        &[
            "hospital",
            "surgery",
            "doctor",
            "injured",
            "injury",
            "ambulance",
            "illness",
        ],
    ),
    (
        Category::Motor,
        &[
            "car",
            "vehicle",
            "crash",
            "collision",
            "bumper",
            "windscreen",
            "motorway",
        ],
    ),
    (
        Category::Property,
        &[
            "house", "flat", "flood", "fire", "burglary", "roof", "pipe", "kitchen",
        ],
    ),
    (
        Category::Travel,
        &["flight", "luggage", "hotel", "trip", "airport", "suitcase"],
    ),
];

/// Words that indicate that a person is hurt or in danger.
const GRAVE: &[&str] = &[
    "hospital",
    "surgery",
    "injured",
    "injury",
    "ambulance",
    "fire",
    "homeless",
];

/// The amounts in euros from which a claim has high and medium severity.
const MUCH: (f64, f64) = (50_000.0, 2_000.0);

/// Classifies one claim. The same claim always gets the same result.
pub(crate) fn classify_by_keywords(claim: &Claim) -> Answer {
    let text = format!("{} {}", claim.subject, claim.text).to_lowercase();
    let words: Vec<_> = text.split(|letter: char| !letter.is_alphanumeric()).collect();
    let found = |list: &[&str]| -> Vec<String> {
        let found = list.iter().filter(|word| words.contains(*word));
        found.map(|word| format!("the word `{word}`")).collect()
    };

    let mut best = (Category::Other, Vec::new());
    let mut all = 0;
    for (category, list) in WORDS {
        let mut reasons = found(list);
        if named_by_policy(claim) == Some(*category) {
            reasons.insert(0, "the kind of the policy".to_owned());
        }
        all += reasons.len();
        if reasons.len() > best.1.len() {
            best = (*category, reasons);
        }
    }
    let (category, mut reasons) = best;
    let confidence = if all == 0 { 0.0 } else { share(reasons.len(), all) };

    let amount = claim.amount.unwrap_or_default();
    let severity = if amount >= MUCH.0 || !found(GRAVE).is_empty() {
        Severity::High
    } else if amount >= MUCH.1 {
        Severity::Medium
    } else {
        Severity::Low
    };
    if amount >= MUCH.1 {
        reasons.push("the amount".to_owned());
    }
    Answer {
        category,
        severity,
        reasons,
        confidence,
    }
}

/// The category that the prefix of the policy number names.
fn named_by_policy(claim: &Claim) -> Option<Category> {
    match claim.policy.as_deref()?.split_once('-')?.0 {
        "MO" => Some(Category::Motor),
        "PR" => Some(Category::Property),
        "TR" => Some(Category::Travel),
        "HE" => Some(Category::Health),
        _ => None,
    }
}

/// `part` of `all` as a number from 0 to 1, rounded to two digits. Both count words of the lists above, so they are
/// small.
fn share(part: usize, all: usize) -> f64 {
    let percent = u32::try_from(part * 100 / all).unwrap_or(100);
    f64::from(percent) / 100.0
}
