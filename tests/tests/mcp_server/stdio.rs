//! MCP over stdio: invalid lines, the end of the input, and clients that do not read.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::thread;
use std::time::{Duration, Instant};

use proptest::strategy::Strategy as _;
use serde_json::{Value, json};
use skill_sdk::mcp::{StdioOptions, serve_stdio};
use skill_sdk_tests::skill_events;
use tokio::io::{AsyncRead, ReadBuf};

use super::client::{Client, PATIENCE, call, mcp_server, tool_failure};

/// Options with changes.
pub(super) fn options(change: impl FnOnce(&mut StdioOptions)) -> StdioOptions {
    let mut options = StdioOptions::default();
    change(&mut options);
    options
}

#[test]
fn invalid_lines_get_an_error_and_the_session_continues() {
    let mut client = Client::legacy();
    for (line, code, id) in [
        ("{not json", -32700, json!(null)),
        ("\u{1}", -32700, json!(null)),
        (
            "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]",
            -32602,
            json!(null),
        ),
        ("[]", -32602, json!(null)),
        ("1", -32600, json!(null)),
        ("{\"jsonrpc\":\"2.0\",\"id\":9}", -32600, json!(9)),
        (
            "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}",
            -32600,
            json!(null),
        ),
        ("{\"id\":\"x\",\"method\":\"ping\"}", -32600, json!("x")),
    ] {
        client.send(line);
        let (found, wrong, _) = client.protocol_error();
        assert_eq!((found, wrong), (id, code), "{line}");
    }
    client.send(b"\xff\xfe");
    assert_eq!(client.protocol_error().1, -32700);
    client.send("");
    client.send("  \r");
    client.send(format!(
        "  {}  \r",
        call(1, "mcp.act", &json!({"action": "a"}), &Value::Null)
    ));
    assert_eq!(client.take()["result"]["structuredContent"]["result"], "a");
}

#[test]
fn batches_are_accepted_only_in_revision_2025_03_26() {
    let ping = |id: u64| super::client::request(id, "ping", &json!({}));
    let act = |id: u64| call(id, "mcp.act", &json!({"action": "a"}), &Value::Null);
    let notification = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let mut client = Client::new();
    client.initialize("2025-03-26");
    client.send(format!("[{},{notification},{},{},5]", act(1), ping(2), act(3)));
    let mut answers: Vec<Value> = (0..4).map(|_| client.take()).collect();
    answers.sort_by_key(|answer| answer["id"].as_u64());
    assert_eq!(answers[0]["error"]["code"], -32600);
    let ids: Vec<_> = answers.iter().map(|answer| answer["id"].as_u64()).collect();
    assert_eq!(ids, [None, Some(1), Some(2), Some(3)]);
    assert_eq!(answers[3]["result"]["structuredContent"]["result"], "a");
    client.send(format!("[{notification}]"));
    client.send("[]");
    assert_eq!(client.protocol_error().1, -32602);
    assert_eq!(client.end(), Vec::<Value>::new());
    for version in ["2024-11-05", "2025-06-18", "2025-11-25"] {
        let mut client = Client::new();
        client.initialize(version);
        client.send(format!("[{}]", ping(1)));
        assert_eq!(client.protocol_error().1, -32602, "{version}");
    }
}

