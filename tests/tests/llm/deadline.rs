//! A model request never outlives its call.

use std::time::Duration;

use skill_sdk::context::States;
use skill_sdk::pipeline::{Call, Meta, SkillSet};
use skill_sdk::{SkillContext, SkillError, skill};

use super::mock_server::{MockServer, Reply};
use super::{Summary, code, context_of, environment_at, request, summarize};

/// Calls the model in a task that only the model client can stop.
async fn in_another_task(context: SkillContext) -> SkillError {
    let task = tokio::spawn(async move { summarize(&context).await.unwrap_err() });
    task.await.unwrap()
}

/// Longer than any test runs.
const HOUR: Duration = Duration::from_hours(1);

/// Advances the clock by an hour.
async fn advance_one_hour() {
    tokio::time::pause();
    tokio::time::advance(HOUR).await;
    tokio::time::resume();
}

#[tokio::test]
async fn a_timeout_drops_the_request() {
    let mut server = MockServer::start([Reply::Nothing]).await;
    let context = context_of(environment_at(&server.base, &[]), Some(HOUR));
    let asking = tokio::spawn(in_another_task(context));
    assert_eq!(server.event().await, "asked");
    advance_one_hour().await;
    assert_eq!(code(&asking.await.unwrap()), "timeout");
    assert_eq!(server.event().await, "gone");
    // No model is called after the deadline.
    let late = context_of(environment_at(&server.base, &[]), Some(Duration::ZERO));
    assert_eq!(code(&in_another_task(late).await), "timeout");
    assert_eq!(server.models(), "a");
}

/// Calls the model in another task, and returns the result.
#[skill("task.summary", version = "1", side_effects = "none", risk = "low")]
async fn other_task(ctx: &SkillContext) -> Result<(), SkillError> {
    let context = ctx.clone();
    let task = tokio::spawn(async move {
        let result = context.llm()?.chat_json::<Summary>(request()).await;
        result.map(drop)
    });
    task.await.unwrap()
}

#[tokio::test]
async fn cancelling_the_call_drops_the_request() {
    let mut server = MockServer::start([Reply::Nothing]).await;
    let host = SkillSet::with_states([other_task::SKILL], States::default()).unwrap();
    let mut meta = Meta::new("test");
    meta.environment = environment_at(&server.base, &[]);
    let call = tokio::spawn(async move {
        let runnable = host.get("task.summary@1").unwrap();
        host.call(runnable, Call::json("{}", meta)).await
    });
    assert_eq!(server.event().await, "asked");
    call.abort();
    assert_eq!(server.event().await, "gone");
}

/// Calls the model.
#[skill("slow.summary", version = "1", side_effects = "none", risk = "low")]
async fn own_task(ctx: &SkillContext) -> Result<(), SkillError> {
    ctx.llm()?.chat_json::<Summary>(request()).await.map(drop)
}

#[tokio::test]
async fn tokens_used_before_the_timeout_are_counted() {
    let mut server = MockServer::start([Reply::text("no"), Reply::Nothing]).await;
    let host = SkillSet::with_states([own_task::SKILL], States::default()).unwrap();
    let mut meta = Meta::new("test");
    meta.environment = environment_at(&server.base, &[]);
    meta.timeout = Some(HOUR);
    let call = tokio::spawn(async move {
        let runnable = host.get("slow.summary@1").unwrap();
        host.call(runnable, Call::json("{}", meta)).await
    });
    assert_eq!((server.event().await, server.event().await), ("asked", "asked"));
    advance_one_hour().await;
    let completed = call.await.unwrap();
    assert_eq!(completed.result().unwrap_err().code(), "timeout");
    assert_eq!(server.models(), "aa");
    assert_eq!(completed.cost().unwrap()["llm"]["totalTokens"], 15);
}
