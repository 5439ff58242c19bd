//! The revisions with `initialize`: the server sends a request to the client, and the call waits for the response.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::json;
use serde_json::value::RawValue;
use tokio::sync::oneshot;

use super::{Capabilities, check};
use crate::context::{InputChannel, InputKind, InputRequest, Responding};
use crate::contract::json as checked_json;
use crate::error::SkillError;
use crate::mcp::protocol::{Id, notification, outgoing_request};
use crate::pipe::Outgoing;

/// How many requests may wait for the responses of one client.
const MAX_WAITING: usize = 256;

/// Numbers the requests of this process, so that no id is used twice.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// The result that a client sent, or why it sent none.
type Answer = Result<Box<RawValue>, String>;

/// The client of a session, which can be asked.
#[derive(Debug)]
pub(in crate::mcp) struct Peer {
    capabilities: Capabilities,
    /// The requests that wait for a response; `None` once the client responds no more.
    waiting: Mutex<Option<HashMap<Id, oneshot::Sender<Answer>>>>,
}

impl Peer {
    pub(in crate::mcp) fn new(capabilities: Capabilities) -> Self {
        Self {
            capabilities,
            waiting: Mutex::new(Some(HashMap::new())),
        }
    }

    /// The client responds no more: all waiting questions fail, and so do later ones.
    pub(in crate::mcp) fn close(&self) {
        *self.waiting() = None;
    }

    /// Passes a response on to the question that waits for it; false when none does. No result is an error of the client.
    pub(in crate::mcp) fn respond(&self, id: &Id, result: Option<&RawValue>) -> bool {
        let answer = result.map(ToOwned::to_owned);
        self.answer(
            id,
            answer.ok_or_else(|| "the client responded with an error".to_owned()),
        )
    }

    /// Ends the wait of the question with this id; false if no question waits.
    pub(in crate::mcp) fn answer(&self, id: &Id, answer: Answer) -> bool {
        let sender = self.remove(id);
        sender.is_some_and(|sender| sender.send(answer).is_ok())
    }

    fn remove(&self, id: &Id) -> Option<oneshot::Sender<Answer>> {
        self.waiting().as_mut()?.remove(id)
    }

    fn waiting(&self) -> MutexGuard<'_, Option<HashMap<Id, oneshot::Sender<Answer>>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The client during one call.
#[derive(Debug)]
pub(in crate::mcp) struct AskingPeer {
    pub(in crate::mcp) peer: Arc<Peer>,
    pub(in crate::mcp) outgoing: Outgoing,
}

impl AskingPeer {
    async fn ask(&self, name: &str, request: &InputRequest) -> Result<Answer, SkillError> {
        let disconnected = || Ok(Err("the client disconnected".to_owned()));
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let id = Id::text(&format!("skill-{number}"));
        let (sender, answer) = oneshot::channel();
        match &mut *self.peer.waiting() {
            None => return disconnected(),
            Some(waiting) if waiting.len() >= MAX_WAITING => {
                let message =
                    format!("`{name}` cannot be asked: {MAX_WAITING} questions wait for this client");
                return Err(SkillError::retryable("overloaded", message));
            }
            Some(waiting) => waiting.insert(id.clone(), sender),
        };
        let question = outgoing_request(&id, request.method(), &request.params());
        let _cancel = CancelOnDrop { asking: self, id };
        if !self.outgoing.send(question).await {
            return disconnected();
        }
        match answer.await {
            Ok(answer) => Ok(answer),
            Err(_) => disconnected(),
        }
    }
}

/// Tells the client that a question is no longer of interest, unless it was answered.
struct CancelOnDrop<'a> {
    asking: &'a AskingPeer,
    id: Id,
}

impl Drop for CancelOnDrop<'_> {
    fn drop(&mut self) {
        if self.asking.peer.remove(&self.id).is_some() {
            let params = json!({"requestId": self.id, "reason": "the call ended"});
            self.asking
                .outgoing
                .offer(notification("notifications/cancelled", &params));
        }
    }
}

impl InputChannel for AskingPeer {
    fn supports(&self, kind: InputKind) -> bool {
        self.peer.capabilities.has(kind)
    }

