//! Replays the recorded traffic of the reference's MCP server over pipes and sockets.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a panic in a test is a failed test"
)]

use std::collections::BTreeMap;
use std::future::pending;
use std::io::{Read, Write, pipe};
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::thread;

use serde_json::{Value, json};
use skill_sdk::Environment;
use skill_sdk::context::States;
use skill_sdk::http::ServeOptions;
use skill_sdk::mcp::http::{McpHttpServer, serve};
use skill_sdk::mcp::{McpServer, StdioOptions, serve_stdio};
use skill_sdk::pipeline::SkillSet;
use skill_sdk_tests::cases::{self, Case, Replay};
use skill_sdk_tests::sample;
use tokio::fs::File;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// The cases in which the specification differs from the recording: what is compared of the response, and why.
const DIFFERENT: &[(&str, &str)] = &[
    // `tools/list` is sorted by name and has annotations, and the schemas are derived from other types.
    ("stdio-list", "tools"),
    ("http-accept-json-only", "tools"),
    ("http-no-version", "tools"),
    // A line that is not a message gets an error response.
    ("stdio-parse-error", "answered"),
    ("stdio-batch", "answered"),
    // The reference prints NaN; here NaN is written as null, and the skill does not print it.
    ("stdio-nan", "outputs"),
    // A 415 response names the required header.
    ("http-no-content-type", "415"),
    // A trailing slash does not redirect, and other paths have the error envelope of the HTTP server.
    ("http-slash", "200"),
    ("http-other-path", "404"),
    // Foreign origins are rejected whatever address the server is bound to.
    ("http-origin", "403"),
    ("http-loopback-foreign-origin", "403"),
    // A body that names another protocol version than the header is rejected.
    ("http-discover", "400"),
];

fn mcp() -> McpServer {
    // The skill that prints NaN exists only in the language of the reference.
    let host = SkillSet::with_states(sample::SKILLS.iter().copied(), States::default()).unwrap();
    McpServer::with_environment(host, Environment::from_vars([])).unwrap()
}

fn different(case: &Case) -> Option<&'static str> {
    DIFFERENT
        .iter()
        .find(|(id, _)| *id == case.id)
        .map(|(_, how)| *how)
}

/// The part of a message that must match. Not compared: error texts, the format of JSON in text blocks, and the
/// self-description of the server.
fn comparable(message: &Value) -> Value {
    let mut message = message.clone();
    if let Some(error) = message.get_mut("error").and_then(Value::as_object_mut) {
        error.remove("message");
        error.remove("data");
    }
    if let Some(result) = message.get_mut("result").and_then(Value::as_object_mut) {
        // A missing field is the same as false, and the recordings contain both.
        for name in [
            "serverInfo",
            "capabilities",
            "supportedVersions",
            "ttlMs",
            "cacheScope",
            "tools",
            "nextCursor",
        ] {
            if let Some(value) = result.get_mut(name) {
                *value = json!("its own");
            }
        }
        if let Some(meta) = result.get_mut("_meta").and_then(Value::as_object_mut)
            && let Some(server) = meta.get_mut("io.modelcontextprotocol/serverInfo")
        {
            *server = json!("its own");
        }
        for block in result
            .get_mut("content")
            .and_then(Value::as_array_mut)
            .into_iter()
            .flatten()
        {
            let text = block["text"].as_str().unwrap();
            let mut inner: Value = serde_json::from_str(&text.replace("NaN", "null")).unwrap();
            if let Some(error) = inner.get_mut("error").and_then(Value::as_object_mut) {
                error.insert("message".into(), Value::Null);
                let errors = error
                    .get_mut("details")
                    .and_then(|details| details.get_mut("errors"));
                for violation in errors.and_then(Value::as_array_mut).into_iter().flatten() {
                    violation["message"] = Value::Null;
                }
            }
            block["text"] = inner;
        }
    }
    message
}

/// Sends lines to a server over pipes and returns the lines of the server by id.
fn over_pipes(lines: &[String]) -> Vec<Value> {
    let (host_reads, mut input) = pipe().unwrap();
    let (mut output, host_writes) = pipe().unwrap();
    let host = thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .unwrap();
        let options = StdioOptions::default();
        let file = |pipe: OwnedFd| File::from_std(std::fs::File::from(pipe));
        runtime.block_on(async {
            let (input, output) = (file(host_reads.into()), file(host_writes.into()));
            serve_stdio(mcp(), input, output, options, pending()).await
        })
    });
    for line in lines {
        writeln!(input, "{line}").unwrap();
    }
    drop(input);
    let mut text = String::new();
    output.read_to_string(&mut text).unwrap();
    host.join().unwrap().unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn line(message: &Value) -> String {
    message
        .as_str()
        .map_or_else(|| message.to_string(), str::to_owned)
}

