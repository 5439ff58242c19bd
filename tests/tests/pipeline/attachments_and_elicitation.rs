//! Attachments and elicitation.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use skill_sdk::pipeline::Meta;
use skill_sdk::testing::invoke;
use skill_sdk::{Answer, Attached, Attachment, SkillContext, SkillError, skill};

use super::call;

#[derive(Serialize, JsonSchema)]
struct Chart {
    points: u8,
}

/// Returns outputs with an image.
#[skill("beside.chart", version = "1", side_effects = "none", risk = "low")]
fn chart() -> Attached<Chart> {
    Attached::new(Chart { points: 3 })
        .with(Attachment::text("three points"))
        .with(Attachment::image([1, 2], "image/png"))
}

/// Returns outputs that are not an object with a text attachment, or a failure.
#[skill("beside.checked", version = "1", side_effects = "none", risk = "low")]
async fn checked(fail: bool) -> Result<Attached<u8>, SkillError> {
    if fail {
        return Err(SkillError::terminal("checked", "no"));
    }
    Ok(Attached::new(1).with(Attachment::text("one")))
}

/// Fails with any error.
#[skill("beside.parsed", version = "1", side_effects = "none", risk = "low")]
fn parsed(number: String) -> anyhow::Result<Attached<i32>> {
    let number: i32 = number.parse()?;
    Ok(Attached::new(number).with(Attachment::document(
        "number://",
        "text/plain",
        number.to_string(),
    )))
}

/// Has an explicit schema.
#[skill(
    "beside.explicit",
    version = "1",
    side_effects = "none",
    risk = "low",
    outputs_schema = json!({"type": "object", "required": ["a"]})
)]
fn explicit() -> Attached<Value> {
    Attached::new(json!({"a": 1})).with(Attachment::text("a"))
}

/// Returns nested attachments, which keep their order.
#[skill("beside.nested", version = "1", side_effects = "none", risk = "low")]
fn nested() -> Attached<Attached<u8>> {
    Attached::new(Attached::new(1).with(Attachment::text("inner"))).with(Attachment::text("outer"))
}

#[tokio::test]
async fn attachments_do_not_change_contract_and_outputs() {
    let outputs = |skill: &skill_sdk::Skill| skill.described().unwrap().contract().outputs.clone();
    assert_eq!(outputs(chart::SKILL)["properties"]["points"]["type"], "integer");
    assert_eq!(outputs(checked::SKILL)["properties"]["result"]["type"], "integer");
    assert_eq!(outputs(explicit::SKILL)["required"], json!(["a"]));

    let completed = call(chart::SKILL, json!({}), Meta::new("test")).await;
    assert_eq!(completed.result().unwrap(), br#"{"points":3}"#);
    let document = completed.into_document().unwrap();
    assert_eq!(
        document,
        json!({
            "outputs": {"points": 3},
            "cost": null,
            "attachments": [
                {"type": "text", "text": "three points"},
                {"type": "image", "data": "AQI=", "mimeType": "image/png"},
            ],
        })
        .to_string()
    );
}

#[tokio::test]
async fn every_kind_of_result_can_have_attachments() {
    let result = invoke(checked::SKILL, json!({"fail": false})).await.unwrap();
    assert_eq!(result.outputs, json!({"result": 1}));
    assert_eq!(result.attachments, [Attachment::text("one")]);
    let error = invoke(checked::SKILL, json!({"fail": true})).await.unwrap_err();
    assert_eq!(error.code(), "checked");
    let result = invoke(parsed::SKILL, json!({"number": "7"})).await.unwrap();
    assert_eq!(result.attachments[0].bytes(), b"7");
    let result = invoke(explicit::SKILL, json!({})).await.unwrap();
    assert_eq!((result.outputs, result.attachments.len()), (json!({"a": 1}), 1));
    let result = invoke(nested::SKILL, json!({})).await.unwrap();
    assert_eq!(
        result.attachments,
        [Attachment::text("inner"), Attachment::text("outer")]
    );
    // The function is still callable.
    assert_eq!(chart().attachments.len(), 2);
}

#[derive(Deserialize, JsonSchema)]
struct Name {
    name: String,
}

/// Greets the user by name.
#[skill("beside.greet", version = "1", side_effects = "none", risk = "low")]
async fn greet(ctx: &SkillContext) -> Result<String, SkillError> {
    match ctx.ask::<Name>("name", "Who are you?").await? {
        Answer::Accepted(Name { name }) => Ok(format!("Hello, {name}!")),
        Answer::Declined => Ok("Hello, whoever you are!".into()),
        other => other.accepted().map(|_| String::new()),
    }
}

/// Greets the user by name, in a synchronous function.
#[skill("beside.greet_blocking", version = "1", side_effects = "none", risk = "low")]
fn greet_blocking(ctx: &SkillContext) -> Result<String, SkillError> {
    let answer = ctx.ask_blocking::<Name>("name", "Who are you?")?;
    Ok(format!("Hello, {}!", answer.accepted()?.name))
}

#[tokio::test]
async fn an_elicitation_is_answered_by_name() {
    for skill in [greet::SKILL, greet_blocking::SKILL] {
        let result = invoke(skill, json!({}))
            .answer("name", json!({"name": "Ada"}))
            .await;
        assert_eq!(result.unwrap().outputs, json!({"result": "Hello, Ada!"}));
    }
    let declined = invoke(greet::SKILL, json!({})).decline("name").await.unwrap();
    assert_eq!(declined.outputs, json!({"result": "Hello, whoever you are!"}));
}

#[tokio::test]
async fn an_unanswered_elicitation_is_a_failure() {
    let code = async |call: skill_sdk::testing::Invoke| call.await.unwrap_err().code().to_owned();
    let asked = || invoke(greet_blocking::SKILL, json!({}));
    assert_eq!(code(asked()).await, "input_not_supported");
    assert_eq!(
        code(asked().answer("other", json!({}))).await,
        "input_not_supported"
    );
    assert_eq!(code(asked().decline("name")).await, "input_declined");
    let closed = json!({"action": "cancel"});
    assert_eq!(code(asked().respond("name", closed)).await, "input_cancelled");
    assert_eq!(
        code(asked().answer("name", json!({"name": 1}))).await,
        "input_invalid"
    );
    let error = asked().await.unwrap_err();
    assert_eq!(error.details().unwrap(), &json!({"requires": "elicitation"}));
    assert!(!error.is_retryable());
}