    fn request<'a>(&'a self, name: &'a str, request: InputRequest) -> Responding<'a> {
        Box::pin(async move {
            let answer = self.ask(name, &request).await?.map_err(|reason| {
                SkillError::retryable("input_unanswered", format!("`{name}` was not answered: {reason}"))
            })?;
            let parsed = checked_json::parse(answer.get().as_bytes()).map_err(|error| error.to_string());
            let valid = parsed.and_then(|answer| check::validate(&request, &answer).map(|()| answer));
            valid.map_err(|reason| {
                let message = format!("the user's response to `{name}` is not valid: {reason}");
                SkillError::terminal("input_invalid", message)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use std::task::{Context, Poll, Waker};

    use serde_json::Value;
    use tokio::sync::mpsc::Receiver;

    use super::*;
    use crate::mcp::protocol::{self, Message};

    fn asking() -> (AskingPeer, Receiver<Vec<u8>>) {
        let capabilities = serde_json::from_str(r#"{"roots": {}}"#).unwrap();
        let (outgoing, sent) = Outgoing::channel();
        let peer = Arc::new(Peer::new(capabilities));
        (AskingPeer { peer, outgoing }, sent)
    }

    fn respond(peer: &Peer, message: &Value) -> bool {
        match protocol::parse(message.to_string().as_bytes()) {
            Ok(Message::Response { id: Some(id), result }) => peer.respond(&id, result),
            _ => panic!("{message} is not a response"),
        }
    }

    fn is_waiting(asking: &AskingPeer) -> bool {
        asking
            .peer
            .waiting()
            .as_ref()
            .is_some_and(|waiting| !waiting.is_empty())
    }

    async fn question(sent: &mut Receiver<Vec<u8>>) -> Value {
        serde_json::from_slice(&sent.recv().await.unwrap()).unwrap()
    }

    #[tokio::test]
    async fn a_response_ends_the_wait() {
        let (asking, mut sent) = asking();
        assert!(asking.supports(InputKind::Roots) && !asking.supports(InputKind::Form));
        let answering = async {
            let message = question(&mut sent).await;
            assert_eq!(message["method"], "roots/list");
            let other = json!({"jsonrpc": "2.0", "id": "other", "result": {}});
            assert!(!respond(&asking.peer, &other));
            let response = json!({"jsonrpc": "2.0", "id": message["id"], "result": {"roots": []}});
            assert!(respond(&asking.peer, &response));
        };
        let (answer, ()) = tokio::join!(asking.request("r", InputRequest::Roots), answering);
        assert_eq!(answer.unwrap(), json!({"roots": []}));
        assert!(!is_waiting(&asking));
    }

    #[tokio::test]
    async fn an_error_of_the_client_is_a_failure() {
        let (asking, mut sent) = asking();
        let answering = async {
            let message = question(&mut sent).await;
            let error = json!({"code": 1, "message": "no"});
            respond(
                &asking.peer,
                &json!({"jsonrpc": "2.0", "id": message["id"], "error": error}),
            )
        };
        let (answer, _) = tokio::join!(asking.request("r", InputRequest::Roots), answering);
        let error = answer.unwrap_err();
        assert_eq!((error.code(), error.is_retryable()), ("input_unanswered", true));
    }

    #[tokio::test]
    async fn a_call_that_ends_cancels_its_question() {
        let (asking, mut sent) = asking();
        let mut request = asking.request("r", InputRequest::Roots);
        let mut cx = Context::from_waker(Waker::noop());
        assert!(matches!(request.as_mut().poll(&mut cx), Poll::Pending));
        drop(request);
        let id = question(&mut sent).await["id"].clone();
        let cancelled = question(&mut sent).await;
        assert_eq!(cancelled["method"], "notifications/cancelled");
        assert_eq!(cancelled["params"]["requestId"], id);
        assert!(!is_waiting(&asking));
    }

    #[tokio::test]
    async fn questions_fail_when_the_client_disconnects() {
        let (asking, sent) = asking();
        let request = asking.request("r", InputRequest::Roots);
        let closing = async { asking.peer.close() };
        let (asked, ()) = tokio::join!(request, closing);
        let later = asking.request("r", InputRequest::Roots).await;
        drop(sent);
        let (unread, _) = self::asking();
        for error in [asked, later, unread.request("r", InputRequest::Roots).await] {
            assert_eq!(error.unwrap_err().code(), "input_unanswered");
        }
    }
}
