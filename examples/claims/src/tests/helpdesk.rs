//! `helpdesk.reply@1`, over a real socket to a helpdesk that works.

use serde_json::{Value, json};
use skill_sdk::testing::{Invoke, assert_valid_contract, invoke};

use crate::helpdesk_double::{HelpdeskDouble, Message};
use crate::{Visibility, reply};

#[test]
fn the_contract_can_be_published() {
    assert_valid_contract(reply::SKILL);
}

/// A reply to `ticket`, sent to `double` as to any helpdesk.
fn send(double: &HelpdeskDouble, ticket: &str, text: &str) -> Invoke {
    invoke(reply::SKILL, json!({"ticket": ticket, "text": text}))
        .env("HELPDESK_URL", double.url())
        .env("helpdesk-token", HelpdeskDouble::TOKEN)
}

fn sent(id: &str) -> Value {
    json!({"sent": true, "message_id": id, "reason": null, "answered_by": "helpdesk"})
}

#[tokio::test]
async fn a_repeat_with_one_key_has_one_effect_and_two_keys_have_two() {
    let double = HelpdeskDouble::start().await.unwrap();
    for (key, id, messages) in [("k-1", "m-1", 1), ("k-1", "m-1", 1), ("k-2", "m-2", 2)] {
        let result = send(&double, "HD-1", "Hello").idempotency_key(key).await.unwrap();
        assert_eq!(result.outputs, sent(id), "{key}");
        assert_eq!(double.messages().len(), messages, "{key}");
    }
}

#[tokio::test]
async fn repeats_at_the_same_time_have_one_effect() {
    let double = HelpdeskDouble::start().await.unwrap();
    let calls: Vec<_> = (0..8)
        .map(|_| {
            tokio::spawn(
                send(&double, "HD-1", "Hello")
                    .idempotency_key("k-1")
                    .into_future(),
            )
        })
        .collect();
    for call in calls {
        assert_eq!(call.await.unwrap().unwrap().outputs, sent("m-1"));
    }
    assert_eq!(double.messages().len(), 1);
}

#[tokio::test]
async fn a_key_with_another_reply_is_refused() {
    let double = HelpdeskDouble::start().await.unwrap();
    send(&double, "HD-1", "Hello")
        .idempotency_key("k-1")
        .await
        .unwrap();
    for (ticket, text) in [("HD-1", "Goodbye"), ("HD-2", "Hello")] {
        let error = send(&double, ticket, text)
            .idempotency_key("k-1")
            .await
            .unwrap_err();
        assert_eq!((error.code(), error.is_retryable()), ("helpdesk_refused", false));
        assert_eq!(error.details(), Some(&json!({"status": 422})));
    }
    assert_eq!(double.messages().len(), 1);
}

#[tokio::test]
async fn the_message_arrives_as_written() {
    let double = HelpdeskDouble::start().await.unwrap();
    let text = "Привет!\n\"Quotes\" & more\u{0}";
    let inputs = json!({"ticket": "HD-2", "text": text, "visibility": "internal"});
    invoke(reply::SKILL, inputs)
        .env("HELPDESK_URL", double.url() + "/")
        .env("helpdesk-token", HelpdeskDouble::TOKEN)
        .idempotency_key("k-1")
        .await
        .unwrap();
    let expected = Message {
        ticket: "HD-2".to_owned(),
        text: text.to_owned(),
        visibility: Visibility::Internal,
    };
    assert_eq!(double.messages(), [expected]);
}

#[tokio::test]
async fn a_ticket_that_takes_no_reply_is_an_outcome() {
    let double = HelpdeskDouble::start().await.unwrap();
    for (ticket, reason) in [("HD-9", "unknown_ticket"), ("HD-3", "ticket_closed")] {
        let result = send(&double, ticket, "Hello")
            .idempotency_key("k-1")
            .await
            .unwrap();
        let expected = json!({
            "sent": false, "message_id": null, "reason": reason, "answered_by": "helpdesk",
        });
        assert_eq!(result.outputs, expected);
    }
    assert!(double.messages().is_empty());
}

#[tokio::test]
async fn without_a_usable_key_nothing_is_sent() {
    let double = HelpdeskDouble::start().await.unwrap();
    for (key, code) in [
        (None, "idempotency_key_missing"),
        (Some("a\nb"), "idempotency_key_unusable"),
    ] {
        let mut call = send(&double, "HD-1", "Hello");
        if let Some(key) = key {
            call = call.idempotency_key(key);
        }
        let error = call.await.unwrap_err();
        assert_eq!((error.code(), error.is_retryable()), (code, false));
    }
    assert!(double.messages().is_empty());
}

#[tokio::test]
async fn a_token_that_is_missing_or_refused_shows_in_no_answer() {
    let double = HelpdeskDouble::start().await.unwrap();
    for (token, code, retryable) in [
        // Whoever runs the host can add it.
        (None, "config_missing", true),
        (Some("hunter2"), "helpdesk_refused", false),
        (Some("hunter2\nx: y"), "helpdesk_token_unusable", false),
    ] {
        let call = invoke(reply::SKILL, json!({"ticket": "HD-1", "text": "Hello"}))
            .env("HELPDESK_URL", double.url())
            .env("SKILL_SDK_SECRETS_DIR", "/no/such/directory")
            .envs(token.map(|token| ("helpdesk-token", token)))
            .idempotency_key("k-1");
        let error = call.await.unwrap_err();
        assert_eq!((error.code(), error.is_retryable()), (code, retryable));
        assert!(!format!("{error:?}").contains("hunter2"), "{code}");
    }
    assert!(double.messages().is_empty());
}

#[tokio::test]
async fn without_an_address_the_stand_in_answers_and_says_so() {
    let double = HelpdeskDouble::start().await.unwrap();
    // Given, to be looked at afterwards; the next call starts one by itself.
    let call = || {
        invoke(reply::SKILL, json!({"ticket": "HD-1", "text": "Hello"}))
            .env("HELPDESK_URL", "")
            .idempotency_key("k-1")
    };
    let expected = json!({"sent": true, "message_id": "m-1", "reason": null, "answered_by": "stand-in"});
    assert_eq!(call().state(double.clone()).await.unwrap().outputs, expected);
    assert_eq!(double.messages().len(), 1);
    assert_eq!(call().await.unwrap().outputs, expected);
    assert_eq!(double.messages().len(), 1);
}
