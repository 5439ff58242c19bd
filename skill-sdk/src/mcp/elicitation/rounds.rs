//! A stateless revision: a call ends with its questions, and comes again with the answers.

use std::collections::BTreeMap;
use std::future::{Future, pending, ready};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::state::{self, Binding, Carried, StateKey};
use super::{Capabilities, check};
use crate::context::{Caller, Cost, InputChannel, InputKind, InputRequest, Responding};
use crate::contract::json as checked_json;
use crate::mcp::protocol::text;

/// The questions of one round of a call, and the answers of the previous rounds.
pub(in crate::mcp) struct Rounds {
    capabilities: Capabilities,
    key: StateKey,
    binding: Binding,
    answers: BTreeMap<String, Value>,
    round: Mutex<Round>,
    asked: Notify,
}

#[derive(Default)]
struct Round {
    questions: BTreeMap<String, Value>,
    /// The answers that the skill used in this round. The state keeps only these.
    used: BTreeMap<String, Value>,
}

impl Rounds {
    /// The round of a call, from `requestState` and `inputResponses` of its parameters, and what the previous rounds cost.
    pub(in crate::mcp) fn new(
        key: &StateKey,
        capabilities: Capabilities,
        (reference, inputs, caller): (&str, &[u8], Option<&Caller>),
        state: Option<&RawValue>,
        responses: Option<&RawValue>,
    ) -> Result<(Self, Cost), String> {
        let binding = state::binding(reference, inputs, caller);
        let Carried {
            mut answers, cost, ..
        } = match state {
            None => Carried::default(),
            Some(state) => {
                let rejected = |reason| format!("`params.requestState` is rejected: {reason}");
                let state = text(state).ok_or_else(|| rejected("it is not a string"))?;
                key.open(&state, &binding).map_err(rejected)?
            }
        };
        match responses.map(|responses| checked_json::parse(responses.get().as_bytes())) {
            None => {}
            Some(Ok(Value::Object(given))) => answers.extend(given),
            Some(_) => {
                let message = "`params.inputResponses` must be an object with a field for each question";
                return Err(message.to_owned());
            }
        }
        let rounds = Self {
            capabilities,
            key: key.clone(),
            binding,
            answers,
            round: Mutex::default(),
            asked: Notify::new(),
        };
        Ok((rounds, cost))
    }

    fn round(&self) -> MutexGuard<'_, Round> {
        self.round.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a call until it ends, or until it waits for an answer: then the result is `None`, and the call is dropped.
    /// Questions that the call asks in the same poll are sent together.
    pub(in crate::mcp) async fn watch<T>(&self, call: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            done = call => Some(done),
            () = self.asked.notified() => None,
        }
    }

    /// The questions of this round, and the state that the client sends with the answers; `cost` is what all rounds cost so far.
    pub(in crate::mcp) fn asked(&self, cost: Cost) -> Value {
        let Round { questions, used } = std::mem::take(&mut *self.round());
        let carried = Carried {
            answers: used,
            cost,
            ..Carried::default()
        };
        json!({"inputRequests": questions, "requestState": self.key.seal(carried, &self.binding)})
    }
}

impl InputChannel for Rounds {
    fn supports(&self, kind: InputKind) -> bool {
        self.capabilities.has(kind)
    }

    fn request<'a>(&'a self, name: &'a str, request: InputRequest) -> Responding<'a> {
        let mut round = self.round();
        if let Some(answer) = self.answers.get(name)
            && check::validate(&request, answer).is_ok()
        {
            round.used.insert(name.to_owned(), answer.clone());
            return Box::pin(ready(Ok(answer.clone())));
        }
        let question = json!({"method": request.method(), "params": request.params()});
        round.questions.insert(name.to_owned(), question);
        self.asked.notify_one();
        Box::pin(pending())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::Environment;

    const CALL: (&str, &[u8], Option<&Caller>) = ("a@1", b"{}", None);

    fn rounds(key: &StateKey, state: Option<&str>, responses: Option<&str>) -> Result<Rounds, String> {
        let raw = serde_json::from_str(r#"{"elicitation": {}, "roots": {}}"#).unwrap();
        let state = state.map(|state| serde_json::value::to_raw_value(state).unwrap());
        let responses = responses.map(|text| RawValue::from_string(text.to_owned()).unwrap());
        Rounds::new(key, raw, CALL, state.as_deref(), responses.as_deref()).map(|(rounds, _)| rounds)
    }

    fn form() -> InputRequest {
        InputRequest::Form {
            message: "?".to_owned(),
            schema: json!({"type": "object"}),
        }
    }

    #[tokio::test]
    async fn questions_end_a_round_and_answers_add_up() {
        let key = StateKey::new(&Environment::from_vars([])).unwrap();
        let first = rounds(&key, None, None).unwrap();
        let both = async {
            tokio::join!(
                first.request("a", form()),
                first.request("b", InputRequest::Roots)
            )
        };
        assert!(first.watch(both).await.is_none());
        let asked = first.asked(Cost::default());
        assert_eq!(asked["inputRequests"]["a"]["method"], "elicitation/create");
        assert_eq!(asked["inputRequests"]["b"]["method"], "roots/list");

        let answer = json!({"action": "decline"});
        let responses = json!({"a": answer, "b": 1, "never asked": {}}).to_string();
        let second = rounds(&key, asked["requestState"].as_str(), Some(&responses)).unwrap();
        assert_eq!(second.request("a", form()).await.unwrap(), answer);
        assert!(
            second
                .watch(second.request("b", InputRequest::Roots))
                .await
                .is_none()
        );
        let asked = second.asked(Cost::default());
        assert_eq!(
            asked["inputRequests"].as_object().unwrap().len(),
            1,
            "a wrong answer is asked for again"
        );

        let responses = json!({"b": {"roots": []}}).to_string();
        let third = rounds(&key, asked["requestState"].as_str(), Some(&responses)).unwrap();
        assert_eq!(
            third.request("a", form()).await.unwrap(),
            answer,
            "the state remembers it"
        );
        assert!(
            third
                .watch(third.request("b", InputRequest::Roots))
                .await
                .is_some()
        );
        assert!(!third.answers.contains_key("never asked"));
    }

    #[tokio::test]
    async fn a_question_from_another_thread_ends_the_round() {
        let key = StateKey::new(&Environment::from_vars([])).unwrap();
        let rounds = std::sync::Arc::new(rounds(&key, None, None).unwrap());
        let other = std::sync::Arc::clone(&rounds);
        let asking = std::thread::spawn(move || drop(other.request("a", form())));
        assert!(rounds.watch(pending::<()>()).await.is_none());
        asking.join().unwrap();
    }

    #[test]
    fn what_clients_send_is_checked() {
        let key = StateKey::new(&Environment::from_vars([])).unwrap();
        for (state, responses) in [
            (Some("x"), None),
            (None, Some("null")),
            (None, Some("[]")),
            (None, Some("1")),
        ] {
            assert!(rounds(&key, state, responses).is_err(), "{state:?} {responses:?}");
        }
        let number = RawValue::from_string("1".to_owned()).unwrap();
        assert!(Rounds::new(&key, Capabilities::default(), CALL, Some(&number), None).is_err());
    }
}
