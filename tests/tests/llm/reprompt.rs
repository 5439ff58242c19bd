//! Answers that do not fit.

use serde_json::{Value, json};

use super::double::{Double, Say};
use super::{code, context_at, request, summarize};

#[tokio::test]
async fn an_answer_that_does_not_fit_is_sent_back_once_with_what_is_wrong() {
    let double = Double::start([Say::text(r#"{"summary": 7}"#), Say::good()]).await;
    summarize(&context_at(&double.base)).await.unwrap();
    assert_eq!(double.models(), "aa");
    let messages = double.asked()[1].body["messages"].clone();
    let before = double.asked()[0].body["messages"].clone();
    let (before, messages) = (before.as_array().unwrap(), messages.as_array().unwrap());
    assert_eq!(&messages[..2], &before[..]);
    assert_eq!(
        messages[2],
        json!({"role": "assistant", "content": "{\"summary\": 7}"})
    );
    assert_eq!(messages[3]["role"], "user");
    let why = messages[3]["content"].as_str().unwrap();
    assert!(
        why.contains("does not fit the schema `summary`: /summary: 7 is not of type"),
        "{why}"
    );
}

#[tokio::test]
async fn then_the_next_model_begins_afresh_and_at_last_the_call_fails() {
    let double = Double::start([Say::text("no"), Say::text("[]"), Say::good()]).await;
    summarize(&context_at(&double.base)).await.unwrap();
    assert_eq!(double.models(), "aab");
    assert_eq!(
        double.asked()[0].body["messages"],
        double.asked()[2].body["messages"]
    );

    let double = Double::start([Say::text(r#"{"summary": "hunter3", "summary": 5}"#)]).await;
    let error = summarize(&context_at(&double.base)).await.unwrap_err();
    assert_eq!(code(&error), "llm_invalid_response");
    assert_eq!(
        error.message(),
        "no model gave JSON that fits (b: the answer does not fit the schema `summary` at /summary)"
    );
    assert_eq!(double.models(), "aabb");
}

#[tokio::test]
async fn a_failure_while_repairing_goes_to_the_next_model() {
    let double = Double::start([Say::text("no"), Say::error(500, "x", None), Say::good()]).await;
    summarize(&context_at(&double.base)).await.unwrap();
    assert_eq!(double.models(), "aab");
}

#[tokio::test]
async fn any_object_must_be_an_object() {
    let double = Double::start([Say::text("[1]"), Say::text(r#"{"a": 1}"#)]).await;
    let llm = context_at(&double.base).llm().unwrap();
    let answer = llm.chat_json_object(request()).await.unwrap();
    assert_eq!(Value::from(answer.data), json!({"a": 1}));
    let asked = double.asked();
    let why = asked[1].body["messages"][3]["content"].as_str().unwrap();
    assert!(why.contains("the answer is not a JSON object"), "{why}");
}
