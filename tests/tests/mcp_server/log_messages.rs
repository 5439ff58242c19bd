//! Log messages from skills to their clients.

use serde_json::{Value, json};
use skill_sdk::context::NoticeLevel;
use skill_sdk::mcp::StdioOptions;
use skill_sdk::mcp::http::McpHttpServer;
use skill_sdk_tests::raw_http::{Client as Connection, Response};
use skill_sdk_tests::skill_events::SkillEvents;

use super::client::{
    Client, Server, block_on, call, http, mcp_server, protocol_error, request, stateless_meta, tool_failure,
};

/// The messages that `mcp.act` sends with the action `notify`: levels and texts.
const TOLD: [(&str, &str); 5] = [
    ("debug", "looking closely"),
    ("info", "line\nbreak Ё"),
    ("notice", "odd"),
    ("warning", "half is missing"),
    ("error", "broken"),
];

/// The levels and texts of these messages, which must be log messages.
fn log_messages(messages: &[Value]) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    messages
        .iter()
        .map(|message| {
            assert_eq!(message["method"], "notifications/message", "{message}");
            let params = message["params"].as_object().unwrap();
            assert_eq!(params.keys().collect::<Vec<_>>(), ["level", "logger", "data"]);
            assert_eq!(params["logger"], "mcp.act");
            (text(&params["level"]), text(&params["data"]))
        })
        .collect()
}

/// The messages of this level and above.
fn at_or_above(level: &str) -> Vec<(String, String)> {
    let first = TOLD.iter().position(|(known, _)| *known == level);
    let own = |(level, text): &(&str, &str)| ((*level).to_owned(), (*text).to_owned());
    TOLD[first.unwrap_or(TOLD.len())..].iter().map(own).collect()
}

fn set_level(level: &Value) -> String {
    request("level", "logging/setLevel", &json!({"level": level}))
}

/// All messages before the response to `id`, which must be a success.
fn messages_until(client: &Client, id: &str) -> Vec<Value> {
    let mut before = Vec::new();
    loop {
        let message = client.take();
        if message["id"] == id {
            assert_eq!(message["result"]["isError"], false, "{message}");
            return before;
        }
        before.push(message);
    }
}

fn with_level(level: &str) -> Value {
    let mut meta = stateless_meta();
    meta["io.modelcontextprotocol/logLevel"] = level.into();
    meta
}

#[test]
fn an_initialize_based_client_sets_the_level() {
    let mut client = Client::of(mcp_server().notices(true), StdioOptions::default());
    let answer = client.initialize("2025-11-25");
    assert_eq!(answer["result"]["capabilities"]["logging"], json!({}));
    client.act("a", "notify", &Value::Null);
    assert_eq!(log_messages(&messages_until(&client, "a")), [], "nobody asked");
    for level in [
        "debug",
        "info",
        "notice",
        "warning",
        "error",
        "critical",
        "alert",
        "emergency",
    ] {
        client.send(set_level(&level.into()));
        assert_eq!(
            client.take(),
            json!({"jsonrpc": "2.0", "id": "level", "result": {}})
        );
        client.act("a", "notify", &Value::Null);
        assert_eq!(
            log_messages(&messages_until(&client, "a")),
            at_or_above(level),
            "{level}"
        );
    }
    client.send(set_level(&"info".into()));
    client.take();
    for level in [json!("Info"), json!(""), json!(1), json!(null), json!({})] {
        client.send(set_level(&level));
        let (id, code, message) = client.protocol_error();
        assert_eq!((id, code), (json!("level"), -32602));
        assert!(
            message.contains("`params.level` must be one of debug, info"),
            "{message}"
        );
    }
    client.send(request("level", "logging/setLevel", &Value::Null));
    assert_eq!(client.protocol_error().1, -32602);
    client.act("a", "notify", &Value::Null);
    assert_eq!(
        log_messages(&messages_until(&client, "a")),
        at_or_above("info"),
        "a wrong level changes nothing"
    );
    // Events that a skill logs with `tracing` are for the operator only.
    client.act("a", "log", &Value::Null);
    assert_eq!(log_messages(&messages_until(&client, "a")), []);
    // No message follows the result, also not after a failure.
    let mut events = SkillEvents::of_call("notify-and-fail");
    client.act(
        "a",
        "notify and fail",
        &json!({"skill/invocationId": "notify-and-fail"}),
    );
    assert_eq!(client.take()["params"]["data"], "before");
    assert_eq!(tool_failure(&client.take()).0, "denied");
    let context = block_on(events.started());
    context.notify(NoticeLevel::Error, "too late");
    assert_eq!(client.end(), Vec::<Value>::new());
}

