//! `POST /mcp`: statuses, headers, bodies.

use serde_json::{Value, json};
use skill_sdk::mcp::http::McpHttpServer;
use skill_sdk_tests::raw_http::Client as Connection;

use super::client::{Server, call, http, mcp_server, protocol_error, request, stateless_meta, tool_failure};

/// The headers of a request of the stateless revision.
fn standard<'a>(method: &'a str, name: &'a str) -> Vec<(&'a str, &'a str)> {
    let mut headers = vec![("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", method)];
    if !name.is_empty() {
        headers.push(("Mcp-Name", name));
    }
    headers
}

fn act(meta: &Value) -> String {
    call(1, "mcp.act", &json!({"action": "a"}), meta)
}

#[tokio::test]
async fn each_request_gets_one_response() {
    let server = Server::anonymous().await;
    let answer = server.post(&act(&Value::Null)).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type"), "application/json");
    assert!(!answer.headers.contains_key("mcp-session-id"));
    assert_eq!(answer.json()["result"]["structuredContent"]["result"], "a");

    let params = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let answer = server.post(&request(0, "initialize", &params)).await;
    assert_eq!(
        (answer.status, &answer.json()["result"]["protocolVersion"]),
        (200, &json!("2025-06-18"))
    );
    let answer = server.post(&request(0, "ping", &json!({}))).await;
    assert_eq!(answer.json(), json!({"jsonrpc": "2.0", "id": 0, "result": {}}));
    let answer = server
        .post(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)
        .await;
    assert_eq!((answer.status, answer.body.as_str()), (202, ""));

    let answer = server
        .post_with(
            &request(1, "server/discover", &json!({"_meta": stateless_meta()})),
            &standard("server/discover", ""),
        )
        .await;
    assert_eq!(answer.json()["result"]["resultType"], "complete");
    let answer = server
        .post_with(&act(&stateless_meta()), &standard("tools/call", "mcp.act"))
        .await;
    assert_eq!(answer.json()["result"]["resultType"], "complete");
    let answer = server
        .post_with(
            &request(1, "tools/list", &json!({"_meta": stateless_meta()})),
            &standard("tools/list", ""),
        )
        .await;
    assert_eq!(answer.json()["result"]["cacheScope"], "public");
}

#[tokio::test]
async fn the_path_may_have_a_trailing_slash() {
    let server = Server::anonymous().await;
    let mut connection = Connection::connect(server.address).await;
    for (target, status) in [
        ("/mcp", 200),
        ("/mcp/", 200),
        ("/mcp/x", 404),
        ("/", 404),
        ("/sse", 404),
        ("//mcp", 404),
        ("/MCP", 404),
        ("/.well-known/oauth-protected-resource", 404),
        ("/.well-known/oauth-protected-resource/mcp", 404),
    ] {
        connection
            .send(http("POST", target, &[], &act(&Value::Null)))
            .await;
        let answer = connection.receive().await;
        assert_eq!(answer.status, status, "{target}");
        assert!(!answer.headers.contains_key("location"), "{target}");
        if status == 404 {
            assert_eq!(answer.code(), "not_found", "{target}");
        }
    }
    for target in ["/register", "/token"] {
        connection.send(http("POST", target, &[], "{}")).await;
        let answer = connection.receive().await;
        // As clients of OAuth read it.
        assert_eq!(
            (answer.status, &answer.json()["error"]),
            (404, &json!("not_found"))
        );
    }
    for method in ["GET", "PUT", "DELETE", "PATCH", "OPTIONS"] {
        connection.send(http(method, "/mcp", &[], "")).await;
        let answer = connection.receive().await;
        assert_eq!((answer.status, answer.header("allow")), (405, "POST"), "{method}");
        assert_eq!(protocol_error(&answer.json()).1, -32600, "{method}");
    }
}

#[tokio::test]
async fn rejections_name_the_required_header() {
    let server = Server::anonymous().await;
    for (header, value, status, says) in [
        (
            "Accept",
            "text/html",
            406,
            "Accept: application/json, text/event-stream",
        ),
        ("Accept", "text/event-stream", 406, "Accept: application/json"),
        (
            "Content-Type",
            "text/plain",
            415,
            "Content-Type: application/json",
        ),
        ("Content-Type", "", 415, "Content-Type: application/json"),
    ] {
        let answer = server.post_with(&act(&Value::Null), &[(header, value)]).await;
        assert_eq!(answer.status, status, "{header}: {value}");
        let (_, code, text) = protocol_error(&answer.json());
        assert_eq!(code, -32600);
        assert!(text.contains(says), "{text}");
    }
    for accept in ["application/json", "*/*", ""] {
        assert_eq!(
            server
                .post_with(&act(&Value::Null), &[("Accept", accept)])
                .await
                .status,
            200,
            "{accept}"
        );
    }
}

