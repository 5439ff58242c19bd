//! The one way to run a skill: every sentence of the specification's part on execution that a caller can see.

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

mod beside;
mod context;
mod deadline;
mod failures;
mod panics;
mod states;
mod values;
mod violations;

use serde_json::{Value, json};
use skill_sdk::context::States;
use skill_sdk::pipeline::{Call, CallOutcome, Meta, SkillSet};
use skill_sdk::{Skill, SkillError};
use skill_sdk_tests::log;

/// A host of these skills without shared values.
fn host(skills: &[&'static Skill]) -> SkillSet {
    log::capture();
    SkillSet::with_states(skills.iter().copied(), States::default()).unwrap()
}

/// What a host knows of the call with this invocation id.
fn meta(invocation_id: &str) -> Meta {
    let mut meta = Meta::new("test");
    meta.invocation_id = Some(invocation_id.to_owned());
    meta
}

/// Calls a skill that `host` hosts.
async fn call_on(host: &SkillSet, skill: &Skill, inputs: &Value, meta: Meta) -> CallOutcome {
    host.call(host.get(skill.reference()).unwrap(), Call::value(inputs, meta))
        .await
}

/// Calls a skill that has a host of its own.
async fn call(skill: &'static Skill, inputs: Value, meta: Meta) -> CallOutcome {
    call_on(&host(&[skill]), skill, &inputs, meta).await
}

/// The text of the outputs.
async fn outputs(skill: &'static Skill, inputs: Value) -> String {
    let completed = call(skill, inputs, Meta::new("test")).await;
    String::from_utf8(completed.result().unwrap().to_vec()).unwrap()
}

/// The failure.
async fn failure(skill: &'static Skill, inputs: Value, meta: Meta) -> SkillError {
    call(skill, inputs, meta).await.into_parts().0.unwrap_err()
}

/// The paths of the violations in a failure, with their messages.
fn violations(error: &SkillError) -> Vec<(String, String)> {
    let errors = error.details().unwrap()["errors"].as_array().unwrap();
    let member = |error: &Value, name: &str| error[name].as_str().unwrap().to_owned();
    errors
        .iter()
        .map(|error| (member(error, "path"), member(error, "message")))
        .collect()
}

/// The paths of the violations in a failure.
fn paths(error: &SkillError) -> Vec<String> {
    violations(error).into_iter().map(|(path, _)| path).collect()
}

/// The failure as callers see it.
fn wire(error: &SkillError) -> Value {
    serde_json::to_value(error).unwrap()
}

/// What callers see of a crash.
fn crash(message: &str) -> Value {
    json!({"code": "skill_error", "message": message, "retryable": false, "details": null})
}
