//! Elicitation and attachments over real sockets.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a panic in a test is a failed test"
)]

use std::net::SocketAddr;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use skill_sdk::LlmUsage;
use skill_sdk::context::States;
use skill_sdk::mcp::http::{McpHttpServer, router};
use skill_sdk::mcp::{McpError, McpServer};
use skill_sdk::pipeline::SkillSet;
use skill_sdk::{Attached, Attachment, Environment, SkillContext, SkillError, skill};
use skill_sdk_tests::raw_http::{Client, Response, Server, request};
use tokio::net::TcpListener;

#[derive(Deserialize, JsonSchema)]
struct Name {
    name: String,
}

/// Asks for two names and greets both.
#[skill("asking.greet", version = "1", side_effects = "none", risk = "low")]
async fn greet(word: String, ctx: &SkillContext) -> Result<String, SkillError> {
    let first = ctx.ask::<Name>("first", "Who are you?").await?.accepted()?;
    let second = ctx.ask::<Name>("second", "And who else?").await?.accepted()?;
    Ok(format!("{word}, {} and {}!", first.name, second.name))
}

/// Adds cost before each elicitation and at the end.
#[skill("asking.spend", version = "1", side_effects = "none", risk = "low")]
async fn spend(ctx: &SkillContext) -> Result<(), SkillError> {
    ctx.add_cost("look", 1.0);
    let mut usage = LlmUsage::new("m").price(0.1);
    usage.total_tokens = 5;
    ctx.add_llm_usage(&usage);
    ctx.ask::<Name>("first", "Who are you?").await?.accepted()?;
    ctx.add_cost("look", 1.0);
    ctx.ask::<Name>("second", "And who else?").await?.accepted()?;
    ctx.add_cost("page", 0.5);
    Ok(())
}

/// Asks for a name in a synchronous function, and greets.
#[skill("asking.greet_blocking", version = "1", side_effects = "none", risk = "low")]
fn greet_blocking(ctx: &SkillContext) -> Result<String, SkillError> {
    let answer = ctx.ask_blocking::<Name>("first", "Who are you?")?;
    Ok(format!("Hello, {}!", answer.accepted()?.name))
}

/// Returns outputs with a document as attachment.
#[skill("asking.attached", version = "1", side_effects = "none", risk = "low")]
fn attached() -> Attached<u8> {
    Attached::new(1).with(Attachment::document("a://b", "text/markdown", "# c"))
}

async fn mcp(sessions: bool) -> SocketAddr {
    serve(sessions, tools()).await
}

fn tools() -> McpServer {
    tools_in(Environment::from_vars([])).unwrap()
}

fn tools_in(environment: Environment) -> Result<McpServer, McpError> {
    let skills = [greet::SKILL, greet_blocking::SKILL, attached::SKILL, spend::SKILL];
    let host = SkillSet::with_states(skills, States::default()).unwrap();
    McpServer::with_environment(host, environment)
}

async fn serve(sessions: bool, host: McpServer) -> SocketAddr {
    let http = McpHttpServer::anonymous(host);
    let http = http.allow_host("*").unwrap().sessions(sessions);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router(http)).await });
    address
}

/// Sends a message of the stateless revision (2026-07-28).
async fn post_stateless(address: SocketAddr, tool: &str, mut params: Value) -> Response {
    params["name"] = tool.into();
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
    });
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let headers = [
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", "tools/call"),
        ("Mcp-Name", tool),
    ];
    let mut client = Client::connect(address).await;
    client
        .send(request("POST", "/mcp", &headers, &body.to_string()))
        .await;
    client.receive().await
}

fn accepted(name: &str) -> Value {
    json!({"action": "accept", "content": {"name": name}})
}

#[tokio::test]
async fn the_cost_of_all_rounds_is_reported_with_the_result() {
    let at = mcp(false).await;
    let mut params = json!({"arguments": {}});
    for name in ["first", "second"] {
        let asked = post_stateless(at, "asking.spend", params.clone()).await.json();
        assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
        assert!(asked["result"]["_meta"].get("skill/cost").is_none(), "{asked}");
        params["requestState"] = asked["result"]["requestState"].clone();
        params["inputResponses"] = json!({name: accepted("Ada")});
    }
    let done = post_stateless(at, "asking.spend", params.clone()).await.json();
    // Each round runs the skill from its start: the first one adds one unit, the second and the third add two.
    let cost = json!({
        "llm": {"calls": 3, "promptTokens": 0, "completionTokens": 0, "totalTokens": 15, "models": ["m"], "costUsd": 0.3},
        "units": {"look": 5.0, "page": 0.5},
    });
    assert_eq!(done["result"]["_meta"]["skill/cost"], cost, "{done}");
    // Without the request state the call starts over, and so does its cost.
    params.as_object_mut().unwrap().remove("requestState");
    params["inputResponses"] = json!({"first": accepted("Ada"), "second": accepted("Bob")});
    let done = post_stateless(at, "asking.spend", params).await.json();
    assert_eq!(
        done["result"]["_meta"]["skill/cost"]["units"],
        json!({"look": 2.0, "page": 0.5})
    );
}

