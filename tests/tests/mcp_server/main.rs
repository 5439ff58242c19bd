//! The MCP host as its clients see it, over real pipes, sockets and processes.

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

mod calls;
mod cancel;
mod client;
mod endpoint;
mod lines;
mod lists;
mod mirrored;
mod notices;
mod operation;
#[cfg(unix)]
mod processes;
mod protection;
mod session;
mod streams;

use serde_json::{Value, json};
use skill_sdk::context::{InputRequest, NoticeLevel};
use skill_sdk::{Skill, SkillContext, SkillError, skill};
use skill_sdk_tests::signs::{self, Body, Sign};

/// All skills of these tests.
const SKILLS: &[&Skill] = &[
    act::SKILL,
    ask::SKILL,
    block::SKILL,
    briefly::SKILL,
    broken_lines::SKILL,
    large::SKILL,
    optional::SKILL,
    read::SKILL,
    routed::SKILL,
    write::SKILL,
];

/// Does what the input asks for.
#[skill("mcp.act", version = "1", side_effects = "none", risk = "low", timeout = 20)]
async fn act(action: String, ctx: &SkillContext) -> Result<String, SkillError> {
    match action.as_str() {
        "spend" => ctx.add_cost("ё", 1.5),
        "context" => {
            let caller = ctx.caller().map(|caller| caller.principal_id.as_str());
            return Ok(format!(
                "{} {:?} {:?} {} {caller:?}",
                ctx.protocol(),
                ctx.invocation_id(),
                ctx.idempotency_key(),
                Value::from(ctx.settings().clone()),
            ));
        }
        "progress" => {
            ctx.progress(1.0, Some(2.0), "half");
            tokio::task::yield_now().await;
            ctx.progress(0.5, Some(2.0), "back");
            ctx.progress(f64::NAN, None, "nowhere");
            ctx.progress(2.0, None, "");
            signs::give(ctx, Sign::Started(ctx.clone()));
        }
        "trace" => {
            let headers = ctx.trace_headers();
            return Ok(headers
                .iter()
                .map(|(name, value)| format!("{name}={value};"))
                .collect());
        }
        "notify" => {
            ctx.notify(NoticeLevel::Debug, "looking closely");
            ctx.notify(NoticeLevel::Info, "line\nbreak Ё");
            ctx.notify(NoticeLevel::Notice, "odd");
            ctx.notify(NoticeLevel::Warning, "half is missing");
            ctx.notify(NoticeLevel::Error, "broken");
        }
        "notify and fail" => {
            ctx.notify(NoticeLevel::Error, "before");
            signs::give(ctx, Sign::Started(ctx.clone()));
            return Err(SkillError::terminal("denied", "no"));
        }
        "log" => tracing::error!("for whoever runs the host"),
        "retryable" => return Err(SkillError::retryable("busy", "later").with_source("hunter2")),
        "terminal" => {
            return Err(SkillError::terminal("denied", "no").with_details(json!({"why": "policy"})));
        }
        "panic" => panic!("hunter2"),
        "hang" => {
            // Before the sign, behind which tests look at what comes.
            ctx.progress(0.0, None, "hanging");
            let _body = Body::begins(ctx);
            std::future::pending::<()>().await;
        }
        _ => {}
    }
    Ok(action)
}

/// Asks for the roots of the client, at once after so many notices.
#[skill("mcp.ask", version = "1", side_effects = "none", risk = "low", timeout = 3600)]
async fn ask(notices: Option<usize>, ctx: &SkillContext) -> Result<usize, SkillError> {
    for _ in 0..notices.unwrap_or_default() {
        ctx.notify(NoticeLevel::Info, "about to ask");
    }
    let roots = ctx.request_input("roots", InputRequest::Roots).await?;
    Ok(roots["roots"].as_array().map_or(0, Vec::len))
}

/// Keeps its thread until it is told to stop.
#[skill("mcp.block", version = "1", side_effects = "none", risk = "low", timeout = 20)]
fn block(ctx: &SkillContext) {
    signs::give(ctx, Sign::Started(ctx.clone()));
    signs::block_until_cancelled(ctx);
    signs::give(ctx, Sign::Ended);
}

/// Has one second.
#[skill(
    "mcp.briefly",
    version = "1",
    side_effects = "none",
    risk = "low",
    timeout = 1
)]
fn briefly() {}

/// JSON that has line breaks.
#[skill(
    "mcp.broken-lines", version = "1", side_effects = "none", risk = "low",
    outputs_schema = json!({"type": "object"}),
)]
fn broken_lines() -> Box<serde_json::value::RawValue> {
    serde_json::value::RawValue::from_string("{\r\n  \"a\":\n \"b\\n\"}".to_owned()).unwrap()
}

/// A text of many bytes.
#[skill("mcp.large", version = "1", side_effects = "none", risk = "low")]
fn large(bytes: usize) -> String {
    "x".repeat(bytes)
}

/// Repeats an argument in a header.
#[skill("mcp.routed", version = "1", side_effects = "none", risk = "low")]
fn routed(#[schemars(extend("x-mcp-header" = "Region"))] region: String) -> String {
    region
}

/// Whether it was given.
#[skill("mcp.optional", version = "1", side_effects = "external_read", risk = "low")]
fn optional(text: Option<String>) -> bool {
    text.is_some()
}

/// Reads something.
#[skill(
    "mcp.read",
    version = "1",
    side_effects = "external_read",
    risk = "low",
    idempotency = "natural"
)]
fn read() {}

/// Writes something.
#[skill(
    "mcp.write",
    version = "1",
    side_effects = "external_write",
    risk = "high",
    idempotency = "required",
    title = "Write it"
)]
fn write() {}
