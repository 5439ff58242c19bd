//! Contracts and specs as a whole: all violations, their order, what is tolerated when.

use serde_json::{Value, json};

use super::super::{Severity, Stage, Violation, code, normalize, validate, validate_spec};
use super::{brief, check_contract, check_spec, minimal, minimal_with, normalized};

#[test]
fn all_violations_are_reported_in_the_order_of_the_platform() {
    let contract = json!({
        "implementation": {"protocol": "mcp", "entrypoint": "-x", "verb": 1, "auth": {"scopes": ["a b"], "token": "x"}},
        "postconditions": ["x"],
        "preconditions": 0,
        "costModel": {"estimate": -1, "currency": "EUR"},
        "idempotency": true,
        "retryPolicy": {"maxAttempts": 2.0, "backoffSeconds": -1, "jitter": 1},
        "timeoutSeconds": true,
        "requiredPermissions": ["tasks.red", "zzz", 5],
        "outputs": {"$schema": 5, "$ref": "other.json", "properties": {"a/b": {"minimum": "0", "type": ["string", 1]}}},
        "zzz": 1,
        "timeout_seconds": 5,
    });
    let found = check_contract(&contract);
    assert_eq!(
        brief(&found),
        [
            "contract /timeout_seconds",
            "contract /zzz",
            "contract /inputs",
            "contract /outputs/$schema",
            "schema /outputs/$ref",
            "schema /outputs/properties/a~1b/minimum",
            "schema /outputs/properties/a~1b/type",
            "?contract /requiredPermissions/0",
            "contract /requiredPermissions/1",
            "contract /requiredPermissions/2",
            "contract /timeoutSeconds",
            "contract /retryPolicy/jitter",
            "contract /retryPolicy/maxAttempts",
            "contract /retryPolicy/backoffSeconds",
            "contract /idempotency",
            "contract /costModel/currency",
            "contract /costModel/unit",
            "contract /costModel/estimate",
            "contract /preconditions",
            "unsupported_skill_condition /postconditions",
            "contract /implementation/verb",
            "?contract /implementation/endpoint",
            "contract /implementation/entrypoint",
            "secret /implementation/auth/token",
            "contract /implementation/auth/scopes/0",
        ]
    );
    // Messages are one line, start small and leave out what may be secret.
    for violation in &found {
        assert!(!violation.message.contains('\n'), "{violation}");
        assert!(!violation.message.starts_with(char::is_uppercase), "{violation}");
    }
}

#[test]
fn a_spec_adds_its_columns_and_the_rule_of_safe_retries() {
    let good = json!({
        "version": "1", "description": "", "sideEffects": "external_write", "riskLevel": "low",
        "contract": minimal_with(&json!({"idempotency": "natural", "retryPolicy": {"maxAttempts": 3}})),
    });
    assert_eq!(check_spec(&good), []);

    let change = |path: &str, value: Value| {
        let mut spec = good.clone();
        *spec.pointer_mut(path).unwrap() = value;
        spec
    };
    for (spec, expected) in [
        (json!([]), vec!["contract "]),
        (
            json!({"owner": 1}),
            vec![
                "contract /owner",
                "contract /version",
                "contract /sideEffects",
                "contract /riskLevel",
                "contract /contract",
            ],
        ),
        (change("/version", json!(2)), vec!["contract /version"]),
        (change("/version", json!("1@2")), vec!["contract /version"]),
        (change("/description", json!(null)), vec!["contract /description"]),
        (change("/riskLevel", json!(["low"])), vec!["contract /riskLevel"]),
        (change("/contract", json!(null)), vec!["contract /contract"]),
        (
            change("/contract/inputs", json!([])),
            vec!["contract /contract/inputs"],
        ),
        (
            change("/contract/idempotency", json!("none")),
            vec!["contract /contract/retryPolicy/maxAttempts"],
        ),
        // An attempt that is not a number has no consequence.
        (
            change("/contract/retryPolicy/maxAttempts", json!("3")),
            vec!["contract /contract/retryPolicy/maxAttempts"],
        ),
    ] {
        assert_eq!(brief(&check_spec(&spec)), expected, "{spec}");
    }

    // Idempotency and attempts have defaults: none, and 1.
    let without = |key: &str| {
        let mut spec = good.clone();
        spec["contract"].as_object_mut().unwrap().remove(key);
        check_spec(&spec)
    };
    assert_eq!(without("idempotency")[0].field, "retryPolicy.maxAttempts");
    assert_eq!(without("retryPolicy"), []);
}

