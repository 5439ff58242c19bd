//! Progress, log messages and log events of a running call.

use std::time::Duration;

use skill_sdk::context::{InputRequest, NoticeLevel};
use skill_sdk::{SkillContext, SkillError, skill};

use crate::elicitation::Name;

/// The duration of a step.
const STEP: Duration = Duration::from_millis(50);

/// Reports progress in three steps.
#[skill("test_tool_with_progress", version = "1", side_effects = "none", risk = "low")]
pub async fn progress(ctx: &SkillContext) -> String {
    ctx.progress(0.0, Some(100.0), "started");
    tokio::time::sleep(STEP).await;
    ctx.progress(50.0, Some(100.0), "half way");
    tokio::time::sleep(STEP).await;
    ctx.progress(100.0, Some(100.0), "done");
    // Some clients drop a progress notification when the result follows immediately.
    tokio::time::sleep(STEP).await;
    "It took three steps.".to_owned()
}

/// Sends three log messages to the client.
#[skill("test_tool_with_logging", version = "1", side_effects = "none", risk = "low")]
pub async fn logging(ctx: &SkillContext) -> String {
    ctx.notify(NoticeLevel::Info, "Tool execution started");
    tokio::time::sleep(STEP).await;
    ctx.notify(NoticeLevel::Info, "Tool processing data");
    tokio::time::sleep(STEP).await;
    ctx.notify(NoticeLevel::Info, "Tool execution completed");
    "Three messages were sent.".to_owned()
}

/// Sends a log message to the client, which receives it only on request, and writes an event to the log of the server,
/// which no client receives.
#[skill("test_logging_tool", version = "1", side_effects = "none", risk = "low")]
pub fn one_event(ctx: &SkillContext) -> String {
    ctx.notify(NoticeLevel::Info, "a notice of a tool");
    tracing::info!("an event of a tool");
    "A notice and an event.".to_owned()
}

/// Requires the sampling capability of the client.
#[skill("test_missing_capability", version = "1", side_effects = "none", risk = "low")]
pub async fn missing_capability(ctx: &SkillContext) -> Result<String, SkillError> {
    let request = InputRequest::Sample {
        prompt: "Say anything.".to_owned(),
        max_tokens: 10,
    };
    ctx.request_input("anything", request).await?;
    Ok("The client has a model.".to_owned())
}

/// Asks for a name after reporting progress.
#[skill(
    "test_streaming_elicitation",
    version = "1",
    side_effects = "none",
    risk = "low"
)]
pub async fn streaming_elicitation(ctx: &SkillContext) -> Result<String, SkillError> {
    ctx.progress(1.0, Some(2.0), "about to ask");
    let answer = ctx.ask::<Name>("user_name", "What is your name?").await?;
    Ok(format!("Hello, {}!", answer.accepted()?.name))
}
