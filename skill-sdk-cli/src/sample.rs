//! Described skills for tests.

use serde_json::json;
use skill_sdk::host::protocol::SkillEntry;

/// A skill as a program describes it.
pub(crate) fn skill(reference: &str, path: &str) -> SkillEntry {
    let (name, version) = reference.split_once('@').unwrap();
    let (module, function) = path.rsplit_once("::").unwrap();
    let entrypoint = format!("{}:{function}", module.replace("::", "."));
    serde_json::from_value(json!({
        "ref": reference, "name": name, "version": version, "path": path, "entrypoint": entrypoint,
        "package": "acme-skills", "packageVersion": "1.0.0", "file": "src/lib.rs", "line": 3, "inputsGiven": true,
        "spec": {
            "version": version, "description": "It.", "sideEffects": "none", "riskLevel": "low",
            "contract": {
                "inputs": {"type": "object", "properties": {"a": {"type": "string"}}},
                "outputs": {"type": "object"},
                "idempotency": "none", "timeoutSeconds": 60,
                "retryPolicy": {"maxAttempts": 1, "backoffSeconds": 0},
                "implementation": {"protocol": "local", "entrypoint": entrypoint},
            },
        },
    }))
    .unwrap()
}
