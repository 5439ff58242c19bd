//! "Did you mean": the closest of a few known words.

/// The candidate that `written` is most likely a misspelling of, if any is close enough to be worth naming.
pub(crate) fn closest<'a>(written: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let written = plain(written);
    candidates
        .map(|candidate| (distance(&written, &plain(candidate)), candidate))
        .filter(|(distance, candidate)| *distance <= candidate.len().div_ceil(4))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// The word in the one spelling that keys and set members use: `sideEffects` and `Side-Effects` are `side_effects`.
fn plain(word: &str) -> String {
    let mut plain = String::with_capacity(word.len() + 2);
    let mut after_lower = false;
    for letter in word.chars() {
        if letter.is_uppercase() && after_lower {
            plain.push('_');
        }
        after_lower = letter.is_lowercase();
        plain.extend(if letter == '-' { '_' } else { letter }.to_lowercase());
    }
    plain
}

/// How many letters must be added, removed, replaced or swapped with their neighbour to turn `a` into `b`.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, left) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, right) in b.iter().enumerate() {
            let mut best = (last[j + 1] + 1)
                .min(row[j] + 1)
                .min(last[j] + usize::from(left != right));
            if i > 0 && j > 0 && *left == b[j - 1] && a[i - 1] == *right {
                best = best.min(before[j - 1] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::closest;

    #[test]
    fn names_what_is_close_and_nothing_else() {
        let known = [
            "version",
            "side_effects",
            "risk",
            "retry",
            "timeout",
            "tags",
            "low",
            "medium",
            "high",
        ];
        for (written, expected) in [
            ("risc", Some("risk")),
            ("rsik", Some("risk")),
            ("Risk", Some("risk")),
            ("sideEffects", Some("side_effects")),
            ("side-effects", Some("side_effects")),
            ("side_effect", Some("side_effects")),
            ("hihg", Some("high")),
            ("MEDIUM", Some("medium")),
            ("tag", Some("tags")),
            ("zzz", None),
            ("", None),
            ("color", None),
        ] {
            assert_eq!(closest(written, known.into_iter()), expected, "{written}");
        }
    }
}