#[tokio::test]
async fn a_client_that_sends_its_body_first_receives_the_rejection() {
    let server = Server::anonymous().await;
    let large = call(
        1,
        "mcp.act",
        &json!({"action": "x".repeat(3_000_000)}),
        &Value::Null,
    );
    for (header, value, status) in [
        ("Content-Type", "text/plain", 415),
        ("Accept", "text/html", 406),
        ("Host", "evil.example.com", 403),
    ] {
        let answer = server.post_with(&large, &[(header, value)]).await;
        assert_eq!(answer.status, status, "{header}");
    }
}

#[tokio::test]
async fn invalid_messages_are_rejected() {
    let server = Server::anonymous().await;
    for (body, status, code) in [
        ("not json", 400, -32700),
        ("[]", 400, -32602),
        ("{}", 400, -32600),
        ("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}", 400, -32600),
    ] {
        let answer = server.post(body).await;
        assert_eq!(answer.status, status, "{body}");
        let (id, found, _) = protocol_error(&answer.json());
        assert_eq!((id, found), (Value::Null, code), "{body}");
    }
    for (params, code) in [
        (json!({}), -32602),
        (json!({"name": "mcp.act", "arguments": [1]}), -32602),
    ] {
        let answer = server.post(&request(7, "tools/call", &params)).await;
        assert_eq!(answer.status, 200);
        let (id, found, _) = protocol_error(&answer.json());
        assert_eq!((id, found), (7.into(), code));
    }
    let answer = server.post(&request(7, "prompts/list", &json!({}))).await;
    assert_eq!((answer.status, protocol_error(&answer.json()).1), (200, -32601));
    let answer = server.post(&call(7, "mcp.nope", &json!({}), &Value::Null)).await;
    assert_eq!(
        (answer.status, tool_failure(&answer.json()).0.as_str()),
        (200, "skill_not_hosted")
    );
}

#[tokio::test]
async fn batches_are_accepted_only_in_revision_2025_03_26() {
    let server = Server::anonymous().await;
    let notification = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let progress = call(
        3,
        "mcp.act",
        &json!({"action": "progress"}),
        &json!({"progressToken": "p"}),
    );
    let messages = format!(
        "[{},{notification},{},{progress},5]",
        act(&Value::Null),
        request(2, "ping", &json!({}))
    );
    // A request without the header has this revision.
    for headers in [&[][..], &[("MCP-Protocol-Version", "2025-03-26")]] {
        let answer = server.post_with(&messages, headers).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        assert_eq!(answer.header("content-type"), "application/json");
        let answers = answer.json();
        let answers = answers.as_array().unwrap();
        let ids: Vec<_> = answers.iter().map(|answer| answer["id"].as_u64()).collect();
        assert_eq!(ids, [Some(1), Some(2), Some(3), None]);
        assert_eq!(answers[0]["result"]["structuredContent"]["result"], "a");
        assert_eq!(answers[2]["result"]["structuredContent"]["result"], "progress");
        assert_eq!(answers[3]["error"]["code"], -32600);
        let answer = server.post_with(&format!("[{notification}]"), headers).await;
        assert_eq!((answer.status, answer.body.as_str()), (202, ""));
    }
    let headers = [("MCP-Protocol-Version", "2025-06-18")];
    let answer = server.post_with(&messages, &headers).await;
    assert_eq!((answer.status, protocol_error(&answer.json()).1), (400, -32602));
}

/// Headers, `_meta`, and the resulting status and code.
type Compared<'a> = (Vec<(&'a str, &'a str)>, Value, u16, i64);

#[tokio::test]
async fn headers_must_match_the_body() {
    let server = Server::anonymous().await;
    let version = ("MCP-Protocol-Version", "2026-07-28");
    let (method, name) = (("Mcp-Method", "tools/call"), ("Mcp-Name", "mcp.act"));
    let only = |key: &str| json!({key: stateless_meta()[key]});
    let table: Vec<Compared<'_>> = vec![
        (vec![version, method, name], stateless_meta(), 200, 0),
        (
            vec![version, method, ("Mcp-Name", "=?base64?bWNwLmFjdA==?=")],
            stateless_meta(),
            200,
            0,
        ),
        (vec![version, name], stateless_meta(), 400, -32020),
        (vec![version, method], stateless_meta(), 400, -32020),
        (
            vec![version, ("Mcp-Method", "tools/list"), name],
            stateless_meta(),
            400,
            -32020,
        ),
        (
            vec![version, method, ("Mcp-Name", "mcp.read")],
            stateless_meta(),
            400,
            -32020,
        ),
        (
            vec![version, method, ("Mcp-Name", "=?base64?%%%?=")],
            stateless_meta(),
            400,
            -32020,
        ),
        (vec![version, method, name, name], stateless_meta(), 400, -32020),
        (
            vec![version, version, method, name],
            stateless_meta(),
            400,
            -32020,
        ),
        (vec![method, name], stateless_meta(), 400, -32020),
        (
            vec![("MCP-Protocol-Version", "2025-11-25")],
            stateless_meta(),
            400,
            -32020,
        ),
        (vec![version, method, name], Value::Null, 400, -32602),
        (
            vec![version, method, name],
            only("io.modelcontextprotocol/protocolVersion"),
            400,
            -32602,
        ),
        (
            vec![version, method, name],
            only("io.modelcontextprotocol/clientCapabilities"),
            400,
            -32602,
        ),
        (
            vec![("MCP-Protocol-Version", "1999-01-01")],
            Value::Null,
            400,
            -32602,
        ),
        (vec![("MCP-Protocol-Version", "2025-06-18")], Value::Null, 200, 0),
        (vec![], Value::Null, 200, 0),
    ];
    for (headers, meta, status, code) in table {
        let answer = server.post_with(&act(&meta), &headers).await;
        let found = answer.json()["error"]["code"].as_i64().unwrap_or_default();
        assert_eq!(
            (answer.status, found),
            (status, code),
            "{headers:?} {meta}: {}",
            answer.body
        );
    }
}

