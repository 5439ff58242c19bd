//! Predicates and the fields of the policy, at their boundaries.

use serde_json::json;

use super::super::validate_name;
use super::{check_contract, minimal_with};
use crate::rules;

#[test]
fn rules_of_texts() {
    type Rule = fn(&str) -> Result<(), String>;
    let long = |length: usize| "a".repeat(length);
    let (n200, n201, n50, n51) = (long(200), long(201), long(50), long(51));
    let cyrillic = "я".repeat(200);
    let address = |length: usize| format!("https://{}", long(length - 8));
    let (a2000, a2001) = (address(2000), address(2001));
    let function = |length: usize| format!("a:{}", long(length - 2));
    let (f2000, f2001) = (function(2000), function(2001));
    let table: [(&str, Rule, Vec<&str>, Vec<&str>); 7] = [
        (
            "name",
            rules::name,
            vec!["a", "git.merge", "сумма", "a-b_c:d", &n200, &cyrillic],
            vec!["", "a b", "a\n", "a@b", "a/b", "a\u{a0}b", "a\u{1f}b", &n201],
        ),
        (
            "version",
            rules::version,
            vec!["1", "2.0.0-rc.1", &n50],
            vec!["", "1 ", "1@2", "1/2", "1\n", &n51],
        ),
        (
            "entrypoint",
            rules::local_entrypoint,
            vec!["a:b", "_a.b1.c:d", "aя:b", "a:bя", &f2000],
            vec![
                "", "a", "a:", ":b", "a:b:c", "1a:b", "a:1", "a..b:c", "a.:b", "яa:b", "a:b\n", "a: b",
                "a-b:c", &f2001,
            ],
        ),
        (
            "tool name",
            rules::mcp_tool,
            vec!["a", "_", "0", "math.add", "a/b-c", &n200],
            vec!["", ".a", "-a", "/a", "a b", "a@1", "a\n", "я", &n201],
        ),
        (
            "endpoint",
            rules::http_endpoint,
            vec![
                "http://x",
                "https://",
                "https://a b",
                &a2000,
                "${A}",
                "${A_1}/x",
                "${_a}",
            ],
            vec![
                "",
                "HTTPS://x",
                "ftp://x",
                " https://x",
                "x",
                &a2001,
                "${",
                "${}",
                "${A",
                "$A",
                "a${A}",
                "${1}",
                "${A-B}",
            ],
        ),
        (
            "scope",
            rules::scope,
            vec!["a", "a:b", "*", "x/y.z-1_", &n200],
            vec!["", "a b", "a\n", "я", "a,b", &n201],
        ),
        (
            "permission",
            rules::permission,
            vec!["a.b", "tasks.read", "agents.secrets.manage", "_._", "admin"],
            vec!["", "Admin", ".a", "a.", "a..b", "A.b", "a.b1", "a.b\n", "a-b.c"],
        ),
    ];
    for (what, rule, good, bad) in table {
        for text in good {
            assert_eq!(rule(text), Ok(()), "{what} {text:?}");
        }
        for text in bad {
            assert!(rule(text).is_err(), "{what} {text:?}");
        }
    }
}

#[test]
fn broken_texts_say_where_and_what() {
    assert_eq!(validate_name("a"), None);
    let violation = validate_name("a b").unwrap();
    assert_eq!((violation.pointer.as_str(), violation.field), ("/key", "name"));
    assert!(violation.is_blocking());
    let of = |implementation: serde_json::Value| {
        let found = check_contract(&minimal_with(&json!({"implementation": implementation})));
        assert_eq!(found.len(), 1, "{found:?}");
        (found[0].pointer.clone(), found[0].field.to_owned())
    };
    let entrypoint = (
        "/implementation/entrypoint".to_owned(),
        "implementation.entrypoint".to_owned(),
    );
    assert_eq!(of(json!({"protocol": "local", "entrypoint": "a::b"})), entrypoint);
    assert_eq!(
        of(json!({"protocol": "mcp", "endpoint": "stdio:a", "entrypoint": "a b"})),
        entrypoint
    );
    assert_eq!(
        of(json!({"protocol": "http", "endpoint": "a"})),
        (
            "/implementation/endpoint".to_owned(),
            "implementation.endpoint".to_owned()
        )
    );
    let found = check_contract(&minimal_with(
        &json!({"requiredPermissions": ["admin", "brand.new", "Admin"]}),
    ));
    let found: Vec<_> = found
        .iter()
        .map(|one| (one.pointer.as_str(), one.is_error()))
        .collect();
    assert_eq!(
        found,
        [
            ("/requiredPermissions/1", false),
            ("/requiredPermissions/2", true)
        ]
    );
    // However long a text is, a message is not.
    let long = "x".repeat(100_000);
    assert!(validate_name(&long).unwrap().message.len() < 300);
    assert!(rules::permission(&long).unwrap_err().len() < 300);
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
                found[0].is_blocking() && found[0].field.starts_with(key),
                "{}",
                found[0]
            );
        }
    }
}