#[test]
fn the_level_can_be_set_without_initialize() {
    let mut client = Client::of(mcp_server().notices(true), StdioOptions::default());
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2025-11-25",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let set = |level: &str| {
        request(
            "level",
            "logging/setLevel",
            &json!({"level": level, "_meta": meta}),
        )
    };
    client.send(set("loud"));
    assert_eq!(client.protocol_error().1, -32602);
    client.act("a", "notify", &meta);
    assert_eq!(log_messages(&messages_until(&client, "a")), [], "nobody asked");
    client.send(set("warning"));
    assert_eq!(client.take()["result"], json!({}));
    client.act("a", "notify", &meta);
    assert_eq!(
        log_messages(&messages_until(&client, "a")),
        at_or_above("warning")
    );
    client.initialize("2025-11-25");
    client.act("a", "notify", &Value::Null);
    assert_eq!(
        log_messages(&messages_until(&client, "a")),
        [],
        "a new `initialize` resets the level"
    );
    assert_eq!(client.end(), Vec::<Value>::new());
}

#[test]
fn a_stateless_request_names_its_level() {
    let mut client = Client::of(mcp_server().notices(true), StdioOptions::default());
    client.send(request(
        "d",
        "server/discover",
        &json!({"_meta": stateless_meta()}),
    ));
    assert_eq!(client.take()["result"]["capabilities"]["logging"], json!({}));
    for level in ["debug", "warning", "emergency"] {
        client.act("a", "notify", &with_level(level));
        assert_eq!(
            log_messages(&messages_until(&client, "a")),
            at_or_above(level),
            "{level}"
        );
    }
    client.act("a", "notify", &stateless_meta());
    assert_eq!(
        log_messages(&messages_until(&client, "a")),
        [],
        "each request has its own level"
    );
    client.act("a", "notify", &with_level("loud"));
    let (_, code, message) = client.protocol_error();
    assert_eq!(code, -32602);
    assert!(
        message.contains("io.modelcontextprotocol/logLevel` must be one of debug"),
        "{message}"
    );
    client.send(request(
        "l",
        "logging/setLevel",
        &json!({"level": "debug", "_meta": stateless_meta()}),
    ));
    assert_eq!(client.protocol_error().1, -32601, "the method no longer exists");
    assert_eq!(client.end(), Vec::<Value>::new());
}

#[test]
fn a_server_without_log_messages_does_not_declare_logging() {
    let mut client = Client::new();
    let answer = client.initialize("2025-11-25");
    assert!(
        answer["result"]["capabilities"].get("logging").is_none(),
        "{answer}"
    );
    client.send(set_level(&"debug".into()));
    assert_eq!(client.protocol_error().1, -32601);
    client.act("a", "notify", &Value::Null);
    assert_eq!(log_messages(&messages_until(&client, "a")), []);
    for meta in [with_level("debug"), with_level("loud")] {
        client.act("a", "notify", &meta);
        assert_eq!(log_messages(&messages_until(&client, "a")), []);
    }
    client.send(request(
        "d",
        "server/discover",
        &json!({"_meta": stateless_meta()}),
    ));
    assert!(client.take()["result"]["capabilities"].get("logging").is_none());
}

/// Posts a message, and returns the documents of the response, whether it is JSON or a stream.
async fn post(server: &Server, message: &str, headers: &[(&str, &str)]) -> (String, Vec<Value>) {
    let mut connection = Connection::connect(server.address).await;
    let mut all = vec![("Connection", "close")];
    all.extend(headers);
    connection.send(http("POST", "/mcp", &all, message)).await;
    let raw = String::from_utf8(connection.closed().await).unwrap();
    let (head, body) = raw.split_once("\r\n\r\n").unwrap();
    let documents = body
        .lines()
        .map(|line| line.strip_prefix("data: ").unwrap_or(line))
        .filter(|line| line.starts_with('{'));
    let documents = documents
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    (head.to_ascii_lowercase(), documents)
}

