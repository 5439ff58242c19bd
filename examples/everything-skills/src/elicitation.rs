//! Elicitation: asking the user of the client.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use skill_sdk::context::InputRequest;
use skill_sdk::{Answer, SkillContext, SkillError, skill};

/// A name.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct Name {
    /// The name of the user.
    pub name: String,
}

/// The contact data of the user.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct Contact {
    /// User's response
    pub username: String,
    /// User's email address
    pub email: String,
}

/// A form with default values.
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

/// The outcome of an elicitation as text.
fn outcome_text<T: Serialize>(answer: Answer<T>) -> String {
    let (action, content) = match answer {
        Answer::Accepted(content) => ("accept", json!(content)),
        Answer::Declined => ("decline", Value::Null),
        _ => ("cancel", Value::Null),
    };
    format!("action={action}, content={content}")
}

/// Asks the user for contact data.
#[skill("test_elicitation", version = "1", side_effects = "none", risk = "low")]
pub async fn elicitation(
    /// The message for the user.
    message: String,
    ctx: &SkillContext,
) -> Result<String, SkillError> {
    let answer = ctx.ask::<Contact>("contact", message).await?;
    Ok(format!("User response: {}", outcome_text(answer)))
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
    Ok(format!("Elicitation completed: {}", outcome_text(answer)))
}

/// Asks with every kind of choice that a form can offer.
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

/// Asks the model of the client (sampling).
#[skill("test_sampling", version = "1", side_effects = "none", risk = "low")]
pub async fn sampling(
    /// The prompt for the model.
    prompt: String,
    ctx: &SkillContext,
) -> Result<String, SkillError> {
    let max_tokens = 100;
    let request = InputRequest::Sample { prompt, max_tokens };
    let answer = ctx.request_input("model", request).await?;
    Ok(format!("LLM response: {}", text(&answer)))
}

/// The text of a sampling response.
pub(crate) fn text(answer: &Value) -> &str {
    answer["content"]["text"].as_str().unwrap_or_default()
}
