//! The skill `claims.classify@1`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skill_sdk::{SkillContext, SkillError, skill};

use crate::keywords::classify_by_keywords;
use crate::model;

/// A customer's claim.
//
// These doc comments and attributes become the contract, the validation of each call, and the description for the model.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// The subject line.
    #[schemars(length(min = 1, max = 200))]
    pub subject: String,
    /// The text of the claim.
    #[schemars(length(min = 1, max = 8000))]
    pub text: String,
    /// The policy number, if known: its kind and six digits.
    #[schemars(regex(pattern = r"^(MO|PR|TR|HE)-[0-9]{6}$"))]
    pub policy: Option<String>,
    /// The amount claimed, in euros.
    #[schemars(range(min = 0, max = 10_000_000))]
    pub amount: Option<f64>,
    /// The maximum number of reasons in the response.
    #[serde(default = "default_reasons")]
    #[schemars(range(max = 10))]
    pub max_reasons: u8,
}

fn default_reasons() -> u8 {
    3
}

/// What a claim is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    /// Cars and other vehicles.
    Motor,
    /// Houses, flats and what is in them.
    Property,
    /// Journeys and luggage.
    Travel,
    /// Illness and injury.
    Health,
    /// None of the other categories, or unclear.
    Other,
}

/// How urgently a claim must be handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// No hurry.
    Low,
    /// To be handled within a day.
    Medium,
    /// A person is hurt, or the amount is high.
    High,
}

/// The source of a classification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AnsweredBy {
    /// A language model.
    Model,
    /// The built-in list of words, for trying the skill out.
    StandIn,
}

/// The classification of a claim.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Classification {
    /// The category.
    pub category: Category,
    /// How urgently the claim must be handled.
    pub severity: Severity,
    /// The reasons for the decision, most important first.
    #[schemars(length(max = 10))]
    pub reasons: Vec<String>,
    /// The confidence, from 0 (a guess) to 1.
    #[schemars(range(min = 0, max = 1))]
    pub confidence: f64,
    /// The source of the classification.
    pub answered_by: AnsweredBy,
}

/// Classify a customer claim by category and severity.
//
// These arguments suit a skill that calls a model: a call may take a while, can be retried when the model is busy, and
// costs something. Calling a model has no side effect outside of the program.
#[skill(
    "claims.classify",
    version = "1",
    side_effects = "none",
    risk = "low",
    idempotency = "natural",
    timeout = 60,
    retry = (3, 5),
    cost_model = (unit = "claim", estimate = 1),
    title = "Classify a claim",
    tags = ["claims"],
    examples = "samples/classify.json",
)]
pub async fn classify(inputs: Claim, ctx: &SkillContext) -> Result<Classification, SkillError> {
    let (answer, answered_by) = match model::of_host(ctx)? {
        Some(llm) => (model::ask(&llm, &inputs).await?, AnsweredBy::Model),
        None => (classify_by_keywords(&inputs), AnsweredBy::StandIn),
    };
    // The model client has already counted its tokens.
    ctx.add_cost("claim", 1.0);
    let mut reasons = answer.reasons;
    reasons.truncate(inputs.max_reasons.into());
    Ok(Classification {
        category: answer.category,
        severity: answer.severity,
        reasons,
        confidence: answer.confidence,
        answered_by,
    })
}
