//! An HTTP server of the SDK on a real socket, and a client that sends and receives raw bytes.

use std::collections::BTreeMap;
use std::future::pending;
use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use serde_json::Value;
use skill_sdk::Skill;
use skill_sdk::context::States;
use skill_sdk::http::{HttpServer, ServeOptions, serve};
use skill_sdk::pipeline::SkillSet;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// The time limit for things that should happen at once, or by a paused clock.
pub const PATIENCE: Duration = Duration::from_mins(1);

/// Polls a condition until it is true.
pub async fn until(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    // A system clock: the clock of the runtime may be paused.
    let end = Instant::now() + PATIENCE;
    while !is_so().await {
        assert!(Instant::now() < end, "{what}: not within {PATIENCE:?}");
    }
}

/// A server that runs until it is told to stop.
#[derive(Debug)]
pub struct Server {
    /// The address it listens on.
    pub address: SocketAddr,
    stop: oneshot::Sender<()>,
    /// What `serve` returned.
    pub done: JoinHandle<io::Result<()>>,
}

impl Server {
    /// Serves these skills on a free port of the loopback address.
    pub async fn of(skills: &[&'static Skill]) -> Self {
        Self::start(anonymous(skills), ServeOptions::default()).await
    }

    /// Serves `http` with `options` on a free port of the loopback address.
    pub async fn start(http: HttpServer, options: ServeOptions) -> Self {
        Self::at("127.0.0.1:0", http, options).await
    }

    /// Serves `http` with `options` at an address.
    pub async fn at(address: &str, http: HttpServer, options: ServeOptions) -> Self {
        let listener = TcpListener::bind(address).await.expect("the address is free");
        let address = listener.local_addr().expect("it is bound");
        let (stop, stopped) = oneshot::channel();
        let stopped = async move {
            if stopped.await.is_err() {
                // The sender was dropped: run until the end of the test.
                pending::<()>().await;
            }
        };
        let done = tokio::spawn(serve(http, listener, options, stopped));
        Self { address, stop, done }
    }

    /// Tells the server to stop. The task resolves to the result of `serve`.
    pub fn stop(self) -> JoinHandle<io::Result<()>> {
        self.stop.send(()).expect("the server runs");
        self.done
    }

    /// A new connection.
    pub async fn connect(&self) -> Client {
        Client::connect(self.address).await
    }
}

/// A server of these skills without authentication.
pub fn anonymous(skills: &[&'static Skill]) -> HttpServer {
    let host = SkillSet::with_states(skills.iter().copied(), States::default());
    HttpServer::anonymous(host.expect("the skills are usable"))
}

/// One connection.
#[derive(Debug)]
pub struct Client {
    stream: TcpStream,
    /// Bytes that were received and are not parsed yet.
    received: Vec<u8>,
}

/// One response.
#[derive(Debug)]
pub struct Response {
    /// The status.
    pub status: u16,
    /// The headers; their names are in lower case.
    pub headers: BTreeMap<String, String>,
    /// The body.
    pub body: String,
}

impl Response {
    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).expect("the body is JSON")
    }

    /// A header; empty if it is not set.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }

    /// The error code in the body.
    pub fn code(&self) -> String {
        self.json()["error"]["code"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }
}

impl Client {
    /// Connects.
    pub async fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await.expect("the server listens");
        let received = Vec::new();
        Self { stream, received }
    }

    /// Connects with a small receive buffer, so that the server cannot write ahead.
    pub async fn connect_with_small_window(address: SocketAddr) -> Self {
        let socket = TcpSocket::new_v4().expect("there are sockets");
        socket.set_recv_buffer_size(4096).expect("it can be small");
        let stream = socket.connect(address).await.expect("the server listens");
        let received = Vec::new();
        Self { stream, received }
    }

    /// The address of the client's end.
    pub fn address(&self) -> SocketAddr {
        self.stream.local_addr().expect("it is connected")
    }

    /// Sends bytes until the server closes the connection.
    pub async fn send_what_fits(&mut self, bytes: impl AsRef<[u8]>) {
        // A server that rejects a request does not read the rest of it.
        let _ = self.stream.write_all(bytes.as_ref()).await;
    }

    /// Sends these bytes.
    pub async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream
            .write_all(bytes.as_ref())
            .await
            .expect("the server reads");
    }

    /// Receives one response to a request with any method but `HEAD`.
    pub async fn receive(&mut self) -> Response {
        let (mut answer, length) = self.receive_head().await;
        while self.received.len() < length {
            self.more().await;
        }
        let body = self.received.drain(..length).collect();
        answer.body = String::from_utf8(body).expect("bodies are UTF-8");
        answer
    }

    /// Receives one response to a `HEAD` request, and its `Content-Length`.
    pub async fn receive_head(&mut self) -> (Response, usize) {
        let end = loop {
            match self.received.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
                Some(end) => break end,
                None => self.more().await,
            }
        };
        let head = String::from_utf8(self.received.drain(..end + 4).collect()).expect("heads are text");
        let mut lines = head.trim_end().lines();
        let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok());
        let header = |line: &str| {
            let (name, value) = line.split_once(':').expect("a header has a name");
            (name.to_ascii_lowercase(), value.trim().to_owned())
        };
        let headers: BTreeMap<_, _> = lines.map(header).collect();
        let length = headers
            .get("content-length")
            .and_then(|length| length.parse().ok());
        let answer = Response {
            status: status.expect("a response has a status"),
            headers,
            body: String::new(),
        };
        (answer, length.unwrap_or_default())
    }

    /// Receives exactly this many bytes.
    pub async fn receive_bytes(&mut self, count: usize) -> Vec<u8> {
        while self.received.len() < count {
            self.more().await;
        }
        self.received.drain(..count).collect()
    }

    /// Waits until the server closes the connection, and returns the bytes received before.
    pub async fn closed(&mut self) -> Vec<u8> {
        let read = timeout(PATIENCE, self.stream.read_to_end(&mut self.received)).await;
        // A connection that is reset is closed as well.
        let _ = read.expect("the server closes the connection");
        std::mem::take(&mut self.received)
    }

    async fn more(&mut self) {
        let read = timeout(PATIENCE, self.stream.read_buf(&mut self.received)).await;
        let count = read
            .expect("the server responds in time")
            .expect("the server responds");
        assert!(
            count > 0,
            "the server closed the connection after {:?}",
            String::from_utf8_lossy(&self.received)
        );
    }

    /// Sends a request without a body and receives the response.
    pub async fn get(&mut self, method: &str, target: &str) -> Response {
        self.send(request(method, target, &[], "")).await;
        self.receive().await
    }

    /// Sends a JSON body with `POST` and receives the response.
    pub async fn post(&mut self, target: &str, body: &str) -> Response {
        self.send(request(
            "POST",
            target,
            &[("Content-Type", "application/json")],
            body,
        ))
        .await;
        self.receive().await
    }

    /// Calls a skill.
    pub async fn call(&mut self, skill: &Skill, body: &Value) -> Response {
        self.post(&format!("/skills/{}", skill.reference()), &body.to_string())
            .await
    }
}

/// The bytes of a request. It has a `Content-Length` if the body is not empty.
pub fn request(method: &str, target: &str, headers: &[(&str, &str)], body: &str) -> String {
    let mut head = format!("{method} {target} HTTP/1.1\r\nHost: localhost\r\n");
    for (name, value) in headers {
        head += &format!("{name}: {value}\r\n");
    }
    if !body.is_empty() {
        head += &format!("Content-Length: {}\r\n", body.len());
    }
    head + "\r\n" + body
}
