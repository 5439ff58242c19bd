//! The skill `claims.classify@1`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skill_sdk::{SkillContext, SkillError, skill};

use crate::model;
use crate::stand_in::look_for_words;

/// A customer's claim.
//
// What is written here once is the contract, the check of each call, and what a model is told of the fields.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// The subject line.
    #[schemars(length(min = 1, max = 200))]
    pub subject: String,
    /// What the customer wrote.
    #[schemars(length(min = 1, max = 8000))]
    pub text: String,
    /// The number of the policy, when it is known: its kind and six digits.
    #[schemars(regex(pattern = r"^(MO|PR|TR|HE)-[0-9]{6}$"))]
    pub policy: Option<String>,
    /// How much is claimed, in euros.
    #[schemars(range(min = 0, max = 10_000_000))]
    pub amount: Option<f64>,
    /// The most reasons that the answer gives.
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
    /// None of the others, or not clear.
    Other,
}

/// The order in which claims are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// It can wait its turn.
    Low,
    /// It should be looked at within a day.
    Medium,
    /// Somebody is hurt, or much is at stake.
    High,
}

/// The kinds of those who answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AnsweredBy {
    /// A language model.
    Model,
    /// The list of words that is built in, for trying out.
    StandIn,
}

/// What a claim is.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Classification {
    /// What it is about.
    pub category: Category,
    /// How much depends on a quick answer.
    pub severity: Severity,
    /// What in the claim decided, most important first.
    #[schemars(length(max = 10))]
    pub reasons: Vec<String>,
    /// How sure the answer is, from 0 (a guess) to 1.
    #[schemars(range(min = 0, max = 1))]
    pub confidence: f64,
    /// Who gave the answer.
    pub answered_by: AnsweredBy,
}

/// The category and the severity of a customer claim, by its subject and text.
//
// The contract is that of a model that answers: a call may take a while, is worth a repeat when the model is busy, and costs
// something. What a model does to a text is no effect outside of the program.
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
        None => (look_for_words(&inputs), AnsweredBy::StandIn),
    };
    // The tokens of the model are counted already.
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
