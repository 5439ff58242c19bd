//! Calls that need several rounds of elicitation.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skill_sdk::context::{InputKind, InputRequest};
use skill_sdk::{SkillContext, SkillError, skill};

use crate::elicitation::{Name, text};

/// A confirmation.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct Confirmation {
    ok: bool,
}

/// A colour.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct Colour {
    color: String,
}

fn sample(prompt: &str, max_tokens: u32) -> InputRequest {
    InputRequest::Sample {
        prompt: prompt.to_owned(),
        max_tokens,
    }
}

/// Greets the user by name.
#[skill(
    "test_input_required_result_elicitation",
    version = "1",
    side_effects = "none",
    risk = "low"
)]
pub async fn elicitation(ctx: &SkillContext) -> Result<String, SkillError> {
    let answer = ctx.ask::<Name>("user_name", "What is your name?").await?;
    Ok(format!("Hello, {}!", answer.accepted()?.name))
}

/// Asks the model of the client for a capital.
#[skill(
    "test_input_required_result_sampling",
    version = "1",
    side_effects = "none",
    risk = "low"
)]
pub async fn sampling(ctx: &SkillContext) -> Result<String, SkillError> {
    let request = sample("What is the capital of France?", 100);
    let answer = ctx.request_input("capital_question", request).await?;
    Ok(text(&answer).to_owned())
}

/// Asks which folders the client works on.
#[skill(
    "test_input_required_result_list_roots",
    version = "1",
    side_effects = "none",
    risk = "low"
)]
pub async fn list_roots(ctx: &SkillContext) -> Result<Vec<String>, SkillError> {
    let answer = ctx.request_input("client_roots", InputRequest::Roots).await?;
    let roots = answer["roots"].as_array().into_iter().flatten();
    Ok(roots
        .filter_map(|root| root["uri"].as_str().map(str::to_owned))
        .collect())
}

/// Continues only after a confirmation.
#[skill(
    "test_input_required_result_request_state",
    version = "1",
    side_effects = "none",
    risk = "low"
)]
pub async fn request_state(ctx: &SkillContext) -> Result<String, SkillError> {
    let answer = ctx.ask::<Confirmation>("confirm", "Please confirm").await?;
    Ok(if answer.accepted()?.ok {
        "state-ok"
    } else {
        "not confirmed"
    }
    .to_owned())
}

/// Asks for a name, a completion and the roots at once.
#[skill(
    "test_input_required_result_multiple_inputs",
    version = "1",
    side_effects = "none",
    risk = "low"
)]
pub async fn multiple_inputs(ctx: &SkillContext) -> Result<String, SkillError> {
    let (name, greeting, roots) = tokio::try_join!(
        ctx.ask::<Name>("user_name", "What is your name?"),
        ctx.request_input("greeting", sample("Generate a greeting", 50)),
        ctx.request_input("client_roots", InputRequest::Roots),
    )?;
    let folders = roots["roots"].as_array().map_or(0, Vec::len);
    let name = name.accepted()?.name;
    Ok(format!("{} {name} works on {folders} folders.", text(&greeting)))
}

/// Asks one question after the other.
#[skill(
    "test_input_required_result_multi_round",
    version = "1",
    side_effects = "none",
    risk = "low"
)]
pub async fn multi_round(ctx: &SkillContext) -> Result<String, SkillError> {
    let name = ctx.ask::<Name>("step1", "Step 1: What is your name?").await?;
    let name = name.accepted()?.name;
    let colour = ctx
        .ask::<Colour>("step2", "Step 2: What is your favorite color?")
        .await?;
    Ok(format!("{name} likes {}.", colour.accepted()?.color))
}

/// Continues only if the confirmation was not tampered with.
#[skill(
    "test_input_required_result_tampered_state",
    version = "1",
    side_effects = "none",
    risk = "low"
)]
pub async fn tampered_state(ctx: &SkillContext) -> Result<String, SkillError> {
    let answer = ctx.ask::<Confirmation>("confirm", "Please confirm").await?;
    Ok(format!("confirmed: {}", answer.accepted()?.ok))
}

/// Asks only for what the client supports.
#[skill(
    "test_input_required_result_capabilities",
    version = "1",
    side_effects = "none",
    risk = "low"
)]
pub async fn capabilities(ctx: &SkillContext) -> Result<Vec<String>, SkillError> {
    let mut known = Vec::new();
    if ctx.can_ask() {
        let answer = ctx.ask::<Name>("user_name", "What is your name?").await?;
        known.push(answer.accepted()?.name);
    }
    if ctx.can_request(InputKind::Sample) {
        let answer = ctx
            .request_input("greeting", sample("Generate a greeting", 50))
            .await?;
        known.push(text(&answer).to_owned());
    }
    Ok(known)
}
