//! Tests of `helpdesk.reply@1` over a real socket to a working helpdesk.

use serde_json::{Value, json};
use skill_sdk::testing::{Invoke, assert_valid_contract, invoke};

use crate::mock_helpdesk::{Message, MockHelpdesk};
use crate::{Visibility, reply};

#[test]
fn the_contract_is_valid() {
    assert_valid_contract(reply::SKILL);
}

/// A reply to `ticket`, sent to the mock helpdesk.
fn send(helpdesk: &MockHelpdesk, ticket: &str, text: &str) -> Invoke {
    invoke(reply::SKILL, json!({"ticket": ticket, "text": text}))
        .env("HELPDESK_URL", helpdesk.url())
        .env("helpdesk-token", MockHelpdesk::TOKEN)
}

fn sent(id: &str) -> Value {
    json!({"sent": true, "message_id": id, "reason": null, "answered_by": "helpdesk"})
}

#[tokio::test]
async fn each_idempotency_key_sends_one_message() {
    let helpdesk = MockHelpdesk::start().await.unwrap();
    for (key, id, messages) in [("k-1", "m-1", 1), ("k-1", "m-1", 1), ("k-2", "m-2", 2)] {
        let result = send(&helpdesk, "HD-1", "Hello")
            .idempotency_key(key)
            .await
            .unwrap();
        assert_eq!(result.outputs, sent(id), "{key}");
        assert_eq!(helpdesk.messages().len(), messages, "{key}");
    }
}

#[tokio::test]
async fn concurrent_retries_send_one_message() {
    let helpdesk = MockHelpdesk::start().await.unwrap();
    let calls: Vec<_> = (0..8)
        .map(|_| {
            tokio::spawn(
                send(&helpdesk, "HD-1", "Hello")
                    .idempotency_key("k-1")
                    .into_future(),
            )
        })
        .collect();
    for call in calls {
        assert_eq!(call.await.unwrap().unwrap().outputs, sent("m-1"));
    }
    assert_eq!(helpdesk.messages().len(), 1);
}

#[tokio::test]
async fn a_key_reused_with_another_reply_is_rejected() {
    let helpdesk = MockHelpdesk::start().await.unwrap();
    send(&helpdesk, "HD-1", "Hello")
        .idempotency_key("k-1")
        .await
        .unwrap();
    for (ticket, text) in [("HD-1", "Goodbye"), ("HD-2", "Hello")] {
        let error = send(&helpdesk, ticket, text)
            .idempotency_key("k-1")
            .await
            .unwrap_err();
        assert_eq!((error.code(), error.is_retryable()), ("helpdesk_refused", false));
        assert_eq!(error.details(), Some(&json!({"status": 422})));
    }
    assert_eq!(helpdesk.messages().len(), 1);
}

#[tokio::test]
async fn the_message_arrives_unchanged() {
    let helpdesk = MockHelpdesk::start().await.unwrap();
    let text = "Привет!\n\"Quotes\" & more\u{0}";
    let inputs = json!({"ticket": "HD-2", "text": text, "visibility": "internal"});
    invoke(reply::SKILL, inputs)
        .env("HELPDESK_URL", helpdesk.url() + "/")
        .env("helpdesk-token", MockHelpdesk::TOKEN)
        .idempotency_key("k-1")
        .await
        .unwrap();
    let expected = Message {
        ticket: "HD-2".to_owned(),
        text: text.to_owned(),
        visibility: Visibility::Internal,
    };
    assert_eq!(helpdesk.messages(), [expected]);
}

#[tokio::test]
async fn an_unknown_or_closed_ticket_is_an_output() {
    let helpdesk = MockHelpdesk::start().await.unwrap();
    for (ticket, reason) in [("HD-9", "unknown_ticket"), ("HD-3", "ticket_closed")] {
        let result = send(&helpdesk, ticket, "Hello")
            .idempotency_key("k-1")
            .await
            .unwrap();
        let expected = json!({
            "sent": false, "message_id": null, "reason": reason, "answered_by": "helpdesk",
        });
        assert_eq!(result.outputs, expected);
    }
    assert!(helpdesk.messages().is_empty());
}

#[tokio::test]
async fn nothing_is_sent_without_a_valid_key() {
    let helpdesk = MockHelpdesk::start().await.unwrap();
    for (key, code) in [
        (None, "idempotency_key_missing"),
        (Some("a\nb"), "idempotency_key_unusable"),
    ] {
        let mut call = send(&helpdesk, "HD-1", "Hello");
        if let Some(key) = key {
            call = call.idempotency_key(key);
        }
        let error = call.await.unwrap_err();
        assert_eq!((error.code(), error.is_retryable()), (code, false));
    }
    assert!(helpdesk.messages().is_empty());
}

#[tokio::test]
async fn a_missing_or_rejected_token_is_not_leaked() {
    let helpdesk = MockHelpdesk::start().await.unwrap();
    for (token, code, retryable) in [
        // Retryable, because the operator can set the secret.
        (None, "config_missing", true),
        (Some("hunter2"), "helpdesk_refused", false),
        (Some("hunter2\nx: y"), "helpdesk_token_unusable", false),
    ] {
        let call = invoke(reply::SKILL, json!({"ticket": "HD-1", "text": "Hello"}))
            .env("HELPDESK_URL", helpdesk.url())
            .env("SKILL_SDK_SECRETS_DIR", "/no/such/directory")
            .envs(token.map(|token| ("helpdesk-token", token)))
            .idempotency_key("k-1");
        let error = call.await.unwrap_err();
        assert_eq!((error.code(), error.is_retryable()), (code, retryable));
        assert!(!format!("{error:?}").contains("hunter2"), "{code}");
    }
    assert!(helpdesk.messages().is_empty());
}

#[tokio::test]
async fn without_a_url_the_mock_is_used_and_reported() {
    let helpdesk = MockHelpdesk::start().await.unwrap();
    // The test provides the mock so that it can read its messages. The next call starts its own.
    let call = || {
        invoke(reply::SKILL, json!({"ticket": "HD-1", "text": "Hello"}))
            .env("HELPDESK_URL", "")
            .idempotency_key("k-1")
    };
    let expected = json!({"sent": true, "message_id": "m-1", "reason": null, "answered_by": "stand-in"});
    assert_eq!(call().state(helpdesk.clone()).await.unwrap().outputs, expected);
    assert_eq!(helpdesk.messages().len(), 1);
    assert_eq!(call().await.unwrap().outputs, expected);
    assert_eq!(helpdesk.messages().len(), 1);
}
