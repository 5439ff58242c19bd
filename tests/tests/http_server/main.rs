//! The HTTP server over real sockets.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a panic in a test is a failed test, and some skills panic on purpose"
)]
#![allow(
    clippy::unused_async,
    clippy::unnecessary_wraps,
    clippy::needless_pass_by_value,
    reason = "the signatures of the skills are part of the tests"
)]

mod connections;
mod host_and_origin;
mod http2;
mod lifecycle;
mod limits;
mod mounted;
mod operations;
mod statuses;

use serde_json::Value;
use skill_sdk::{SkillContext, SkillError, skill};
use skill_sdk_tests::raw_http::Response;
use skill_sdk_tests::skill_events::{self, Body, SkillEvent};

/// Does what the input says.
#[skill("http.act", version = "1", side_effects = "none", risk = "low", timeout = 5)]
async fn act(action: String, ctx: &SkillContext) -> Result<String, SkillError> {
    match action.as_str() {
        "spend" => ctx.add_cost("ё", 1.5),
        "retryable" => return Err(SkillError::retryable("busy", "later")),
        "terminal" => return Err(SkillError::terminal("denied", "no").with_source("hunter2")),
        "panic" => panic!("hunter2"),
        "unusable" => return Err(SkillError::terminal("Not A Code", "")),
        "stall" => {
            let began = std::time::Instant::now();
            while began.elapsed() < std::time::Duration::from_millis(110) {
                std::hint::spin_loop();
            }
        }
        "wait" => {
            let _body = Body::begins(ctx);
            skill_events::wait_at_gate(ctx).await;
        }
        "hang" => {
            let _body = Body::begins(ctx);
            std::future::pending::<()>().await;
        }
        _ => {}
    }
    Ok(action)
}

/// Runs until it is cancelled.
#[skill("http.block", version = "1", side_effects = "none", risk = "low")]
fn block(ctx: &SkillContext) {
    skill_events::report(ctx, SkillEvent::Started(ctx.clone()));
    skill_events::block_until_cancelled(ctx);
    skill_events::report(ctx, SkillEvent::Ended);
}

/// Ignores cancellation and blocks its thread until the test opens the gate.
#[skill("http.deaf", version = "1", side_effects = "none", risk = "low", timeout = 1)]
fn ignore_cancellation(ctx: &SkillContext) {
    skill_events::report(ctx, SkillEvent::Started(ctx.clone()));
    skill_events::block_at_gate(ctx);
    skill_events::report(ctx, SkillEvent::Ended);
}

/// Returns an error without a classification.
#[skill("http.unclassified", version = "1", side_effects = "none", risk = "low")]
fn unclassified() -> anyhow::Result<()> {
    anyhow::bail!("hunter2")
}

/// Asserts that a rejection has the error envelope. Returns its code and whether it is retryable.
#[track_caller]
fn rejection(answer: &Response, status: u16) -> (String, bool) {
    assert_eq!(answer.status, status, "{answer:?}");
    assert_eq!(answer.header("content-type"), "application/json", "{answer:?}");
    assert!(!answer.body.contains("hunter2"), "{answer:?}");
    let document = answer.json();
    let keys =
        |value: &Value| -> Vec<String> { value.as_object().unwrap().keys().map(String::clone).collect() };
    assert_eq!(keys(&document), ["error"], "{answer:?}");
    let error = &document["error"];
    assert_eq!(
        keys(error),
        ["code", "message", "retryable", "details"],
        "{answer:?}"
    );
    assert!(!error["message"].as_str().unwrap().is_empty(), "{answer:?}");
    assert!(!answer.headers.contains_key("x-skill-cost"), "{answer:?}");
    (
        error["code"].as_str().unwrap().to_owned(),
        error["retryable"].as_bool().unwrap(),
    )
}
