//! The language model of the context: real sockets, real child processes.

#![allow(clippy::unwrap_used, reason = "a panic of a test program is a failed test")]
#![allow(clippy::panic, reason = "so does a test that panics by itself")]

mod accounting;
mod claude;
mod claude_cases;
mod deadline;
mod double;
mod failures;
mod fake;
mod foreign;
mod forms;
mod guard;
mod llama;
mod repair;

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skill_sdk::context::Meta;
use skill_sdk::llm::{ChatAnswer, LlmClient, OpenAi};
use skill_sdk::{ChatRequest, Environment, SkillContext, SkillError};

/// What the model is asked for.
#[derive(Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
struct Summary {
    /// The text in one sentence.
    summary: String,
}

/// The key of all tests. It must show nowhere.
const KEY: &str = "sk-hunter2";

/// A call whose host has these variables and no others, and this much time.
fn context_of(environment: Environment, time: Option<Duration>) -> SkillContext {
    let mut meta = Meta::new("test");
    meta.environment = environment;
    meta.timeout = time;
    SkillContext::new("doc.summarize@1", meta)
}

/// A call whose model is at `base`, with the models `a` and `b`. Its client is its own: what it learns of the server is lost by
/// no other test, and comes from none that had the same port.
fn context_at(base: &str) -> SkillContext {
    let mut meta = Meta::new("test");
    meta.environment = environment_at(base, &[]);
    meta.services.llm = Some(LlmClient::new(OpenAi::new(base, KEY, ["a", "b"]).unwrap()));
    SkillContext::new("doc.summarize@1", meta)
}

/// The same by the environment alone, with more variables.
fn context_with(base: &str, variables: &[(&str, &str)]) -> SkillContext {
    context_of(environment_at(base, variables), None)
}

fn environment_at(base: &str, variables: &[(&str, &str)]) -> Environment {
    let server = [
        ("SKILL_LLM_BASE_URL", base),
        ("SKILL_LLM_API_KEY", KEY),
        ("SKILL_LLM_MODELS", "a, b"),
    ];
    let all = server.iter().chain(variables);
    Environment::from_vars(all.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())))
}

/// The question of most tests.
fn request() -> ChatRequest {
    ChatRequest::new("Sum it up.")
        .user("a long text")
        .schema_name("summary")
}

async fn summarize(context: &SkillContext) -> Result<ChatAnswer<Summary>, SkillError> {
    context.llm()?.chat_json::<Summary>(request()).await
}

/// The code of a failure, which must be retryable and must not show the key.
fn code(error: &SkillError) -> &str {
    assert!(error.is_retryable(), "{error:?}");
    assert!(!format!("{error:?} {error}").contains("hunter2"), "{error:?}");
    error.code()
}
