//! The start of a session over pipes in all revisions, and elicitation within it.

use std::time::Duration;

use serde_json::{Value, json};

use super::client::{Client, request, stateless_meta, tool_failure};

#[test]
fn the_protocol_version_is_negotiated() {
    for (requested, agreed) in [
        ("2025-11-25", "2025-11-25"),
        ("2025-06-18", "2025-06-18"),
        ("2025-03-26", "2025-03-26"),
        ("2024-11-05", "2024-11-05"),
        // The stateless revision has no `initialize`, and an unknown revision gets the newest one that has it.
        ("2026-07-28", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
        ("2099-01-01", "2025-11-25"),
    ] {
        let mut client = Client::new();
        let answer = client.initialize(requested);
        assert_eq!(answer["id"], "initialize");
        assert_eq!(answer["result"]["protocolVersion"], agreed, "{requested}");
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
fn a_call_can_follow_initialize_at_once() {
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
fn the_stateless_revision_needs_no_initialize() {
    let mut client = Client::new();
    client.send(request(1, "server/discover", &json!({"_meta": stateless_meta()})));
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

    client.act(2, "spend", &stateless_meta());
    let result = client.take()["result"].clone();
    assert_eq!(result["resultType"], "complete");
    assert_eq!(result["_meta"]["skill/cost"], json!({"units": {"ё": 1.5}}));
    assert_eq!(
        result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"],
        "skill-sdk-tests"
    );

    client.send(request(3, "ping", &json!({"_meta": stateless_meta()})));
    assert_eq!(client.protocol_error().1, -32601);
    // A client can still fall back to `initialize`.
    client.initialize("2025-11-25");
    client.act(4, "a", &Value::Null);
    let result = client.take()["result"].clone();
    assert!(
        result.get("resultType").is_none() && result.get("_meta").is_none(),
        "{result}"
    );
    // And a client with `initialize` can use the stateless revision.
    client.act(5, "a", &stateless_meta());
    assert_eq!(client.take()["result"]["resultType"], "complete");
}

#[test]
fn early_or_incomplete_requests_are_rejected() {
    let mut client = Client::new();
    client.send(request(0, "ping", &json!({})));
    assert_eq!(client.take(), json!({"jsonrpc": "2.0", "id": 0, "result": {}}));
    let without = |key: &str| {
        let mut meta = stateless_meta();
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
            let (id, found, text) = client.protocol_error();
            assert_eq!((id, found), (1.into(), code), "{method} {meta}");
            assert!(text.contains(says), "{text}");
        }
    }
    client.send(request(2, "server/discover", &json!({})));
    assert_eq!(client.protocol_error().1, -32602);
    // Notifications never get a response.
    client.send(r#"{"jsonrpc":"2.0","method":"notifications/whatever","params":[1]}"#);
    client.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}"#);
    client.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#);
    client.send(r#"{"jsonrpc":"2.0","id":99,"result":{}}"#);
    assert_eq!(client.end(), Vec::<Value>::new());
}

#[test]
fn unknown_methods_are_rejected() {
    let mut client = Client::legacy();
    for method in [
        "prompts/list",
        "resources/list",
        "completion/complete",
        "no/such",
        "",
    ] {
        client.send(request(1, method, &json!({})));
        let (_, code, text) = client.protocol_error();
        assert_eq!(code, -32601, "{method}: {text}");
    }
}

/// `initialize` of a client with the roots capability.
fn initialize_with_roots() -> String {
    let params = json!({
        "protocolVersion": "2025-11-25", "capabilities": {"roots": {}}, "clientInfo": {"name": "t", "version": "1"},
    });
    request("initialize", "initialize", &params)
}

/// Starts a call with an elicitation, and returns the id of the elicitation.
fn start_elicitation(client: &mut Client, id: u64) -> Value {
    client.send(super::client::call(id, "mcp.ask", &json!({}), &Value::Null));
    let question = client.take();
    assert_eq!(question["method"], "roots/list", "{question}");
    question["id"].clone()
}

#[test]
fn an_elicitation_fails_when_the_input_ends() {
    let mut client = Client::of(
        super::client::mcp_server(),
        super::stdio::options(|options| options.drain = Duration::from_hours(1)),
    );
    client.send(initialize_with_roots());
    client.take();
    start_elicitation(&mut client, 1);
    start_elicitation(&mut client, 2);
    let mut rest = client.end();
    rest.retain(|message| message.get("method").is_none());
    assert_eq!(rest.len(), 2, "{rest:?}");
    for answer in &rest {
        assert_eq!(tool_failure(answer), ("input_unanswered".to_owned(), true));
    }
}

#[test]
fn an_error_response_fails_the_elicitation() {
    let mut client = Client::new();
    client.send(initialize_with_roots());
    client.take();
    let id = start_elicitation(&mut client, 1);
    let refusal = json!({"jsonrpc": "2.0", "id": id, "error": {"code": -1, "message": "hunter2"}});
    client.send(refusal.to_string());
    assert_eq!(
        tool_failure(&client.take()),
        ("input_unanswered".to_owned(), true)
    );
}

#[test]
fn a_too_long_response_fails_the_elicitation() {
    let mut client = Client::of(
        super::client::mcp_server(),
        super::stdio::options(|options| options.message_limit = 1000),
    );
    client.send(initialize_with_roots());
    client.take();
    let id = start_elicitation(&mut client, 1);
    let roots = json!({"jsonrpc": "2.0", "id": id, "result": {"roots": [], "x": "y".repeat(2000)}});
    client.send(roots.to_string());
    // The id of the elicitation belongs to the server: it is not the id of a client request.
    let answer = client.take();
    assert_eq!(answer["id"], 1, "{answer}");
    assert_eq!(tool_failure(&answer), ("input_unanswered".to_owned(), true));
    // A second response has no effect.
    client.send(roots.to_string());
    assert_eq!(client.protocol_error().0, id);
}

#[test]
fn a_second_initialize_ends_pending_elicitations() {
    let mut client = Client::new();
    client.send(initialize_with_roots());
    client.take();
    let first = start_elicitation(&mut client, 1);
    client.send(initialize_with_roots());
    let mut answers = [client.take(), client.take()];
    answers.sort_by_key(|answer| answer["id"].is_string());
    // The elicitation ends with the session that could have answered it.
    assert_eq!(tool_failure(&answers[0]), ("input_unanswered".to_owned(), true));
    assert_eq!(answers[1]["id"], "initialize");
    let second = start_elicitation(&mut client, 2);
    assert_ne!(first, second);
    // The response to the first elicitation is not a response to the second one.
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
