//! Calls and their results.

use serde_json::{Value, json};
use skill_sdk::mcp::StdioOptions;
use skill_sdk_tests::log;

use super::client::{Client, Server, call, mcp_server, request, stateless_meta, tool_failure};

#[test]
fn outputs_are_sent_as_text_and_structured_content() {
    let mut client = Client::legacy();
    client.act(1, "Ёж & \"q\" \n 🙂", &Value::Null);
    let answer = client.take();
    let outputs = json!({"result": "Ёж & \"q\" \n 🙂"});
    assert_eq!(
        answer,
        json!({"jsonrpc": "2.0", "id": 1, "result": {
            "content": [{"type": "text", "text": outputs.to_string()}],
            "structuredContent": outputs,
            "isError": false,
        }})
    );
    client.act("two", "spend", &Value::Null);
    assert_eq!(
        client.take()["result"]["_meta"],
        json!({"skill/cost": {"units": {"ё": 1.5}}})
    );
}

#[test]
fn failures_are_results_with_is_error() {
    let mut client = Client::legacy();
    for (action, code, retryable) in [
        ("retryable", "busy", true),
        ("terminal", "denied", false),
        ("panic", "skill_error", false),
    ] {
        client.act(1, action, &Value::Null);
        let answer = client.take();
        assert_eq!(tool_failure(&answer), (code.to_owned(), retryable));
    }
    client.send(call(2, "mcp.nope", &json!({}), &Value::Null));
    assert_eq!(
        tool_failure(&client.take()),
        ("skill_not_hosted".to_owned(), false)
    );
    client.send(call(3, "mcp.act", &json!({"action": 1, "more": 2}), &Value::Null));
    let answer = client.take();
    assert_eq!(
        tool_failure(&answer),
        ("input_contract_violation".to_owned(), false)
    );
    let text = answer["result"]["content"][0]["text"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(text.contains("\"path\":\"/action\""), "{text}");
    // The server is still running.
    client.act(4, "a", &Value::Null);
    assert_eq!(client.take()["result"]["isError"], false);
}

#[test]
fn invalid_arguments_are_rejected() {
    let mut client = Client::legacy();
    for params in [
        json!({"name": "mcp.optional"}),
        json!({"name": "mcp.optional", "arguments": null}),
        json!({"name": "mcp.optional", "arguments": {}}),
        json!({"name": "mcp.optional", "arguments": {"text": null}}),
    ] {
        client.send(request(1, "tools/call", &params));
        assert_eq!(
            client.take()["result"]["structuredContent"],
            json!({"result": false}),
            "{params}"
        );
    }
    for (params, says) in [
        (json!({"name": "mcp.act", "arguments": []}), "an array"),
        (
            json!({"name": "mcp.act", "arguments": "{\"action\": \"a\"}"}),
            "not a string that holds it",
        ),
        (json!({"name": "mcp.act", "arguments": 1}), "a number"),
        (json!({"name": "mcp.act", "arguments": true}), "a boolean"),
        (json!({"arguments": {}}), "`params.name` is missing"),
        (json!({"name": null}), "`params.name` is missing"),
        (json!({"name": 1}), "a number"),
        (json!({"name": "mcp.act", "_meta": []}), "`params._meta`"),
        (json!([]), "`params` must be an object"),
        (json!("x"), "`params` must be an object"),
        (Value::Null, "`params.name` is missing"),
    ] {
        client.send(request(1, "tools/call", &params));
        let (id, code, text) = client.protocol_error();
        assert_eq!((id, code), (1.into(), -32602), "{params}");
        assert!(text.contains(says), "{text}");
    }
    // A string stays a string, even if it looks like JSON.
    client.act(2, "{\"a\": 1}", &Value::Null);
    assert_eq!(
        client.take()["result"]["structuredContent"]["result"],
        "{\"a\": 1}"
    );
}

#[test]
fn metadata_reaches_the_skill() {
    let mut client = Client::legacy();
    for (meta, expected) in [
        (json!({}), "mcp None None {} None"),
        (
            json!({"skill/invocationId": "i", "skill/idempotencyKey": "k\u{e9}\n", "skill/settings": {"values": {"a": [1]}}}),
            "mcp Some(\"i\") Some(\"ké\\n\") {\"a\":[1]} None",
        ),
        (
            json!({"skill/invocationId": "", "skill/idempotencyKey": 7, "skill/settings": {"values": 1}}),
            "mcp None None {} None",
        ),
        (
            json!({"skill/invocationId": null, "skill/idempotencyKey": ["k"], "skill/settings": "x", "traceparent": 5}),
            "mcp None None {} None",
        ),
    ] {
        client.act(1, "context", &meta);
        assert_eq!(
            client.take()["result"]["structuredContent"]["result"],
            expected,
            "{meta}"
        );
    }
}

#[tokio::test]
async fn the_trace_of_the_caller_reaches_the_skill() {
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let other = "00-11111111111111111111111111111111-2222222222222222-01";
    let all = json!({"traceparent": parent, "tracestate": "vendor=1"});
    let told = format!("traceparent={parent};tracestate=vendor=1;");
    let server = Server::anonymous().await;
    for (meta, headers, expected) in [
        (all.clone(), vec![], told.clone()),
        // Trace context in the message takes precedence over HTTP headers.
        (all, vec![("traceparent", other)], told),
        (
            json!({}),
            vec![("traceparent", other)],
            format!("traceparent={other};"),
        ),
        (json!({"traceparent": "nonsense"}), vec![], String::new()),
        (json!({}), vec![], String::new()),
    ] {
        let message = call(1, "mcp.act", &json!({"action": "trace"}), &meta);
        let answer = server.post_with(&message, &headers).await.json();
        assert_eq!(
            answer["result"]["structuredContent"]["result"], expected,
            "{meta} {headers:?}"
        );
        if headers.is_empty() {
            let mut client = Client::legacy();
            client.send(message);
            assert_eq!(
                client.take()["result"]["structuredContent"]["result"],
                expected,
                "{meta}"
            );
        }
    }
}

#[test]
fn unadvertised_methods_are_rejected() {
    let mut client = Client::legacy();
    client.send(call(
        1,
        "mcp.act",
        &json!({"action": "a", "more": 2}),
        &Value::Null,
    ));
    assert_eq!(tool_failure(&client.take()).0, "input_contract_violation");
    client.send(call(1, "mcp.act", &json!({"action": 5}), &Value::Null));
    assert_eq!(
        tool_failure(&client.take()).0,
        "input_contract_violation",
        "a number is not a string"
    );
}

#[test]
fn inputs_and_outputs_are_not_logged() {
    log::capture();
    let mut client = Client::legacy();
    client.act(
        1,
        "hunter3",
        &json!({"skill/settings": {"values": {"a": "hunter3"}}}),
    );
    client.take();
    client.send(call(2, "mcp.act", &json!({"action": ["hunter3"]}), &Value::Null));
    client.take();
    client.send("{\"hunter3");
    client.take();
    client.send(request(
        4,
        "tools/call",
        &json!({"name": "mcp.act", "arguments": ["hunter3"]}),
    ));
    client.take();
    assert!(!log::text().contains("hunter3"));
}

#[test]
fn every_message_is_one_line() {
    let mut client = Client::legacy();
    client.send(call(1, "mcp.broken-lines", &json!({}), &Value::Null));
    assert_eq!(client.take()["result"]["structuredContent"], json!({"a": "b\n"}));
    client.send(call(
        2,
        "mcp.large",
        &json!({"bytes": 20_000_000}),
        &stateless_meta(),
    ));
    let answer = client.take();
    assert_eq!(
        answer["result"]["structuredContent"]["result"]
            .as_str()
            .unwrap()
            .len(),
        20_000_000
    );
}

#[test]
fn calls_beyond_the_concurrency_limit_wait() {
    let mut client = Client::of(mcp_server().concurrency(1), StdioOptions::default());
    client.initialize("2025-11-25");
    client.act(1, "hang", &json!({"progressToken": "p"}));
    assert_eq!(client.take()["method"], "notifications/progress");
    client.act(2, "a", &Value::Null);
    client.act(3, "b", &Value::Null);
    client.send(request(4, "ping", &json!({})));
    assert_eq!(client.take()["id"], 4, "only calls wait");
    client.cancel(1);
    // The order is not specified.
    let mut ids = [client.take(), client.take()].map(|answer| answer["id"].as_u64());
    ids.sort_unstable();
    assert_eq!(ids, [Some(2), Some(3)]);
}

#[test]
fn a_thousand_calls_in_one_write_all_finish() {
    let mut client = Client::of(mcp_server().concurrency(2), StdioOptions::default());
    client.initialize("2025-11-25");
    let calls: Vec<String> = (0..1000)
        .map(|id| call(id, "mcp.act", &json!({"action": "a"}), &Value::Null))
        .collect();
    client.send(calls.join("\n"));
    let answers = client.end();
    assert_eq!(answers.len(), 1000);
    assert!(answers.iter().all(|answer| answer["result"]["isError"] == false));
}

#[test]
fn waiting_calls_time_out() {
    let mut client = Client::of(mcp_server().concurrency(1), StdioOptions::default());
    client.initialize("2025-11-25");
    client.act(1, "hang", &json!({"progressToken": "p"}));
    assert_eq!(client.take()["method"], "notifications/progress");
    client.send(call(2, "mcp.briefly", &json!({}), &Value::Null));
    let answer = client.take();
    assert_eq!(tool_failure(&answer), ("timeout".to_owned(), true));
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert!(
        text.contains("the call waited for others for 1 s, the timeout of its contract"),
        "{text}"
    );
    client.cancel(1);
}

#[test]
fn a_duplicate_id_is_rejected() {
    let mut client = Client::legacy();
    client.act("a", "hang", &json!({"progressToken": 1}));
    client.take();
    client.act("a", "b", &Value::Null);
    assert_eq!(client.protocol_error().1, -32600);
    client.cancel("a");
    client.act("a", "b", &Value::Null);
    assert_eq!(client.take()["result"]["structuredContent"]["result"], "b");
}
