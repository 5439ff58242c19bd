//! `#[derive(SkillFailure)]`.

use super::{assert_errors, errors, tokens};

#[track_caller]
fn no(item: &str, expected: &[(&str, &str)]) {
    let expansion = crate::failure::expand(tokens(item));
    assert_errors(&errors(expansion), expected, item);
}

#[test]
fn takes_enums_and_structs() {
    for item in [
        "enum E { #[failure(code = \"a\", retryable)] A, #[failure(code = \"0.b-c_d\", terminal)] B(u8), #[failure(code = \"c\",)] C { x: u8 } }",
        "#[failure(code = \"a\", crate = ::sdk)] struct S;",
        "#[failure(crate = crate::sdk)] enum E {}",
        "#[failure(code = \"a\")] struct S<T: Copy, const N: usize>([T; N]) where T: Clone;",
    ] {
        no(item, &[]);
    }
}

#[test]
fn explains_what_is_wrong() {
    no(
        "enum E { GitUnavailable, #[failure(retryable)] B }",
        &[
            (
                "GitUnavailable",
                "variant `GitUnavailable` needs a code: write `#[failure(code = \"git_unavailable\")]`, and `retryable` in it if a \
             retry may help",
            ),
            (
                "B",
                "variant `B` needs a code: write `#[failure(code = \"b\")]`, and `retryable` in it if a retry may help",
            ),
        ],
    );
    no(
        "struct Lost;",
        &[(
            "Lost",
            "`Lost` needs a code: write `#[failure(code = \"lost\")]`, and `retryable` in it if a retry may help",
        )],
    );
    let long = format!("\"{}\"", "a".repeat(101));
    for code in ["\"\"", "\"Git\"", "\"_a\"", "\"a b\"", long.as_str()] {
        let message = format!(
            "`{}` is not a failure code; a code must have 1 to 100 of `a-z 0-9 _ . -` and start with a letter or digit",
            code.trim_matches('"')
        );
        no(
            &format!("enum E {{ #[failure(code = {code})] A }}"),
            &[(code, &message)],
        );
    }
    no(
        "enum E { #[failure(code = 5)] A }",
        &[("5", "`code` must be a string; write `code = \"git_unavailable\"`")],
    );
    no(
        "enum E { #[failure(cod = \"a\")] A, #[failure(code = \"a\", zzz = 1)] B }",
        &[
            (
                "cod",
                "unknown argument `cod` in `#[failure]`; did you mean `code`?",
            ),
            (
                "zzz",
                "unknown argument `zzz` in `#[failure]`; expected one of: code, retryable, terminal",
            ),
        ],
    );
    no(
        "enum E { #[failure(code = \"a\", code = \"b\")] A, #[failure(code = \"b\", retryable)] #[failure(terminal)] B }",
        &[
            ("code", "`code` is given twice"),
            (
                "failure(code = \"b\", retryable)",
                "`retryable` and `terminal` cannot both be set: either a retry may help, or it will not",
            ),
        ],
    );
    no(
        "#[failure(code = \"a\")] enum E { #[failure(code = \"a\", crate = x)] A }",
        &[
            (
                "\"a\"",
                "the code must be on a variant; put `#[failure(code = …)]` on each variant of the enum",
            ),
            (
                "crate",
                "`crate` must be set only once, in `#[failure(…)]` on the type",
            ),
        ],
    );
    no(
        "#[failure(code = \"a\", crate = \"x\")] struct S;",
        &[(
            "\"x\"",
            "`crate` must be a path without quotes; write `crate = ::my_sdk`",
        )],
    );
    no(
        "union U { a: u8 }",
        &[("union", "`SkillFailure` must be derived for an enum or a struct")],
    );
    no(
        "struct S<'a>(&'a str);",
        &[(
            "'",
            "a failure cannot borrow: it is kept as the source of the `SkillError`",
        )],
    );
}

#[test]
fn the_conversion_is_there_even_when_a_code_is_wrong() {
    let expansion = crate::failure::expand(tokens("enum E { A, #[failure(code = \"b\")] B }"));
    assert!(expansion.to_string().contains("From"), "{expansion}");
}
