//! The HTTP host as its clients see it, over real sockets.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a panic of a test program is a failed test, and some skills panic on purpose"
)]
#![allow(
    clippy::unused_async,
    clippy::unnecessary_wraps,
    clippy::needless_pass_by_value,
    reason = "skills have the shape that is tested"
)]

mod connections;
mod guard;
mod http2;
mod lifetime;
mod limits;
mod mounted;
mod operation;
mod table;

use serde_json::Value;
use skill_sdk::{SkillContext, SkillError, skill};
use skill_sdk_tests::signs::{self, Body, Sign};
use skill_sdk_tests::wire::Answer;

/// Does what the input asks for.
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
            signs::wait_at_gate(ctx).await;
        }
        "hang" => {
            let _body = Body::begins(ctx);
            std::future::pending::<()>().await;
        }
        _ => {}
    }
    Ok(action)
}

/// Goes on until it is told to stop.
#[skill("http.block", version = "1", side_effects = "none", risk = "low")]
fn block(ctx: &SkillContext) {
    signs::give(ctx, Sign::Started(ctx.clone()));
    signs::block_until_cancelled(ctx);
    signs::give(ctx, Sign::Ended);
}

/// Keeps its thread whatever it is told, until its test opens the gate.
#[skill("http.deaf", version = "1", side_effects = "none", risk = "low", timeout = 1)]
fn deaf(ctx: &SkillContext) {
    signs::give(ctx, Sign::Started(ctx.clone()));
    signs::block_at_gate(ctx);
    signs::give(ctx, Sign::Ended);
}

/// An error that nobody classified.
#[skill("http.unclassified", version = "1", side_effects = "none", risk = "low")]
fn unclassified() -> anyhow::Result<()> {
    anyhow::bail!("hunter2")
}

/// Asserts that a refusal has the envelope of errors, and gives its code and whether it is retryable.
#[track_caller]
fn refused(answer: &Answer, status: u16) -> (String, bool) {
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
