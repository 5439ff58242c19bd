//! The contract with every default filled in: what a platform stores, and what two contracts are compared by.

use serde_json::{Map, Value, json};

use super::contract::{Stage, validate};
use super::policy::{DEFAULT_ATTEMPTS, DEFAULT_IDEMPOTENCY, retry_member};
use super::violation::Violation;

/// Fills in every default of a contract, in the platform's order of keys: `inputs`, `outputs`, `requiredPermissions`
/// (sorted, each once), `preconditions`, `postconditions`, `timeoutSeconds`, `retryPolicy`, `idempotency`, `costModel`,
/// `implementation` with `protocol`, `endpoint`, `auth` (each scope once) and `entrypoint`. Lists become `[]`, other
/// absent members `null`.
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
    let list = |key: &str| member(key).filter(Value::is_array).unwrap_or_else(|| json!([]));
    let retry = |key: &str, default: u64| json!(retry_member(contract, key, default).unwrap_or(default));

    let mut normal = Map::new();
    let mut put = |key: &str, value: Value| normal.insert(key.to_owned(), value);
    put("inputs", member("inputs").unwrap_or_default());
    put("outputs", member("outputs").unwrap_or_default());
    put("requiredPermissions", sorted(list("requiredPermissions")));
    put("preconditions", list("preconditions"));
    put("postconditions", list("postconditions"));
    put(
        "timeoutSeconds",
        member("timeoutSeconds").unwrap_or_else(|| json!(60)),
    );
    let retry_policy = json!({
        "maxAttempts": retry("maxAttempts", DEFAULT_ATTEMPTS),
        "backoffSeconds": retry("backoffSeconds", 0),
    });
    put("retryPolicy", retry_policy);
    put(
        "idempotency",
        member("idempotency").unwrap_or_else(|| json!(DEFAULT_IDEMPOTENCY)),
    );
    put("costModel", member("costModel").unwrap_or_default());
    put(
        "implementation",
        implementation(&member("implementation").unwrap_or_default()),
    );
    Ok(Value::Object(normal))
}

/// Sorted, each string once.
fn sorted(list: Value) -> Value {
    let Value::Array(mut items) = list else {
        return list;
    };
    items.sort_by(|one, other| one.as_str().cmp(&other.as_str()));
    items.dedup();
    Value::Array(items)
}

fn implementation(given: &Value) -> Value {
    let mut auth = given.get("auth").cloned().unwrap_or_default();
    if let Some(Value::Array(scopes)) = auth.get_mut("scopes") {
        let mut unique = Vec::with_capacity(scopes.len());
        for scope in scopes.drain(..) {
            if !unique.contains(&scope) {
                unique.push(scope);
            }
        }
        *scopes = unique;
    }
    let member = |key: &str| given.get(key).cloned().unwrap_or_default();
    json!({
        "protocol": member("protocol"),
        "endpoint": member("endpoint"),
        "auth": auth,
        "entrypoint": member("entrypoint"),
    })
}
