//! The language model of the context, with real sockets and real child processes.

#![allow(clippy::unwrap_used, reason = "a panic in a test is a failed test")]
#![allow(clippy::panic, reason = "a test may panic on purpose")]

mod claude_code;
mod claude_code_cases;
mod cost;
mod deadline;
mod failures;
mod fake;
mod interoperability;
mod llama_server;
mod mock_server;
mod pii;
mod reprompt;
mod response_formats;

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skill_sdk::context::Meta;
use skill_sdk::llm::{ChatAnswer, LlmClient, OpenAi};
use skill_sdk::{ChatRequest, Environment, SkillContext, SkillError};

/// The requested type.
#[derive(Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
struct Summary {
    /// The text in one sentence.
    summary: String,
}

/// The API key of all tests. It must not be leaked.
const KEY: &str = "sk-hunter2";

/// A call whose environment has only these variables, with this timeout.
fn context_of(environment: Environment, time: Option<Duration>) -> SkillContext {
    let mut meta = Meta::new("test");
    meta.environment = environment;
    meta.timeout = time;
    SkillContext::new("doc.summarize@1", meta)
}

/// A call with the model client of a server at `base` and the models `a` and `b`. The client is new, so what it caches
/// about the server affects no other test.
fn context_at(base: &str) -> SkillContext {
    let mut meta = Meta::new("test");
    meta.environment = environment_at(base, &[]);
    meta.services.llm = Some(LlmClient::new(OpenAi::new(base, KEY, ["a", "b"]).unwrap()));
    SkillContext::new("doc.summarize@1", meta)
}

/// The same, configured by the environment alone, with more variables.
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

/// The request of most tests.
fn request() -> ChatRequest {
    ChatRequest::new("Sum it up.")
        .user("a long text")
        .schema_name("summary")
}

async fn summarize(context: &SkillContext) -> Result<ChatAnswer<Summary>, SkillError> {
    context.llm()?.chat_json::<Summary>(request()).await
}

/// The code of a failure, which must be retryable and must not contain the key.
fn code(error: &SkillError) -> &str {
    assert!(error.is_retryable(), "{error:?}");
    assert!(!format!("{error:?} {error}").contains("hunter2"), "{error:?}");
    error.code()
}
