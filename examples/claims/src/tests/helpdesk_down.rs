//! `helpdesk.reply@1` when the helpdesk does not answer as it should.

use std::net::{Ipv4Addr, SocketAddr};

use axum::Router;
use axum::http::{StatusCode, header};
use serde_json::json;
use skill_sdk::SkillError;
use skill_sdk::testing::invoke;
use tokio::net::TcpListener;

use crate::reply;

/// The failure of a reply that is sent to `url`.
async fn failure(url: impl Into<String>) -> SkillError {
    invoke(reply::SKILL, json!({"ticket": "HD-1", "text": "Hello"}))
        .env("HELPDESK_URL", url)
        .env("helpdesk-token", "token")
        .idempotency_key("k-1")
        .await
        .unwrap_err()
}

/// A server that says the same to everybody.
async fn saying(status: StatusCode, body: &'static str) -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let to_itself = [(header::LOCATION, format!("http://{address}/"))];
    let router = Router::new().fallback(async move || (status, to_itself, body));
    tokio::spawn(async move { axum::serve(listener, router).await });
    address
}

#[tokio::test]
async fn a_server_that_is_down_is_worth_a_repeat() {
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
async fn a_server_that_hangs_up_is_worth_a_repeat() {
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
async fn the_status_says_whether_a_repeat_helps() {
    for (status, body, retryable) in [
        (500, "", true),
        (502, "<html>", true),
        (503, r#"{"error": "busy"}"#, true),
        (429, "", true),
        (408, "", true),
        // The message may be there, but its id is not.
        (201, "{}", true),
        (200, "<html>", true),
        (302, "", false),
        (400, "", false),
        (403, r#"{"error": "unknown_ticket"}"#, false),
        // Not in the words of a helpdesk: the address is wrong.
        (404, "<html>", false),
        (404, r#"{"error": "no such page"}"#, false),
        (422, "", false),
    ] {
        let address = saying(StatusCode::from_u16(status).unwrap(), body).await;
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
async fn an_address_that_cannot_be_used_is_said_to_be_so() {
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
