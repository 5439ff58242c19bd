//! Every supported signature of a skill function.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use skill_sdk::{Skill, SkillContext, SkillError, SkillFailure, skill};

use super::call;

#[derive(Deserialize, JsonSchema)]
struct Merge {
    branch: String,
}

#[derive(Serialize, JsonSchema)]
struct Merged {
    branch: String,
}

fn merged(branch: impl Into<String>) -> Merged {
    Merged {
        branch: branch.into(),
    }
}

#[skill("shape.nothing", version = "1", side_effects = "none", risk = "low")]
fn nothing() {}

#[skill("shape.nothing_async", version = "1", side_effects = "none", risk = "low")]
async fn nothing_async() {}

#[skill("shape.inputs", version = "1", side_effects = "none", risk = "low")]
fn inputs(inputs: Merge) -> Merged {
    merged(inputs.branch)
}

#[skill("shape.inputs_async", version = "1", side_effects = "none", risk = "low")]
async fn inputs_async(inputs: Merge) -> Merged {
    merged(inputs.branch)
}

#[skill("shape.unused_inputs", version = "1", side_effects = "none", risk = "low")]
fn unused_inputs(_inputs: Merge) -> Merged {
    merged("unused")
}

#[skill("shape.mutable_inputs", version = "1", side_effects = "none", risk = "low")]
fn mutable_inputs(mut inputs: Merge) -> Merged {
    inputs.branch.push('!');
    merged(inputs.branch)
}

#[skill("shape.pattern", version = "1", side_effects = "none", risk = "low")]
async fn pattern(#[inputs] Merge { branch, .. }: Merge, ctx: &SkillContext) -> Merged {
    merged(branch + ctx.protocol())
}

#[skill("shape.marked", version = "1", side_effects = "none", risk = "low")]
fn marked(#[inputs] request: Merge) -> Merged {
    merged(request.branch)
}

#[skill("shape.context", version = "1", side_effects = "none", risk = "low")]
async fn context(ctx: &SkillContext) -> Merged {
    merged(ctx.skill())
}

#[skill("shape.context_first", version = "1", side_effects = "none", risk = "low")]
async fn context_first(ctx: &SkillContext, inputs: Merge) -> Merged {
    merged(inputs.branch + ctx.protocol())
}

#[skill("shape.context_by_value", version = "1", side_effects = "none", risk = "low")]
async fn context_by_value(inputs: Merge, ctx: skill_sdk::SkillContext) -> Merged {
    merged(inputs.branch + ctx.protocol())
}

#[skill("shape.context_unused", version = "1", side_effects = "none", risk = "low")]
fn context_unused(_: &SkillContext, inputs: Merge) -> Merged {
    merged(inputs.branch)
}

#[skill("shape.fields", version = "1", side_effects = "none", risk = "low")]
fn fields(branch: String, depth: Option<u8>) -> Merged {
    merged(format!("{branch}{}", depth.unwrap_or(1)))
}

#[skill(
    "shape.fields_around_the_context",
    version = "1",
    side_effects = "none",
    risk = "low"
)]
async fn fields_around_the_context(branch: String, ctx: &SkillContext, mut depth: u8) -> Merged {
    depth += 1;
    merged(format!("{branch}{}{depth}", ctx.protocol()))
}

#[skill(
    "shape.field_like_its_type",
    version = "1",
    side_effects = "none",
    risk = "low"
)]
fn field_like_its_type(merge: Vec<String>, context: u8) -> Merged {
    merged(format!("{}{context}", merge.concat()))
}

#[skill("shape.fallible", version = "1", side_effects = "none", risk = "low")]
async fn fallible(inputs: Merge) -> Result<Merged, SkillError> {
    match inputs.branch.as_str() {
        "" => Err(SkillError::terminal("no_branch", "the branch is missing")),
        branch => Ok(merged(branch)),
    }
}

/// A failure with its own codes.
#[derive(Debug, SkillFailure)]
enum GitError {
    #[failure(code = "no_branch")]
    NoBranch,
}

impl std::fmt::Display for GitError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the branch is missing")
    }
}

impl std::error::Error for GitError {}

#[skill("shape.classified", version = "1", side_effects = "none", risk = "low")]
fn classified(inputs: Merge) -> Result<Merged, GitError> {
    match inputs.branch.as_str() {
        "" => Err(GitError::NoBranch),
        branch => Ok(merged(branch)),
    }
}

#[skill("shape.any_error", version = "1", side_effects = "none", risk = "low")]
fn any_error(inputs: Merge) -> Result<Value, std::num::ParseIntError> {
    inputs.branch.parse::<u8>().map(Value::from)
}

