//! The pipeline that runs every call: the parts of the specification that a caller can observe.

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

mod attachments_and_elicitation;
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

/// A skill set without states.
fn skill_set(skills: &[&'static Skill]) -> SkillSet {
    log::capture();
    SkillSet::with_states(skills.iter().copied(), States::default()).unwrap()
}

/// The metadata of a call with this invocation id.
fn meta(invocation_id: &str) -> Meta {
    let mut meta = Meta::new("test");
    meta.invocation_id = Some(invocation_id.to_owned());
    meta
}

/// Calls a skill of this skill set.
async fn call_on(skill_set: &SkillSet, skill: &Skill, inputs: &Value, meta: Meta) -> CallOutcome {
    skill_set
        .call(
            skill_set.get(skill.reference()).unwrap(),
            Call::json(inputs.to_string(), meta),
        )
        .await
}

/// Calls a skill in a skill set of its own.
async fn call(skill: &'static Skill, inputs: Value, meta: Meta) -> CallOutcome {
    call_on(&skill_set(&[skill]), skill, &inputs, meta).await
}

/// The outputs as text.
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

/// A panic as callers see it.
fn crash(message: &str) -> Value {
    json!({"code": "skill_error", "message": message, "retryable": false, "details": null})
}
