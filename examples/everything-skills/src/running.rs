//! Progress, notices and events while a call runs.

use std::time::Duration;

use skill_sdk::context::{InputRequest, NoticeLevel};
use skill_sdk::{SkillContext, SkillError, skill};

use crate::asking::Name;

/// How long a step takes.
const STEP: Duration = Duration::from_millis(50);

/// Tells in three steps how far it is.
#[skill("test_tool_with_progress", version = "1", side_effects = "none", risk = "low")]
pub async fn progress(ctx: &SkillContext) -> String {
    ctx.progress(0.0, Some(100.0), "started");
    tokio::time::sleep(STEP).await;
    ctx.progress(50.0, Some(100.0), "half way");
    tokio::time::sleep(STEP).await;
    ctx.progress(100.0, Some(100.0), "done");
    // Clients there are that forget a report when the result comes on its heels.
    tokio::time::sleep(STEP).await;
    "It took three steps.".to_owned()
}

/// Tells the client three things while it works.
#[skill("test_tool_with_logging", version = "1", side_effects = "none", risk = "low")]
pub async fn logging(ctx: &SkillContext) -> String {
    ctx.notify(NoticeLevel::Info, "Tool execution started");
    tokio::time::sleep(STEP).await;
    ctx.notify(NoticeLevel::Info, "Tool processing data");
    tokio::time::sleep(STEP).await;
    ctx.notify(NoticeLevel::Info, "Tool execution completed");
    "Three things were told.".to_owned()
}

/// Tells the client something, which no client hears unless it asks for it, and writes an event into the log of the host,
/// which no client ever sees.
#[skill("test_logging_tool", version = "1", side_effects = "none", risk = "low")]
pub fn one_event(ctx: &SkillContext) -> String {
    ctx.notify(NoticeLevel::Info, "a notice of a tool");
    tracing::info!("an event of a tool");
    "A notice and an event.".to_owned()
}

/// Needs the model of the client, which not every client has.
#[skill("test_missing_capability", version = "1", side_effects = "none", risk = "low")]
pub async fn missing_capability(ctx: &SkillContext) -> Result<String, SkillError> {
    let request = InputRequest::Sample {
        prompt: "Say anything.".to_owned(),
        max_tokens: 10,
    };
    ctx.request_input("anything", request).await?;
    Ok("The client has a model.".to_owned())
}

/// Asks for a name after some progress.
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
