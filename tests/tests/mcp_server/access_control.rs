//! Access control: tokens, host names, origins, and protected resource metadata.

use std::sync::Arc;

use serde_json::{Value, json};
use skill_sdk::mcp::http::McpHttpServer;
use skill_sdk::testing::TestIssuer;
use skill_sdk_tests::log;
use skill_sdk_tests::raw_http::Client as Connection;

use super::client::{Server, call, http, mcp_server, protocol_error, request, stateless_meta};

fn ping() -> String {
    request(1, "ping", &json!({}))
}

#[tokio::test]
async fn foreign_host_names_are_rejected() {
    log::capture();
    let names = McpHttpServer::anonymous(mcp_server())
        .allow_host("agents.example.com")
        .and_then(|mcp| mcp.allow_host("other.example.com:8443"))
        .and_then(|mcp| mcp.public_url("https://public.example.com/skills"))
        .unwrap();
    let server = Server::of(names).await;
    for (name, status) in [
        ("localhost", 200),
        ("localhost:1", 200),
        ("127.0.0.1:80", 200),
        ("[::1]:80", 200),
        ("agents.example.com", 200),
        ("Agents.Example.com:1", 200),
        ("other.example.com:8443", 200),
        ("other.example.com", 403),
        ("public.example.com", 200),
        ("evil.example.com", 403),
        ("localhost.evil.example.com", 403),
        ("127.0.0.1.evil.example.com", 403),
        ("a b", 403),
    ] {
        let answer = server.post_with(&ping(), &[("Host", name)]).await;
        assert_eq!(answer.status, status, "{name}");
        if status == 403 {
            assert_eq!(protocol_error(&answer.json()).1, -32600);
        }
    }
    assert!(log::text().contains("--allowed-host evil.example.com"));
    // Probes use an IP address.
    let mut connection = Connection::connect(server.address).await;
    for target in ["/healthz", "/readyz"] {
        connection
            .send(http("GET", target, &[("Host", "10.0.0.1")], ""))
            .await;
        assert_eq!(connection.receive().await.status, 200, "{target}");
    }
    for target in ["/metrics", "/nothing"] {
        connection
            .send(http("GET", target, &[("Host", "10.0.0.1")], ""))
            .await;
        assert_eq!(connection.receive().await.status, 403, "{target}");
    }
    for method in ["", "/mcp"] {
        connection
            .send(http("POST", &format!("/skills{method}"), &[], &ping()))
            .await;
        assert_eq!(
            connection.receive().await.status,
            if method.is_empty() { 404 } else { 200 }
        );
    }
    let any = Server::of(McpHttpServer::anonymous(mcp_server()).allow_host("*").unwrap()).await;
    assert_eq!(
        any.post_with(&ping(), &[("Host", "evil.example.com")])
            .await
            .status,
        200
    );
}

#[tokio::test]
async fn foreign_origins_are_rejected() {
    log::capture();
    let mcp = McpHttpServer::anonymous(mcp_server())
        .allow_origin("https://app.example.com")
        .and_then(|mcp| mcp.public_url("https://public.example.com"))
        .unwrap();
    let server = Server::of(mcp).await;
    for (origin, status) in [
        ("http://localhost:3000", 200),
        ("https://127.0.0.1", 200),
        ("http://[::1]:1", 200),
        ("https://app.example.com", 200),
        ("https://app.example.com:443", 200),
        ("https://public.example.com", 200),
        ("http://app.example.com", 403),
        ("https://app.example.com:8443", 403),
        ("https://evil.example.com", 403),
        ("null", 403),
        ("file://", 403),
    ] {
        let answer = server.post_with(&ping(), &[("Origin", origin)]).await;
        assert_eq!(answer.status, status, "{origin}");
        assert!(
            !answer.headers.contains_key("access-control-allow-origin"),
            "{origin}"
        );
    }
    assert!(log::text().contains("--allowed-origin"));
    let twice = [
        ("Origin", "http://localhost"),
        ("Origin", "https://evil.example.com"),
    ];
    assert_eq!(server.post_with(&ping(), &twice).await.status, 403);
    let any = Server::of(McpHttpServer::anonymous(mcp_server()).allow_origin("*").unwrap()).await;
    assert_eq!(any.post_with(&ping(), &[("Origin", "null")]).await.status, 200);
}

