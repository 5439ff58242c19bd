//! Replaces what the patterns find, one pattern after the other.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::ops::Range;
use std::sync::{PoisonError, RwLock};

use fancy_regex::Regex;

use super::builtin::PATTERNS;

/// How often each kind was found.
pub type Found = BTreeMap<String, usize>;

/// The longest name of a kind, in characters.
const MAX_KIND: usize = 40;

/// The kind of a text that could not be searched.
const UNSEARCHED: &str = "unsearched";

/// The patterns that [`add_pattern`] added.
static ADDED: RwLock<Vec<Added>> = RwLock::new(Vec::new());

struct Added {
    kind: String,
    regex: Regex,
}

/// A text without personal data, and what was in it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Redacted {
    /// The text, with a marker instead of each find.
    pub text: String,
    /// The kinds and how often each was found.
    pub found: Found,
}

/// Replaces personal data in `text`. Patterns from [`add_pattern`] are included.
///
/// ```
/// let redacted = skill_sdk::pii::redact("Позвоните Иванову И. И.: 8 (912) 345-67-89");
/// assert_eq!(redacted.text, "Позвоните [ПДн:фио]: [ПДн:телефон]");
/// assert_eq!(redacted.found["телефон"], 1);
/// ```
pub fn redact(text: &str) -> Redacted {
    let mut found = Found::new();
    let text = replace(text, &mut found);
    Redacted { text, found }
}

/// Adds a pattern to those that every text for a model is searched for, in the whole process.
///
/// `pattern` is a regular expression, which may use look-around. It is applied after all other patterns and must not match the
/// empty string. `kind` must be 1 to 40 letters, digits, `-` or `_`. If a pattern backtracks too much on a text, the whole
/// text is replaced by a marker. Call this at the start of the program, or once in a test program.
///
/// ```
/// skill_sdk::pii::add_pattern("договор", r"\bД-\d{6}\b")?;
/// assert_eq!(skill_sdk::pii::redact("по Д-123456").text, "по [ПДн:договор]");
/// # Ok::<(), skill_sdk::pii::PatternError>(())
/// ```
///
/// # Errors
///
/// `kind` or `pattern` is invalid, or the pattern matches the empty string.
pub fn add_pattern(kind: impl Into<String>, pattern: &str) -> Result<(), PatternError> {
    let kind = kind.into();
    let allowed = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    if kind.is_empty() || !kind.chars().all(allowed) || kind.chars().count() > MAX_KIND {
        return Err(PatternError(format!(
            "the kind {kind:?} of a pattern must be 1 to {MAX_KIND} letters, digits, `-` or `_`"
        )));
    }
    let regex = Regex::new(pattern)
        .map_err(|error| PatternError(format!("the pattern of the kind `{kind}` is invalid: {error}")))?;
    if regex.find("").map_or(true, |found| found.is_some()) {
        return Err(PatternError(format!(
            "the pattern of the kind `{kind}` matches the empty string; it must match at least one character"
        )));
    }
    let mut added = ADDED.write().unwrap_or_else(PoisonError::into_inner);
    if !added
        .iter()
        .any(|known| known.kind == kind && known.regex.as_str() == pattern)
    {
        added.push(Added { kind, regex });
    }
    Ok(())
}

/// Why a pattern cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatternError(String);

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for PatternError {}

/// The text without personal data. Adds to `found` what was in it.
pub(crate) fn replace(text: &str, found: &mut Found) -> String {
    let mut text = text.to_owned();
    for pattern in PATTERNS.iter() {
        text = mark(&text, pattern.kind, pattern.find_all(&text), found);
    }
    for Added { kind, regex } in ADDED.read().unwrap_or_else(PoisonError::into_inner).iter() {
        let places = regex.find_iter(&text).map(|found| Some(found.ok()?.range()));
        text = mark(&text, kind, places.collect(), found);
    }
    text
}

/// The text with a marker in each of the places. Without `places` the search gave up, and the whole text is replaced.
fn mark(text: &str, kind: &str, places: Option<Vec<Range<usize>>>, found: &mut Found) -> String {
    let Some(places) = places else {
        *found.entry(UNSEARCHED.to_owned()).or_default() += 1;
        return marker(UNSEARCHED);
    };
    if !places.is_empty() {
        *found.entry(kind.to_owned()).or_default() += places.len();
    }
    let mut marked = String::with_capacity(text.len());
    let mut at = 0;
    for place in places {
        marked.push_str(text.get(at..place.start).unwrap_or_default());
        marked.push_str(&marker(kind));
        at = place.end;
    }
    marked.push_str(text.get(at..).unwrap_or_default());
    marked
}

fn marker(kind: &str) -> String {
    format!("[ПДн:{kind}]")
}
