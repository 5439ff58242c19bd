//! Revisions up to 2025-11-25: the host sends a request to the client, and the call waits for the response.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::{Capabilities, check};
use crate::context::{InputChannel, InputKind, InputRequest, Responding};
use crate::contract::json as contract_json;
use crate::error::SkillError;
use crate::mcp::message::{Id, Response};
use crate::mcp::threshold::Threshold;

/// Why a client does not answer.
const GONE: &str = "the client went away";

/// How many requests may wait for the responses of one client.
const MAX_WAITING: usize = 256;

/// What comes of a request: the result of the client, or why there is none.
type Outcome = Result<Value, Missing>;

/// Why there is no result.
#[derive(Debug)]
enum Missing {
    /// The client gave something, and not what it could give.
    Invalid(String),
    /// The client gave nothing.
    ChatError(String),
}

impl Missing {
    fn error(self, name: &str) -> SkillError {
        match self {
            Self::Invalid(reason) => {
                let message = format!("the answer to `{name}` does not fit: {reason}");
                SkillError::terminal("input_invalid", message)
            }
            Self::ChatError(reason) => {
                let message = format!("nobody answered `{name}`: {reason}");
                SkillError::retryable("input_unanswered", message)
            }
        }
    }
}

/// The requests that wait for responses.
#[derive(Debug, Default)]
struct Waits {
    /// By their ids as JSON.
    open: HashMap<Box<str>, oneshot::Sender<Outcome>>,
    /// The client answers nothing any more.
    closed: bool,
}

/// The client of one session, as somebody who can be asked.
#[derive(Debug)]
pub(in crate::mcp) struct Peer {
    capabilities: Capabilities,
    next: AtomicU64,
    threshold: Threshold,
    waiting: Mutex<Waits>,
}

impl Peer {
    pub(in crate::mcp) fn new(capabilities: Capabilities) -> Self {
        Self {
            capabilities,
            next: AtomicU64::new(1),
            threshold: Threshold::default(),
            waiting: Mutex::default(),
        }
    }

    /// Which notices this client wants to hear.
    pub(in crate::mcp) fn threshold(&self) -> &Threshold {
        &self.threshold
    }

    /// The same client, which introduced itself anew. Nothing that was asked before is answered any more, and no id is
    /// given twice.
    pub(in crate::mcp) fn succeeded(&self, capabilities: Capabilities) -> Self {
        self.close();
        Self {
            next: AtomicU64::new(self.next.load(Ordering::Relaxed)),
            ..Self::new(capabilities)
        }
    }

    /// The client answers nothing any more: whoever waits hears of it, and nothing more is asked.
    pub(in crate::mcp) fn close(&self) {
        let mut waiting = self.waiting();
        waiting.closed = true;
        // Without the other end whoever waits has its answer.
        waiting.open.clear();
    }

    /// Gives up the wait for the response with this id; false when nobody waits for it.
    pub(in crate::mcp) fn give_up(&self, id: &Id, reason: &str) -> bool {
        let waits = self.waiting().open.remove(id.json());
        waits.is_some_and(|waits| waits.send(Err(Missing::ChatError(reason.to_owned()))).is_ok())
    }

    fn waiting(&self) -> MutexGuard<'_, Waits> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands a response to whoever waits for it. Responses to nothing are ignored.
    pub(in crate::mcp) fn respond(&self, response: &Response<'_>) -> bool {
        let waits = response
            .id
            .as_ref()
            .and_then(|id| self.waiting().open.remove(id.json()));
        let Some(waits) = waits else {
            return false;
        };
        let parsed = |raw: &RawValue| {
            contract_json::parse(raw.get().as_bytes()).map_err(|error| Missing::Invalid(error.to_string()))
        };
        let result = match (response.result, response.error) {
            (Some(result), None) => parsed(result),
            // The text is the client's own.
            _ => Err(Missing::ChatError("the client refused to answer".to_owned())),
        };
        waits.send(result).is_ok()
    }

    /// A way to ask this client during one call. `send` sends a message on the way of that call, and
    /// says whether it went.
    pub(in crate::mcp) fn way(
        self: &Arc<Self>,
        send: impl Fn(Vec<u8>) -> bool + Send + Sync + 'static,
    ) -> Arc<Way> {
        Arc::new(Way {
            peer: Arc::clone(self),
            send: Box::new(send),
        })
    }
}

/// A client, and how messages get to it during a call.
pub(in crate::mcp) struct Way {
    peer: Arc<Peer>,
    send: Box<dyn Fn(Vec<u8>) -> bool + Send + Sync>,
}

/// A request that was sent. The client hears of it when nobody waits any more.
struct Waiting<'a> {
    way: &'a Way,
    id: Box<str>,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if self.way.peer.waiting().open.remove(&self.id).is_some() {
            let id: Option<Value> = serde_json::from_str(&self.id).ok();
            let message = json!({
                "jsonrpc": "2.0",
                "method": "notifications/cancelled",
                "params": {"requestId": id, "reason": "the call ended"},
            });
            (self.way.send)(message.to_string().into_bytes());
        }
    }
}

impl InputChannel for Way {
    fn supports(&self, kind: InputKind) -> bool {
        self.peer.capabilities.has(kind)
    }

