//! Predicates and the members of the policy, at their boundaries.

use serde_json::json;

use super::super::{
    Violation, check_contract, check_endpoint, check_entrypoint, check_name, check_permission,
    check_tool_name, check_version, is_endpoint, is_entrypoint, is_name, is_permission_name, is_scope,
    is_tool_name, is_version, starts_with_variable,
};
use super::minimal_with;

// Those over ASCII can be asserted while a declaration compiles.
const _: () = assert!(
    is_tool_name("a/b") && is_scope("a:b") && is_permission_name("a.b") && starts_with_variable("${A}")
);

#[test]
fn predicates() {
    type Predicate = fn(&str) -> bool;
    let long = |length: usize| "a".repeat(length);
    let (n200, n201, n50, n51) = (long(200), long(201), long(50), long(51));
    let cyrillic = "я".repeat(200);
    let address = |length: usize| format!("https://{}", long(length - 8));
    let (a2000, a2001) = (address(2000), address(2001));
    let function = |length: usize| format!("a:{}", long(length - 2));
    let (f2000, f2001) = (function(2000), function(2001));
    let table: [(&str, Predicate, Vec<&str>, Vec<&str>); 8] = [
        (
            "name",
            is_name,
            vec!["a", "git.merge", "сумма", "a-b_c:d", &n200, &cyrillic],
            vec!["", "a b", "a\n", "a@b", "a/b", "a\u{a0}b", "a\u{1f}b", &n201],
        ),
        (
            "version",
            is_version,
            vec!["1", "2.0.0-rc.1", &n50],
            vec!["", "1 ", "1@2", "1/2", "1\n", &n51],
        ),
        (
            "entrypoint",
            is_entrypoint,
            vec!["a:b", "_a.b1.c:d", "aя:b", "a:bя", &f2000],
            vec![
                "", "a", "a:", ":b", "a:b:c", "1a:b", "a:1", "a..b:c", "a.:b", "яa:b", "a:b\n", "a: b",
                "a-b:c", &f2001,
            ],
        ),
        (
            "tool name",
            is_tool_name,
            vec!["a", "_", "0", "math.add", "a/b-c", &n200],
            vec!["", ".a", "-a", "/a", "a b", "a@1", "a\n", "я", &n201],
        ),
        (
            "endpoint",
            is_endpoint,
            vec!["http://x", "https://", "https://a b", &a2000],
            vec!["", "HTTPS://x", "ftp://x", " https://x", "x", &a2001],
        ),
        (
            "scope",
            is_scope,
            vec!["a", "a:b", "*", "x/y.z-1_", &n200],
            vec!["", "a b", "a\n", "я", "a,b", &n201],
        ),
        (
            "permission",
            is_permission_name,
            vec!["a.b", "tasks.read", "agents.secrets.manage", "_._"],
            vec!["", "admin", ".a", "a.", "a..b", "A.b", "a.b1", "a.b\n", "a-b.c"],
        ),
        (
            "variable",
            starts_with_variable,
            vec!["${A}", "${A_1}/x", "${_a}"],
            vec!["", "${", "${}", "${A", "$A", "a${A}", "${1}", "${A-B}"],
        ),
    ];
    for (what, predicate, good, bad) in table {
        for text in good {
            assert!(predicate(text), "{what} {text:?}");
        }
        for text in bad {
            assert!(!predicate(text), "{what} {text:?}");
        }
    }
}

#[test]
fn the_checks_of_single_texts_say_where_and_what() {
    type Check = fn(&str) -> Result<(), Violation>;
    let table: [(Check, &str, &str, &str, &str); 6] = [
        (check_name, "a", "a b", "/key", "name"),
        (check_version, "1", "1/2", "/version", "version"),
        (
            check_entrypoint,
            "a:b",
            "a::b",
            "/implementation/entrypoint",
            "implementation.entrypoint",
        ),
        (
            check_tool_name,
            "a",
            "a b",
            "/implementation/entrypoint",
            "implementation.entrypoint",
        ),
        (
            check_endpoint,
            "http://a",
            "a",
            "/implementation/endpoint",
            "implementation.endpoint",
        ),
        (
            check_permission,
            "admin",
            "Admin",
            "/requiredPermissions",
            "requiredPermissions",
        ),
    ];
    for (check, good, bad, pointer, field) in table {
        assert_eq!(check(good), Ok(()));
        let violation = check(bad).unwrap_err();
        assert_eq!((violation.pointer.as_str(), violation.field()), (pointer, field));
        assert!(violation.is_blocking());
    }
    assert!(!check_permission("brand.new").unwrap_err().is_error());
    // However long a text is, a message is not.
    assert!(check_name(&"x".repeat(100_000)).unwrap_err().message.len() < 300);
}

#[test]
fn members_of_the_policy_that_are_accepted() {
    let table = [
        (
            "requiredPermissions",
            vec![json!(null), json!(""), json!([]), json!({}), json!(["admin"])],
        ),
        ("timeoutSeconds", vec![json!(1), json!(3600)]),
        (
            "retryPolicy",
            vec![
                json!(null),
                json!(""),
                json!([]),
                json!({}),
                json!({"maxAttempts": 10}),
                json!({"maxAttempts": 1, "backoffSeconds": 0}),
                json!({"backoffSeconds": 3600}),
            ],
        ),
        (
            "costModel",
            vec![
                json!(null),
                json!({"unit": "page"}),
                json!({"unit": "page", "estimate": 0}),
            ],
        ),
        ("preconditions", vec![json!(null), json!([])]),
    ];
    for (key, values) in table {
        for value in values {
            assert_eq!(
                check_contract(&minimal_with(&json!({key: value}))),
                [],
                "{key}: {value}"
            );
        }
    }
}

#[test]
fn members_of_the_policy_that_are_refused() {
    let table = [
        (
            "requiredPermissions",
            vec![
                json!(0),
                json!("x"),
                json!({"a": 1}),
                json!([null]),
                json!(["a\n"]),
            ],
        ),
        (
            "timeoutSeconds",
            vec![
                json!(null),
                json!(true),
                json!(0),
                json!(-1),
                json!(3601),
                json!(60.0),
                json!("60"),
                json!(1e3),
            ],
        ),
        (
            "retryPolicy",
            vec![
                json!(1),
                json!(true),
                json!("x"),
                json!([1]),
                json!({"maxAttempts": 0}),
                json!({"maxAttempts": 11}),
                json!({"maxAttempts": null}),
                json!({"maxAttempts": false}),
                json!({"backoffSeconds": -1}),
                json!({"backoffSeconds": 3601}),
                json!({"max_attempts": 1}),
            ],
        ),
        (
            "idempotency",
            vec![json!(null), json!("NONE"), json!([]), json!({})],
        ),
        (
            "costModel",
            vec![
                json!({}),
                json!([]),
                json!(1),
                json!({"unit": ""}),
                json!({"unit": 1}),
                json!({"unit": "p", "estimate": null}),
                json!({"unit": "p", "estimate": "1"}),
                json!({"unit": "p", "x": 1}),
            ],
        ),
        ("postconditions", vec![json!(false), json!(""), json!({})]),
    ];
    for (key, values) in table {
        for value in values {
            let found = check_contract(&minimal_with(&json!({key: value})));
            assert_eq!(found.len(), 1, "{key}: {value}: {found:#?}");
            assert!(
                found[0].is_blocking() && found[0].field().starts_with(key),
                "{}",
                found[0]
            );
        }
    }
}
