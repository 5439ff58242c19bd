//! Regular expressions and the engines that accept them.

use serde_json::json;

use super::super::pattern::defect;

/// Python's `re` (3.11) and ECMAScript with the flag `u` (Node.js 20) compile these.
#[rustfmt::skip]
const BOTH: &[&str] = &[
    "", "^a+$", "(a|b)*?", "(?:a)", "(?=a)b", "(?!a)b", "(?<=a)b", "(?<!a)b", "(?<=a{2})b", "[)(*]", r"\(",
    r"[\]]", "a{2}", "a{2,}", "a{2,3}", "^[^@]+$", "a||b", "()", "[a-z]{1,3}?", "я*", r"\x41", r"\u0041",
    r"\0", r"(a)\1", r"^[\w.-]+$", r"^[\w\-.]+$", r"^[-\w.]+$", "[a-z-9]", "[[a]", r"[\[\]]", r"[\b]",
    r"[\d\D]", r"\/", r"\.", r"[\.\-\/]", r"\d\D\w\W\s\S", r"\bfoo\B", "(^a)*", r"\f\n\r\t\v", "[a&&b]",
    "a??", "a{2}?", "(?<=a|b)c", "^(?:[a-z]+|[0-9]{2})$", "^(0|-?[1-9][0-9]*)$", "^[a-zß-ÿ]*$",
];

/// Only Python compiles these.
#[rustfmt::skip]
const PYTHON: &[&str] = &[
    "(?P<n>a)", "a{,3}", "a{", "]", "}", "^{a}$", "(?#)a", "a*+", "a++", r"^a\Z", r"\Aa", r"\U00000041",
    r"\a", "(?i)a", "(?i:a)", "(?>a)b", "(a)(?(1)b|c)", "[]a]", "[^]a]", "[a[b]]", r"\-", r"\_", r"\@",
    r"\ ", r#"\""#, r"\:", r"[\@]", "(?=a)*", r"\N{DIGIT ONE}", "[[:alpha:]]", "a{2}+", "(?P<n>a)(?P=n)",
];

/// Only ECMAScript compiles these.
#[rustfmt::skip]
const ECMASCRIPT: &[&str] = &[
    "(?<n>a)", "(?<=a+)b", "(?<=a{1,2})b", r"\p{L}+", r"^\p{Lu}+$", r"[\P{L}]", r"\u{41}", r"\cA", r"\1(a)",
    "[]",
];

/// Neither compiles these.
#[rustfmt::skip]
const NEITHER: &[&str] = &[
    "a{3,2}", "(?# ( ) )", "[a-z]{1,3}*?", "a**", "(", "(a", "a)", "[a", r"[\]", r"a\", "*", "+a", "?",
    "a|*", "(*a)", "((a)", r"^a\z", r"\x{41}", r"\e", r"\1", "a(?i)b", "(?(1)b|c)", r"^[\w-.]+$",
    r"^[.-\w]+$", "[b-a]", r"\b*", "^*", "$+", r"\k<n>", r"\R", r"\h", r"\K", r"\Q.\E", "a{1}{2}", r"(a)\2",
    "(?P=n)",
];

#[test]
fn a_pattern_is_accepted_when_every_engine_compiles_it() {
    let wrong = |pattern: &&str| {
        let is_ours = jsonschema::draft202012::new(&json!({"pattern": pattern})).is_ok();
        let found = defect(pattern);
        let is_right = found.is_none() == (BOTH.contains(pattern) && is_ours);
        (!is_right).then(|| format!("{pattern} (here: {is_ours}): {found:?}"))
    };
    let patterns = [BOTH, PYTHON, ECMASCRIPT, NEITHER].concat();
    assert_eq!(patterns.iter().filter_map(wrong).collect::<Vec<_>>(), [""; 0]);
}

#[test]
fn a_defect_says_what_to_write() {
    for (pattern, words) in [
        (
            r"^\p{Lu}+$",
            r"not every engine knows `\p`: list the characters, such as `[A-Z]`",
        ),
        ("(?<year>a)", "not every engine knows `(?<y`: write `(` or `(?:`"),
        (r"^a\Z", r"not every engine knows `\Z`: write `$`"),
        (r"a\-b", r"not every engine knows `\-`: write `-`"),
        (r"^[\w-.]+$", r"a `-` is beside a set such as `\w`: write `\-`"),
        ("^{a}$", r"a `{` is not a quantifier: write `\{`"),
        ("(?<=a+)b", "a look-behind must have a fixed length"),
    ] {
        let found = defect(pattern).unwrap_or_default();
        assert!(found.contains(words), "{pattern}: {found}");
    }
}
