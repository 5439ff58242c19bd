//! Revision 2026-07-28: a call ends with its questions, and comes again with the answers.

use std::collections::BTreeMap;
use std::fmt;
use std::future::{Future, pending, poll_fn, ready};
use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use serde_json::{Value, json};

use super::state::{self, Carried, StateKey};
use super::{Capabilities, check};
use crate::context::{Caller, Cost, InputChannel, InputKind, InputRequest, Responding};
use crate::contract::json as contract_json;

/// The questions of one round of a call, and the answers of the rounds before.
pub(in crate::mcp) struct Rounds {
    capabilities: Capabilities,
    key: StateKey,
    binding: Vec<u8>,
    answers: BTreeMap<String, Value>,
    /// What the rounds before consumed.
    cost: Cost,
    open: Mutex<Open>,
}

/// What was asked in this round, and how the host hears of it.
#[derive(Default)]
struct Open {
    asked: BTreeMap<String, InputRequest>,
    /// Answers that this round used.
    used: BTreeMap<String, Value>,
    /// Whether a poll goes on elsewhere that may put more questions.
    held: bool,
    waker: Option<Waker>,
}

/// How a round ends that has questions.
pub(in crate::mcp) struct Asked {
    /// The questions by their names, as JSON.
    pub(in crate::mcp) requests: Value,
    /// What the client sends with the answers.
    pub(in crate::mcp) state: String,
}

impl Rounds {
    /// What the parameters of a call say: `state` and `responses` as they came, the inputs as JSON text.
    pub(in crate::mcp) fn read(
        key: &StateKey,
        capabilities: Capabilities,
        (reference, inputs, caller): (&str, &[u8], Option<&Caller>),
        state: Option<&str>,
        responses: Option<&str>,
    ) -> Result<Self, String> {
        let binding = state::binding(reference, inputs, caller);
        let Carried { mut answers, cost } = match state {
            None => Carried::default(),
            Some(state) => {
                let refused = |reason| format!("`params.requestState` is refused: {reason}");
                let text: String = serde_json::from_str(state).map_err(|_| refused("it is not a text"))?;
                key.open(&text, &binding).map_err(refused)?
            }
        };
        if let Some(responses) = responses {
            let wrong = "`params.inputResponses` must be an object with an answer for each question";
            match contract_json::parse(responses.as_bytes()) {
                Ok(Value::Object(given)) => answers.extend(given),
                _ => return Err(wrong.to_owned()),
            }
        }
        Ok(Self {
            capabilities,
            key: key.clone(),
            binding,
            answers,
            cost,
            open: Mutex::default(),
        })
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a call until it ends, or until it goes no further without an answer: then the call is dropped, and there is no
    /// result. All questions that are put before the call stops for the first time come together.
    pub(in crate::mcp) async fn watch<F: Future>(&self, call: F) -> Option<F::Output> {
        let mut call = pin!(call);
        poll_fn(|cx| {
            let replaced = self.open().waker.replace(cx.waker().clone());
            // Dropped while nothing is locked: a task may go with it.
            drop(replaced);
            if let Poll::Ready(done) = call.as_mut().poll(cx) {
                return Poll::Ready(Some(done));
            }
            let open = self.open();
            if open.asked.is_empty() || open.held {
                Poll::Pending
            } else {
                Poll::Ready(None)
            }
        })
        .await
    }

    /// What the rounds before consumed.
    pub(in crate::mcp) fn spent_before(&self) -> Cost {
        self.cost.clone()
    }

    /// The questions of this round, after which all rounds together consumed `cost`.
    pub(in crate::mcp) fn asked(&self, cost: Cost) -> Result<Asked, String> {
        let mut open = self.open();
        let requests = std::mem::take(&mut open.asked)
            .into_iter()
            .map(|(name, request)| {
                (
                    name,
                    json!({"method": request.method(), "params": request.params()}),
                )
            });
        let requests = Value::Object(requests.collect());
        // Only what the skill asked for is kept: the client may have sent anything.
        let answers = std::mem::take(&mut open.used);
        let state = self.key.seal(&Carried { answers, cost }, &self.binding)?;
        Ok(Asked { requests, state })
    }
}

/// Has the host look at the questions, unless there will be more of them at once.
fn wake(mut open: MutexGuard<'_, Open>) {
    let waker = if open.held { None } else { open.waker.take() };
    drop(open);
    if let Some(waker) = waker {
        waker.wake();
    }
}

impl InputChannel for Rounds {
    fn supports(&self, kind: InputKind) -> bool {
        self.capabilities.has(kind)
    }