fn replay_stdio(case: &Case) {
    let initialize = json!({
        "jsonrpc": "2.0", "id": "first", "method": "initialize",
        "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
    });
    let mut lines = Vec::new();
    if case.input["afterInitialize"] == true {
        lines.push(initialize.to_string());
        lines.push(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.to_owned());
    }
    lines.extend(case.input["messages"].as_array().unwrap().iter().map(line));
    let answers = over_pipes(&lines);
    let of = |id: &Value| answers.iter().find(|answer| answer["id"] == *id);
    for expected in case.expect["replies"].as_array().unwrap() {
        if expected.is_null() {
            assert_eq!(different(case), Some("answered"), "{}", case.id);
            assert!(of(&Value::Null).is_some_and(|answer| answer["error"]["code"].is_i64()));
            continue;
        }
        let found = of(&expected["id"]).unwrap_or_else(|| panic!("{}: {answers:?}", case.id));
        if different(case) == Some("outputs") {
            assert_eq!(found["result"]["isError"], false, "{}", case.id);
            continue;
        }
        assert_eq!(comparable(found), comparable(expected), "{}", case.id);
    }
}

struct Response {
    status: u16,
    headers: BTreeMap<String, String>,
    body: String,
}

async fn send(
    address: SocketAddr,
    method: &str,
    target: &str,
    headers: &[(String, String)],
    body: &str,
) -> Response {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let mut head = format!(
        "{method} {target} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n",
        body.len()
    );
    for (name, value) in headers {
        head += &format!("{name}: {value}\r\n");
    }
    stream
        .write_all(format!("{head}\r\n{body}").as_bytes())
        .await
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let mut lines = head.lines();
    let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    let header = |line: &str| {
        let (name, value) = line.split_once(':').unwrap();
        (name.to_ascii_lowercase(), value.trim().to_owned())
    };
    Response {
        status,
        headers: lines.map(header).collect(),
        body: body.to_owned(),
    }
}

async fn replay_http(case: &Case, address: SocketAddr) {
    let input = &case.input;
    let mut headers: Vec<(String, String)> = input["headers"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|header| {
            (
                header[0].as_str().unwrap().to_owned(),
                header[1].as_str().unwrap().to_owned(),
            )
        })
        .collect();
    let mut body = match &input["body"] {
        Value::Null => String::new(),
        body => line(body),
    };
    let mut host = "localhost".to_owned();
    if input.get("appHost").is_some() {
        host = input["hostHeader"]
            .as_str()
            .unwrap()
            .replace("<port>", &address.port().to_string());
        for (name, value) in [
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
        ] {
            headers.push((name.to_owned(), value.to_owned()));
        }
        body = String::from(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
    }
    headers.push(("Host".to_owned(), host));
    let method = input["method"].as_str().unwrap_or("POST");
    let target = input["target"].as_str().unwrap_or("/mcp");
    let answer = send(address, method, target, &headers, &body).await;
    let json: Value = serde_json::from_str(&answer.body).unwrap_or(Value::Null);
    if let Some(Ok(status)) = different(case).map(str::parse::<u16>) {
        assert_eq!(answer.status, status, "{}: {}", case.id, answer.body);
        return;
    }
    assert_eq!(
        u64::from(answer.status),
        case.expect["status"].as_u64().unwrap(),
        "{}: {}",
        case.id,
        answer.body
    );
    assert_eq!(answer.headers["content-type"], "application/json", "{}", case.id);
    let expected: Value = match case.expect.get("json") {
        Some(json) => json.clone(),
        None => serde_json::from_str(case.expect["bodyText"].as_str().unwrap()).unwrap(),
    };
    assert_eq!(comparable(&json), comparable(&expected), "{}", case.id);
}

async fn server() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let http = McpHttpServer::anonymous(mcp());
    tokio::spawn(serve(http, listener, ServeOptions::default(), pending()));
    address
}

