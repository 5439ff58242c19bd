//! A mock of an OpenAI-compatible server. It follows a script.

use std::collections::VecDeque;
use std::future::pending;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Method, Response, Uri};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::timeout;

/// The time limit for events that should happen at once.
const PATIENCE: Duration = Duration::from_mins(1);

/// The response to one request.
#[derive(Debug, Clone)]
pub(crate) enum Reply {
    /// A status, headers and a body.
    Answer(u16, Vec<(&'static str, String)>, String),
    /// No response until the client disconnects.
    Nothing,
}

impl Reply {
    /// A status with a body.
    pub(crate) fn status(status: u16, body: &Value) -> Self {
        Self::Answer(status, Vec::new(), body.to_string())
    }

    /// A status with an error in the format of the protocol.
    pub(crate) fn error(status: u16, code: &str, param: Option<&str>) -> Self {
        Self::status(
            status,
            &json!({"error": {"message": "You sent: a long text", "type": "some_error", "code": code, "param": param}}),
        )
    }

    /// A success whose message has this text.
    pub(crate) fn text(text: &str) -> Self {
        Self::message(&json!({"role": "assistant", "content": text}))
    }

    /// A success with this message.
    pub(crate) fn message(message: &Value) -> Self {
        Self::status(200, &completion(message))
    }

    /// A valid response.
    pub(crate) fn good() -> Self {
        Self::text(r#"{"summary": "s"}"#)
    }
}

/// The body of a success.
pub(crate) fn completion(message: &Value) -> Value {
    json!({
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m-1",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop", "logprobs": null}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
    })
}

/// A recorded request.
#[derive(Debug, Clone)]
pub(crate) struct RecordedRequest {
    pub(crate) method: Method,
    pub(crate) uri: Uri,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Value,
}

/// A server that follows a script. The last response repeats.
pub(crate) struct MockServer {
    /// Its base URL, with the version.
    pub(crate) base: String,
    shared: Arc<Shared>,
    /// An event for each request, and for each client that disconnected while it waited.
    events: UnboundedReceiver<&'static str>,
}

struct Shared {
    script: Mutex<VecDeque<Reply>>,
    asked: Mutex<Vec<RecordedRequest>>,
    events: UnboundedSender<&'static str>,
}

impl MockServer {
    pub(crate) async fn start(script: impl IntoIterator<Item = Reply>) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let base = format!("http://{}/v1", listener.local_addr().unwrap());
        let (sender, events) = unbounded_channel();
        let shared = Arc::new(Shared {
            script: Mutex::new(script.into_iter().collect()),
            asked: Mutex::default(),
            events: sender,
        });
        let router = Router::new().fallback(answer).with_state(Arc::clone(&shared));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { base, shared, events }
    }

    /// The next event.
    pub(crate) async fn event(&mut self) -> &'static str {
        let event = timeout(PATIENCE, self.events.recv()).await;
        event
            .unwrap_or_else(|_| panic!("no request within {PATIENCE:?}"))
            .unwrap()
    }

    /// All requests so far.
    pub(crate) fn requests(&self) -> Vec<RecordedRequest> {
        self.shared.asked.lock().unwrap().clone()
    }

    /// The models of all requests so far, in one string.
    pub(crate) fn models(&self) -> String {
        let asked = self.requests();
        let models: Vec<_> = asked
            .iter()
            .map(|asked| asked.body["model"].as_str().unwrap())
            .collect();
        models.join("")
    }
}

struct ReportDisconnect(UnboundedSender<&'static str>);

impl Drop for ReportDisconnect {
    fn drop(&mut self) {
        let _ = self.0.send("gone");
    }
}

async fn answer(
    State(shared): State<Arc<Shared>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response<Body> {
    let body = serde_json::from_slice(&body).unwrap();
    shared.asked.lock().unwrap().push(RecordedRequest {
        method,
        uri,
        headers,
        body,
    });
    let say = {
        let mut script = shared.script.lock().unwrap();
        match script.len() {
            0 | 1 => script.front().cloned().unwrap(),
            _ => script.pop_front().unwrap(),
        }
    };
    let gone = ReportDisconnect(shared.events.clone());
    let _ = shared.events.send("asked");
    match say {
        Reply::Answer(status, headers, body) => {
            let mut response = Response::builder().status(status);
            for (name, value) in headers {
                response = response.header(name, value);
            }
            // The client is still connected.
            std::mem::forget(gone);
            response.body(body.into()).unwrap()
        }
        Reply::Nothing => {
            let _gone = gone;
            pending().await
        }
    }
}
