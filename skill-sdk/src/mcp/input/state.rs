//! The state that travels with the client between two rounds of a call: what was answered so far and what that consumed,
//! signed.
//!
//! Whoever holds it can read it, since it says nothing but what the client itself answered and the cost that it will be
//! told, and cannot change it. It is bound to the skill, its inputs and the caller, and good for an hour.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{RequestStateCodec, RequestStateError, SealOptions};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::context::{Caller, Cost, Environment};
use crate::contract::json;

/// The variable with the key of all replicas of a host. Without it every process has a key of its own.
pub(in crate::mcp) const KEY_VARIABLE: &str = "SKILL_SDK_REQUEST_STATE_KEY";

/// The shortest key, in bytes.
const MIN_KEY: usize = RequestStateCodec::MIN_KEY_LENGTH;

/// How long a state is good.
const LIFE: Duration = Duration::from_hours(1);

/// The key that signs states.
#[derive(Clone)]
pub(in crate::mcp) struct StateKey(Arc<RequestStateCodec>);

impl StateKey {
    /// The key of the environment, else one that only this process knows.
    pub(in crate::mcp) fn of(environment: &Environment) -> Result<Self, String> {
        let key = match environment.config(KEY_VARIABLE).filter(|key| !key.is_empty()) {
            Some(key) if key.len() < MIN_KEY => {
                return Err(format!("{KEY_VARIABLE} must have at least {MIN_KEY} bytes"));
            }
            Some(key) => key.into_bytes(),
            None => {
                let mut key = vec![0; MIN_KEY];
                getrandom::fill(&mut key).map_err(|error| format!("there is no randomness: {error}"))?;
                key
            }
        };
        let codec = RequestStateCodec::try_new(key).map_err(|error| error.to_string())?;
        Ok(Self(Arc::new(codec)))
    }

    /// Signs what the next round goes on with.
    pub(super) fn seal(&self, carried: &Carried, binding: &[u8]) -> Result<String, String> {
        let options = SealOptions::new().associated_data(binding).ttl(LIFE);
        self.0
            .seal_json_with(carried, &options)
            .map_err(|error| error.to_string())
    }

    /// What the rounds before gave, when the state is good.
    pub(super) fn open(&self, state: &str, binding: &[u8]) -> Result<Carried, &'static str> {
        let bytes = self.0.open_with(state, binding).map_err(|error| match error {
            RequestStateError::Expired => "it is older than an hour: call again without it",
            _ => "it is not what this host gave for this call",
        })?;
        let foreign = "it is not what this host writes";
        let carried = json::parse(&bytes).map_err(|_| foreign)?;
        serde_json::from_value(carried).map_err(|_| foreign)
    }
}

/// What one round of a call hands on to the next.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Carried {
    /// What was answered, by the names of the questions.
    pub(super) answers: BTreeMap<String, Value>,
    /// What all rounds together consumed.
    pub(super) cost: Cost,
}

/// The key is a secret.
impl fmt::Debug for StateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StateKey").finish_non_exhaustive()
    }
}

/// What a state is bound to: the skill, its inputs however they are written, and the caller.
pub(super) fn binding(reference: &str, inputs: &[u8], caller: Option<&Caller>) -> Vec<u8> {
    let mut hash = Sha256::new();
    match json::parse(inputs) {
        Ok(value) => hash.update(sorted(value).to_string()),
        // Inputs that are no JSON never reach a skill.
        Err(_) => hash.update(inputs),
    }
    let who = caller.map(|caller| (caller.tenant_id(), caller.principal_id()));
    let (tenant, principal) = who.unwrap_or_default();
    let mut binding = Vec::new();
    for part in [reference, tenant, principal] {
        binding.extend_from_slice(&(part.len() as u64).to_be_bytes());
        binding.extend_from_slice(part.as_bytes());
    }
    binding.extend_from_slice(&hash.finalize());
    binding
}

/// The value with the members of all objects in one order.
fn sorted(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let members: BTreeMap<String, Value> = members
                .into_iter()
                .map(|(name, value)| (name, sorted(value)))
                .collect();
            Value::Object(members.into_iter().collect())
        }
        Value::Array(items) => items.into_iter().map(sorted).collect(),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn key(text: &str) -> Result<StateKey, String> {
        StateKey::of(&Environment::from_vars([(
            KEY_VARIABLE.to_owned(),
            text.to_owned(),
        )]))
    }

    #[test]
    fn a_state_is_good_where_it_was_given() {
        let shared = "0123456789abcdef0123456789abcdef";
        let (first, second) = (key(shared).unwrap(), key(shared).unwrap());
        let mut cost = Cost::default();
        cost.add("page".to_owned(), 0.1);
        let answers = BTreeMap::from([("name".to_owned(), json!({"action": "decline"}))]);
        let carried = Carried { answers, cost };
        let here = binding("a@1", br#"{"x": 1, "y": {"b": 2, "a": [1]}}"#, None);
        let state = first.seal(&carried, &here).unwrap();
        let same = binding("a@1", br#"{"y":{"a":[1],"b":2},"x":1}"#, None);
        assert_eq!(second.open(&state, &same), Ok(carried));
        for elsewhere in [
            binding("a@2", br#"{"x": 1, "y": {"b": 2, "a": [1]}}"#, None),
            binding("a@1", br#"{"x": 2, "y": {"b": 2, "a": [1]}}"#, None),
        ] {
            assert!(second.open(&state, &elsewhere).is_err());
        }
        assert!(first.open(&format!("{state}-TAMPERED"), &here).is_err());
        assert!(first.open("", &here).is_err());
        let own = || StateKey::of(&Environment::from_vars([])).unwrap();
        let state = own().seal(&Carried::default(), &here).unwrap();
        assert!(own().open(&state, &here).is_err(), "each process has its own key");
    }

    #[test]
    fn a_short_key_is_refused_without_being_shown() {
        let error = key("too-short").unwrap_err();
        assert_eq!(error, "SKILL_SDK_REQUEST_STATE_KEY must have at least 32 bytes");
        assert!(key("").is_ok(), "an empty variable is none");
    }
}