#[skill("shape.anyhow", version = "1", side_effects = "none", risk = "low")]
async fn any_result(inputs: Merge) -> anyhow::Result<u8> {
    Ok(inputs.branch.parse::<u8>()?)
}

type Outcome<T = Merged> = Result<T, SkillError>;

#[skill("shape.alias", version = "1", side_effects = "none", risk = "low")]
fn alias(inputs: Merge) -> Outcome {
    Ok(merged(inputs.branch))
}

#[skill("shape.list", version = "1", side_effects = "none", risk = "low")]
fn list(inputs: Merge) -> Vec<Merged> {
    vec![merged(inputs.branch)]
}

#[skill("shape.static_text", version = "1", side_effects = "none", risk = "low")]
async fn static_text() -> &'static str {
    "done"
}

#[skill("shape.early_return", version = "1", side_effects = "none", risk = "low")]
async fn early_return(branch: String) -> Result<(), SkillError> {
    if branch.is_empty() {
        return Ok(());
    }
    std::future::ready(()).await;
    Err(SkillError::terminal("no_branch", "the branch is missing"))
}

#[test]
fn outputs_are_those_of_the_function() {
    let branch = || json!({"branch": "a"});
    let table: &[(&'static Skill, Value, Value)] = &[
        (nothing::SKILL, json!({}), json!({})),
        (nothing_async::SKILL, json!({}), json!({})),
        (inputs::SKILL, branch(), branch()),
        (inputs_async::SKILL, branch(), branch()),
        (unused_inputs::SKILL, branch(), json!({"branch": "unused"})),
        (mutable_inputs::SKILL, branch(), json!({"branch": "a!"})),
        (pattern::SKILL, branch(), json!({"branch": "atest"})),
        (marked::SKILL, branch(), branch()),
        (context::SKILL, json!({}), json!({"branch": "shape.context@1"})),
        (context_first::SKILL, branch(), json!({"branch": "atest"})),
        (context_by_value::SKILL, branch(), json!({"branch": "atest"})),
        (context_unused::SKILL, branch(), branch()),
        (fields::SKILL, branch(), json!({"branch": "a1"})),
        (
            fields::SKILL,
            json!({"branch": "a", "depth": 2}),
            json!({"branch": "a2"}),
        ),
        (
            fields_around_the_context::SKILL,
            json!({"branch": "a", "depth": 2}),
            json!({"branch": "atest3"}),
        ),
        (
            field_like_its_type::SKILL,
            json!({"merge": ["a", "b"], "context": 3}),
            json!({"branch": "ab3"}),
        ),
        (fallible::SKILL, branch(), branch()),
        (classified::SKILL, branch(), branch()),
        (any_error::SKILL, json!({"branch": "7"}), json!({"result": 7})),
        (any_result::SKILL, json!({"branch": "7"}), json!({"result": 7})),
        (alias::SKILL, branch(), branch()),
        (list::SKILL, branch(), json!({"result": [{"branch": "a"}]})),
        (static_text::SKILL, json!({}), json!({"result": "done"})),
        (early_return::SKILL, json!({"branch": ""}), json!({})),
    ];
    for (skill, inputs, outputs) in table {
        let given = call(skill, inputs.clone());
        assert_eq!(given.as_ref().ok(), Some(outputs), "{}: {given:?}", skill.name());
    }
}

#[test]
fn failures_are_those_of_the_function() {
    let empty = || json!({"branch": ""});
    let table: &[(&'static Skill, Value, &str)] = &[
        (fallible::SKILL, empty(), "no_branch"),
        (classified::SKILL, empty(), "no_branch"),
        (any_error::SKILL, empty(), "skill_error"),
        (any_result::SKILL, empty(), "skill_error"),
        (early_return::SKILL, json!({"branch": "a"}), "no_branch"),
    ];
    for (skill, inputs, code) in table {
        let error = call(skill, inputs.clone()).unwrap_err();
        assert_eq!(error.code(), *code, "{}", skill.name());
    }
}

#[tokio::test]
async fn functions_stay_callable() {
    assert_eq!(inputs(Merge { branch: "a".into() }).branch, "a");
    assert_eq!(fields("a".into(), Some(3)).branch, "a3");
    assert_eq!(inputs_async(Merge { branch: "b".into() }).await.branch, "b");
    let erased: fn(Merge) -> Merged = marked;
    assert_eq!(erased(Merge { branch: "c".into() }).branch, "c");
}