    fn request<'a>(&'a self, name: &'a str, request: InputRequest) -> Responding<'a> {
        Box::pin(async move {
            let number = self.peer.next.fetch_add(1, Ordering::Relaxed);
            let id = format!("skill-{number}");
            let message = json!({
                "jsonrpc": "2.0",
                "id": id,
                "method": request.method(),
                "params": request.params(),
            });
            let (sender, response) = oneshot::channel();
            let id: Box<str> = format!("\"{id}\"").into();
            {
                let mut waiting = self.peer.waiting();
                if waiting.closed {
                    return Err(Missing::ChatError(GONE.to_owned()).error(name));
                }
                if waiting.open.len() >= MAX_WAITING {
                    let message = format!("{MAX_WAITING} questions wait for answers of this client");
                    return Err(SkillError::retryable("overloaded", message));
                }
                waiting.open.insert(id.clone(), sender);
            }
            let waiting = Waiting { way: self, id };
            if !(self.send)(message.to_string().into_bytes()) {
                // It never heard of it.
                self.peer.waiting().open.remove(&waiting.id);
                let reason = "the client is behind with reading".to_owned();
                return Err(Missing::ChatError(reason).error(name));
            }
            let response = response
                .await
                .unwrap_or_else(|_| Err(Missing::ChatError(GONE.to_owned())))
                .map_err(|missing| missing.error(name))?;
            drop(waiting);
            check::fits(&request, &response).map_err(|reason| Missing::Invalid(reason).error(name))?;
            Ok(response)
        })
    }
}

impl fmt::Debug for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Way")
            .field("peer", &self.peer)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::task::{Context, Poll, Waker};

    use super::*;
    use crate::mcp::message::{self, Message};

    fn peer() -> Arc<Peer> {
        let raw = RawValue::from_string(r#"{"roots": {}}"#.to_owned()).unwrap();
        Arc::new(Peer::new(Capabilities::read(Some(&raw))))
    }

    fn respond(peer: &Peer, text: &str) -> bool {
        match message::read(text.as_bytes()) {
            Ok(Message::Response(response)) => peer.respond(&response),
            other => panic!("{other:?}"),
        }
    }

    #[tokio::test]
    async fn a_response_ends_the_wait() {
        let peer = peer();
        let answering = Arc::clone(&peer);
        let way = peer.way(move |message| {
            let message: Value = serde_json::from_slice(&message).unwrap();
            assert_eq!(message["method"], "roots/list");
            assert!(!respond(
                &answering,
                r#"{"jsonrpc": "2.0", "id": "other", "result": {}}"#
            ));
            let response = json!({"jsonrpc": "2.0", "id": message["id"], "result": {"roots": []}});
            respond(&answering, &response.to_string())
        });
        assert!(way.supports(InputKind::Roots) && !way.supports(InputKind::Form));
        let response = way.request("r", InputRequest::Roots).await.unwrap();
        assert_eq!(response, json!({"roots": []}));
        assert!(peer.waiting().open.is_empty());
    }

    #[tokio::test]
    async fn an_error_of_the_client_is_a_failure() {
        let peer = peer();
        let answering = Arc::clone(&peer);
        let way = peer.way(move |message| {
            let message: Value = serde_json::from_slice(&message).unwrap();
            let response =
                json!({"jsonrpc": "2.0", "id": message["id"], "error": {"code": 1, "message": "no"}});
            respond(&answering, &response.to_string())
        });
        let error = way.request("r", InputRequest::Roots).await.unwrap_err();
        assert_eq!((error.code(), error.is_retryable()), ("input_unanswered", true));
    }

    #[test]
    fn a_call_that_ends_takes_its_question_back() {
        let peer = peer();
        let sent = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&sent);
        let way = peer.way(move |message| {
            log.lock().unwrap().push(String::from_utf8(message).unwrap());
            true
        });
        let mut request = way.request("r", InputRequest::Roots);
        let mut cx = Context::from_waker(Waker::noop());
        assert!(matches!(request.as_mut().poll(&mut cx), Poll::Pending));
        drop(request);
        let sent = sent.lock().unwrap();
        assert!(sent[1].contains("notifications/cancelled") && sent[1].contains("skill-1"));
        assert!(peer.waiting().open.is_empty());
    }

    #[tokio::test]
    async fn a_question_that_cannot_be_sent_fails_at_once() {
        let peer = peer();
        let sent = Arc::new(AtomicU64::new(0));
        let log = Arc::clone(&sent);
        let way = peer.way(move |_| {
            log.fetch_add(1, Ordering::Relaxed);
            false
        });
        let error = way.request("r", InputRequest::Roots).await.unwrap_err();
        assert_eq!((error.code(), error.is_retryable()), ("input_unanswered", true));
        assert!(peer.waiting().open.is_empty());
        assert_eq!(
            sent.load(Ordering::Relaxed),
            1,
            "there is nothing to take back from whoever was not asked"
        );
    }

    #[tokio::test]
    async fn nobody_waits_for_a_client_that_is_gone() {
        let peer = peer();
        let way = peer.way(|_| true);
        let request = way.request("r", InputRequest::Roots);
        let closing = async { peer.close() };
        let (asked, ()) = tokio::join!(request, closing);
        for error in [asked, way.request("r", InputRequest::Roots).await] {
            assert_eq!(error.unwrap_err().code(), "input_unanswered");
        }
        let next = Arc::new(peer.succeeded(peer.capabilities));
        assert_eq!(
            next.next.load(Ordering::Relaxed),
            peer.next.load(Ordering::Relaxed)
        );
    }
}
