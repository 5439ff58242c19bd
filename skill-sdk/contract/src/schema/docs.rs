//! The texts in a schema.

/// What the description of a schema without any restriction says.
pub(super) const ANY_VALUE: &str = "Any JSON value.";

/// Two descriptions of one thing as one text, the nearer first. Equal and empty texts are not repeated.
pub(super) fn joined(first: &str, second: &str) -> String {
    if second.is_empty() || first == second || first.ends_with(&format!("\n\n{second}")) {
        first.to_owned()
    } else if first.is_empty() {
        second.to_owned()
    } else {
        format!("{first}\n\n{second}")
    }
}

/// A doc comment with the lines of each paragraph joined, as rustdoc shows them. Lists, headings, quotes,
/// tables and code keep their lines, because in them a line break means something.
pub(super) fn reflowed(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut fenced = false;
    let mut joinable = false;
    for line in text.lines() {
        let trimmed = line.trim_end();
        let fence = is_fence(trimmed);
        let plain = !fenced && !fence && !trimmed.is_empty() && !is_structure(trimmed);
        if plain && joinable {
            out.push(' ');
            out.push_str(trimmed.trim_start());
        } else {
            if !out.is_empty() {
                out.push('\n');
            }
            out.push_str(trimmed);
        }
        fenced ^= fence;
        // The text of a list item goes on in the next line; a heading or a table row does not.
        joinable = plain || (!fenced && !fence && is_list_item(trimmed));
    }
    out
}

fn is_fence(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("```") || line.starts_with("~~~")
}

fn is_structure(line: &str) -> bool {
    line.starts_with("    ")
        || line.starts_with('\t')
        || line.trim_start().starts_with(['#', '|', '>'])
        || is_list_item(line)
}

fn is_list_item(line: &str) -> bool {
    let line = line.trim_start();
    if let Some(rest) = line.strip_prefix(['-', '*', '+']) {
        return rest.starts_with(' ');
    }
    let digits = line.len() - line.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    digits > 0
        && line
            .get(digits..)
            .is_some_and(|rest| rest.starts_with(". ") || rest.starts_with(") "))
}

#[cfg(test)]
mod tests {
    use super::{joined, reflowed};

    #[test]
    fn lines_are_joined_where_rustdoc_joins_them() {
        let table = [
            ("", ""),
            ("One.", "One."),
            ("One\ntwo.", "One two."),
            ("One  \n  two.\n\nThree\nfour.", "One two.\n\nThree four."),
            (
                "List:\n- a\n  goes on\n- b\n\nEnd.",
                "List:\n- a goes on\n- b\n\nEnd.",
            ),
            ("1. a\n2. b", "1. a\n2. b"),
            ("Code:\n```\na\nb\n```\nx\ny", "Code:\n```\na\nb\n```\nx y"),
            ("# H\nx\ny", "# H\nx y"),
            ("    a\n    b", "    a\n    b"),
            ("|a|\n|b|", "|a|\n|b|"),
        ];
        for (text, expected) in table {
            assert_eq!(reflowed(text), expected, "{text:?}");
        }
    }

    #[test]
    fn texts_are_joined_once() {
        assert_eq!(joined("", ""), "");
        assert_eq!(joined("a", ""), "a");
        assert_eq!(joined("", "b"), "b");
        assert_eq!(joined("a", "a"), "a");
        assert_eq!(joined("a", "b"), "a\n\nb");
        assert_eq!(joined("a\n\nb", "b"), "a\n\nb");
    }
}
