//! Tests with connections in memory, and with a CRM behind a real socket.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use serde_json::{Value, json};
use skill_sdk::testing::{
    FakeConnection, FakeConnections, Invoke, assert_package_matches, assert_valid_contract, invoke,
};

use super::find_customer;

/// A CRM that accepts one token and has one customer.
#[derive(Clone)]
struct Crm {
    token: Arc<Mutex<String>>,
    url: String,
}

impl Crm {
    async fn start(token: &str) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let crm = Self {
            token: Arc::new(Mutex::new(token.to_owned())),
            url: format!("http://{}/", listener.local_addr().unwrap()),
        };
        let router = Router::new()
            .route("/customers", get(answer))
            .route("/api/v2/customers", get(answer))
            .with_state(crm.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        crm
    }

    fn accept_token(&self, token: &str) {
        token.clone_into(&mut self.token.lock().unwrap());
    }
}

async fn answer(State(crm): State<Crm>, Query(query): Query<Value>, headers: HeaderMap) -> Response {
    let expected = format!("Bearer {}", crm.token.lock().unwrap());
    if headers
        .get("authorization")
        .is_none_or(|sent| sent.as_bytes() != expected.as_bytes())
    {
        return (StatusCode::UNAUTHORIZED, Json(json!({}))).into_response();
    }
    let (status, body) = match query["email"].as_str() {
        Some("ada@example.com") => (StatusCode::OK, Json(json!({"id": "c-1", "name": "Ada"}))),
        Some("broken@example.com") => (StatusCode::BAD_GATEWAY, Json(json!({}))),
        _ => (
            StatusCode::NOT_FOUND,
            Json(json!({"error": "customer_not_found"})),
        ),
    };
    (status, body).into_response()
}

fn connections(crm: &Crm) -> FakeConnections {
    let connections = FakeConnections::new();
    let settings = json!({"baseUrl": crm.url});
    connections.add(FakeConnection::new("crm").account("acme").settings(settings));
    connections
}

fn find(email: &str, connections: &FakeConnections) -> Invoke {
    invoke(find_customer::SKILL, json!({"email": email})).connections(connections)
}

#[test]
fn the_contract_is_valid() {
    assert_valid_contract(find_customer::SKILL);
}

#[test]
fn the_package_is_up_to_date() {
    assert_package_matches("package");
}

#[tokio::test]
async fn a_customer_is_found_or_null() {
    let crm = Crm::start("t-1").await;
    let connections = connections(&crm);
    let found = find("ada@example.com", &connections).await.unwrap();
    assert_eq!(
        found.outputs,
        json!({"customer": {"id": "c-1", "name": "Ada"}, "account": "acme"})
    );
    let unknown = find("bob@example.com", &connections).await.unwrap();
    assert_eq!(unknown.outputs["customer"], Value::Null);
    assert_eq!(
        connections.reads().len(),
        1,
        "the second call has the token from the cache"
    );
}

/// The base URL of the connection, and the error code of a search for an unknown customer.
#[tokio::test]
async fn a_wrong_base_url_is_a_failure() {
    let crm = Crm::start("t-1").await;
    for (path, expected) in [
        ("", None),
        ("api/v2", None),
        ("api/v2/", None),
        ("api/v2?tenant=1", None),
        // These URLs exist on the server but are not the CRM.
        ("api/v3", Some("crm_answer_invalid")),
        ("customers", Some("crm_answer_invalid")),
    ] {
        let connections = FakeConnections::new();
        let base = format!("{}{path}", crm.url);
        connections.add(FakeConnection::new("crm").settings(json!({"baseUrl": base})));
        let unknown = find("bob@example.com", &connections).await;
        let known = find("ada@example.com", &connections).await;
        match expected {
            None => {
                assert_eq!(unknown.unwrap().outputs["customer"], Value::Null, "{path}");
                assert_eq!(known.unwrap().outputs["customer"]["id"], "c-1", "{path}");
            }
            Some(code) => {
                let error = unknown.unwrap_err();
                assert_eq!((error.code(), error.is_retryable()), (code, false), "{path}");
                assert!(error.message().contains("baseUrl"), "{error}");
                assert_eq!(known.unwrap_err().code(), code, "{path}");
            }
        }
    }
}

/// Runs a test in a child process whose environment names a proxy that does not exist.
#[test]
fn the_token_is_not_sent_to_a_proxy() {
    let program = std::env::current_exe().unwrap();
    let mut test = std::process::Command::new(program);
    test.args(["--exact", "tests::a_customer_is_found_or_null"]);
    for name in ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"] {
        test.env(name, "http://127.0.0.1:9");
    }
    let output = test
        .env_remove("no_proxy")
        .env_remove("NO_PROXY")
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && printed.contains("1 passed"),
        "{printed}"
    );
}

#[tokio::test]
async fn a_rejected_token_is_renewed_once() {
    let crm = Crm::start("t-1").await;
    let connections = connections(&crm);
    find("ada@example.com", &connections).await.unwrap();
    connections.rotate("crm");
    crm.accept_token("t-2");
    find("ada@example.com", &connections).await.unwrap();
    assert_eq!(connections.reads().len(), 2);
    // Only once.
    crm.accept_token("another");
    let error = find("ada@example.com", &connections).await.unwrap_err();
    assert_eq!(
        (error.code(), error.is_retryable()),
        ("crm_access_refused", false)
    );
}

#[tokio::test]
async fn failures_have_stable_codes() {
    let crm = Crm::start("t-1").await;
    let connections = connections(&crm);
    let error = find("broken@example.com", &connections).await.unwrap_err();
    assert_eq!((error.code(), error.is_retryable()), ("crm_unavailable", true));
    connections.seal();
    connections.advance(Duration::from_mins(1));
    let error = find("ada@example.com", &connections).await.unwrap_err();
    assert_eq!(
        (error.code(), error.is_retryable()),
        ("secret_store_unavailable", true)
    );
    connections.unseal();
    connections.revoke("crm");
    connections.advance(Duration::from_mins(1));
    let error = find("ada@example.com", &connections).await.unwrap_err();
    assert_eq!(
        (error.code(), error.is_retryable()),
        ("connection_revoked", false)
    );
    for base in ["nowhere", "mailto:a@example.com", "ftp://example.com/"] {
        connections.add(FakeConnection::new("crm").settings(json!({"baseUrl": base})));
        connections.advance(Duration::from_mins(1));
        let error = find("ada@example.com", &connections).await.unwrap_err();
        assert_eq!(
            (error.code(), error.is_retryable()),
            ("settings_invalid", false),
            "{base}"
        );
    }
}
