//! Tests of `helpdesk.reply@1` with a helpdesk that fails.

use std::net::{Ipv4Addr, SocketAddr};

use axum::Router;
use axum::http::{StatusCode, header};
use serde_json::json;
use skill_sdk::SkillError;
use skill_sdk::testing::invoke;
use tokio::net::TcpListener;

use crate::reply;

/// The failure of a reply sent to `url`.
async fn failure(url: impl Into<String>) -> SkillError {
    invoke(reply::SKILL, json!({"ticket": "HD-1", "text": "Hello"}))
        .env("HELPDESK_URL", url)
        .env("helpdesk-token", "token")
        .idempotency_key("k-1")
        .await
        .unwrap_err()
}

/// A server that sends the same response to every request.
async fn server_with_response(status: StatusCode, body: &'static str) -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let to_itself = [(header::LOCATION, format!("http://{address}/"))];
    let router = Router::new().fallback(async move || (status, to_itself, body));
    tokio::spawn(async move { axum::serve(listener, router).await });
    address
}

#[tokio::test]
async fn an_unreachable_server_is_retryable() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let error = failure(format!("http://user:hunter2@{address}")).await;
    assert_eq!(
        (error.code(), error.is_retryable()),
        ("helpdesk_unavailable", true)
    );
    assert!(!format!("{error:?}").contains("hunter2"));
}

#[tokio::test]
async fn a_closed_connection_is_retryable() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { while listener.accept().await.is_ok() {} });
    let error = failure(format!("http://{address}")).await;
    assert_eq!(
        (error.code(), error.is_retryable()),
        ("helpdesk_unavailable", true)
    );
}

#[tokio::test]
async fn the_status_decides_whether_a_failure_is_retryable() {
    for (status, body, retryable) in [
        (500, "", true),
        (502, "<html>", true),
        (503, r#"{"error": "busy"}"#, true),
        (429, "", true),
        (408, "", true),
        // The message may have been created, but its id is unknown.
        (201, "{}", true),
        (200, "<html>", true),
        (302, "", false),
        (400, "", false),
        (403, r#"{"error": "unknown_ticket"}"#, false),
        // The body does not have the helpdesk's format: the URL is wrong.
        (404, "<html>", false),
        (404, r#"{"error": "no such page"}"#, false),
        (422, "", false),
    ] {
        let address = server_with_response(StatusCode::from_u16(status).unwrap(), body).await;
        let error = failure(format!("http://{address}")).await;
        let code = if retryable {
            "helpdesk_unavailable"
        } else {
            "helpdesk_refused"
        };
        assert_eq!(
            (error.code(), error.is_retryable()),
            (code, retryable),
            "{status} {body}"
        );
    }
}

#[tokio::test]
async fn an_invalid_url_is_reported() {
    for url in ["helpdesk", "ftp://helpdesk", "//helpdesk", "data:x", "http://"] {
        let error = failure(url).await;
        assert_eq!(
            (error.code(), error.is_retryable()),
            ("config_invalid", true),
            "{url}"
        );
        assert!(error.message().contains("HELPDESK_URL"), "{url}");
    }
}
