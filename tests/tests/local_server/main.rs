//! The local server over real pipes.

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

mod calls;
mod client;
#[cfg(unix)]
mod processes;
mod recorded;
mod requests;
mod shutdown;
#[cfg(unix)]
mod sockets;

use std::collections::BTreeSet;
use std::sync::{Condvar, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use skill_sdk::context::NoticeLevel;
use skill_sdk::{Skill, SkillContext, SkillError, skill};
use skill_sdk_tests::skill_events::{self, Body, SkillEvent};

/// All skills of these tests.
const SKILLS: &[&Skill] = &[act::SKILL, block::SKILL, latched::SKILL, broken_lines::SKILL];

/// Does what the input says.
#[skill("local.act", version = "1", side_effects = "none", risk = "low", timeout = 20)]
async fn act(action: String, ctx: &SkillContext) -> Result<String, SkillError> {
    match action.as_str() {
        "spend" => ctx.add_cost("ё", 1.5),
        "context" => {
            return Ok(format!(
                "{} {:?} {:?} {:?} {}",
                ctx.protocol(),
                ctx.invocation_id(),
                ctx.idempotency_key(),
                ctx.remaining().unwrap() <= Duration::from_secs(7),
                Value::from(ctx.settings().clone()),
            ));
        }
        "progress" => {
            ctx.progress(1.0, Some(2.0), "half");
            tokio::task::yield_now().await;
            ctx.progress(2.0, None, "");
            skill_events::report(ctx, SkillEvent::Started(ctx.clone()));
        }
        "notify" => {
            ctx.notify(NoticeLevel::Info, "busy");
            ctx.notify(NoticeLevel::Error, "line\nbreak Ё");
            tracing::error!("for the operator");
            skill_events::report(ctx, SkillEvent::Started(ctx.clone()));
        }
        "trace" => {
            let headers = ctx.trace_headers();
            return Ok(headers
                .iter()
                .map(|(name, value)| format!("{name}={value};"))
                .collect());
        }
        "retryable" => return Err(SkillError::retryable("busy", "later")),
        "terminal" => {
            return Err(SkillError::terminal("denied", "no").with_details(json!({"why": "policy"})));
        }
        "panic" => panic!("hunter2"),
        "yield" => tokio::task::yield_now().await,
        "hang" => {
            let _body = Body::begins(ctx);
            std::future::pending::<()>().await;
        }
        _ => {}
    }
    Ok(action)
}

/// Blocks its thread until it is cancelled.
#[skill(
    "local.block",
    version = "1",
    side_effects = "none",
    risk = "low",
    timeout = 20
)]
fn block(ctx: &SkillContext) {
    skill_events::report(ctx, SkillEvent::Started(ctx.clone()));
    skill_events::block_until_cancelled(ctx);
    skill_events::report(ctx, SkillEvent::Ended);
}

/// The latches that tests opened.
static LATCHES: (Mutex<BTreeSet<String>>, Condvar) = (Mutex::new(BTreeSet::new()), Condvar::new());

/// Releases all calls of `local.latched` with this latch.
fn open_latch(latch: &str) {
    LATCHES.0.lock().unwrap().insert(latch.to_owned());
    LATCHES.1.notify_all();
}

/// Blocks its thread until its latch is opened.
#[skill(
    "local.latched",
    version = "1",
    side_effects = "none",
    risk = "low",
    timeout = 120
)]
fn latched(latch: String) -> String {
    let open = LATCHES.0.lock().unwrap();
    drop(LATCHES.1.wait_while(open, |open| !open.contains(&latch)).unwrap());
    latch
}

/// Returns JSON that contains line breaks.
#[skill(
    "local.broken-lines", version = "1", side_effects = "none", risk = "low",
    outputs_schema = json!({"type": "object"}),
)]
fn broken_lines() -> Box<serde_json::value::RawValue> {
    serde_json::value::RawValue::from_string("{\r\n  \"a\":\n \"b\\n\"}".to_owned()).unwrap()
}