#[tokio::test]
async fn recorded_traffic_matches() {
    let address = server().await;
    let mut replay = Replay::new(&[]);
    for case in &cases::load("mcp.json") {
        match case.input["transport"].as_str() {
            Some("stdio") => replay.run_blocking(case, || replay_stdio(case)),
            _ => replay.run(case, replay_http(case, address)).await,
        }
    }
    replay.finish();
}

/// The messages that the executor's client really sends, in their order.
#[tokio::test]
async fn recorded_clients_are_served() {
    let address = server().await;
    let mut replay = Replay::new(&[]);
    for case in &cases::load("mcp_client.json") {
        if is_over_pipes(case) {
            replay.run_blocking(case, || replay_client_over_pipes(case));
        } else {
            replay.run(case, replay_client(case, address)).await;
        }
    }
    replay.finish();
}

fn is_over_pipes(case: &Case) -> bool {
    case.id.starts_with("stdio")
}

fn transcript(case: &Case) -> &[Value] {
    case.expect["transcript"].as_array().unwrap()
}

/// The messages of one side of a transcript.
fn messages_of(case: &Case, by: &str) -> Vec<Value> {
    let entries = transcript(case).iter().filter(|entry| entry["from"] == by);
    entries.map(|entry| entry["message"].clone()).collect()
}

fn replay_client_over_pipes(case: &Case) {
    let lines: Vec<String> = messages_of(case, "client").iter().map(Value::to_string).collect();
    let answers = over_pipes(&lines);
    for expected in messages_of(case, "server") {
        let found = answers.iter().find(|answer| answer["id"] == expected["id"]);
        let found = found.unwrap();
        assert_eq!(comparable(found), without_hints(comparable(&expected), found));
    }
}

async fn replay_client(case: &Case, address: SocketAddr) {
    for exchange in transcript(case) {
        let answer = send_recorded(exchange, address).await;
        let recorded = &exchange["response"];
        assert_eq!(json!(answer.status), recorded["status"], "{}", answer.body);
        let found: Value = serde_json::from_str(&answer.body).unwrap();
        let expected: Value = serde_json::from_str(recorded["body"].as_str().unwrap()).unwrap();
        assert_eq!(comparable(&found), without_hints(comparable(&expected), &found));
    }
}

/// Sends a recorded request.
async fn send_recorded(exchange: &Value, address: SocketAddr) -> Response {
    let recorded = exchange["headers"].as_object().unwrap().iter();
    let headers: Vec<(String, String)> = recorded
        .map(|(name, value)| (name.clone(), value.as_str().unwrap().to_owned()))
        .chain([("Host".to_owned(), "localhost".to_owned())])
        .collect();
    send(address, "POST", "/mcp", &headers, &exchange["body"].to_string()).await
}

/// Without the cache hints and the self-description of the server: the recording has them in fewer places.
fn without_hints(mut expected: Value, found: &Value) -> Value {
    for name in ["ttlMs", "_meta"] {
        if expected["result"].get(name).is_none() && found["result"].get(name).is_some() {
            expected["result"][name] = comparable(found)["result"][name].clone();
        }
    }
    expected
}

/// The client falls back to `initialize` when `server/discover` fails. The messages that it sends then must be accepted
/// as well.
#[tokio::test]
async fn recorded_fallbacks_are_served() {
    let address = server().await;
    let mut replay = Replay::new(&[]);
    for case in &cases::load("mcp_client_fallback.json") {
        if is_over_pipes(case) {
            replay.run_blocking(case, || replay_fallback_over_pipes(case));
        } else {
            replay.run(case, replay_fallback(case, address)).await;
        }
    }
    replay.finish();
}

fn replay_fallback_over_pipes(case: &Case) {
    let lines: Vec<String> = messages_of(case, "client").iter().map(Value::to_string).collect();
    let answers = over_pipes(&lines);
    let last = answers.iter().find(|answer| answer["id"] == 3).unwrap();
    assert_eq!(last["result"]["structuredContent"]["sum"], 3);
    assert!(answers.iter().all(|answer| answer.get("error").is_none()));
}

async fn replay_fallback(case: &Case, address: SocketAddr) {
    for exchange in transcript(case) {
        let answer = send_recorded(exchange, address).await;
        // This server does not fail where the recorded stub did.
        let status = match exchange["body"]["method"].as_str() {
            Some("server/discover") => json!(200),
            _ => exchange["answer"].clone(),
        };
        assert_eq!(json!(answer.status), status, "{}", answer.body);
    }
}