#[tokio::test]
async fn unknown_revisions_and_methods_are_rejected() {
    let server = Server::anonymous().await;
    let version = ("MCP-Protocol-Version", "2026-07-28");
    let (method, name) = (("Mcp-Method", "tools/call"), ("Mcp-Name", "mcp.act"));
    let unknown = json!({
        "io.modelcontextprotocol/protocolVersion": "2099-01-01", "io.modelcontextprotocol/clientCapabilities": {},
    });
    let headers = [("MCP-Protocol-Version", "2099-01-01"), method, name];
    let answer = server.post_with(&act(&unknown), &headers).await;
    assert_eq!((answer.status, protocol_error(&answer.json()).1), (400, -32022));
    assert_eq!(answer.json()["error"]["data"]["requested"], "2099-01-01");
    let supported = answer.json()["error"]["data"]["supported"].clone();
    assert!(supported.as_array().unwrap().contains(&"2026-07-28".into()));

    let unknown = request(1, "no/such", &json!({"_meta": stateless_meta()}));
    let answer = server.post_with(&unknown, &standard("no/such", "")).await;
    assert_eq!((answer.status, protocol_error(&answer.json()).1), (404, -32601));
    let params = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    for headers in [
        [("MCP-Protocol-Version", "2025-11-25")],
        [("Mcp-Method", "tools/call")],
    ] {
        assert_eq!(
            server
                .post_with(&request(1, "initialize", &params), &headers)
                .await
                .status,
            400,
            "{headers:?}"
        );
    }
    let notification = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    for (headers, status) in [
        (vec![], 202),
        (vec![version], 400),
        (vec![version, ("Mcp-Method", "notifications/cancelled")], 202),
        (vec![version, method], 400),
        (vec![("MCP-Protocol-Version", "x")], 400),
    ] {
        assert_eq!(
            server.post_with(notification, &headers).await.status,
            status,
            "{headers:?}"
        );
    }
}

#[tokio::test]
async fn the_protocol_version_is_negotiated() {
    for sessions in [false, true] {
        let server = Server::of(McpHttpServer::anonymous(mcp_server()).sessions(sessions)).await;
        for (asked, agreed) in [
            ("2025-11-25", "2025-11-25"),
            ("2024-11-05", "2024-11-05"),
            // The stateless revision has no `initialize`, and an unknown revision gets the newest one that has it.
            ("2026-07-28", "2025-11-25"),
            ("2027-01-01", "2025-11-25"),
            ("1999-01-01", "2025-11-25"),
            ("DRAFT-1", "2025-11-25"),
        ] {
            let params = json!({"protocolVersion": asked, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
            let message = request(0, "initialize", &params);
            for headers in [&[][..], &[("MCP-Protocol-Version", asked)]] {
                let answer = server.post_with(&message, headers).await;
                assert_eq!(
                    (answer.status, &answer.json()["result"]["protocolVersion"]),
                    (200, &json!(agreed)),
                    "{asked}: {}",
                    answer.body
                );
            }
        }
    }
}

#[tokio::test]
async fn the_allow_header_lists_the_methods() {
    let origin = ("Origin", "http://localhost:1");
    for (sessions, methods) in [(false, "POST"), (true, "POST, DELETE")] {
        let server = Server::of(
            McpHttpServer::anonymous(mcp_server())
                .sessions(sessions)
                .cors(true),
        )
        .await;
        let mut connection = Connection::connect(server.address).await;
        connection.send(http("PUT", "/mcp", &[], "")).await;
        let answer = connection.receive().await;
        assert_eq!((answer.status, answer.header("allow")), (405, methods));
        connection.send(http("OPTIONS", "/mcp", &[origin], "")).await;
        let answer = connection.receive().await;
        assert_eq!(
            (answer.status, answer.header("access-control-allow-methods")),
            (204, methods)
        );
        let headers = answer.header("access-control-allow-headers").to_ascii_lowercase();
        assert!(
            headers.split(", ").any(|header| header == "mcp-param-region"),
            "{headers}"
        );
    }
}
