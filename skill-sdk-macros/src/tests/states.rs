//! `#[state]`.

use super::{ATTRIBUTE, assert_errors, errors, tokens};

#[track_caller]
fn check(attribute: &str, item: &str, expected: &[(&str, &str)]) {
    let expansion = crate::state::expand(tokens(attribute), tokens(item));
    assert!(
        expansion.to_string().contains("fn "),
        "the function is gone: {item}"
    );
    assert_errors(
        &errors(expansion),
        expected,
        &format!("#[state({attribute})] {item}"),
    );
}

#[test]
fn takes_builders() {
    for item in [
        "fn pool() -> Pool { Pool }",
        "pub async fn pool() -> Result<Pool, E> { Ok(Pool) }",
        "async fn pool(env: &skill_sdk::Environment) -> Pool { Pool }",
        "fn pool(env: Environment) -> Pool { Pool }",
    ] {
        for attribute in ["", "crate = ::sdk", "crate = crate::sdk,"] {
            check(attribute, item, &[]);
        }
    }
}

#[test]
fn explains_what_is_wrong() {
    let good = "fn pool() -> Pool { Pool }";
    let unknown = "unknown argument in `#[state]`; the only one is `crate = path`";
    check("name = \"x\"", good, &[("name", unknown)]);
    check("crate = ::sdk, x", good, &[("x", unknown)]);
    check(
        "crate = \"sdk\"",
        good,
        &[(
            "\"sdk\"",
            "`crate` must be a path without quotes; write `crate = ::my_sdk`",
        )],
    );
    check("crate: sdk", good, &[(":", "write `crate = ::path`")]);
    let parameter =
        "a `#[state]` function must take no parameter, or one `&Environment`: it is built before any call";
    check("", "fn pool(a: u8) -> Pool { Pool }", &[("a", parameter)]);
    check(
        "",
        "fn pool(a: &Environment, b: &Environment) -> Pool { Pool }",
        &[("b", parameter)],
    );
    check(
        "",
        "fn pool() {}",
        &[(
            "pool",
            "a `#[state]` function must return the shared value, or a `Result` of it",
        )],
    );
    check(
        "",
        "fn pool<T>() -> T { x }",
        &[(
            "T",
            "a `#[state]` function cannot be generic: it is built once, as one type",
        )],
    );
    check(
        "",
        "struct S { f: fn () }",
        &[(
            ATTRIBUTE,
            "`#[state]` belongs on a function: that is what a host runs",
        )],
    );
    check(
        "",
        "const fn pool() -> &str { x }",
        &[
            (
                "const",
                "a `#[state]` function cannot be `const`: it runs when it is called, not when it is compiled",
            ),
            (
                "&",
                "a `#[state]` function cannot return something borrowed: it would not outlive the call; return an owned type",
            ),
        ],
    );
}
