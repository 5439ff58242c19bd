//! The contract with every default filled in: what a platform stores, and what two contracts are compared by.

use serde_json::{Value, json};

use super::contract::{Stage, validate};
use super::policy::{DEFAULT_ATTEMPTS, DEFAULT_IDEMPOTENCY, retry_member};
use super::violation::Violation;

/// Fills in every default of a contract, in the platform's order of keys: `inputs`, `outputs`, `requiredPermissions`
/// (sorted, each once), `preconditions`, `postconditions`, `timeoutSeconds`, `retryPolicy`, `idempotency`, `costModel`,
/// `implementation` with `protocol`, `endpoint`, `auth` (each scope once) and `entrypoint`. Lists become `[]`, other
/// absent fields `null`.
///
/// Declared conditions are kept at [`Stage::Source`], so that contracts that hold them can be compared.
///
/// # Errors
///
/// All violations, warnings included, when one of them [is blocking](Violation::is_blocking); at
/// [`Stage::Publication`] when one of them is an error.
pub fn normalize(contract: &Value, stage: Stage) -> Result<Value, Vec<Violation>> {
    let found = validate(contract, stage);
    let in_the_way = match stage {
        Stage::Source => Violation::is_blocking,
        Stage::Publication => Violation::is_error,
    };
    if found.iter().any(in_the_way) {
        return Err(found);
    }
    let member = |key: &str| contract.get(key).cloned();
    let list = |key: &str| {
        contract
            .get(key)
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default()
    };
    let mut permissions = list("requiredPermissions");
    permissions.sort_by(|one, other| one.as_str().cmp(&other.as_str()));
    permissions.dedup();
    let implementation = contract.get("implementation").unwrap_or(&Value::Null);
    let mut auth = implementation.get("auth").cloned();
    if let Some(Value::Array(scopes)) = auth.as_mut().and_then(|auth| auth.get_mut("scopes")) {
        let given = std::mem::take(scopes);
        for scope in given {
            if !scopes.contains(&scope) {
                scopes.push(scope);
            }
        }
    }
    Ok(json!({
        "inputs": member("inputs"),
        "outputs": member("outputs"),
        "requiredPermissions": permissions,
        "preconditions": list("preconditions"),
        "postconditions": list("postconditions"),
        "timeoutSeconds": member("timeoutSeconds").unwrap_or_else(|| 60.into()),
        "retryPolicy": {
            "maxAttempts": retry_member(contract, "maxAttempts", DEFAULT_ATTEMPTS),
            "backoffSeconds": retry_member(contract, "backoffSeconds", 0),
        },
        "idempotency": member("idempotency").unwrap_or_else(|| DEFAULT_IDEMPOTENCY.into()),
        "costModel": member("costModel"),
        "implementation": {
            "protocol": implementation.get("protocol"),
            "endpoint": implementation.get("endpoint"),
            "auth": auth,
            "entrypoint": implementation.get("entrypoint"),
        },
    }))
}
