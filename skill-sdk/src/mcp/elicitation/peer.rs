//! The revisions with `initialize`: the server sends a request to the client, and the call waits for the response.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::{Capabilities, check};
use crate::context::{InputChannel, InputKind, InputRequest, Responding};
use crate::contract::json as checked_json;
use crate::error::SkillError;
use crate::mcp::protocol::{Id, notification, outgoing_request};

/// How many requests may wait for the responses of one client.
const MAX_WAITING: usize = 256;

/// Numbers the requests of this process, so that no id is used twice.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// The result that a client sent, or why it sent none.
type Answer = Result<Value, NoAnswer>;

#[derive(Debug)]
enum NoAnswer {
    /// The client sent something that is not valid.
    Invalid(String),
    /// The client sent nothing.
    Unanswered(String),
}

impl NoAnswer {
    fn into_error(self, name: &str) -> SkillError {
        match self {
            Self::Invalid(reason) => SkillError::terminal(
                "input_invalid",
                format!("the answer to `{name}` is not valid: {reason}"),
            ),
            Self::Unanswered(reason) => {
                SkillError::retryable("input_unanswered", format!("`{name}` was not answered: {reason}"))
            }
        }
    }
}

/// The requests that wait for a response.
#[derive(Debug, Default)]
struct Waiting {
    by_id: HashMap<Id, oneshot::Sender<Answer>>,
    /// The client responds no more.
    closed: bool,
}

/// The client of a session, which can be asked.
#[derive(Debug)]
pub(in crate::mcp) struct Peer {
    capabilities: Capabilities,
    waiting: Mutex<Waiting>,
}

impl Peer {
    pub(in crate::mcp) fn new(capabilities: Capabilities) -> Self {
        Self {
            capabilities,
            waiting: Mutex::default(),
        }
    }

    /// The client responds no more: all waiting questions fail, and so do later ones.
    pub(in crate::mcp) fn close(&self) {
        let mut waiting = self.waiting();
        waiting.closed = true;
        waiting.by_id.clear();
    }

    /// Passes a response on to the question that waits for it; false when none does. No result is an error of the client.
    pub(in crate::mcp) fn respond(&self, id: &Id, result: Option<&RawValue>) -> bool {
        let answer = match result {
            Some(raw) => checked_json::parse(raw.get().as_bytes())
                .map_err(|error| NoAnswer::Invalid(error.to_string())),
            None => Err(NoAnswer::Unanswered(
                "the client responded with an error".to_owned(),
            )),
        };
        self.answer(id, answer)
    }

    /// Fails the question with this id; false when there is none.
    pub(in crate::mcp) fn fail(&self, id: &Id, reason: String) -> bool {
        self.answer(id, Err(NoAnswer::Unanswered(reason)))
    }