#[tokio::test]
async fn over_http_messages_are_on_the_stream_of_the_call() {
    let server = Server::of(McpHttpServer::anonymous(mcp_server().notices(true))).await;
    let headers = [
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", "tools/call"),
        ("Mcp-Name", "mcp.act"),
    ];
    let message = |meta: &Value| call(1, "mcp.act", &json!({"action": "notify"}), meta);
    let (head, mut documents) = post(&server, &message(&with_level("notice")), &headers).await;
    assert!(head.contains("content-type: text/event-stream"), "{head}");
    let result = documents.pop().unwrap();
    assert_eq!(result["result"]["structuredContent"]["result"], "notify");
    assert_eq!(log_messages(&documents), at_or_above("notice"));
    // Without messages, or with a client that accepts no stream, the response is one JSON document.
    let plain = [&headers[..], &[("Accept", "application/json")]].concat();
    for (meta, headers) in [
        (with_level("emergency"), &headers[..]),
        (stateless_meta(), &headers),
        (with_level("debug"), &plain),
    ] {
        let (head, documents) = post(&server, &message(&meta), headers).await;
        assert!(head.contains("content-type: application/json"), "{head}");
        assert_eq!(documents.len(), 1);
    }
    let (head, documents) = post(&server, &message(&with_level("loud")), &headers).await;
    assert!(head.starts_with("http/1.1 200"), "{head}");
    assert_eq!(protocol_error(&documents[0]).1, -32602);

    // Without sessions the level of an `initialize`-based client is not stored.
    let answer = initialize(&server).await;
    assert!(answer.json()["result"]["capabilities"].get("logging").is_none());
    assert_eq!(answer.header("mcp-session-id"), "");
    let answer = server.post(&set_level(&"debug".into())).await;
    assert_eq!(protocol_error(&answer.json()).1, -32601);
}

async fn initialize(server: &Server) -> Response {
    let params = json!({
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"},
    });
    server.post(&request("i", "initialize", &params)).await
}

#[tokio::test]
async fn a_burst_of_log_messages_does_not_displace_an_elicitation() {
    let server = Server::of(McpHttpServer::anonymous(mcp_server().notices(true)).sessions(true)).await;
    let params = json!({
        "protocolVersion": "2025-11-25", "capabilities": {"roots": {}}, "clientInfo": {"name": "test", "version": "1"},
    });
    let opened = server.post(&request("i", "initialize", &params)).await;
    let session = [
        ("MCP-Protocol-Version", "2025-11-25"),
        ("Mcp-Session-Id", opened.header("mcp-session-id")),
    ];
    server.post_with(&set_level(&"debug".into()), &session).await;
    let mut calling = Connection::connect(server.address).await;
    let message = call(1, "mcp.ask", &json!({"notices": 200}), &Value::Null);
    calling.send(http("POST", "/mcp", &session, &message)).await;
    calling.receive_head().await;
    let mut stream = String::new();
    let question: Value = loop {
        stream.push_str(&String::from_utf8(calling.receive_bytes(1).await).unwrap());
        assert!(!stream.contains("isError"), "{stream}");
        let line = stream.lines().find(|line| line.contains("roots/list"));
        if let Some(line) = line.filter(|_| stream.ends_with("\n\n")) {
            break serde_json::from_str(line.strip_prefix("data: ").unwrap()).unwrap();
        }
    };
    assert!(stream.contains("notifications/message"), "{stream}");
    let response = json!({"jsonrpc": "2.0", "id": question["id"], "result": {"roots": []}});
    assert_eq!(
        server.post_with(&response.to_string(), &session).await.status,
        202
    );
    while !stream.contains("structuredContent") {
        stream.push_str(&String::from_utf8(calling.receive_bytes(1).await).unwrap());
    }
}

#[tokio::test]
async fn a_session_stores_the_level() {
    let server = Server::of(McpHttpServer::anonymous(mcp_server().notices(true)).sessions(true)).await;
    let (one, other) = (initialize(&server).await, initialize(&server).await);
    assert_eq!(one.json()["result"]["capabilities"]["logging"], json!({}));
    let (one, other) = (one.header("mcp-session-id"), other.header("mcp-session-id"));
    assert!(!one.is_empty() && one != other);
    let version = ("MCP-Protocol-Version", "2025-11-25");
    let answer = server
        .post_with(&set_level(&"warning".into()), &[version, ("Mcp-Session-Id", one)])
        .await;
    assert_eq!(answer.json()["result"], json!({}));
    let answer = server
        .post_with(&set_level(&"loud".into()), &[version, ("Mcp-Session-Id", one)])
        .await;
    assert_eq!(protocol_error(&answer.json()).1, -32602);
    let message = call(1, "mcp.act", &json!({"action": "notify"}), &Value::Null);
    let (_, mut documents) = post(&server, &message, &[version, ("Mcp-Session-Id", one)]).await;
    assert_eq!(documents.pop().unwrap()["result"]["isError"], false);
    assert_eq!(log_messages(&documents), at_or_above("warning"));
    for headers in [&[version, ("Mcp-Session-Id", other)][..], &[version]] {
        let (head, documents) = post(&server, &message, headers).await;
        assert!(head.contains("content-type: application/json"), "{head}");
        assert_eq!(documents.len(), 1, "other sessions have no level");
    }
}
