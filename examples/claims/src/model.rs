//! What the language model is asked, and what it answers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skill_sdk::llm::Llm;
use skill_sdk::{ChatRequest, SkillContext, SkillError};

use crate::classification::{Category, Claim, Severity};

/// What the model is told to do. What the fields of its answer mean is told by the type of the answer.
const INSTRUCTIONS: &str = "You sort the claims of an insurer's customers. Judge only by what the customer wrote. The \
                            number of a policy begins with its kind: MO motor, PR property, TR travel, HE health.";

/// What is asked for each claim.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub(crate) struct Answer {
    /// What the claim is about.
    pub(crate) category: Category,
    /// How much depends on a quick answer.
    pub(crate) severity: Severity,
    /// What in the claim decided, in a few words each, most important first.
    pub(crate) reasons: Vec<String>,
    /// How sure you are, from 0 (a guess) to 1.
    #[schemars(range(min = 0, max = 1))]
    pub(crate) confidence: f64,
}

/// What a host says about its model.
const VARIABLES: [&str; 6] = [
    "SKILL_LLM_PROVIDER",
    "SKILL_LLM_BASE_URL",
    "SKILL_LLM_API_KEY",
    "SKILL_LLM_MODELS",
    "SKILL_LLM_TIMEOUT_SECONDS",
    "SKILL_LLM_CLAUDE_BINARY",
];

/// The model of the host; `None` when the host says nothing about one.
///
/// A host that says something that cannot be used is a failure, and so is any other reason why there is no model: nobody
/// would notice that a stand-in answers.
pub(crate) fn of_host(ctx: &SkillContext) -> Result<Option<Llm>, SkillError> {
    match ctx.llm() {
        Ok(llm) => Ok(Some(llm)),
        Err(error)
            if error.code() == "llm_not_configured"
                && VARIABLES.iter().all(|name| ctx.config(name).is_none()) =>
        {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// The model's answer to one claim. Its failures say by themselves whether a repeat helps.
pub(crate) async fn ask(llm: &Llm, claim: &Claim) -> Result<Answer, SkillError> {
    let mut text = format!("Subject: {}\n", claim.subject);
    if let Some(policy) = &claim.policy {
        text += &format!("Policy: {policy}\n");
    }
    if let Some(amount) = claim.amount {
        text += &format!("Amount in euros: {amount}\n");
    }
    let request = ChatRequest::new(INSTRUCTIONS).user(format!("{text}\n{}", claim.text));
    Ok(llm.chat_json(request).await?.data)
}