#[test]
fn an_id_comes_back_as_it_was_written() {
    let mut client = Client::legacy();
    for id in ["1180591620717411303424", "-0", "1e3", "1.50", r#""a""#] {
        for request in [
            r#""method":"ping"}"#.to_owned(),
            r#""method":"nothing/there"}"#.to_owned(),
            format!(
                r#""method":"tools/call","params":{{"name":"mcp.act","arguments":{{"action":"a"}},"_meta":{{"progressToken":{id}}}}}}}"#
            ),
        ] {
            client.send(format!(r#"{{"jsonrpc":"2.0","id":{id},{request}"#));
            let line = client.line();
            assert!(
                line.starts_with(&format!(r#"{{"jsonrpc":"2.0","id":{id},"#)),
                "{line}"
            );
        }
        let call = r#""method":"tools/call","params":{"name":"mcp.act","arguments":{"action":"hang"},"_meta":{"progressToken":1}}}"#;
        client.send(format!(r#"{{"jsonrpc":"2.0","id":{id},{call}"#));
        assert_eq!(client.take()["params"]["progressToken"], 1);
        client.send(format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
        ));
    }
    assert_eq!(client.end(), Vec::<Value>::new());
}

#[test]
fn a_byte_order_mark_is_ignored() {
    let mut client = Client::new();
    client.send(format!(
        "\u{feff}{}",
        super::client::request(1, "ping", &json!({}))
    ));
    assert_eq!(client.take(), json!({"jsonrpc": "2.0", "id": 1, "result": {}}));
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]

    /// Whatever the client sends, the session continues, and the server responds with valid messages.
    #[test]
    fn arbitrary_lines_do_not_end_the_session(
        bytes in proptest::collection::vec(proptest::prelude::any::<u8>().prop_filter("one line", |byte| *byte != b'\n'), 0..60),
        text in r#"[\[\]{}:,"a-z0-9 ._/-]{0,60}"#,
        id in proptest::prelude::any::<i64>(),
        method in "(tools/call|tools/list|initialize|ping|server/discover|notifications/cancelled|[a-z/]{0,12})",
    ) {
        let mut client = Client::legacy();
        client.send(&bytes);
        client.send(&text);
        client.send(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{text}}}"#));
        client.send(super::client::request(id, &method, &json!({"name": text, "arguments": text, "_meta": text})));
        client.send(super::client::request(id, &method, &json!({"_meta": {"progressToken": text}, "cursor": text, "requestId": id})));
        client.act("the end", "a", &Value::Null);
        let rest = client.end();
        let last = rest.iter().find(|answer| answer["id"] == "the end");
        proptest::prop_assert_eq!(&last.unwrap()["result"]["structuredContent"]["result"], "a");
    }
}

#[test]
fn too_long_lines_get_an_error() {
    let mut client = Client::of(mcp_server(), options(|options| options.message_limit = 1000));
    client.initialize("2025-11-25");
    let long = "x".repeat(100_000);
    client.act("its id", &long, &Value::Null);
    let (id, code, text) = client.protocol_error();
    assert_eq!((id, code), ("its id".into(), -32600));
    assert!(text.contains("the limit is 1000"), "{text}");
    client.send(&long);
    assert_eq!(client.protocol_error().0, Value::Null);
    client.act(1, "a", &Value::Null);
    assert_eq!(client.take()["id"], 1);
}

#[test]
fn calls_finish_after_the_end_of_the_input() {
    let mut client = Client::legacy();
    for id in 0..50 {
        client.act(id, "progress", &Value::Null);
    }
    let mut ids: Vec<u64> = client
        .end()
        .iter()
        .map(|answer| answer["id"].as_u64().unwrap())
        .collect();
    ids.sort_unstable();
    assert_eq!(ids, (0..50).collect::<Vec<_>>());
}

#[test]
fn the_drain_timeout_applies_after_the_end_of_the_input() {
    let mut client = Client::of(mcp_server(), options(|options| options.drain = Duration::ZERO));
    client.initialize("2025-11-25");
    client.act(1, "hang", &json!({"progressToken": "p"}));
    assert_eq!(client.take()["method"], "notifications/progress");
    let rest = client.end();
    assert_eq!(rest.len(), 1, "{rest:?}");
    assert_eq!(tool_failure(&rest[0]), ("overloaded".to_owned(), true));
}

#[test]
fn the_last_line_needs_no_line_break() {
    let mut client = Client::legacy();
    let line = call(1, "mcp.act", &json!({"action": "a"}), &Value::Null);
    client.input.as_mut().unwrap().write_all(line.as_bytes()).unwrap();
    assert_eq!(client.end()[0]["id"], 1);
}

#[test]
fn shutdown_finishes_running_calls_and_rejects_new_ones() {
    let mut client = Client::of(mcp_server(), options(|options| options.drain = PATIENCE));
    client.initialize("2025-11-25");
    client.act(1, "hang", &json!({"progressToken": "p"}));
    client.take();
    client.stop.take().unwrap().send(()).unwrap();
    loop {
        client.act(2, "a", &Value::Null);
        let answer = client.take();
        if answer["result"]["isError"] == true {
            assert_eq!(tool_failure(&answer), ("overloaded".to_owned(), true));
            break;
        }
    }
    client.cancel(1);
    let input = client.input.take();
    assert_eq!(client.rest(), Vec::<Value>::new());
    drop(input);
}

#[test]
fn backpressure_stops_reading() {
    const CALLS: usize = 20_000;
    let (mut client, output) = Client::unread(mcp_server(), StdioOptions::default());
    client.initialize_unread();
    let mut input = client.input.take().unwrap();
    let sent = Arc::new(AtomicUsize::new(0));
    let writer = {
        let sent = Arc::clone(&sent);
        let arguments = json!({"action": "x".repeat(1000)});
        thread::spawn(move || {
            for id in 1..=CALLS {
                writeln!(input, "{}", call(id, "mcp.act", &arguments, &Value::Null)).unwrap();
                sent.fetch_add(1, Ordering::Relaxed);
            }
        })
    };
    // The server stops reading, so the client can no longer write.
    let blocked = skill_events::wait_until_stable(&sent);
    assert!(blocked < 15_000, "{blocked} calls of 1000 bytes were taken");
    // Once the client reads, it gets the response of every call.
    let ids: BTreeSet<u64> = BufReader::new(output)
        .lines()
        .map(|line| {
            let answer: Value = serde_json::from_str(&line.unwrap()).unwrap();
            answer["id"].as_u64().unwrap()
        })
        .collect();
    writer.join().unwrap();
    client.wait();
    assert_eq!(ids.len(), CALLS + 1);
}

#[test]
fn a_disconnect_stops_the_server() {
    let (mut client, output) = Client::unread(mcp_server(), StdioOptions::default());
    client.initialize_unread();
    drop(output);
    let start = Instant::now();
    let mut input = client.input.take().unwrap();
    // A failed write detects the disconnect.
    while writeln!(input, "{}", super::client::request(1, "ping", &json!({}))).is_ok() {
        assert!(start.elapsed() < PATIENCE);
    }
    client.wait();
}

impl Client {
    fn initialize_unread(&mut self) {
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        self.send(super::client::request(0, "initialize", &params));
    }
}

#[test]
fn the_message_limit_can_be_the_largest_number() {
    let mut client = Client::of(
        mcp_server(),
        options(|options| options.message_limit = usize::MAX),
    );
    client.initialize("2025-11-25");
    client.act(1, "a", &Value::Null);
    assert_eq!(client.take()["id"], 1);
    client.end();
}

#[test]
fn a_panic_while_reading_is_an_error_of_the_server() {
    struct Broken;
    impl AsyncRead for Broken {
        fn poll_read(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
            _: &mut ReadBuf<'_>,
        ) -> Poll<std::io::Result<()>> {
            panic!("hunter2")
        }
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    let served = serve_stdio(
        mcp_server(),
        Broken,
        tokio::io::sink(),
        StdioOptions::default(),
        std::future::pending(),
    );
    let error = runtime.block_on(served).unwrap_err();
    assert!(error.to_string().contains("ended unexpectedly"), "{error}");
}
