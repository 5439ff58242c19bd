//! The routes of the SDK in an author's own application.

use axum::Router;
use axum::http::StatusCode;
use axum::routing::get;
use serde_json::json;
use skill_sdk::http::router;
use skill_sdk_tests::raw_http::{Client, anonymous};
use tokio::net::TcpListener;

use super::{act, rejection};

/// Serves an application and returns a connection to it.
async fn serve(app: Router) -> Client {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, app).await });
    Client::connect(address).await
}

const CALL: &str = r#"{"inputs":{"action":"a"}}"#;

#[tokio::test]
async fn the_router_can_be_nested_beside_other_routes() {
    let http = anonymous(&[act::SKILL]).body_limit(1000);
    let app = Router::new()
        .route("/own", get(|| async { "own" }))
        .nest("/v1/agents", router(http))
        .fallback(|| async { (StatusCode::IM_A_TEAPOT, "nothing of ours") });
    let mut client = serve(app).await;
    let answer = client.post("/v1/agents/skills/http.act@1", CALL).await;
    assert_eq!((answer.status, answer.body.as_str()), (200, r#"{"result":"a"}"#));
    assert_eq!(client.get("GET", "/v1/agents/healthz").await.status, 200);
    assert_eq!(
        client.get("GET", "/v1/agents/skills").await.json()["skills"][0]["ref"],
        "http.act@1"
    );
    // Below the prefix the error responses are those of the SDK …
    assert_eq!(
        rejection(&client.get("GET", "/v1/agents/nope").await, 404).0,
        "not_found"
    );
    assert_eq!(
        rejection(&client.get("PUT", "/v1/agents/healthz").await, 405).0,
        "method_not_allowed"
    );
    assert_eq!(
        rejection(&client.post("/v1/agents/skills/x@1", CALL).await, 404).0,
        "skill_not_hosted"
    );
    let long = json!({"inputs": {"action": "a".repeat(1000)}}).to_string();
    assert_eq!(
        rejection(&client.post("/v1/agents/skills/http.act@1", &long).await, 413).0,
        "payload_too_large"
    );
    // … and elsewhere those of the application.
    let mut client = serve(
        Router::new()
            .nest("/v1", router(anonymous(&[act::SKILL])))
            .fallback(|| async { (StatusCode::IM_A_TEAPOT, "nothing of ours") }),
    )
    .await;
    for target in ["/healthz", "/skills", "/nope"] {
        let answer = client.get("GET", target).await;
        assert_eq!(
            (answer.status, answer.body.as_str()),
            (418, "nothing of ours"),
            "{target}"
        );
    }
}

#[tokio::test]
async fn the_router_can_be_the_whole_application() {
    let mut client = serve(router(anonymous(&[act::SKILL]))).await;
    assert_eq!(client.post("/skills/http.act@1", CALL).await.status, 200);
    assert_eq!(rejection(&client.get("GET", "/nope").await, 404).0, "not_found");
}

#[tokio::test]
async fn panics_are_handled_without_middleware() {
    let mut client = serve(Router::new().nest("/v1", router(anonymous(&[act::SKILL])))).await;
    let answer = client
        .post("/v1/skills/http.act@1", r#"{"inputs":{"action":"panic"}}"#)
        .await;
    assert_eq!(rejection(&answer, 500), ("skill_error".to_owned(), false));
    assert_eq!(client.post("/v1/skills/http.act@1", CALL).await.status, 200);
}
