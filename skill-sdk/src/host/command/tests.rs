//! Described skills for the tests of the commands.

use serde_json::json;

use crate::host::protocol::SkillEntry;

pub(super) fn skill(reference: &str, path: &str) -> SkillEntry {
    let (name, version) = reference.split_once('@').unwrap();
    let (module, function) = path.rsplit_once("::").unwrap();
    serde_json::from_value(json!({
        "ref": reference, "name": name, "version": version, "path": path,
        "entrypoint": format!("{}:{function}", module.replace("::", ".")),
        "package": "acme-skills", "packageVersion": "1.0.0", "file": "src/lib.rs", "line": 3, "inputsGiven": true,
        "spec": {"sideEffects": "none", "riskLevel": "low", "contract": {"timeoutSeconds": 60}},
    }))
    .unwrap()
}
