//! Servers on real sockets.

use serde_json::json;
use skill_sdk::http::HttpServer;
use skill_sdk::mcp::McpServer;
use skill_sdk::mcp::http::McpHttpServer;
use skill_sdk::pipeline::SkillSet;
use skill_sdk::testing::TestServer;
use skill_sdk::{Registry, skill};
use skill_sdk_tests::raw_http::{Client, request};

/// Doubles a number.
#[skill("kit.double", version = "1", side_effects = "none", risk = "low")]
fn double(number: i32) -> i32 {
    number * 2
}

fn skill_set() -> SkillSet {
    SkillSet::new(&Registry::from_skills([double::SKILL]).unwrap()).unwrap()
}

#[tokio::test]
async fn a_skill_is_called_over_http() {
    let server = TestServer::http(HttpServer::anonymous(skill_set()))
        .await
        .unwrap();
    assert_eq!(server.url(), format!("http://{}", server.address()));
    let mut client = Client::connect(server.address()).await;
    let answer = client
        .call(double::SKILL, &json!({"inputs": {"number": 21}}))
        .await;
    assert_eq!((answer.status, answer.json()), (200, json!({"result": 42})));
    drop(client);
    server.stop().await.unwrap();
}

#[tokio::test]
async fn a_skill_is_a_tool_over_mcp() {
    let mcp = McpHttpServer::anonymous(McpServer::new(skill_set()).unwrap());
    let server = TestServer::mcp_http(mcp).await.unwrap();
    let initialize = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
    });
    let headers = [
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
    ];
    let mut client = Client::connect(server.address()).await;
    client
        .send(request("POST", "/mcp", &headers, &initialize.to_string()))
        .await;
    let (answer, _) = client.receive_head().await;
    assert_eq!(answer.status, 200);
    drop(client);
    server.stop().await.unwrap();
}
