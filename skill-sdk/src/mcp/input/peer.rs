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
use crate::mcp::message::Response;
use crate::mcp::threshold::Threshold;

/// How many requests may wait for the responses of one client.
const MAX_WAITING: usize = 256;

/// The requests that wait for responses, by their ids as JSON.
type Waits = HashMap<Box<str>, oneshot::Sender<Result<Value, String>>>;

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

    fn waiting(&self) -> MutexGuard<'_, Waits> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands a response to whoever waits for it. Responses to nothing are ignored.
    pub(in crate::mcp) fn respond(&self, response: &Response<'_>) -> bool {
        let waits = response
            .id
            .as_ref()
            .and_then(|id| self.waiting().remove(id.json()));
        let Some(waits) = waits else {
            return false;
        };
        let parsed =
            |raw: &RawValue| contract_json::parse(raw.get().as_bytes()).map_err(|error| error.to_string());
        let result = match (response.result, response.error) {
            (Some(result), None) => parsed(result),
            // The text is the client's own.
            _ => Err("the client refused to answer".to_owned()),
        };
        waits.send(result).is_ok()
    }

    /// A way to ask this client during one call. `send` sends a message on the way of that call.
    pub(in crate::mcp) fn way(self: &Arc<Self>, send: impl Fn(Vec<u8>) + Send + Sync + 'static) -> Arc<Way> {
        Arc::new(Way {
            peer: Arc::clone(self),
            send: Box::new(send),
        })
    }
}

/// A client, and how messages get to it during a call.
pub(in crate::mcp) struct Way {
    peer: Arc<Peer>,
    send: Box<dyn Fn(Vec<u8>) + Send + Sync>,
}

/// A request that was sent. The client hears of it when nobody waits any more.
struct Waiting<'a> {
    way: &'a Way,
    id: Box<str>,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if self.way.peer.waiting().remove(&self.id).is_some() {
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
            let invalid = |reason: String| {
                SkillError::terminal(
                    "input_invalid",
                    format!("the answer to `{name}` does not fit: {reason}"),
                )
            };
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
                if waiting.len() >= MAX_WAITING {
                    let message = format!("{MAX_WAITING} questions wait for answers of this client");
                    return Err(SkillError::retryable("overloaded", message));
                }
                waiting.insert(id.clone(), sender);
            }
            let waiting = Waiting { way: self, id };
            (self.send)(message.to_string().into_bytes());
            let response = response
                .await
                .unwrap_or_else(|_| Err("the client went away".to_owned()))
                .map_err(invalid)?;
            drop(waiting);
            check::fits(&request, &response).map_err(invalid)?;
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
            assert!(respond(&answering, &response.to_string()));
        });
        assert!(way.supports(InputKind::Roots) && !way.supports(InputKind::Form));
        let response = way.request("r", InputRequest::Roots).await.unwrap();
        assert_eq!(response, json!({"roots": []}));
        assert!(peer.waiting().is_empty());
    }

    #[tokio::test]
    async fn an_error_of_the_client_is_a_failure() {
        let peer = peer();
        let answering = Arc::clone(&peer);
        let way = peer.way(move |message| {
            let message: Value = serde_json::from_slice(&message).unwrap();
            let response =
                json!({"jsonrpc": "2.0", "id": message["id"], "error": {"code": 1, "message": "no"}});
            respond(&answering, &response.to_string());
        });
        let error = way.request("r", InputRequest::Roots).await.unwrap_err();
        assert_eq!(error.code(), "input_invalid");
    }

    #[test]
    fn a_call_that_ends_takes_its_question_back() {
        let peer = peer();
        let sent = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&sent);
        let way = peer.way(move |message| log.lock().unwrap().push(String::from_utf8(message).unwrap()));
        let mut request = way.request("r", InputRequest::Roots);
        let mut cx = Context::from_waker(Waker::noop());
        assert!(matches!(request.as_mut().poll(&mut cx), Poll::Pending));
        drop(request);
        let sent = sent.lock().unwrap();
        assert!(sent[1].contains("notifications/cancelled") && sent[1].contains("skill-1"));
        assert!(peer.waiting().is_empty());
    }
}