    fn request<'a>(&'a self, name: &'a str, request: InputRequest) -> Responding<'a> {
        let mut open = self.open();
        if let Some(answer) = self.answers.get(name)
            && check::fits(&request, answer).is_ok()
        {
            open.used.insert(name.to_owned(), answer.clone());
            return Box::pin(ready(Ok(answer.clone())));
        }
        open.asked.insert(name.to_owned(), request);
        wake(open);
        Box::pin(pending())
    }

    fn polling(&self, begins: bool) {
        let mut open = self.open();
        // Once the call waited for an answer, what it asks later is for the next round.
        open.held = begins && open.asked.is_empty();
        if !open.held && !open.asked.is_empty() {
            wake(open);
        }
    }
}

impl fmt::Debug for Rounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rounds")
            .field("capabilities", &self.capabilities)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::context::Environment;

    const CALL: (&str, &[u8], Option<&Caller>) = ("a@1", b"{}", None);

    fn rounds(key: &StateKey, state: Option<&str>, responses: Option<&str>) -> Result<Rounds, String> {
        let raw = r#"{"elicitation": {}, "roots": {}}"#.to_owned();
        let raw = serde_json::value::RawValue::from_string(raw).unwrap();
        let state = state.map(|state| serde_json::to_string(state).unwrap());
        Rounds::read(
            key,
            Capabilities::read(Some(&raw)),
            CALL,
            state.as_deref(),
            responses,
        )
    }

    fn form() -> InputRequest {
        InputRequest::Form {
            message: "?".to_owned(),
            schema: json!({"type": "object"}),
        }
    }

    #[tokio::test]
    async fn questions_end_a_round_and_answers_add_up() {
        let key = StateKey::of(&Environment::from_vars([])).unwrap();
        let first = rounds(&key, None, None).unwrap();
        let both = async {
            tokio::join!(
                first.request("a", form()),
                first.request("b", InputRequest::Roots)
            )
        };
        assert!(first.watch(both).await.is_none());
        let asked = first.asked(Cost::default()).unwrap();
        assert_eq!(asked.requests["a"]["method"], "elicitation/create");
        assert_eq!(asked.requests["b"]["method"], "roots/list");

        let answer = json!({"action": "decline"});
        let responses = json!({"a": answer, "b": 1, "never asked": {}}).to_string();
        let second = rounds(&key, Some(&asked.state), Some(&responses)).unwrap();
        assert_eq!(second.request("a", form()).await.unwrap(), answer);
        assert!(
            second
                .watch(second.request("b", InputRequest::Roots))
                .await
                .is_none()
        );
        let asked = second.asked(Cost::default()).unwrap();
        assert_eq!(
            asked.requests.as_object().unwrap().len(),
            1,
            "a wrong answer is asked for again"
        );

        let responses = json!({"b": {"roots": []}}).to_string();
        let third = rounds(&key, Some(&asked.state), Some(&responses)).unwrap();
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
        let key = StateKey::of(&Environment::from_vars([])).unwrap();
        let rounds = std::sync::Arc::new(rounds(&key, None, None).unwrap());
        let other = std::sync::Arc::clone(&rounds);
        let asking = std::thread::spawn(move || drop(other.request("a", form())));
        assert!(rounds.watch(pending::<()>()).await.is_none());
        asking.join().unwrap();
    }

    #[tokio::test]
    async fn questions_of_one_poll_elsewhere_come_together() {
        let key = StateKey::of(&Environment::from_vars([])).unwrap();
        let rounds = rounds(&key, None, None).unwrap();
        let ended = async {
            assert!(rounds.watch(pending::<()>()).await.is_none());
            rounds.asked(Cost::default()).unwrap().requests
        };
        let asking = async {
            rounds.polling(true);
            drop(rounds.request("a", form()));
            // The host gets to look in the middle, whoever comes first in a turn.
            for _ in 0..2 {
                tokio::task::yield_now().await;
            }
            drop(rounds.request("b", InputRequest::Roots));
            rounds.polling(false);
            // A call that goes on meanwhile does not hold up its questions.
            rounds.polling(true);
        };
        let both = async { tokio::join!(ended, asking).0 };
        let requests = tokio::time::timeout(Duration::from_mins(1), both).await;
        assert_eq!(requests.unwrap().as_object().unwrap().len(), 2);
    }

    #[test]
    fn what_clients_send_is_checked() {
        let key = StateKey::of(&Environment::from_vars([])).unwrap();
        for (state, responses) in [
            (Some("x"), None),
            (None, Some("null")),
            (None, Some("[]")),
            (None, Some("1")),
        ] {
            assert!(rounds(&key, state, responses).is_err(), "{state:?} {responses:?}");
        }
        assert!(Rounds::read(&key, Capabilities::default(), CALL, Some("1"), None).is_err());
    }
}
