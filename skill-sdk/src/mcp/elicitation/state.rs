//! The state that travels with the client between two rounds of a call: the answers so far and what they cost.
//!
//! It is signed, not encrypted: it holds only what the client itself answered, and the cost that the client will be told. It is
//! bound to the skill, its inputs and the caller, and expires after an hour.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::context::{Caller, Cost, Environment};
use crate::contract::json as checked_json;

/// The environment variable with the key that all replicas of a server share. Without it every process has its own.
pub(in crate::mcp) const KEY_VARIABLE: &str = "SKILL_SDK_REQUEST_STATE_KEY";

/// The shortest key, in bytes.
const MIN_KEY: usize = 32;

/// How long a state is valid.
const MAX_AGE: Duration = Duration::from_hours(1);

/// The length of the signature that a state begins with.
const SIGNATURE: usize = 32;

/// The key that signs states.
#[derive(Clone)]
pub(in crate::mcp) struct StateKey(Arc<Hmac<Sha256>>);

impl StateKey {
    /// The key of the environment, or a random one.
    pub(in crate::mcp) fn new(environment: &Environment) -> Result<Self, String> {
        let key = match environment.config(KEY_VARIABLE).filter(|key| !key.is_empty()) {
            Some(key) if key.len() < MIN_KEY => {
                return Err(format!("{KEY_VARIABLE} must have at least {MIN_KEY} bytes"));
            }
            Some(key) => key.into_bytes(),
            None => {
                let mut key = vec![0; MIN_KEY];
                getrandom::fill(&mut key)
                    .map_err(|error| format!("the system provides no random bytes: {error}"))?;
                key
            }
        };
        let key = Hmac::new_from_slice(&key).map_err(|error| error.to_string())?;
        Ok(Self(Arc::new(key)))
    }

    fn mac(&self, binding: &Binding, body: &[u8]) -> Hmac<Sha256> {
        let mut mac = Hmac::clone(&self.0);
        mac.update(binding);
        mac.update(body);
        mac
    }

    /// Signs what the next round continues with.
    pub(super) fn seal(&self, mut carried: Carried, binding: &Binding) -> String {
        carried.expires = now() + MAX_AGE.as_secs();
        // It has string keys only, and the writer is memory.
        let body = serde_json::to_vec(&carried).unwrap_or_default();
        let mut state = self.mac(binding, &body).finalize().into_bytes().to_vec();
        state.extend_from_slice(&body);
        BASE64_URL_SAFE_NO_PAD.encode(state)
    }

    /// What the previous rounds ended with, if the state is valid.
    pub(super) fn open(&self, state: &str, binding: &Binding) -> Result<Carried, &'static str> {
        let foreign = "it is not a state that this server gave for this call";
        let state = BASE64_URL_SAFE_NO_PAD.decode(state).map_err(|_| foreign)?;
        let (signature, body) = state.split_at_checked(SIGNATURE).ok_or(foreign)?;
        let verified = self.mac(binding, body).verify_slice(signature);
        verified.map_err(|_| foreign)?;
        let carried = checked_json::parse(body).map_err(|_| foreign)?;
        let carried: Carried = serde_json::from_value(carried).map_err(|_| foreign)?;
        if carried.expires < now() {
            return Err("it is older than an hour: call again without it");
        }
        Ok(carried)
    }
}

fn now() -> u64 {
    UNIX_EPOCH.elapsed().map_or(0, |since| since.as_secs())
}

/// What one round of a call passes on to the next.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Carried {
    /// The answers, by the names of the questions.
    pub(super) answers: BTreeMap<String, Value>,
    /// What all rounds cost so far.
    pub(super) cost: Cost,
    /// In seconds since 1970.
    pub(super) expires: u64,
}

/// The key is a secret.
impl fmt::Debug for StateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StateKey").finish_non_exhaustive()
    }
}

/// The hash of what a state is bound to.
pub(super) type Binding = [u8; 32];

/// Binds a state to the skill, its inputs however they are formatted, and the caller.
pub(super) fn binding(reference: &str, inputs: &[u8], caller: Option<&Caller>) -> Binding {
    // Inputs that are not JSON never reach a skill.
    let mut inputs = checked_json::parse(inputs).unwrap_or_default();
    inputs.sort_all_objects();
    let who = caller.map(|caller| (&caller.tenant_id, &caller.principal_id));
    Sha256::digest(json!([reference, who, inputs]).to_string()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> Result<StateKey, String> {
        StateKey::new(&Environment::from_vars([(
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
        let carried = Carried {
            answers,
            cost,
            ..Carried::default()
        };
        let here = binding("a@1", br#"{"x": 1, "y": {"b": 2, "a": [1]}}"#, None);
        let state = first.seal(carried.clone(), &here);
        let same = binding("a@1", br#"{"y":{"a":[1],"b":2},"x":1}"#, None);
        let opened = second.open(&state, &same).unwrap();
        assert_eq!((opened.answers, opened.cost), (carried.answers, carried.cost));
        assert!(opened.expires >= now() + 3590);
        for elsewhere in [
            binding("a@2", br#"{"x": 1, "y": {"b": 2, "a": [1]}}"#, None),
            binding("a@1", br#"{"x": 2, "y": {"b": 2, "a": [1]}}"#, None),
        ] {
            assert!(second.open(&state, &elsewhere).is_err());
        }
        assert!(first.open(&format!("{state}-TAMPERED"), &here).is_err());
        assert!(first.open("", &here).is_err());
        let own = || StateKey::new(&Environment::from_vars([])).unwrap();
        let state = own().seal(Carried::default(), &here);
        assert!(own().open(&state, &here).is_err(), "each process has its own key");
    }

    #[test]
    fn a_short_key_is_refused_without_being_shown() {
        let error = key("too-short").unwrap_err();
        assert_eq!(error, "SKILL_SDK_REQUEST_STATE_KEY must have at least 32 bytes");
        assert!(key("").is_ok(), "an empty variable is none");
    }
}
