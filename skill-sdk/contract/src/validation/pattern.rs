//! Regular expressions that all engines accept which read a contract: Python's `re` (platforms), ECMAScript with the flag `u`
//! (clients), and the one of the `jsonschema` crate (the SDK).
//!
//! No engine is at hand here, so the pattern is read construct by construct.

/// The first mistake in a regular expression, and what to write instead.
pub(super) fn defect(pattern: &str) -> Option<String> {
    read(pattern).err()
}

const GROUPS: [&str; 6] = ["(?:", "(?=", "(?!", "(?<=", "(?<!", "("];

fn read(pattern: &str) -> Result<(), String> {
    let mut rest = pattern;
    let mut open: Vec<&str> = Vec::new();
    let mut captures = 0;
    // Whether a quantifier may follow.
    let mut is_repeatable = false;
    while let Some(c) = rest.chars().next() {
        let here = rest;
        rest = &rest[c.len_utf8()..];
        match c {
            '\\' => {
                rest = &rest[escape(rest, Some(captures))?..];
                is_repeatable = !here.starts_with(r"\b") && !here.starts_with(r"\B");
            }
            '[' => {
                rest = &rest[class(rest)?..];
                is_repeatable = true;
            }
            '(' => {
                let group = GROUPS
                    .into_iter()
                    .find(|group| here.starts_with(group))
                    .unwrap_or("(");
                if group == "(" && rest.starts_with('?') {
                    let begin: String = here.chars().take(4).collect();
                    return Err(format!("not every engine knows `{begin}`: write `(` or `(?:`"));
                }
                captures += u32::from(group == "(");
                open.push(group);
                rest = &here[group.len()..];
                is_repeatable = false;
            }
            ')' => {
                let group = open.pop().ok_or("a `)` closes nothing")?;
                is_repeatable = matches!(group, "(" | "(?:");
            }
            '|' | '^' | '$' => is_repeatable = false,
            ']' | '}' => return Err(format!(r"a `{c}` closes nothing: write `\{c}`")),
            '*' | '+' | '?' | '{' => {
                let (length, is_fixed) = quantifier(here).ok_or(r"a `{` is not a quantifier: write `\{`")?;
                if !is_repeatable {
                    return Err(format!(
                        "the quantifier `{}` has nothing to repeat",
                        &here[..length]
                    ));
                }
                if !is_fixed && open.iter().any(|group| group.starts_with("(?<")) {
                    return Err("a look-behind must have a fixed length".to_owned());
                }
                rest = &here[length..];
                rest = rest.strip_prefix('?').unwrap_or(rest);
                is_repeatable = false;
            }
            _ => is_repeatable = true,
        }
    }
    if open.is_empty() {
        Ok(())
    } else {
        Err("a `(` is not closed".to_owned())
    }
}

/// The length of the quantifier at the start of a text, and whether it repeats a fixed number of times.
fn quantifier(text: &str) -> Option<(usize, bool)> {
    let Some(counts) = text.strip_prefix('{') else {
        return Some((1, false));
    };
    let (counts, _) = counts.split_once('}')?;
    let (least, most) = counts.split_once(',').unwrap_or((counts, counts));
    let number = |text: &str| text.parse::<u32>().ok().filter(|_| !text.starts_with('+'));
    let (least, most) = (
        number(least)?,
        if most.is_empty() { u32::MAX } else { number(most)? },
    );
    (least <= most).then_some((counts.len() + 2, least == most))
}

/// The length of an escape without its backslash. `captures` is the number of groups before it, or `None` in a class.
fn escape(text: &str, captures: Option<u32>) -> Result<usize, String> {
    let has_digits = |count: usize| {
        let digits = text.get(1..=count).unwrap_or_default();
        digits.len() == count && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
    };
    let c = text.chars().next().ok_or("it ends with a backslash")?;
    match (c, captures) {
        ('d' | 'D' | 'w' | 'W' | 's' | 'S' | 'f' | 'n' | 'r' | 't' | 'v', _)
        | ('b' | 'B', Some(_))
        | ('-', None) => Ok(1),
        ('1'..='9', Some(captures)) if c.to_digit(10) <= Some(captures) => Ok(1),
        ('x', _) if has_digits(2) => Ok(3),
        ('u', _) if has_digits(4) => Ok(5),
        (c, _) if r"^$\.*+?()[]{}|/".contains(c) => Ok(1),
        ('p' | 'P', _) => Err(format!(
            r"not every engine knows `\{c}`: list the characters, such as `[A-Z]`"
        )),
        ('A', _) => Err(r"not every engine knows `\A`: write `^`".to_owned()),
        ('z' | 'Z', _) => Err(format!(r"not every engine knows `\{c}`: write `$`")),
        (c, _) if c.is_ascii_alphanumeric() => Err(format!(r"not every engine knows `\{c}` here")),
        (c, _) => Err(format!(r"not every engine knows `\{c}`: write `{c}`")),
    }
}

/// The length of a class without its opening bracket.
fn class(text: &str) -> Result<usize, String> {
    let start = usize::from(text.starts_with('^'));
    let mut at = start;
    // The item before: its character, if that is known, and whether it is a set such as `\w`. And whether a `-` follows it.
    let (mut before, mut is_range) = (None, false);
    loop {
        let c = text[at..].chars().next().ok_or("a `[` is not closed")?;
        let item = at;
        at += c.len_utf8();
        match c {
            ']' if item == start => return Err(r"a class is empty or begins with `]`: write `\]`".to_owned()),
            ']' => return Ok(at),
            '-' if before.is_some() && !is_range && !text[at..].starts_with(']') => {
                is_range = true;
                continue;
            }
            _ => {}
        }
        let (mut character, mut is_set) = (Some(c), false);
        if c == '\\' {
            let length = escape(&text[at..], None)?;
            is_set = text[at..].starts_with(['d', 'D', 'w', 'W', 's', 'S']);
            character = text[at..].chars().next().filter(|c| !c.is_ascii_alphanumeric());
            at += length;
        }
        if !is_range {
            before = Some((character, is_set));
            continue;
        }
        is_range = false;
        let (first, is_first_set): (Option<char>, bool) = before.take().unwrap_or_default();
        if is_first_set || is_set {
            return Err(r"a `-` is beside a set such as `\w`: write `\-`".to_owned());
        }
        if first.zip(character).is_some_and(|(first, last)| first > last) {
            return Err("a range of a class is in the wrong order".to_owned());
        }
    }
}
