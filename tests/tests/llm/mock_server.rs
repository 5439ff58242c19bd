//! A server of `OpenAI`'s protocol that answers by a script.

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

/// How long a test waits for a sign that should come at once.
const PATIENCE: Duration = Duration::from_mins(1);

/// What the server says to one request.
#[derive(Debug, Clone)]
pub(crate) enum Say {
    /// A status, headers and a body.
    Answer(u16, Vec<(&'static str, String)>, String),
    /// Nothing, until the client goes away.
    Nothing,
}

impl Say {
    /// A status with a body.
    pub(crate) fn status(status: u16, body: &Value) -> Self {
        Self::Answer(status, Vec::new(), body.to_string())
    }

    /// A status with an error as the protocol writes it.
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

    /// The answer that fits.
    pub(crate) fn good() -> Self {
        Self::text(r#"{"summary": "s"}"#)
    }
}

/// The document of a success.
pub(crate) fn completion(message: &Value) -> Value {
    json!({
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m-1",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop", "logprobs": null}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
    })
}

/// What the server was sent.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) method: Method,
    pub(crate) uri: Uri,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Value,
}

/// A server that answers by a script. The last answer repeats.
pub(crate) struct Double {
    /// Its address with the path of the version.
    pub(crate) base: String,
    shared: Arc<Shared>,
    /// A sign for each request that came, and for each client that went away while it waited.
    signs: UnboundedReceiver<&'static str>,
}

struct Shared {
    script: Mutex<VecDeque<Say>>,
    asked: Mutex<Vec<Asked>>,
    signs: UnboundedSender<&'static str>,
}

impl Double {
    pub(crate) async fn start(script: impl IntoIterator<Item = Say>) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let base = format!("http://{}/v1", listener.local_addr().unwrap());
        let (sender, signs) = unbounded_channel();
        let shared = Arc::new(Shared {
            script: Mutex::new(script.into_iter().collect()),
            asked: Mutex::default(),
            signs: sender,
        });
        let router = Router::new().fallback(answer).with_state(Arc::clone(&shared));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { base, shared, signs }
    }

    /// The next sign.
    pub(crate) async fn sign(&mut self) -> &'static str {
        let sign = timeout(PATIENCE, self.signs.recv()).await;
        sign.unwrap_or_else(|_| panic!("no sign of a request within {PATIENCE:?}"))
            .unwrap()
    }

    /// All requests so far.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.shared.asked.lock().unwrap().clone()
    }

    /// The models of all requests so far, in one word.
    pub(crate) fn models(&self) -> String {
        let asked = self.asked();
        let models: Vec<_> = asked
            .iter()
            .map(|asked| asked.body["model"].as_str().unwrap())
            .collect();
        models.join("")
    }
}

struct Gone(UnboundedSender<&'static str>);

impl Drop for Gone {
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
    shared.asked.lock().unwrap().push(Asked {
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
    let gone = Gone(shared.signs.clone());
    let _ = shared.signs.send("asked");
    match say {
        Say::Answer(status, headers, body) => {
            let mut response = Response::builder().status(status);
            for (name, value) in headers {
                response = response.header(name, value);
            }
            // Nobody went away.
            std::mem::forget(gone);
            response.body(body.into()).unwrap()
        }
        Say::Nothing => {
            let _gone = gone;
            pending().await
        }
    }
}
