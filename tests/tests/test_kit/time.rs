//! Calls with a paused clock.

use std::time::Duration;

use serde_json::json;
use skill_sdk::testing::invoke;
use skill_sdk::{SkillContext, SkillError, skill};

/// Checks the clock of its deadline while it waits.
#[skill(
    "kit.waiting",
    version = "1",
    side_effects = "none",
    risk = "low",
    timeout = 3600
)]
async fn waiting(seconds: u64, ctx: &SkillContext) -> Result<u64, SkillError> {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    ctx.check_deadline()?;
    Ok(ctx.remaining().unwrap().as_secs())
}

#[test]
fn deadlines_follow_a_paused_clock() {
    let call = |seconds: u64| invoke(waiting::SKILL, json!({"seconds": seconds})).virtual_time();
    let result = call(3000).blocking().unwrap();
    // The timer has a resolution of one millisecond and may fire one late.
    let left = result.outputs["result"].as_u64().unwrap();
    assert!((599..=600).contains(&left), "{left}");
    for seconds in [3601, 1_000_000] {
        assert_eq!(call(seconds).blocking().unwrap_err().code(), "timeout");
    }
    let error = call(11).timeout(Duration::from_secs(10)).blocking().unwrap_err();
    assert_eq!(error.code(), "timeout");
}

#[tokio::test(start_paused = true)]
async fn an_awaited_call_uses_the_clock_of_the_test() {
    let error = invoke(waiting::SKILL, json!({"seconds": 4000}))
        .await
        .unwrap_err();
    assert_eq!(error.code(), "timeout");
}
