//! The description of a skill out of its doc comment.

/// The first paragraph of a doc comment, its lines joined by spaces as rustdoc shows them.
///
/// `docs` are the values of the `#[doc]` attributes in order; each may hold several lines (a block comment, an
/// included file). The stars that decorate a block comment are not part of the text.
pub fn first_paragraph(docs: &[&str]) -> String {
    let mut paragraph = String::new();
    for doc in docs {
        let starred = is_starred(doc);
        for line in doc.split('\n') {
            let line = line.trim();
            let line = if starred {
                line.strip_prefix('*').unwrap_or(line).trim_start()
            } else {
                line
            };
            if line.is_empty() {
                if !paragraph.is_empty() {
                    return paragraph;
                }
                continue;
            }
            if !paragraph.is_empty() {
                paragraph.push(' ');
            }
            paragraph.push_str(line);
        }
    }
    paragraph
}

/// Whether a doc attribute is a block comment with a star at the start of each line but the first.
fn is_starred(doc: &str) -> bool {
    let mut lines = doc
        .split('\n')
        .skip(1)
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .peekable();
    lines.peek().is_some() && lines.all(|line| line == "*" || line.starts_with("* "))
}

#[cfg(test)]
mod tests {
    use super::first_paragraph;

    #[test]
    fn first_paragraphs() {
        let table: &[(&[&str], &str)] = &[
            (&[], ""),
            (&["", "  "], ""),
            (&[" One."], "One."),
            (&[" One", " two.", "", " Three."], "One two."),
            (&["", " After a blank."], "After a blank."),
            (&["\n * Block", "\n"], "Block"),
            (
                &["\n * Block text\n * goes on.\n *\n * Second.\n "],
                "Block text goes on.",
            ),
            (&["Included\nfile.\r\n\r\nMore."], "Included file."),
            (&[" `code` and *stars* stay"], "`code` and *stars* stay"),
            (&[" * a list", " * of two"], "* a list * of two"),
        ];
        for (docs, expected) in table {
            assert_eq!(&first_paragraph(docs), expected, "{docs:?}");
        }
    }
}