#[tokio::test]
async fn a_call_is_repeated_until_all_elicitations_are_answered() {
    let at = mcp(false).await;
    let inputs = json!({"word": "Hello"});
    let first = post_stateless(at, "asking.greet", json!({"arguments": inputs}))
        .await
        .json();
    let asked = &first["result"]["inputRequests"];
    assert_eq!(first["result"]["resultType"], "input_required");
    assert_eq!(asked["first"]["method"], "elicitation/create");
    assert_eq!(
        asked["first"]["params"]["requestedSchema"]["required"],
        json!(["name"])
    );
    let state = first["result"]["requestState"].clone();
    let answers = json!({"first": accepted("Ada")});

    // The state is valid only for these inputs and this skill, and only if it was not modified.
    let touched = format!("{}x", state.as_str().unwrap());
    for (tool, inputs, state) in [
        ("asking.greet", json!({"word": "Bye"}), state.clone()),
        ("asking.greet_blocking", json!({}), state.clone()),
        ("asking.greet", inputs.clone(), touched.into()),
        ("asking.greet", inputs.clone(), json!(1)),
    ] {
        let params = json!({"arguments": inputs, "inputResponses": answers, "requestState": state});
        let refused = post_stateless(at, tool, params).await.json();
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
    }

    let params = json!({"arguments": inputs, "inputResponses": answers, "requestState": state});
    let second = post_stateless(at, "asking.greet", params).await.json();
    let asked = second["result"]["inputRequests"].as_object().unwrap();
    assert_eq!(asked.keys().collect::<Vec<_>>(), ["second"]);

    let answers = json!({"second": accepted("Eve")});
    let state = second["result"]["requestState"].clone();
    let params = json!({"arguments": inputs, "inputResponses": answers, "requestState": state});
    let third = post_stateless(at, "asking.greet", params).await.json();
    assert_eq!(
        third["result"]["structuredContent"],
        json!({"result": "Hello, Ada and Eve!"})
    );
}

#[tokio::test]
async fn replicas_share_the_request_state_key() {
    let key =
        |key: &str| Environment::from_vars([("SKILL_SDK_REQUEST_STATE_KEY".to_owned(), key.to_owned())]);
    let error = tools_in(key("hunter2")).unwrap_err();
    assert!(matches!(error, McpError::RequestStateKey(_)), "{error}");
    assert!(!error.to_string().contains("hunter2"), "{error}");

    let shared = || tools_in(key("0123456789abcdef0123456789abcdef")).unwrap();
    let (one, two) = (serve(false, shared()).await, serve(false, shared()).await);
    let other = serve(false, tools()).await;
    let inputs = json!({"word": "Hello"});
    let first = post_stateless(one, "asking.greet", json!({"arguments": inputs}))
        .await
        .json();
    let state = &first["result"]["requestState"];
    let answers = json!({"first": accepted("Ada")});
    let params = json!({"arguments": inputs, "inputResponses": answers, "requestState": state});
    let second = post_stateless(two, "asking.greet", params.clone()).await.json();
    assert!(
        second["result"]["inputRequests"]["second"].is_object(),
        "{second}"
    );
    let refused = post_stateless(other, "asking.greet", params).await.json();
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
}

#[tokio::test]
async fn a_synchronous_skill_can_elicit() {
    let at = mcp(false).await;
    let first = post_stateless(at, "asking.greet_blocking", json!({}))
        .await
        .json();
    assert!(first["result"]["inputRequests"]["first"].is_object(), "{first}");
    let params = json!({"inputResponses": {"first": accepted("Ada")}});
    let second = post_stateless(at, "asking.greet_blocking", params).await.json();
    assert_eq!(
        second["result"]["structuredContent"],
        json!({"result": "Hello, Ada!"})
    );
}

