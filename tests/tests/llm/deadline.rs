//! No model works longer than the call.

use std::time::Duration;

use serde_json::json;
use skill_sdk::context::Resources;
use skill_sdk::pipeline::{Call, Host, Meta};
use skill_sdk::{SkillContext, SkillError, skill};

use super::double::{Double, Say};
use super::{Summary, code, context_of, environment_at, request, summarize};

/// Asks the model, and is not stopped by anybody but the model client.
async fn in_another_task(context: SkillContext) -> SkillError {
    let task = tokio::spawn(async move { summarize(&context).await.unwrap_err() });
    task.await.unwrap()
}

#[tokio::test]
async fn when_the_time_is_up_the_request_is_dropped() {
    for say in [Say::Nothing, Say::busy(429, "15")] {
        let mut double = Double::start([say.clone()]).await;
        let context = context_of(environment_at(&double.base, &[]), Some(Duration::from_millis(50)));
        let error = in_another_task(context.clone()).await;
        let expected = if matches!(say, Say::Nothing) {
            "timeout"
        } else {
            // The pause would take longer than there is time: the caller learns so at once.
            "llm_rate_limited"
        };
        assert_eq!(code(&error), expected);
        if expected == "timeout" {
            assert_eq!(double.signs.recv().await, Some("asked"));
            assert_eq!(double.signs.recv().await, Some("gone"));
            // Nobody is asked in a call whose time is up.
            assert_eq!(code(&in_another_task(context).await), "timeout");
            assert_eq!(double.models(), "a");
        }
    }
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
    let host = Host::with_resources([other_task::SKILL], Resources::default()).unwrap();
    let mut meta = Meta::new("test");
    meta.environment = environment_at(&double.base, &[]);
    let call = tokio::spawn(async move {
        let runnable = host.get("task.summary@1").unwrap();
        host.call(runnable, Call::value(&json!({}), meta)).await
    });
    assert_eq!(double.signs.recv().await, Some("asked"));
    call.abort();
    assert_eq!(double.signs.recv().await, Some("gone"));
}

/// Asks the model.
#[skill("slow.summary", version = "1", side_effects = "none", risk = "low")]
async fn own_task(ctx: &SkillContext) -> Result<(), SkillError> {
    ctx.llm()?.chat_json::<Summary>(request()).await.map(drop)
}

#[tokio::test]
async fn tokens_that_were_used_until_the_end_are_counted() {
    let double = Double::start([Say::text("no"), Say::Nothing]).await;
    let host = Host::with_resources([own_task::SKILL], Resources::default()).unwrap();
    let mut meta = Meta::new("test");
    meta.environment = environment_at(&double.base, &[]);
    meta.timeout = Some(Duration::from_millis(300));
    let runnable = host.get("slow.summary@1").unwrap();
    let completed = host.call(runnable, Call::value(&json!({}), meta)).await;
    assert_eq!(completed.result().unwrap_err().code(), "timeout");
    let asked = double.models();
    // On a machine so busy that the first answer came too late there is nothing to count.
    if asked == "aa" {
        assert_eq!(completed.cost().unwrap()["llm"]["totalTokens"], 15);
    }
}
