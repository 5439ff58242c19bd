//! The documents: the contract, the spec around it, the catalog object around that.

use serde::Serialize;
use serde_json::{Value, json};

use super::{Idempotency, Implementation, RetryPolicy, Risk, SideEffects};

/// The version of the catalog's objects.
pub const API_VERSION: &str = "taimen.ai/v1";

/// The v1 contract of a skill. It is written with its fields in the order of the format.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Contract {
    /// The JSON Schema of the input object.
    pub inputs: Value,
    /// The JSON Schema of the output object.
    pub outputs: Value,
    /// Whether a retry of a call has a second effect.
    pub idempotency: Idempotency,
    /// How long a call may take, in seconds, from 1 to 3600.
    pub timeout_seconds: u32,
    /// How often a caller may try.
    #[serde(rename = "retryPolicy")]
    pub retry: RetryPolicy,
    /// The permissions that a caller needs, sorted, without duplicates.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub required_permissions: Vec<String>,
    /// Conditions that hold before a call.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub preconditions: Vec<Value>,
    /// Conditions that hold after a call.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub postconditions: Vec<Value>,
    /// What a call costs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_model: Option<CostModel>,
    /// How the implementation is reached.
    pub implementation: Implementation,
}

/// What a call costs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CostModel {
    /// The unit that is counted.
    pub unit: String,
    /// How many of it a call usually takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub estimate: Option<f64>,
}

impl CostModel {
    /// A cost of about `estimate` of `unit` a call.
    pub fn new(unit: impl Into<String>, estimate: Option<f64>) -> Self {
        Self {
            unit: unit.into(),
            estimate,
        }
    }
}

impl Contract {
    /// A contract with the default policy: no idempotency, a timeout of 60 s, one attempt.
    pub const fn new(inputs: Value, outputs: Value, implementation: Implementation) -> Self {
        Self {
            inputs,
            outputs,
            idempotency: Idempotency::None,
            timeout_seconds: 60,
            retry: RetryPolicy {
                max_attempts: 1,
                backoff_seconds: 0,
            },
            required_permissions: Vec::new(),
            preconditions: Vec::new(),
            postconditions: Vec::new(),
            cost_model: None,
            implementation,
        }
    }
}

/// The spec of a skill in the catalog: the contract and the fields beside it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Spec {
    /// The version of the skill.
    pub version: String,
    /// What the skill does, in a paragraph.
    pub description: String,
    /// What the skill does to the world outside.
    pub side_effects: SideEffects,
    /// How much harm a wrong call can do.
    #[serde(rename = "riskLevel")]
    pub risk: Risk,
    /// The contract.
    pub contract: Contract,
}

impl Spec {
    /// The spec of the skill version `version` with this contract.
    pub const fn new(
        version: String,
        description: String,
        side_effects: SideEffects,
        risk: Risk,
        contract: Contract,
    ) -> Self {
        Self {
            version,
            description,
            side_effects,
            risk,
            contract,
        }
    }

    /// The catalog object of the skill `name` with the spec `spec`.
    pub fn document(name: &str, spec: &Value) -> Value {
        json!({"apiVersion": API_VERSION, "kind": "Skill", "key": name, "spec": spec})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_stand_in_the_order_of_the_format() {
        let mut contract = Contract::new(json!({}), json!({}), Implementation::local("a:b"));
        assert_eq!(
            json!(contract).to_string(),
            r#"{"inputs":{},"outputs":{},"idempotency":"none","timeoutSeconds":60,"retryPolicy":{"maxAttempts":1,"backoffSeconds":0},"implementation":{"protocol":"local","entrypoint":"a:b"}}"#
        );
        contract.required_permissions = vec!["tasks.read".into()];
        contract.preconditions = vec![json!("a")];
        contract.postconditions = vec![json!({"x": 1})];
        contract.cost_model = Some(CostModel::new("page", Some(0.5)));
        let Value::Object(document) = json!(contract) else {
            panic!("an object")
        };
        let keys: Vec<_> = document.keys().map(String::as_str).collect();
        assert_eq!(
            keys[4..],
            [
                "retryPolicy",
                "requiredPermissions",
                "preconditions",
                "postconditions",
                "costModel",
                "implementation"
            ]
        );
        let spec = Spec::new("1".into(), "text".into(), SideEffects::None, Risk::Low, contract);
        let document = Spec::document("a.b", &json!(spec)).to_string();
        assert!(document.starts_with(
            r#"{"apiVersion":"taimen.ai/v1","kind":"Skill","key":"a.b","spec":{"version":"1","description":"text","sideEffects":"none","riskLevel":"low","contract":{"inputs""#
        ), "{document}");
    }
}
