//! How a skill is reached: implementations, and secrets in `auth`.

use serde_json::{Value, json};

use super::{brief, check_contract, minimal_with};

fn of_implementation(implementation: &Value) -> Vec<String> {
    brief(&check_contract(&minimal_with(
        &json!({"implementation": implementation}),
    )))
}

#[test]
fn implementations() {
    let entrypoint = "contract /implementation/entrypoint";
    let endpoint = "contract /implementation/endpoint";
    let table = [
        (json!({}), vec!["contract /implementation/protocol"]),
        (
            json!({"protocol": ["local"], "endpoint": 5}),
            vec!["contract /implementation/protocol", endpoint],
        ),
        (json!({"protocol": "local"}), vec![entrypoint]),
        (json!({"protocol": "local", "entrypoint": 5}), vec![entrypoint]),
        (
            json!({"protocol": "local", "entrypoint": "a:b", "endpoint": ""}),
            vec![endpoint],
        ),
        (json!({"protocol": "http"}), vec![endpoint]),
        (
            json!({"protocol": "http", "endpoint": "https://x", "entrypoint": "any"}),
            vec![],
        ),
        (
            json!({"protocol": "http", "endpoint": "https://u:p@x/a@b"}),
            vec!["?contract /implementation/endpoint"],
        ),
        (
            json!({"protocol": "http", "endpoint": "https://x/skills/a@1"}),
            vec![],
        ),
        (
            json!({"protocol": "mcp", "endpoint": "stdio:acme", "entrypoint": "a"}),
            vec![],
        ),
        (
            json!({"protocol": "mcp", "endpoint": "https://x/mcp", "entrypoint": "a"}),
            vec![],
        ),
        (
            json!({"protocol": "mcp", "endpoint": "${MCP}", "entrypoint": "a"}),
            vec![],
        ),
        (
            json!({"protocol": "mcp", "endpoint": "stdio:", "entrypoint": "a"}),
            vec!["?contract /implementation/endpoint"],
        ),
        (
            json!({"protocol": "mcp"}),
            vec!["?contract /implementation/endpoint", entrypoint],
        ),
        (
            json!({"protocol": "local", "entrypoint": "a:b", "auth": "x"}),
            vec!["contract /implementation/auth"],
        ),
    ];
    for (implementation, expected) in table {
        assert_eq!(of_implementation(&implementation), expected, "{implementation}");
    }
}

#[test]
fn secrets_in_auth() {
    let found =
        |auth: &Value| of_implementation(&json!({"protocol": "http", "endpoint": "https://x", "auth": auth}));
    let jwt = format!("eyJ{0}.{0}.{0}", "a".repeat(12));
    for auth in [
        json!({}),
        json!({"audience": "acme", "scopes": ["skills.execute", "basic", "sk-1"], "secretRef": "a", "secret-ref": "b"}),
        json!({"issuer": "https://id.example.com/a/b", "note": ["basic", "bearer", "eyJ.a.b"]}),
    ] {
        assert_eq!(found(&auth), Vec::<String>::new(), "{auth}");
    }
    for (auth, place) in [
        (json!({"x": {"y": [{"API_Key": 1}]}}), "x/y/0/API_Key"),
        (json!({"tokenUrl": "x"}), "tokenUrl"),
        (json!({"clientSecretRef": "x"}), "clientSecretRef"),
        (json!({"note": "Bearer abc"}), "note"),
        (json!({"note": "-----BEGIN PRIVATE KEY-----"}), "note"),
        (json!({"note": format!("x={jwt}")}), "note"),
        (
            json!({"secretRef": format!("AKIA{}", "A".repeat(16))}),
            "secretRef",
        ),
        (
            json!({"scopes": ["a", format!("ghp_{}", "a".repeat(20))]}),
            "scopes/1",
        ),
    ] {
        assert_eq!(
            found(&auth),
            [format!("secret /implementation/auth/{place}")],
            "{auth}"
        );
    }
    let secret = format!("ghp_{} ", "a".repeat(24));
    let contract =
        json!({"implementation": {"protocol": "http", "auth": {"password": "hunter2", "scopes": [secret]}}});
    for violation in check_contract(&contract) {
        assert!(
            !violation.message.contains("hunter2") && !violation.message.contains("ghp_"),
            "{violation}"
        );
    }
}
