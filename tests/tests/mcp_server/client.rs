//! Servers over pipes and sockets, and their clients.

use std::future::pending;
use std::io::{self, BufRead, BufReader, PipeReader, PipeWriter, Write, pipe};
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::mpsc::{Receiver, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::{Value, json};
use skill_sdk::Environment;
use skill_sdk::context::States;
use skill_sdk::http::ServeOptions;
use skill_sdk::mcp::http::{McpHttpServer, serve};
use skill_sdk::mcp::{McpServer, StdioOptions, serve_stdio};
use skill_sdk::pipeline::SkillSet;
use skill_sdk_tests::raw_http::{Client as Connection, Response};
use tokio::fs::File;
use tokio::sync::oneshot;

use super::SKILLS;

/// The time limit for things that should happen at once.
pub(super) const PATIENCE: Duration = Duration::from_mins(1);

/// How often a duration is measured: a busy machine may stall any attempt.
const ATTEMPTS: usize = 5;

/// Durations of something that should happen at once.
#[derive(Debug, Default)]
pub(super) struct Times(Vec<Duration>);

impl Times {
    /// Whether one of them is short enough.
    pub(super) fn are_short(&self) -> bool {
        self.0.iter().any(|time| *time < Duration::from_millis(250))
    }

    /// The number of the next attempt, if one is needed.
    pub(super) fn next(&self) -> Option<usize> {
        (self.0.len() < ATTEMPTS && !self.are_short()).then_some(self.0.len())
    }

    /// Adds the duration of an attempt.
    pub(super) fn add(&mut self, time: Duration) {
        self.0.push(time);
    }
}

/// `_meta` of a request of the stateless revision.
pub(super) fn stateless_meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

/// A server of the skills of these tests.
pub(super) fn mcp_server() -> McpServer {
    let host = SkillSet::with_states(SKILLS.iter().copied(), States::default());
    McpServer::with_environment(host.unwrap(), Environment::from_vars([])).unwrap()
}

/// The headers of a call of the stateless revision.
pub(super) fn stateless(tool: &str) -> [(&str, &str); 3] {
    [
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", "tools/call"),
        ("Mcp-Name", tool),
    ]
}

/// Blocks on a future in a new runtime.
pub(super) fn block_on<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.unwrap().block_on(work)
}

/// A request message.
pub(super) fn request(id: impl Into<Value>, method: &str, params: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": id.into(), "method": method, "params": params}).to_string()
}

/// A `tools/call` message.
pub(super) fn call(id: impl Into<Value>, tool: &str, arguments: &Value, meta: &Value) -> String {
    let mut params = json!({"name": tool, "arguments": arguments});
    if !meta.is_null() {
        params["_meta"] = meta.clone();
    }
    request(id, "tools/call", &params)
}

/// An end of a pipe for the server.
pub(super) fn file(pipe: impl Into<OwnedFd>) -> File {
    File::from_std(std::fs::File::from(pipe.into()))
}

/// A client that sends and receives lines.
pub(super) struct Client {
    pub(super) input: Option<PipeWriter>,
    pub(super) stop: Option<oneshot::Sender<()>>,
    lines: Receiver<String>,
    done: JoinHandle<io::Result<()>>,
}

impl Client {
    /// A client that has sent `initialize`.
    pub(super) fn legacy() -> Self {
        let mut client = Self::of(mcp_server(), StdioOptions::default());
        client.initialize("2025-11-25");
        client
    }

    /// A client that has not sent anything.
    pub(super) fn new() -> Self {
        Self::of(mcp_server(), StdioOptions::default())
    }

    /// A client of this server that has not sent anything.
    pub(super) fn of(host: McpServer, options: StdioOptions) -> Self {
        let (client, output) = Self::unread(host, options);
        let (sender, lines) = channel();
        thread::spawn(move || {
            for line in BufReader::new(output).lines() {
                if sender.send(line.unwrap()).is_err() {
                    return;
                }
            }
        });
        Self { lines, ..client }
    }

