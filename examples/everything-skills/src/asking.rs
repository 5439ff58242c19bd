//! Questions to the user.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use skill_sdk::context::InputRequest;
use skill_sdk::{Answer, SkillContext, SkillError, skill};

/// A name.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct Name {
    /// How the user is called.
    pub name: String,
}

/// Who the user is.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct Contact {
    /// User's response
    pub username: String,
    /// User's email address
    pub email: String,
}

/// A form that is filled in already.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct Profile {
    name: String,
    age: u8,
    score: f64,
    status: Status,
    verified: bool,
}

/// A choice.
#[derive(Debug, Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Status {
    Active,
    Inactive,
    Pending,
}

impl Default for Profile {
    fn default() -> Self {
        Self {
            name: "John Doe".to_owned(),
            age: 30,
            score: 95.5,
            status: Status::Active,
            verified: true,
        }
    }
}

/// What became of a question.
fn told<T: Serialize>(answer: Answer<T>) -> String {
    let (action, content) = match answer {
        Answer::Accepted(content) => ("accept", json!(content)),
        Answer::Declined => ("decline", Value::Null),
        _ => ("cancel", Value::Null),
    };
    format!("action={action}, content={content}")
}

/// Asks the user who it is.
#[skill("test_elicitation", version = "1", side_effects = "none", risk = "low")]
pub async fn elicitation(
    /// What the user is told.
    message: String,
    ctx: &SkillContext,
) -> Result<String, SkillError> {
    let answer = ctx.ask::<Contact>("contact", message).await?;
    Ok(format!("User response: {}", told(answer)))
}

/// Asks with a form in which every field has a default.
#[skill(
    "test_elicitation_sep1034_defaults",
    version = "1",
    side_effects = "none",
    risk = "low"
)]
pub async fn defaults(ctx: &SkillContext) -> Result<String, SkillError> {
    let answer = ctx
        .ask::<Profile>("profile", "Please check your profile.")
        .await?;
    Ok(format!("Elicitation completed: {}", told(answer)))
}

/// Asks with all the ways in which a form can offer choices.
#[skill(
    "test_elicitation_sep1330_enums",
    version = "1",
    side_effects = "none",
    risk = "low"
)]
pub async fn choices(ctx: &SkillContext) -> Result<String, SkillError> {
    let plain = json!(["option1", "option2", "option3"]);
    let titled = |values: [&str; 3], titles: [&str; 3]| -> Value {
        let choices = values.iter().zip(titles);
        choices
            .map(|(value, title)| json!({"const": value, "title": title}))
            .collect()
    };
    let values = ["value1", "value2", "value3"];
    let schema = json!({
        "type": "object",
        "properties": {
            "untitledSingle": {"type": "string", "enum": plain},
            "titledSingle": {
                "type": "string",
                "oneOf": titled(values, ["First Option", "Second Option", "Third Option"]),
            },
            "legacyEnum": {
                "type": "string",
                "enum": ["opt1", "opt2", "opt3"],
                "enumNames": ["Option One", "Option Two", "Option Three"],
            },
            "untitledMulti": {"type": "array", "items": {"type": "string", "enum": plain}},
            "titledMulti": {
                "type": "array",
                "items": {"anyOf": titled(values, ["First Choice", "Second Choice", "Third Choice"])},
            },
        },
        "required": ["untitledSingle", "titledSingle", "legacyEnum", "untitledMulti", "titledMulti"],
    });
    let message = "Please choose.".to_owned();
    let answer = ctx
        .request_input("choices", InputRequest::Form { message, schema })
        .await?;
    let (action, content) = (&answer["action"], &answer["content"]);
    Ok(format!(
        "Elicitation completed: action={action}, content={content}"
    ))
}

/// Asks the model of the client.
#[skill("test_sampling", version = "1", side_effects = "none", risk = "low")]
pub async fn sampling(
    /// What the model is told.
    prompt: String,
    ctx: &SkillContext,
) -> Result<String, SkillError> {
    let max_tokens = 100;
    let request = InputRequest::Sample { prompt, max_tokens };
    let answer = ctx.request_input("model", request).await?;
    Ok(format!("LLM response: {}", text(&answer)))
}

/// The text of what a model said.
pub(crate) fn text(answer: &Value) -> &str {
    answer["content"]["text"].as_str().unwrap_or_default()
}
