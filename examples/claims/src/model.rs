//! The prompt for the language model, and its response.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skill_sdk::llm::Llm;
use skill_sdk::{ChatRequest, SkillContext, SkillError};

use crate::classification::{Category, Claim, Severity};

/// The instructions. The model learns the meaning of each field from the schema of the response.
const INSTRUCTIONS: &str = "You sort the claims of an insurer's customers. Judge only by what the customer wrote. The \
                            number of a policy begins with its kind: MO motor, PR property, TR travel, HE health.";

/// The fields that the model fills in.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub(crate) struct Answer {
    /// The category of the claim.
    pub(crate) category: Category,
    /// How urgently the claim must be handled.
    pub(crate) severity: Severity,
    /// The reasons for the decision, in a few words each, most important first.
    pub(crate) reasons: Vec<String>,
    /// How sure you are, from 0 (a guess) to 1.
    #[schemars(range(min = 0, max = 1))]
    pub(crate) confidence: f64,
}

/// The settings of the model, if the server has any.
const VARIABLES: [&str; 6] = [
    "SKILL_LLM_PROVIDER",
    "SKILL_LLM_BASE_URL",
    "SKILL_LLM_API_KEY",
    "SKILL_LLM_MODELS",
    "SKILL_LLM_TIMEOUT_SECONDS",
    "SKILL_LLM_CLAUDE_BINARY",
];

/// The configured model; `None` if the server has no setting for one.
///
/// An unusable setting is a failure: using the list of words instead would hide the mistake.
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

/// Asks the model about one claim. Its failures already say whether a retry helps.
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
