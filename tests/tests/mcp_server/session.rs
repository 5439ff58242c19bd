//! How a session over pipes begins, in both eras.

use std::time::Duration;

use serde_json::{Value, json};

use super::client::{Client, failed, modern, request};

#[test]
fn versions_are_agreed_on() {
    for (asked, agreed) in [
        ("2025-11-25", "2025-11-25"),
        ("2025-06-18", "2025-06-18"),
        ("2025-03-26", "2025-03-26"),
        ("2024-11-05", "2024-11-05"),
        // It has no `initialize`, and unknown ones are answered with the newest that has.
        ("2026-07-28", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
        ("2099-01-01", "2025-11-25"),
    ] {
        let mut client = Client::new();
        let answer = client.initialize(asked);
        assert_eq!(answer["id"], "initialize");
        assert_eq!(answer["result"]["protocolVersion"], agreed, "{asked}");
        assert!(answer["result"]["capabilities"]["tools"].is_object());
        assert_eq!(
            answer["result"]["serverInfo"],
            json!({"name": "skill-sdk-tests", "version": env!("CARGO_PKG_VERSION")})
        );
        client.act(1, "a", &Value::Null);
        assert_eq!(client.take()["result"]["structuredContent"]["result"], "a");
        assert_eq!(client.end(), Vec::<Value>::new());
    }
}

#[test]
fn a_call_may_follow_at_once() {
    let mut client = Client::new();
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let lines = [
        request(1, "initialize", &params),
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.to_owned(),
        super::client::call(2, "mcp.act", &json!({"action": "a"}), &Value::Null),
    ];
    client.send(lines.join("\n"));
    assert_eq!(client.take()["id"], 1);
    assert_eq!(client.take()["id"], 2);
}

#[test]
fn the_new_era_needs_no_beginning() {
    let mut client = Client::new();
    client.send(request(1, "server/discover", &json!({"_meta": modern()})));
    let answer = client.take()["result"].clone();
    let versions = answer["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&"2026-07-28".into()) && versions.contains(&"2025-11-25".into()));
    assert_eq!(answer["resultType"], "complete");
    assert_eq!(answer["cacheScope"], "public");
    assert!(answer["ttlMs"].as_u64().unwrap() > 0);
    assert!(answer["capabilities"]["tools"].is_object());
    assert_eq!(
        answer["_meta"]["io.modelcontextprotocol/serverInfo"]["name"],
        "skill-sdk-tests"
    );

    client.act(2, "spend", &modern());
    let result = client.take()["result"].clone();
    assert_eq!(result["resultType"], "complete");
    assert_eq!(result["_meta"]["skill/cost"], json!({"units": {"ё": 1.5}}));
    assert_eq!(
        result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"],
        "skill-sdk-tests"
    );

    client.send(request(3, "ping", &json!({"_meta": modern()})));
    assert_eq!(client.wrong().1, -32601);
    // A client may still fall back.
    client.initialize("2025-11-25");
    client.act(4, "a", &Value::Null);
    let result = client.take()["result"].clone();
    assert!(
        result.get("resultType").is_none() && result.get("_meta").is_none(),
        "{result}"
    );
    // And the other way round.
    client.act(5, "a", &modern());
    assert_eq!(client.take()["result"]["resultType"], "complete");
}

#[test]
fn what_comes_too_early_or_says_too_little_is_refused() {
    let mut client = Client::new();
    client.send(request(0, "ping", &json!({})));
    assert_eq!(client.take(), json!({"jsonrpc": "2.0", "id": 0, "result": {}}));
    let without = |key: &str| {
        let mut meta = modern();
        meta.as_object_mut().unwrap().remove(key);
        meta
    };
    for (meta, code, says) in [
        (json!({}), -32602, "initialize"),
        (
            without("io.modelcontextprotocol/clientCapabilities"),
            -32602,
            "clientCapabilities",
        ),
        (
            without("io.modelcontextprotocol/protocolVersion"),
            -32602,
            "initialize",
        ),
        (
            json!({"io.modelcontextprotocol/protocolVersion": "2099-01-01", "io.modelcontextprotocol/clientCapabilities": {}}),
            -32022,
            "2026-07-28",
        ),
    ] {
        for method in ["tools/call", "tools/list"] {
            client.send(request(1, method, &json!({"name": "mcp.act", "_meta": meta})));
            let (id, found, text) = client.wrong();
            assert_eq!((id, found), (1.into(), code), "{method} {meta}");
            assert!(text.contains(says), "{text}");
        }
    }
    client.send(request(2, "server/discover", &json!({})));
    assert_eq!(client.wrong().1, -32602);
    // Notifications are never answered.
    client.send(r#"{"jsonrpc":"2.0","method":"notifications/whatever","params":[1]}"#);
    client.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}"#);
    client.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#);
    client.send(r#"{"jsonrpc":"2.0","id":99,"result":{}}"#);
    assert_eq!(client.end(), Vec::<Value>::new());
}

#[test]
fn methods_that_are_not_there() {
    let mut client = Client::legacy();
    for method in [
        "prompts/list",
        "resources/list",
        "completion/complete",
        "no/such",
        "",
    ] {
        client.send(request(1, method, &json!({})));
        let (_, code, text) = client.wrong();
        assert_eq!(code, -32601, "{method}: {text}");
    }
}

/// What a client that can be asked begins with.
fn can_be_asked() -> String {
    let params = json!({
        "protocolVersion": "2025-11-25", "capabilities": {"roots": {}}, "clientInfo": {"name": "t", "version": "1"},
    });
    request("initialize", "initialize", &params)
}

/// Begins a call that asks, and gives the id of its question.
fn asked(client: &mut Client, id: u64) -> Value {
    client.send(super::client::call(id, "mcp.ask", &json!({}), &Value::Null));
    let question = client.take();
    assert_eq!(question["method"], "roots/list", "{question}");
    question["id"].clone()
}

#[test]
fn a_question_is_over_once_nobody_can_answer_it() {
    let mut client = Client::of(
        super::client::host(),
        super::lines::options(|options| options.drain = Duration::from_hours(1)),
    );
    client.send(can_be_asked());
    client.take();
    asked(&mut client, 1);
    asked(&mut client, 2);
    let mut rest = client.end();
    rest.retain(|message| message.get("method").is_none());
    assert_eq!(rest.len(), 2, "{rest:?}");
    for answer in &rest {
        assert_eq!(failed(answer), ("input_unanswered".to_owned(), true));
    }
}

#[test]
fn a_client_that_refuses_to_answer_gave_no_wrong_answer() {
    let mut client = Client::new();
    client.send(can_be_asked());
    client.take();
    let id = asked(&mut client, 1);
    let refusal = json!({"jsonrpc": "2.0", "id": id, "error": {"code": -1, "message": "hunter2"}});
    client.send(refusal.to_string());
    assert_eq!(failed(&client.take()), ("input_unanswered".to_owned(), true));
}

#[test]
fn an_answer_that_is_too_long_ends_its_question() {
    let mut client = Client::of(
        super::client::host(),
        super::lines::options(|options| options.message_limit = 1000),
    );
    client.send(can_be_asked());
    client.take();
    let id = asked(&mut client, 1);
    let roots = json!({"jsonrpc": "2.0", "id": id, "result": {"roots": [], "x": "y".repeat(2000)}});
    client.send(roots.to_string());
    // The question is the host's own: no request of the client has its id.
    let answer = client.take();
    assert_eq!(answer["id"], 1, "{answer}");
    assert_eq!(failed(&answer), ("input_unanswered".to_owned(), true));
    // It is answered once.
    client.send(roots.to_string());
    assert_eq!(client.wrong().0, id);
}

#[test]
fn a_second_initialize_takes_no_question_for_another() {
    let mut client = Client::new();
    client.send(can_be_asked());
    client.take();
    let first = asked(&mut client, 1);
    client.send(can_be_asked());
    let mut answers = [client.take(), client.take()];
    answers.sort_by_key(|answer| answer["id"].is_string());
    // Whoever could answer it is gone.
    assert_eq!(failed(&answers[0]), ("input_unanswered".to_owned(), true));
    assert_eq!(answers[1]["id"], "initialize");
    let second = asked(&mut client, 2);
    assert_ne!(first, second);
    // The answer to the old question is none to the new one.
    for (id, roots) in [(first, 1), (second, 2)] {
        let roots: Vec<Value> = (0..roots)
            .map(|n| json!({"uri": format!("file:///{n}")}))
            .collect();
        client.send(json!({"jsonrpc": "2.0", "id": id, "result": {"roots": roots}}).to_string());
    }
    let answer = client.take();
    assert_eq!(
        (&answer["id"], &answer["result"]["structuredContent"]["result"]),
        (&json!(2), &json!(2))
    );
}
