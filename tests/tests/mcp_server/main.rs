//! The MCP server over real pipes, sockets and processes.

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

mod access_control;
mod calls;
mod cancellation;
mod client;
mod http_endpoint;
mod log_messages;
mod mirrored_headers;
mod operations;
#[cfg(unix)]
mod processes;
mod session;
mod stdio;
mod streams;
mod tools_list;

use serde_json::{Value, json};
use skill_sdk::context::{InputRequest, NoticeLevel};
use skill_sdk::{Skill, SkillContext, SkillError, skill};
use skill_sdk_tests::skill_events::{self, Body, SkillEvent};

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

/// Does what the input says.
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
            skill_events::report(ctx, SkillEvent::Started(ctx.clone()));
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
            skill_events::report(ctx, SkillEvent::Started(ctx.clone()));
            return Err(SkillError::terminal("denied", "no"));
        }
        "log" => tracing::error!("for the operator"),
        "retryable" => return Err(SkillError::retryable("busy", "later").with_source("hunter2")),
        "terminal" => {
            return Err(SkillError::terminal("denied", "no").with_details(json!({"why": "policy"})));
        }
        "panic" => panic!("hunter2"),
        "hang" => {
            // Sent before the skill reports its start: tests ignore messages up to that event.
            ctx.progress(0.0, None, "hanging");
            let _body = Body::begins(ctx);
            std::future::pending::<()>().await;
        }
        _ => {}
    }
    Ok(action)
}

/// Requests the roots of the client, right after this many log messages.
#[skill("mcp.ask", version = "1", side_effects = "none", risk = "low", timeout = 3600)]
async fn ask(notices: Option<usize>, ctx: &SkillContext) -> Result<usize, SkillError> {
    for _ in 0..notices.unwrap_or_default() {
        ctx.notify(NoticeLevel::Info, "about to ask");
    }
    let roots = ctx.request_input("roots", InputRequest::Roots).await?;
    Ok(roots["roots"].as_array().map_or(0, Vec::len))
}

/// Blocks its thread until it is cancelled.
#[skill("mcp.block", version = "1", side_effects = "none", risk = "low", timeout = 20)]
fn block(ctx: &SkillContext) {
    skill_events::report(ctx, SkillEvent::Started(ctx.clone()));
    skill_events::block_until_cancelled(ctx);
    skill_events::report(ctx, SkillEvent::Ended);
}

/// Never returns; its timeout is 1 s.
#[skill(
    "mcp.briefly",
    version = "1",
    side_effects = "none",
    risk = "low",
    timeout = 1
)]
fn briefly() {}

/// Returns JSON that contains line breaks.
#[skill(
    "mcp.broken-lines", version = "1", side_effects = "none", risk = "low",
    outputs_schema = json!({"type": "object"}),
)]
fn broken_lines() -> Box<serde_json::value::RawValue> {
    serde_json::value::RawValue::from_string("{\r\n  \"a\":\n \"b\\n\"}".to_owned()).unwrap()
}

/// Returns a string of many bytes.
#[skill("mcp.large", version = "1", side_effects = "none", risk = "low")]
fn large(bytes: usize) -> String {
    "x".repeat(bytes)
}

/// Mirrors an argument in a header.
#[skill("mcp.routed", version = "1", side_effects = "none", risk = "low")]
fn routed(#[schemars(extend("x-mcp-header" = "Region"))] region: String) -> String {
    region
}

/// Returns whether the argument was given.
#[skill("mcp.optional", version = "1", side_effects = "external_read", risk = "low")]
fn optional(text: Option<String>) -> bool {
    text.is_some()
}

/// An external read.
#[skill(
    "mcp.read",
    version = "1",
    side_effects = "external_read",
    risk = "low",
    idempotency = "natural"
)]
fn read() {}

/// An external write.
#[skill(
    "mcp.write",
    version = "1",
    side_effects = "external_write",
    risk = "high",
    idempotency = "required",
    title = "Write it"
)]
fn write() {}
