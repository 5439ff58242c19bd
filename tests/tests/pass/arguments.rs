//! Every argument of the attribute, and the resulting contract.

use serde_json::{Value, json};
use skill_sdk::skill;

use super::document;

/// Not the description, which the attribute gives.
#[skill(
    "argument.all",
    version = "2026.1",
    side_effects = "external_write",
    risk = "high",
    idempotency = "required",
    timeout = 300,
    retry = (3, 30),
    description = "Does everything.",
    permissions = ["tasks.write", "tasks.read", "tasks.read"],
    preconditions = ["branch exists", json!({"clean": true}), 5],
    postconditions = [],
    cost_model = (unit = "page", estimate = 0.5),
    implementation = http("https://skills.example.com/all", audience = "skills", scopes = ["pages:read"]),
    inputs_schema = "fixtures/schemas/tree.check.outputs.json",
    outputs_schema = json!({"type": "object"}),
    title = "Everything",
    tags = ["all"],
    secrets = ["helpdesk-token"],
    config = ["HELPDESK_URL"],
    allowed_hosts = ["api.example.com:443"],
    examples = json!([{"inputs": {"ok": true, "got": 1}}]),
    deprecated = "use argument.fewer@1",
    crate = ::skill_sdk,
)]
fn all(inputs: Value) -> Value {
    inputs
}

#[skill("argument.least", version = "1", side_effects = "none", risk = "low")]
fn least() {}

#[skill("argument.words", version = "1", side_effects = external_read, risk = medium, idempotency = natural)]
fn words() {}

#[skill(
    "argument.local", version = "1", side_effects = none, risk = low,
    implementation = local("acme.reports:build"), cost_model = (unit = "call")
)]
fn local() {}

#[skill("argument.mcp", version = "1", side_effects = none, risk = low, implementation = mcp("stdio:acme", tool = "build"))]
fn mcp() {}

const ABOUT: &str = "Said by a constant.";

#[skill("argument.constant", version = "1", side_effects = none, risk = low, description = ABOUT)]
fn constant() {}

#[test]
fn arguments_determine_the_contract() {
    let mut spec = document(all::SKILL).clone();
    let inputs = spec["contract"]["inputs"].take();
    assert!(
        inputs["properties"]["ok"].is_object(),
        "the schema of the file: {inputs}"
    );
    assert_eq!(
        spec,
        json!({
            "version": "2026.1",
            "description": "Does everything.",
            "sideEffects": "external_write",
            "riskLevel": "high",
            "contract": {
                "inputs": null,
                "outputs": {"type": "object"},
                "idempotency": "required",
                "timeoutSeconds": 300,
                "retryPolicy": {"maxAttempts": 3, "backoffSeconds": 30},
                "requiredPermissions": ["tasks.read", "tasks.write"],
                "preconditions": ["branch exists", {"clean": true}, 5],
                "costModel": {"unit": "page", "estimate": 0.5},
                "implementation": {
                    "protocol": "http",
                    "endpoint": "https://skills.example.com/all",
                    "auth": {"audience": "skills", "scopes": ["pages:read"]},
                },
            },
        })
    );
    let beside = Value::Object(all::SKILL.described().unwrap().metadata().clone());
    for (key, value) in [
        ("title", json!("Everything")),
        ("tags", json!(["all"])),
        ("secrets", json!(["helpdesk-token"])),
        ("config", json!(["HELPDESK_URL"])),
        ("allowed_hosts", json!(["api.example.com:443"])),
        ("deprecated", json!("use argument.fewer@1")),
    ] {
        assert_eq!(beside[key], value, "{key} in {beside}");
    }
}

#[test]
fn arguments_have_defaults() {
    let spec = document(least::SKILL);
    let contract = &spec["contract"];
    assert_eq!(spec["sideEffects"], "none");
    assert_eq!(spec["riskLevel"], "low");
    assert_eq!(contract["idempotency"], "none");
    assert_eq!(contract["timeoutSeconds"], 60);
    assert_eq!(
        contract["retryPolicy"],
        json!({"maxAttempts": 1, "backoffSeconds": 0})
    );
    assert_eq!(
        contract["implementation"],
        json!({"protocol": "local", "entrypoint": "ui.pass.arguments:least"})
    );
    let absent = [
        "requiredPermissions",
        "preconditions",
        "postconditions",
        "costModel",
    ];
    assert!(absent.iter().all(|key| contract.get(key).is_none()), "{contract}");
}

#[test]
fn enum_values_can_be_written_as_words() {
    let spec = document(words::SKILL);
    assert_eq!(
        [
            &spec["sideEffects"],
            &spec["riskLevel"],
            &spec["contract"]["idempotency"]
        ],
        ["external_read", "medium", "natural"]
    );
}

#[test]
fn implementation_determines_the_protocol() {
    let local = &document(local::SKILL)["contract"];
    assert_eq!(
        local["implementation"],
        json!({"protocol": "local", "entrypoint": "acme.reports:build"})
    );
    assert_eq!(local["costModel"], json!({"unit": "call"}));
    assert_eq!(
        document(mcp::SKILL)["contract"]["implementation"],
        json!({"protocol": "mcp", "endpoint": "stdio:acme", "entrypoint": "build"})
    );
}

#[test]
fn texts_can_be_constants() {
    assert_eq!(document(constant::SKILL)["description"], ABOUT);
}