#[test]
fn a_variable_is_filled_in_before_publication() {
    for (implementation, source, publication) in [
        (
            json!({"protocol": "http", "endpoint": "${BASE}/skills/a@1"}),
            true,
            false,
        ),
        (json!({"protocol": "http", "endpoint": "${BASE"}), false, false),
        (json!({"protocol": "http", "endpoint": "${}/a"}), false, false),
        (json!({"protocol": "http", "endpoint": "${1A}/a"}), false, false),
        (json!({"protocol": "http", "endpoint": "x${BASE}"}), false, false),
        (
            json!({"protocol": "http", "endpoint": "https://${HOST}/a"}),
            true,
            true,
        ),
    ] {
        let contract = minimal_with(&json!({"implementation": implementation}));
        let spec = json!({"version": "1", "sideEffects": "none", "riskLevel": "low", "contract": contract});
        let fine = |found: Vec<Violation>| found.is_empty();
        assert_eq!(fine(check_contract(&contract)), source, "{contract}");
        assert_eq!(
            fine(validate(&contract, Stage::Publication)),
            publication,
            "{contract}"
        );
        assert_eq!(fine(check_spec(&spec)), source, "{contract}");
        assert_eq!(
            fine(validate_spec(&spec, Stage::Publication)),
            publication,
            "{contract}"
        );
        assert_eq!(normalized(&contract).is_ok(), source, "{contract}");
        assert_eq!(
            normalize(&contract, Stage::Publication).is_ok(),
            publication,
            "{contract}"
        );
    }
}

/// Conditions are for code that is ahead of the platform: they are an error, but not one that stops a skill.
#[test]
fn conditions_stop_publication_only() {
    let contract = minimal_with(&json!({"preconditions": ["a > 1"], "postconditions": [{"b": true}]}));
    for violation in check_contract(&contract) {
        assert_eq!(violation.code, code::UNSUPPORTED_SKILL_CONDITION);
        assert!(violation.is_error() && !violation.is_blocking());
    }
    let normal = normalized(&contract).unwrap();
    assert_eq!(
        (&normal["preconditions"], &normal["postconditions"]),
        (&json!(["a > 1"]), &json!([{"b": true}]))
    );
    assert!(normalize(&contract, Stage::Publication).is_err());
}

#[test]
fn normalizing_is_idempotent_and_ignores_what_does_not_count() {
    let auth = json!({"scopes": ["b", "a", "b"], "audience": "x"});
    let implementation = json!({"auth": auth, "endpoint": "https://x", "protocol": "http"});
    let contract = minimal_with(&json!({
        "implementation": implementation,
        "requiredPermissions": ["tasks.read", "tasks.brand_new", "tasks.read"],
        "retryPolicy": {"backoffSeconds": 5},
    }));
    let normal = normalized(&contract).unwrap();
    assert_eq!(
        normal["requiredPermissions"],
        json!(["tasks.brand_new", "tasks.read"])
    );
    assert_eq!(
        normal["retryPolicy"],
        json!({"maxAttempts": 1, "backoffSeconds": 5})
    );
    assert_eq!(normal["implementation"]["auth"]["scopes"], json!(["b", "a"]));
    assert_eq!(normalized(&normal).unwrap().to_string(), normal.to_string());
}

#[test]
fn a_violation_says_where_what_and_how_bad() {
    let found = check_contract(&minimal_with(
        &json!({"timeoutSeconds": 0, "requiredPermissions": ["a.b"]}),
    ));
    let [warning, error] = found.as_slice() else {
        panic!("{found:#?}")
    };
    assert_eq!(
        (warning.severity, error.severity),
        (Severity::Warning, Severity::Error)
    );
    assert_eq!(
        error.to_string(),
        "/timeoutSeconds: `timeoutSeconds` is 0: it must be an integer from 1 to 3600 (invalid_skill_contract)"
    );
    assert!(
        warning
            .to_string()
            .starts_with("warning: /requiredPermissions/0: "),
        "{warning}"
    );
    assert_eq!(
        serde_json::to_value(error).unwrap(),
        json!({
            "code": "invalid_skill_contract",
            "pointer": "/timeoutSeconds",
            "field": "timeoutSeconds",
            "message": error.message,
            "severity": "error",
        })
    );
    assert_eq!(check_contract(&minimal()), []);
}