#[tokio::test]
async fn allowed_origins_can_read_responses() {
    let server = Server::of(McpHttpServer::anonymous(mcp_server()).cors(true)).await;
    let page = ("Origin", "http://localhost:3000");
    let answer = server.post_with(&ping(), &[page]).await;
    assert_eq!(
        answer.header("access-control-allow-origin"),
        "http://localhost:3000"
    );
    assert!(
        answer
            .header("access-control-expose-headers")
            .contains("WWW-Authenticate")
    );
    assert_eq!(answer.header("vary"), "Origin");
    let mut connection = Connection::connect(server.address).await;
    let asks = [page, ("Access-Control-Request-Method", "POST")];
    connection.send(http("OPTIONS", "/mcp", &asks, "")).await;
    let answer = connection.receive().await;
    assert_eq!(
        (answer.status, answer.header("access-control-allow-methods")),
        (204, "POST")
    );
    for header in ["Authorization", "MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"] {
        assert!(
            answer.header("access-control-allow-headers").contains(header),
            "{header}"
        );
    }
    let evil = [("Origin", "https://evil.example.com")];
    let mut connection = Connection::connect(server.address).await;
    connection.send(http("OPTIONS", "/mcp", &evil, "")).await;
    let answer = connection.receive().await;
    assert_eq!(answer.status, 403);
    assert!(!answer.headers.contains_key("access-control-allow-origin"));
}

#[tokio::test]
async fn unauthenticated_callers_only_see_the_metadata() {
    let issuer = TestIssuer::start();
    let server = Server::of(McpHttpServer::new(mcp_server(), issuer.verifier())).await;
    let mut connection = Connection::connect(server.address).await;
    let address = format!("localhost:{}", server.address.port());
    let here = ("Host", address.as_str());
    for (method, target, body) in [
        ("POST", "/mcp", ping()),
        ("POST", "/mcp/", call(1, "mcp.nope", &json!({}), &Value::Null)),
        ("POST", "/mcp", "not json".to_owned()),
        ("GET", "/mcp", String::new()),
        ("DELETE", "/mcp", String::new()),
        ("GET", "/metrics", String::new()),
        ("GET", "/nothing", String::new()),
    ] {
        connection.send(http(method, target, &[here], &body)).await;
        let answer = connection.receive().await;
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (401, "invalid_token"),
            "{method} {target}"
        );
        assert_eq!(
            answer.header("www-authenticate"),
            format!(
                r#"Bearer resource_metadata="http://{address}/.well-known/oauth-protected-resource/mcp""#
            )
        );
    }
    for target in [
        "/.well-known/oauth-protected-resource",
        "/.well-known/oauth-protected-resource/mcp",
    ] {
        connection.send(http("GET", target, &[here], "")).await;
        let document = connection.receive().await.json();
        assert_eq!(document["resource"], format!("http://{address}/mcp"));
        assert_eq!(document["authorization_servers"], json!([issuer.issuer()]));
        assert_eq!(document["bearer_methods_supported"], json!(["header"]));
    }
    // The token is checked before the host name, and an unknown host name is not echoed.
    connection
        .send(http("POST", "/mcp", &[("Host", "evil.example.com")], &ping()))
        .await;
    let answer = connection.receive().await;
    assert_eq!(
        (answer.status, answer.header("www-authenticate")),
        (401, "Bearer")
    );
    connection.send(http("GET", "/healthz", &[], "")).await;
    assert_eq!(connection.receive().await.status, 200);
}

