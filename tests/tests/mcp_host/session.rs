//! How a session over pipes begins, in both eras.

use serde_json::{Value, json};

use super::client::{Client, modern, request};

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
        assert_eq!(answer["result"]["serverInfo"]["name"], "skills");
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
        "skills"
    );

    client.act(2, "spend", &modern());
    let result = client.take()["result"].clone();
    assert_eq!(result["resultType"], "complete");
    assert_eq!(result["_meta"]["skill/cost"], json!({"units": {"ё": 1.5}}));
    assert_eq!(
        result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"],
        "skills"
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