    fn answer(&self, id: &Id, answer: Answer) -> bool {
        let sender = self.waiting().by_id.remove(id);
        sender.is_some_and(|sender| sender.send(answer).is_ok())
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The client during one call.
pub(in crate::mcp) struct AskingPeer {
    peer: Arc<Peer>,
    send: Box<dyn Fn(Vec<u8>) -> bool + Send + Sync>,
}

impl AskingPeer {
    /// `send` sends a message to the client; it is false when the client is too slow to read.
    pub(in crate::mcp) fn new(
        peer: &Arc<Peer>,
        send: impl Fn(Vec<u8>) -> bool + Send + Sync + 'static,
    ) -> Self {
        Self {
            peer: Arc::clone(peer),
            send: Box::new(send),
        }
    }

    async fn ask(&self, name: &str, request: &InputRequest) -> Result<Answer, SkillError> {
        let unanswered = |reason: &str| Ok(Err(NoAnswer::Unanswered(reason.to_owned())));
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let Some(id) = Id::string(&format!("skill-{number}")) else {
            return unanswered("it cannot be written");
        };
        let (sender, answer) = oneshot::channel();
        {
            let mut waiting = self.peer.waiting();
            if waiting.closed {
                return unanswered("the client disconnected");
            }
            if waiting.by_id.len() >= MAX_WAITING {
                let message =
                    format!("`{name}` cannot be asked: {MAX_WAITING} questions wait for this client");
                return Err(SkillError::retryable("overloaded", message));
            }
            waiting.by_id.insert(id.clone(), sender);
        }
        if !(self.send)(outgoing_request(Some(&id), request.method(), &request.params())) {
            self.peer.waiting().by_id.remove(&id);
            return unanswered("the client is too slow to read");
        }
        let _cancel = CancelOnDrop { asking: self, id };
        match answer.await {
            Ok(answer) => Ok(answer),
            Err(_) => unanswered("the client disconnected"),
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
        if self.asking.peer.waiting().by_id.remove(&self.id).is_some() {
            let params = json!({"requestId": self.id, "reason": "the call ended"});
            (self.asking.send)(notification("notifications/cancelled", &params));
        }
    }
}

impl InputChannel for AskingPeer {
    fn supports(&self, kind: InputKind) -> bool {
        self.peer.capabilities.has(kind)
    }

    fn request<'a>(&'a self, name: &'a str, request: InputRequest) -> Responding<'a> {
        Box::pin(async move {
            let answer = self.ask(name, &request).await?;
            answer
                .and_then(|answer| match check::validate(&request, &answer) {
                    Ok(()) => Ok(answer),
                    Err(reason) => Err(NoAnswer::Invalid(reason)),
                })
                .map_err(|missing| missing.into_error(name))
        })
    }
}

impl fmt::Debug for AskingPeer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AskingPeer")
            .field("peer", &self.peer)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::task::{Context, Poll, Waker};

    use super::*;
    use crate::mcp::protocol::{self, Message};

    fn peer() -> Arc<Peer> {
        let raw = RawValue::from_string(r#"{"roots": {}}"#.to_owned()).unwrap();
        Arc::new(Peer::new(Capabilities::read(Some(&raw))))
    }

    fn respond(peer: &Peer, text: &str) -> bool {
        match protocol::parse(text.as_bytes()) {
            Ok(Message::Response { id: Some(id), result }) => peer.respond(&id, result),
            _ => panic!("{text} is not a response"),
        }
    }

    #[tokio::test]
    async fn a_response_ends_the_wait() {
        let peer = peer();
        let answering = Arc::clone(&peer);
        let asking = AskingPeer::new(&peer, move |message| {
            let message: Value = serde_json::from_slice(&message).unwrap();
            assert_eq!(message["method"], "roots/list");
            assert!(!respond(
                &answering,
                r#"{"jsonrpc": "2.0", "id": "other", "result": {}}"#
            ));
            let response = json!({"jsonrpc": "2.0", "id": message["id"], "result": {"roots": []}});
            respond(&answering, &response.to_string())
        });
        assert!(asking.supports(InputKind::Roots) && !asking.supports(InputKind::Form));
        let response = asking.request("r", InputRequest::Roots).await.unwrap();
        assert_eq!(response, json!({"roots": []}));
        assert!(peer.waiting().by_id.is_empty());
    }

    #[tokio::test]
    async fn an_error_of_the_client_is_a_failure() {
        let peer = peer();
        let answering = Arc::clone(&peer);
        let asking = AskingPeer::new(&peer, move |message| {
            let message: Value = serde_json::from_slice(&message).unwrap();
            let response =
                json!({"jsonrpc": "2.0", "id": message["id"], "error": {"code": 1, "message": "no"}});
            respond(&answering, &response.to_string())
        });
        let error = asking.request("r", InputRequest::Roots).await.unwrap_err();
        assert_eq!((error.code(), error.is_retryable()), ("input_unanswered", true));
    }

    #[test]
    fn a_call_that_ends_cancels_its_question() {
        let peer = peer();
        let sent = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&sent);
        let asking = AskingPeer::new(&peer, move |message| {
            log.lock().unwrap().push(String::from_utf8(message).unwrap());
            true
        });
        let mut request = asking.request("r", InputRequest::Roots);
        let mut cx = Context::from_waker(Waker::noop());
        assert!(matches!(request.as_mut().poll(&mut cx), Poll::Pending));
        drop(request);
        let sent = sent.lock().unwrap();
        assert!(sent[1].contains("notifications/cancelled") && sent[1].contains("skill-"));
        assert!(peer.waiting().by_id.is_empty());
    }

    #[tokio::test]
    async fn a_question_that_cannot_be_sent_fails_at_once() {
        let peer = peer();
        let sent = Arc::new(AtomicU64::new(0));
        let log = Arc::clone(&sent);
        let asking = AskingPeer::new(&peer, move |_| {
            log.fetch_add(1, Ordering::Relaxed);
            false
        });
        let error = asking.request("r", InputRequest::Roots).await.unwrap_err();
        assert_eq!((error.code(), error.is_retryable()), ("input_unanswered", true));
        assert!(peer.waiting().by_id.is_empty());
        assert_eq!(
            sent.load(Ordering::Relaxed),
            1,
            "a question that was not sent is not cancelled"
        );
    }

    #[tokio::test]
    async fn questions_fail_when_the_client_disconnects() {
        let peer = peer();
        let asking = AskingPeer::new(&peer, |_| true);
        let request = asking.request("r", InputRequest::Roots);
        let closing = async { peer.close() };
        let (asked, ()) = tokio::join!(request, closing);
        for error in [asked, asking.request("r", InputRequest::Roots).await] {
            assert_eq!(error.unwrap_err().code(), "input_unanswered");
        }
    }
}
