//! A server, and requests made of arbitrary bytes. The first byte selects how the rest is sent.
//!
//! A fuzzer drives it (`request.rs`), and an ordinary test replays its seeds (`tests/untrusted_input.rs`).

#![allow(
    clippy::unused_async,
    reason = "an `async fn` needs no thread of its own, which makes it faster"
)]

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use skill_sdk::context::States;
use skill_sdk::http::{HttpServer, ServeOptions, serve};
use skill_sdk::pipeline::SkillSet;
use skill_sdk::{Environment, skill};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::runtime::Runtime;

/// One field for each kind of schema.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Node {
    #[serde(default)]
    #[schemars(length(max = 20), regex(pattern = "^[a-zß-ÿ]*$"))]
    name: String,
    #[serde(default)]
    #[schemars(range(min = -5, max = 1_000_000))]
    number: i64,
    #[serde(default)]
    real: Option<f64>,
    #[serde(default)]
    kind: Kind,
    #[serde(default)]
    #[schemars(length(max = 5))]
    children: Vec<Node>,
    #[serde(default)]
    labels: BTreeMap<String, bool>,
    #[serde(default)]
    wide: Option<u128>,
}

/// An enum.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    #[default]
    Plain,
    Pair(u8, String),
    Full {
        text: Option<String>,
    },
}

/// Returns its typed input.
#[skill("hostile.typed", version = "1", side_effects = "none", risk = "low")]
pub(crate) async fn typed(inputs: Node) -> Node {
    inputs
}

/// Returns any input.
#[skill("hostile.any", version = "1", side_effects = "none", risk = "low")]
pub(crate) async fn any(value: Value) -> Value {
    value
}

/// The largest body that the server reads.
const BODY_LIMIT: usize = 16 * 1024;

/// The time limit for a response. No input makes a skill work for long.
const PATIENCE: Duration = Duration::from_secs(20);

/// A running server.
pub(crate) struct Target {
    runtime: Runtime,
    address: SocketAddr,
    clients: AtomicU32,
}

impl Target {
    /// Starts the server on a free port.
    pub(crate) fn start() -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let host = SkillSet::with_states([typed::SKILL, any::SKILL], States::default()).unwrap();
        let host = HttpServer::anonymous(host)
            .allow_host("*")
            .and_then(|host| host.allow_origin("*"))
            .unwrap()
            .body_limit(BODY_LIMIT)
            .environment(Environment::from_vars([]));
        let (tell, told) = mpsc::channel();
        runtime.spawn(async move {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            tell.send(listener.local_addr().unwrap()).unwrap();
            let stop = std::future::pending();
            serve(host, listener, ServeOptions::default(), stop)
                .await
                .unwrap();
        });
        let address = told.recv().unwrap();
        Self {
            runtime,
            address,
            clients: AtomicU32::new(0),
        }
    }

    /// Sends the request that `data` encodes. Panics if the response is not one that a server may give.
    pub(crate) fn send(&self, data: &[u8]) {
        let Some((how, rest)) = data.split_first() else {
            return;
        };
        self.runtime.block_on(async {
            match how % 6 {
                0 => self.raw(rest).await,
                1 => self.whole(&post("hostile.typed@1", "", rest)).await,
                2 => self.whole(&post("hostile.any@1", "", rest)).await,
                3 => self.whole(&post("hostile.typed@1", "", &inputs(rest))).await,
                4 => self.whole(&post("hostile.any@1", "", &inputs(rest))).await,
                _ => self.whole(&with_header(rest)).await,
            }
        });
    }

    /// Each client has its own address, so that none waits for a free port.
    async fn connect(&self) -> TcpStream {
        let number = self.clients.fetch_add(1, Ordering::Relaxed) % (1 << 16);
        let [.., high, low] = number.to_be_bytes();
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind((Ipv4Addr::new(127, 1, high, low), 0).into()).unwrap();
        socket.connect(self.address).await.unwrap()
    }

    /// Sends bytes that need not be HTTP, then closes its half. The server may send a valid response or none.
    async fn raw(&self, bytes: &[u8]) {
        let mut stream = self.connect().await;
        // The server may close the connection before it has read everything.
        let sent = stream.write_all(bytes).await.is_ok() && stream.shutdown().await.is_ok();
        let answer = read(&mut stream).await;
        if sent && answer.starts_with(b"HTTP/1.") {
            check(&answer, false);
        }
        self.still_alive().await;
    }

    /// Sends a valid HTTP request, which gets exactly one response.
    async fn whole(&self, request: &[u8]) {
        let mut stream = self.connect().await;
        let _ = stream.write_all(request).await;
        let answer = read(&mut stream).await;
        check(&answer, true);
    }

    async fn still_alive(&self) {
        let mut stream = self.connect().await;
        let request = b"GET /healthz HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n";
        stream.write_all(request).await.unwrap();
        let answer = read(&mut stream).await;
        assert!(
            answer.starts_with(b"HTTP/1.1 200"),
            "the server died: {}",
            shown(&answer)
        );
    }
}

