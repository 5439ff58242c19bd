//! No model works longer than the call.

use std::time::Duration;

use serde_json::json;
use skill_sdk::context::States;
use skill_sdk::pipeline::{Call, Meta, SkillSet};
use skill_sdk::{SkillContext, SkillError, skill};

use super::double::{Double, Say};
use super::{Summary, code, context_of, environment_at, request, summarize};

/// Asks the model, and is not stopped by anybody but the model client.
async fn in_another_task(context: SkillContext) -> SkillError {
    let task = tokio::spawn(async move { summarize(&context).await.unwrap_err() });
    task.await.unwrap()
}

/// More time than a test takes.
const HOUR: Duration = Duration::from_hours(1);

/// Lets an hour pass for everybody who waits by the clock.
async fn an_hour_passes() {
    tokio::time::pause();
    tokio::time::advance(HOUR).await;
    tokio::time::resume();
}

#[tokio::test]
async fn when_the_time_is_up_the_request_is_dropped() {
    let mut double = Double::start([Say::Nothing]).await;
    let context = context_of(environment_at(&double.base, &[]), Some(HOUR));
    let asking = tokio::spawn(in_another_task(context));
    assert_eq!(double.sign().await, "asked");
    an_hour_passes().await;
    assert_eq!(code(&asking.await.unwrap()), "timeout");
    assert_eq!(double.sign().await, "gone");
    // Nobody is asked in a call whose time is up.
    let late = context_of(environment_at(&double.base, &[]), Some(Duration::ZERO));
    assert_eq!(code(&in_another_task(late).await), "timeout");
    assert_eq!(double.models(), "a");
}

/// Asks the model in another task, and says what came of it in the cost.
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
async fn when_the_caller_goes_away_the_request_is_dropped() {
    let mut double = Double::start([Say::Nothing]).await;
    let host = SkillSet::with_states([other_task::SKILL], States::default()).unwrap();
    let mut meta = Meta::new("test");
    meta.environment = environment_at(&double.base, &[]);
    let call = tokio::spawn(async move {
        let runnable = host.get("task.summary@1").unwrap();
        host.call(runnable, Call::value(&json!({}), meta)).await
    });
    assert_eq!(double.sign().await, "asked");
    call.abort();
    assert_eq!(double.sign().await, "gone");
}

/// Asks the model.
#[skill("slow.summary", version = "1", side_effects = "none", risk = "low")]
async fn own_task(ctx: &SkillContext) -> Result<(), SkillError> {
    ctx.llm()?.chat_json::<Summary>(request()).await.map(drop)
}

#[tokio::test]
async fn tokens_that_were_used_until_the_end_are_counted() {
    let mut double = Double::start([Say::text("no"), Say::Nothing]).await;
    let host = SkillSet::with_states([own_task::SKILL], States::default()).unwrap();
    let mut meta = Meta::new("test");
    meta.environment = environment_at(&double.base, &[]);
    meta.timeout = Some(HOUR);
    let call = tokio::spawn(async move {
        let runnable = host.get("slow.summary@1").unwrap();
        host.call(runnable, Call::value(&json!({}), meta)).await
    });
    assert_eq!((double.sign().await, double.sign().await), ("asked", "asked"));
    an_hour_passes().await;
    let completed = call.await.unwrap();
    assert_eq!(completed.result().unwrap_err().code(), "timeout");
    assert_eq!(double.models(), "aa");
    assert_eq!(completed.cost().unwrap()["llm"]["totalTokens"], 15);
}
