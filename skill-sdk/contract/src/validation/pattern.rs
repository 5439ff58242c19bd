//! Is it a regular expression: the mistakes that every engine refuses.
//!
//! There is no engine here, and engines differ. So only what is wrong in all of them is reported: brackets that do not
//! match, a backslash at the end, a quantifier with nothing before it. What passes may still fail in an engine.

/// What is wrong with a regular expression, if anything is.
pub(super) fn defect(pattern: &str) -> Option<&'static str> {
    // In comments and in the verbose mode of some engines brackets mean nothing.
    if pattern.contains("(?#") || pattern.contains("(?x") {
        return None;
    }
    let mut chars = pattern.chars().peekable();
    let mut groups = 0_usize;
    // Whether something that can be repeated may stand before the current place.
    let mut after_atom = false;
    while let Some(c) = chars.next() {
        match c {
            '\\' => {
                if chars.next().is_none() {
                    return Some("it ends with a backslash");
                }
                after_atom = true;
            }
            '[' => {
                // The first `]` is an ordinary character in some engines: closed means that any `]` follows.
                loop {
                    match chars.next() {
                        None => return Some("a `[` is not closed"),
                        Some(']') => break,
                        Some('\\') => {
                            chars.next();
                        }
                        Some(_) => {}
                    }
                }
                after_atom = true;
            }
            '(' => {
                groups += 1;
                // `(?:`, `(?=`, `(?<name>`, …: the question mark is no quantifier.
                after_atom = chars.next_if_eq(&'?').is_some();
            }
            ')' => {
                groups = match groups.checked_sub(1) {
                    Some(open) => open,
                    None => return Some("a `)` closes nothing"),
                };
                after_atom = true;
            }
            '|' => after_atom = false,
            '*' | '+' | '?' if !after_atom => return Some("a quantifier has nothing to repeat"),
            _ => after_atom = true,
        }
    }
    (groups > 0).then_some("a `(` is not closed")
}