/// Sends a message of an `initialize`-based revision.
async fn post_initialize_based(client: &mut Client, session: &str, message: &Value) {
    let mut headers = vec![
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
    ];
    if !session.is_empty() {
        headers.push(("Mcp-Session-Id", session));
    }
    client
        .send(request("POST", "/mcp", &headers, &message.to_string()))
        .await;
}

fn initialize(capabilities: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": capabilities,
        "clientInfo": {"name": "test", "version": "1"},
    }})
}

fn call() -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "asking.greet_blocking"}})
}

/// Opens a session if the server creates one.
async fn session(at: SocketAddr, capabilities: &Value) -> String {
    let mut client = Client::connect(at).await;
    post_initialize_based(&mut client, "", &initialize(capabilities)).await;
    client.receive().await.header("mcp-session-id").to_owned()
}

#[tokio::test]
async fn an_initialize_based_client_is_asked_within_its_session() {
    let at = mcp(true).await;
    let id = session(at, &json!({"elicitation": {}})).await;
    let mut calling = Client::connect(at).await;
    post_initialize_based(&mut calling, &id, &call()).await;
    let (head, _) = calling.receive_head().await;
    assert_eq!(head.header("content-type"), "text/event-stream");
    let mut stream = String::new();
    while !stream.contains("\n\n") {
        stream.push_str(&String::from_utf8(calling.receive_bytes(1).await).unwrap());
    }
    let data = stream
        .lines()
        .find_map(|line| line.strip_prefix("data: "))
        .unwrap();
    let question: Value = serde_json::from_str(data).unwrap();
    assert_eq!(question["method"], "elicitation/create");

    let mut other = Client::connect(at).await;
    let response = json!({"jsonrpc": "2.0", "id": question["id"], "result": accepted("Ada")});
    post_initialize_based(&mut other, "no such session", &response).await;
    assert_eq!(other.receive().await.status, 404);
    post_initialize_based(&mut other, &id, &response).await;
    assert_eq!(other.receive().await.status, 202);

    let mut rest = String::new();
    while !rest.contains("structuredContent") {
        rest.push_str(&String::from_utf8(calling.receive_bytes(1).await).unwrap());
    }
    while !rest.contains("Hello, Ada!") {
        rest.push_str(&String::from_utf8(calling.receive_bytes(1).await).unwrap());
    }

    let delete = |id: &str| request("DELETE", "/mcp", &[("Mcp-Session-Id", id)], "");
    for status in [204, 404] {
        other.send(delete(&id)).await;
        assert_eq!(other.receive().await.status, status);
    }
    post_initialize_based(&mut other, &id, &call()).await;
    assert_eq!(other.receive().await.status, 404);
}

#[tokio::test]
async fn a_client_without_the_capability_is_not_asked() {
    let (with, without) = (mcp(true).await, mcp(false).await);
    assert_eq!(
        session(with, &json!({})).await,
        "",
        "the client has no elicitation capability"
    );
    assert_eq!(session(without, &json!({"elicitation": {}})).await, "");
    for at in [with, without] {
        let mut client = Client::connect(at).await;
        post_initialize_based(&mut client, "", &call()).await;
        let told = client.receive().await.json();
        let text = told["result"]["content"][0]["text"].as_str().unwrap();
        let error: Value = serde_json::from_str(text).unwrap();
        assert_eq!(error["error"]["code"], "input_not_supported");
        assert_eq!(told["result"]["isError"], true);
    }
}

#[tokio::test]
async fn attachments_follow_the_outputs() {
    let told = post_stateless(mcp(false).await, "asking.attached", json!({}))
        .await
        .json();
    assert_eq!(told["result"]["structuredContent"], json!({"result": 1}));
    assert_eq!(told["result"]["content"][1]["resource"]["uri"], "a://b");

    let server = Server::of(&[attached::SKILL]).await;
    let mut client = server.connect().await;
    let plain = client.call(attached::SKILL, &json!({"inputs": {}})).await;
    assert_eq!(
        (plain.json(), plain.header("x-skill-attachments")),
        (json!({"result": 1}), "1")
    );
    let headers = [
        ("Content-Type", "application/json"),
        ("Accept", "multipart/mixed"),
    ];
    let target = format!("/skills/{}", attached::SKILL.reference());
    client
        .send(request("POST", &target, &headers, r#"{"inputs": {}}"#))
        .await;
    let parts = client.receive().await;
    assert!(
        parts
            .header("content-type")
            .starts_with("multipart/mixed; boundary=")
    );
    assert!(
        parts.body.contains("{\"result\":1}") && parts.body.contains("content-location: a://b\r\n\r\n# c")
    );
}