async fn read(stream: &mut TcpStream) -> Vec<u8> {
    let mut answer = Vec::new();
    let read = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut answer)).await;
    assert!(read.is_ok(), "the response has no end: {}", shown(&answer));
    answer
}

fn post(reference: &str, header: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head = format!(
        "POST /skills/{reference} HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-type: application/json\r\n\
         {header}content-length: {length}\r\n\r\n"
    );
    [head.as_bytes(), body].concat()
}

/// Sends the bytes as the inputs.
fn inputs(bytes: &[u8]) -> Vec<u8> {
    [br#"{"inputs": "#, bytes, b"}"].concat()
}

/// Sends the bytes as a header value, as far as HTTP allows.
fn with_header(bytes: &[u8]) -> Vec<u8> {
    let value: String = bytes
        .iter()
        .filter(|byte| matches!(byte, b'\t' | b' '..=b'~'))
        .map(|byte| char::from(*byte))
        .take(2000)
        .collect();
    let name = [
        "x-any",
        "traceparent",
        "authorization",
        "accept",
        "expect",
        "cookie",
    ][bytes.len() % 6];
    post(
        "hostile.any@1",
        &format!("{name}: {value}\r\n"),
        br#"{"inputs": {"value": 1}}"#,
    )
}

/// Panics unless `answer` is a valid response to untrusted input. `ours`: hyper accepted the request, so the body must
/// have the format of the SDK.
fn check(answer: &[u8], ours: bool) {
    // The server sends this before the response if the client sent `Expect: 100-continue`.
    let answer = answer
        .strip_prefix(b"HTTP/1.1 100 Continue\r\n\r\n".as_slice())
        .unwrap_or(answer);
    let text = shown(answer);
    let status: u16 = text
        .get(9..12)
        .and_then(|status| status.parse().ok())
        .unwrap_or_else(|| panic!("no answer: {text}"));
    assert!(
        status < 500 || status == 503,
        "the server reports an internal error: {text}"
    );
    if !ours {
        return;
    }
    let at = answer.windows(4).position(|window| window == b"\r\n\r\n");
    let body = &answer[at.unwrap_or_else(|| panic!("the headers have no end: {text}")) + 4..];
    if body.is_empty() {
        // hyper writes these responses: the bytes are not HTTP, a header exceeds a limit, or `Expect` is unknown.
        assert!(matches!(status, 400 | 414 | 417 | 431), "no body: {text}");
        return;
    }
    let body: Value = serde_json::from_slice(body).unwrap_or_else(|error| panic!("{error}: {text}"));
    if status != 200 {
        let error = &body["error"];
        assert!(
            error["code"].is_string() && error["message"].is_string(),
            "the body is not an error envelope: {text}"
        );
        assert_eq!(error["retryable"], status == 503, "{text}");
    }
}

fn shown(answer: &[u8]) -> String {
    String::from_utf8_lossy(&answer[..answer.len().min(2000)]).into_owned()
}
