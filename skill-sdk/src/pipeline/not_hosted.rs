//! The failure of a call to a skill that is not served here.

use crate::error::SkillError;

/// How much of the caller's text the message repeats, in bytes; no hosted skill has a longer name.
const MAX_REPEATED: usize = 200;

/// The failure `skill_not_hosted`, with suggestions: the hosted versions of the skill, or similar names.
pub(crate) fn not_hosted<'a>(wanted: &str, hosted: impl Iterator<Item = &'a str>) -> SkillError {
    let wanted = &wanted[..wanted.floor_char_boundary(MAX_REPEATED)];
    let base = |name: &str| name.split('@').next().unwrap_or_default().to_lowercase();
    let plain = |name: &str| base(name).replace(|c: char| !c.is_alphanumeric(), "");
    let distance_to = |name: &str| edits(&plain(name), &plain(wanted));
    let mut close: Vec<(usize, &str)> = hosted.map(|name| (distance_to(name), name)).collect();
    let begins = |name: &str| !plain(wanted).is_empty() && plain(name).starts_with(&plain(wanted));
    close.retain(|(distance, name)| *distance <= 2.min(plain(name).len() / 3) || begins(name));
    close.sort_unstable();
    close.dedup();
    let names: Vec<&str> = close.iter().take(5).map(|(_, name)| *name).collect();
    let meant = match names.as_slice() {
        [] => String::new(),
        names if names.iter().all(|name| base(name) == base(wanted)) => {
            format!("; there is {}", names.join(", "))
        }
        names => format!("; did you mean {}?", names.join(", ")),
    };
    SkillError::terminal("skill_not_hosted", format!("{wanted} is not hosted here{meant}"))
}

/// The edit distance: how many characters must be inserted, removed or replaced.
fn edits(one: &str, other: &str) -> usize {
    let mut row: Vec<usize> = (0..=other.chars().count()).collect();
    for (above, c) in one.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], above + 1);
        for (column, d) in other.chars().enumerate() {
            let replaced = diagonal + usize::from(c != d);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[row.len() - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_meant_is_said() {
        let hosted = ["git.merge@1", "git.merge@2", "invoice.total@1", "a@1"];
        for (wanted, says) in [
            (
                "git.merge@3",
                "git.merge@3 is not hosted here; there is git.merge@1, git.merge@2",
            ),
            (
                "git.merge",
                "git.merge is not hosted here; there is git.merge@1, git.merge@2",
            ),
            (
                "Git_Merge",
                "Git_Merge is not hosted here; did you mean git.merge@1, git.merge@2?",
            ),
            (
                "git.megre@1",
                "git.megre@1 is not hosted here; did you mean git.merge@1, git.merge@2?",
            ),
            (
                "invoice",
                "invoice is not hosted here; did you mean invoice.total@1?",
            ),
            ("report.build@1", "report.build@1 is not hosted here"),
            ("b@1", "b@1 is not hosted here"),
            ("", " is not hosted here"),
        ] {
            assert_eq!(not_hosted(wanted, hosted.into_iter()).message(), says);
        }
        let long = not_hosted(&"é".repeat(1_000_000), hosted.into_iter());
        assert!(long.message().len() < 300);
        assert_eq!(edits("kitten", "sitting"), 3);
    }
}