    /// A client that does not read, and the pipe that it would read from.
    pub(super) fn unread(host: McpServer, options: StdioOptions) -> (Self, PipeReader) {
        let (host_reads, input) = pipe().unwrap();
        let (output, host_writes) = pipe().unwrap();
        let (stop, stopped) = oneshot::channel();
        let done = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread()
                .worker_threads(4)
                .enable_all()
                .build()
                .unwrap();
            let served = runtime.block_on(async {
                let stopped = async {
                    if stopped.await.is_err() {
                        pending::<()>().await;
                    }
                };
                serve_stdio(host, file(host_reads), file(host_writes), options, stopped).await
            });
            runtime.shutdown_background();
            served
        });
        let client = Self {
            input: Some(input),
            stop: Some(stop),
            lines: channel().1,
            done,
        };
        (client, output)
    }

    pub(super) fn initialize(&mut self, version: &str) -> Value {
        let params = json!({
            "protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"},
        });
        self.send(request("initialize", "initialize", &params));
        let answer = self.take();
        self.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        answer
    }

    /// Sends a line.
    pub(super) fn send(&mut self, line: impl AsRef<[u8]>) {
        let input = self.input.as_mut().unwrap();
        input.write_all(&[line.as_ref(), b"\n"].concat()).unwrap();
    }

    /// Calls the tool `mcp.act` with an action.
    pub(super) fn act(&mut self, id: impl Into<Value>, action: &str, meta: &Value) {
        self.send(call(id, "mcp.act", &json!({"action": action}), meta));
    }

    /// Cancels a request.
    pub(super) fn cancel(&mut self, id: impl Into<Value>) {
        let params = json!({"requestId": id.into()});
        let message = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
        self.send(message.to_string());
    }

    /// The next line, as it is.
    pub(super) fn line(&self) -> String {
        self.lines.recv_timeout(PATIENCE).expect("a line comes in time")
    }

    /// The next line.
    pub(super) fn take(&self) -> Value {
        let line = self.line();
        let message: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(message["jsonrpc"], "2.0", "{line}");
        message
    }

    /// The next line, which must be an error: its id, its code and its message.
    pub(super) fn protocol_error(&self) -> (Value, i64, String) {
        protocol_error(&self.take())
    }

    /// Closes the input, and returns all lines until the server stops.
    pub(super) fn end(mut self) -> Vec<Value> {
        drop(self.input.take());
        self.rest()
    }

    /// All lines until the server stops.
    pub(super) fn rest(self) -> Vec<Value> {
        let mut rest = Vec::new();
        while let Ok(line) = self.lines.recv_timeout(PATIENCE) {
            rest.push(serde_json::from_str(&line).unwrap());
        }
        self.wait();
        rest
    }

    /// Waits until the server has stopped.
    pub(super) fn wait(self) {
        let (sender, ended) = channel();
        thread::spawn(move || sender.send(self.done.join()));
        let ended = ended.recv_timeout(PATIENCE).expect("the server stops in time");
        ended
            .expect("the server does not panic")
            .expect("the host ends well");
    }
}

/// A protocol error: its id, its code and its message.
#[track_caller]
pub(super) fn protocol_error(message: &Value) -> (Value, i64, String) {
    let error = &message["error"];
    let text = error["message"].as_str().unwrap_or_else(|| panic!("{message}"));
    assert!(!text.is_empty() && !text.contains("hunter2"), "{message}");
    (
        message["id"].clone(),
        error["code"].as_i64().unwrap(),
        text.to_owned(),
    )
}

/// The failure in a result: its code and whether it is retryable.
#[track_caller]
pub(super) fn tool_failure(message: &Value) -> (String, bool) {
    let result = &message["result"];
    assert_eq!(result["isError"], true, "{message}");
    assert!(result.get("structuredContent").is_none(), "{message}");
    let content = result["content"].as_array().unwrap();
    assert_eq!(content.len(), 1, "{message}");
    let text = content[0]["text"].as_str().unwrap();
    assert!(!text.contains("hunter2"), "{message}");
    let envelope: Value = serde_json::from_str(text).unwrap();
    let error = envelope["error"].as_object().unwrap();
    let keys: Vec<_> = error.keys().map(String::as_str).collect();
    assert_eq!(keys, ["code", "message", "retryable", "details"], "{message}");
    (
        error["code"].as_str().unwrap().to_owned(),
        error["retryable"].as_bool().unwrap(),
    )
}

/// A server on a port.
pub(super) struct Server {
    pub(super) address: SocketAddr,
    pub(super) stop: oneshot::Sender<()>,
    pub(super) done: tokio::task::JoinHandle<std::io::Result<()>>,
}

impl Server {
    /// Serves the skills of these tests to anonymous callers.
    pub(super) async fn anonymous() -> Self {
        Self::of(McpHttpServer::anonymous(mcp_server())).await
    }

    pub(super) async fn of(mcp: McpHttpServer) -> Self {
        Self::with(mcp, ServeOptions::default()).await
    }

    pub(super) async fn with(mcp: McpHttpServer, options: ServeOptions) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel();
        let stopped = async move {
            if stopped.await.is_err() {
                pending::<()>().await;
            }
        };
        let done = tokio::spawn(serve(mcp, listener, options, stopped));
        Self { address, stop, done }
    }

    /// Sends one message as a client of an `initialize`-based revision.
    pub(super) async fn post(&self, message: &str) -> Response {
        self.post_with(message, &[]).await
    }

    /// Sends one message with additional headers.
    pub(super) async fn post_with(&self, message: &str, headers: &[(&str, &str)]) -> Response {
        let mut connection = Connection::connect(self.address).await;
        connection.send(http("POST", "/mcp", headers, message)).await;
        connection.receive().await
    }
}

/// The bytes of a request. A given header replaces the default one; an empty value removes it.
pub(super) fn http(method: &str, target: &str, headers: &[(&str, &str)], body: &str) -> String {
    let usual = [
        ("Host", "localhost"),
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
    ];
    let own = |name: &str| headers.iter().any(|(own, _)| own.eq_ignore_ascii_case(name));
    let mut head = format!("{method} {target} HTTP/1.1\r\n");
    for (name, value) in usual.iter().filter(|(name, _)| !own(name)).chain(headers) {
        if !value.is_empty() {
            head += &format!("{name}: {value}\r\n");
        }
    }
    if !body.is_empty() {
        head += &format!("Content-Length: {}\r\n", body.len());
    }
    head + "\r\n" + body
}