#[tokio::test]
async fn metrics_require_a_token_unless_public() {
    let issuer = TestIssuer::start();
    let token = issuer.token().authorization();
    let bearer = ("Authorization", token.as_str());
    for open in [false, true] {
        let mcp = McpHttpServer::new(mcp_server(), issuer.verifier());
        let mcp = if open { mcp.public_metrics() } else { mcp };
        let server = Server::of(mcp).await;
        let mut connection = Connection::connect(server.address).await;
        // Prometheus without a token uses an IP address.
        for name in ["localhost", "10.0.0.1"] {
            connection
                .send(http("GET", "/metrics", &[("Host", name)], ""))
                .await;
            let answer = connection.receive().await;
            if open {
                assert_eq!(answer.status, 200, "{name}");
                assert!(answer.body.contains("mcp.act@1"), "{answer:?}");
            } else {
                assert_eq!(
                    (answer.status, answer.code().as_str()),
                    (401, "invalid_token"),
                    "{name}"
                );
                assert!(answer.header("www-authenticate").starts_with("Bearer"));
            }
        }
        // Nothing else is public for such a client, and a caller with a token can read the metrics as well.
        for target in ["/mcp", "/nothing"] {
            connection.send(http("GET", target, &[], "")).await;
            assert_eq!(connection.receive().await.status, 401, "{target}");
        }
        connection.send(http("GET", "/metrics", &[bearer], "")).await;
        assert_eq!(connection.receive().await.status, 200);
    }
}

#[tokio::test]
async fn the_skill_sees_the_caller() {
    let issuer = TestIssuer::start();
    let server = Server::of(McpHttpServer::new(mcp_server(), issuer.verifier())).await;
    let principal = "0190a1b2-0000-7000-8000-000000000001";
    let token = issuer.token().principal(principal).authorization();
    let bearer = ("Authorization", token.as_str());
    let message = call(1, "mcp.act", &json!({"action": "context"}), &Value::Null);
    let answer = server.post_with(&message, &[bearer]).await;
    assert_eq!(
        answer.json()["result"]["structuredContent"]["result"],
        format!("mcp None None {{}} Some({principal:?})")
    );
    // Responses to authenticated callers must not be in a shared cache.
    let headers = [
        bearer,
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", "tools/list"),
    ];
    let answer = server
        .post_with(
            &request(1, "tools/list", &json!({"_meta": stateless_meta()})),
            &headers,
        )
        .await;
    assert_eq!(answer.json()["result"]["cacheScope"], "private");
    let twice = server.post_with(&message, &[bearer, bearer]).await;
    assert_eq!((twice.status, twice.code().as_str()), (401, "invalid_token"));
    let late = issuer.token().expires_in(-60).authorization();
    let late = server.post_with(&message, &[("Authorization", &late)]).await;
    assert_eq!(late.status, 401);
}

#[tokio::test]
async fn behind_a_proxy_the_metadata_has_the_public_names() {
    let issuer = TestIssuer::start();
    let mcp = McpHttpServer::new(mcp_server(), issuer.verifier())
        .public_url("https://example.com/skills")
        .unwrap();
    let server = Server::of(mcp).await;
    let mut connection = Connection::connect(server.address).await;
    connection
        .send(http("POST", "/mcp", &[("Host", "example.com")], &ping()))
        .await;
    let answer = connection.receive().await;
    assert_eq!(
        answer.header("www-authenticate"),
        r#"Bearer resource_metadata="https://example.com/.well-known/oauth-protected-resource/skills/mcp""#
    );
    let target = "/.well-known/oauth-protected-resource/skills/mcp";
    connection
        .send(http("GET", target, &[("Host", "example.com")], ""))
        .await;
    assert_eq!(
        connection.receive().await.json()["resource"],
        "https://example.com/skills/mcp"
    );
}

#[tokio::test]
async fn clones_share_their_metrics() {
    let mcp = McpHttpServer::anonymous(mcp_server());
    let server = Server::of(mcp.clone()).await;
    server
        .post(&call(1, "mcp.act", &json!({"action": "a"}), &Value::Null))
        .await;
    let app = skill_sdk::mcp::http::router(mcp);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let _serving = Arc::new(tokio::spawn(async move { axum::serve(listener, app).await }));
    let mut connection = Connection::connect(address).await;
    connection.send(http("GET", "/metrics", &[], "")).await;
    let text = connection.receive().await.body;
    let counted = text
        .lines()
        .find(|line| line.contains("calls_total") && line.contains("mcp.act@1"));
    assert!(counted.is_some_and(|line| line.ends_with(" 1")), "{text}");
}
