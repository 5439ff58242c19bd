//! The skill with connections in memory, and with a system behind a real socket.

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

/// A system that takes one token, and knows one customer.
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

    fn takes(&self, token: &str) {
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
fn it_can_be_published() {
    assert_valid_contract(find_customer::SKILL);
}

#[test]
fn the_package_is_up_to_date() {
    assert_package_matches("package");
}

#[tokio::test]
async fn a_customer_or_nobody() {
    let crm = Crm::start("t-1").await;
    let connections = connections(&crm);
    let found = find("ada@example.com", &connections).await.unwrap();
    assert_eq!(
        found.outputs,
        json!({"customer": {"id": "c-1", "name": "Ada"}, "account": "acme"})
    );
    let nobody = find("bob@example.com", &connections).await.unwrap();
    assert_eq!(nobody.outputs["customer"], Value::Null);
    assert_eq!(
        connections.reads().len(),
        1,
        "the second call has the token from the cache"
    );
}

/// The address of the system in the connection, and what comes of looking for somebody whom it does not know.
#[tokio::test]
async fn a_base_is_extended_and_a_wrong_one_is_no_answer_about_customers() {
    let crm = Crm::start("t-1").await;
    for (path, expected) in [
        ("", None),
        ("api/v2", None),
        ("api/v2/", None),
        ("api/v2?tenant=1", None),
        // There is nothing.
        ("api/v3", Some("crm_answer_invalid")),
        ("customers", Some("crm_answer_invalid")),
    ] {
        let connections = FakeConnections::new();
        let base = format!("{}{path}", crm.url);
        connections.add(FakeConnection::new("crm").settings(json!({"baseUrl": base})));
        let nobody = find("bob@example.com", &connections).await;
        let somebody = find("ada@example.com", &connections).await;
        match expected {
            None => {
                assert_eq!(nobody.unwrap().outputs["customer"], Value::Null, "{path}");
                assert_eq!(somebody.unwrap().outputs["customer"]["id"], "c-1", "{path}");
            }
            Some(code) => {
                let error = nobody.unwrap_err();
                assert_eq!((error.code(), error.is_retryable()), (code, false), "{path}");
                assert!(error.message().contains("baseUrl"), "{error}");
                assert_eq!(somebody.unwrap_err().code(), code, "{path}");
            }
        }
    }
}

/// Runs a test in a process of its own whose environment names a proxy, at which nobody is.
#[test]
fn a_proxy_of_the_environment_sees_no_token() {
    let program = std::env::current_exe().unwrap();
    let mut test = std::process::Command::new(program);
    test.args(["--exact", "tests::a_customer_or_nobody"]);
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
async fn a_token_that_was_changed_is_asked_for_again() {
    let crm = Crm::start("t-1").await;
    let connections = connections(&crm);
    find("ada@example.com", &connections).await.unwrap();
    connections.rotate("crm");
    crm.takes("t-2");
    find("ada@example.com", &connections).await.unwrap();
    assert_eq!(connections.reads().len(), 2);
    // And once only.
    crm.takes("another");
    let error = find("ada@example.com", &connections).await.unwrap_err();
    assert_eq!(
        (error.code(), error.is_retryable()),
        ("crm_access_refused", false)
    );
}

#[tokio::test]
async fn failures() {
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
