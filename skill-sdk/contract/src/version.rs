//! The order of versions.

use std::cmp::Ordering;

/// Which of two versions is newer ([`Ordering::Greater`]: the first).
///
/// Versions are compared part by part, parts being what stands between dots. Two parts of digits
/// compare as numbers of any length, so `2.10` is newer than `2.9`; two other parts compare as text.
/// A number is newer than a text, so `2.0` is newer than `2.0-beta`. Of two versions that agree so
/// far the one with more parts is newer. Versions that differ only in leading zeros compare as text,
/// so no two different versions are equal.
pub fn compare_versions(a: &str, b: &str) -> Ordering {
    let mut left = a.split('.');
    let mut right = b.split('.');
    loop {
        let order = match (left.next(), right.next()) {
            (Some(x), Some(y)) => compare_parts(x, y),
            (Some(_), None) => Ordering::Greater,
            (None, Some(_)) => Ordering::Less,
            (None, None) => return a.cmp(b),
        };
        if order != Ordering::Equal {
            return order;
        }
    }
}

fn compare_parts(x: &str, y: &str) -> Ordering {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    match (is_number(x), is_number(y)) {
        (true, true) => {
            let (x, y) = (x.trim_start_matches('0'), y.trim_start_matches('0'));
            x.len().cmp(&y.len()).then_with(|| x.cmp(y))
        }
        (true, false) => Ordering::Greater,
        (false, true) => Ordering::Less,
        (false, false) => x.cmp(y),
    }
}
