//! The skills that the recorded cases call, written as an author would write them in Rust.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use skill_sdk::{Caller, Skill, SkillContext, SkillError, skill};

/// All of them, in the order in which the recorded server lists them.
pub const SKILLS: &[&Skill] = &[
    add::SKILL,
    classify::SKILL,
    echo::SKILL,
    write::SKILL,
    context_echo::SKILL,
    raise::SKILL,
    many_errors::SKILL,
    tree_check::SKILL,
    even_only::SKILL,
    format_check::SKILL,
    slow_sync::SKILL,
    types_zoo::SKILL,
];

/// Two numbers.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct AddIn {
    a: i128,
    #[schemars(range(min = 0))]
    b: i128,
}

/// Their sum.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AddOut {
    sum: i128,
    note: Option<String>,
}

/// Add two numbers.
#[skill("math.add", version = "1", side_effects = "none", risk = "low", timeout = 30)]
pub fn add(inputs: AddIn, ctx: &SkillContext) -> AddOut {
    ctx.add_cost("ops", 1.0);
    AddOut {
        sum: inputs.a + inputs.b,
        note: ctx.idempotency_key().map(str::to_owned),
    }
}

/// A document.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Doc {
    text: String,
}

/// How long it is.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Fewer than ten characters.
    Short,
    /// More.
    Long,
}

/// What a document is.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Verdict {
    kind: Kind,
}

/// Classify a document by its length.
#[skill("doc.classify", version = "2", side_effects = "none", risk = "low", retry = (2, 5))]
pub async fn classify(inputs: Doc) -> Verdict {
    Verdict {
        kind: if inputs.text.chars().count() < 10 {
            Kind::Short
        } else {
            Kind::Long
        },
    }
}

/// Echo with the schemas of a published version.
#[skill(
    "legacy.echo", version = "1", side_effects = "none", risk = "low",
    inputs_schema = json!({"type": "object", "required": ["x"], "properties": {"x": {"type": "string"}}}),
    outputs_schema = json!({"type": "object", "required": ["x"], "properties": {"x": {"type": "string"}}}),
)]
pub fn echo(inputs: Value) -> Value {
    json!({"x": inputs["x"]})
}

/// External write: failures of the environment are retryable, a rejection is not.
#[skill(
    "ext.write", version = "1", side_effects = "external_write", risk = "high", idempotency = "required",
    retry = (3, 10),
    outputs_schema = json!({
        "type": "object", "required": ["kind"],
        "properties": {"kind": {"type": "string", "enum": ["short", "long"]}},
    }),
)]
pub fn write(inputs: Doc, ctx: &SkillContext) -> Result<Value, SkillError> {
    match inputs.text.as_str() {
        "busy" => Err(SkillError::retryable("upstream_busy", "later")),
        "denied" => Err(SkillError::terminal("denied", "refused").with_details(json!({"why": "policy"}))),
        #[expect(clippy::panic, reason = "the recorded case needs a panic")]
        "crash" => panic!("boom"),
        "bad-output" => Ok(json!({"kind": "medium"})),
        _ => {
            ctx.secret("EXT_TOKEN")?;
            Ok(json!({"kind": "short"}))
        }
    }
}

/// Echo of the context.
#[skill(
    "ctx.echo", version = "1", side_effects = "none", risk = "low", timeout = 7,
    inputs_schema = json!({"type": "object"}), outputs_schema = json!({"type": "object"}),
)]
pub fn context_echo(inputs: Value, ctx: SkillContext) -> Value {
    json!({
        "inputs": inputs,
        "skill": ctx.skill(),
        "invocationId": ctx.invocation_id(),
        "idempotencyKey": ctx.idempotency_key(),
        "settings": ctx.settings(),
        "protocol": ctx.protocol(),
        "timeout": ctx.remaining().map(|left| left.as_secs() + u64::from(left.subsec_nanos() > 0)),
        "caller": ctx.caller().map(caller_document),
    })
}

/// A caller in the format of the recorded cases.
fn caller_document(caller: &Caller) -> Value {
    json!({
        "tenantId": caller.tenant_id,
        "principalId": caller.principal_id,
        "principalType": caller.principal_type.as_deref().unwrap_or_default(),
        "credentialId": caller.credential_id,
        "audience": caller.audience,
        "issuer": caller.issuer,
        "tokenId": caller.token_id,
        "scopes": caller.scopes,
        "scopeCeiling": caller.scope_ceiling,
        "effectiveScopes": caller.effective_scopes().collect::<Vec<_>>(),
        "sessionId": caller.session_id,
        "acr": caller.acr.as_deref().unwrap_or_default(),
    })
}

/// An error without a classification.
#[derive(Debug)]
pub struct KeyError;

impl std::fmt::Display for KeyError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("token=hunter2")
    }
}

impl std::error::Error for KeyError {}

/// Fail as the input asks for.
#[skill(
    "err.raise", version = "1", side_effects = "none", risk = "low",
    inputs_schema = json!({"type": "object"}), outputs_schema = json!({"type": "object"}),
)]
pub fn raise(inputs: Value, ctx: &SkillContext) -> Result<Value, SkillError> {
    match inputs["kind"].as_str().unwrap_or_default() {
        "skill" => {
            let code = inputs["code"].as_str().unwrap_or_default().to_owned();
            let message = inputs["message"].as_str().unwrap_or_default();
            let error = if inputs["retryable"] == true {
                SkillError::retryable(code, message)
            } else {
                SkillError::terminal(code, message)
            };
            Err(match inputs.get("details") {
                Some(details) => error.with_details(details.clone()),
                None => error,
            })
        }
        "key" => unclassified(),
        "deadline" => Err(SkillError::retryable(
            "timeout",
            format!("{}: the call timed out", ctx.skill()),
        )),
        "return" => Ok(inputs["value"].clone()),
        "cost" => {
            add_costs(&inputs, ctx);
            Ok(json!({"ok": true}))
        }
        "cost-then-fail" => {
            ctx.add_cost("ops", 3.0);
            Err(SkillError::retryable("later", "later"))
        }
        _ => Ok(json!({})),
    }
}

fn add_costs(inputs: &Value, ctx: &SkillContext) {
    for pair in inputs["costs"].as_array().into_iter().flatten() {
        if let (Some(unit), Some(amount)) = (pair[0].as_str(), pair[1].as_f64()) {
            ctx.add_cost(unit, amount);
        }
    }
}

/// How the SDK classifies an error without a classification.
fn unclassified() -> Result<Value, SkillError> {
    #[expect(clippy::panic, reason = "an error of another type cannot leave this function")]
    {
        panic!("{KeyError}")
    }
}

/// Thirty required strings.
#[skill(
    "many.errors", version = "1", side_effects = "none", risk = "low",
    inputs_schema = "fixtures/schemas/many.errors.inputs.json", outputs_schema = json!({"type": "object"}),
)]
pub fn many_errors(inputs: Value) -> Value {
    inputs
}

/// Whether all is well, and with what.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AnyOut {
    ok: bool,
    got: Value,
}

/// Nested models.
#[skill(
    "tree.check",
    version = "1",
    side_effects = "none",
    risk = "low",
    inputs_schema = "fixtures/schemas/tree.check.inputs.json",
    outputs_schema = "fixtures/schemas/tree.check.outputs.json"
)]
pub async fn tree_check(inputs: Value) -> AnyOut {
    AnyOut {
        ok: true,
        got: inputs,
    }
}

/// A number that only Rust code checks.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Strict {
    #[serde(deserialize_with = "even")]
    even: i64,
}

fn even<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    let number = i64::deserialize(deserializer)?;
    if number % 2 == 0 {
        Ok(number)
    } else {
        Err(serde::de::Error::custom("must be even"))
    }
}

/// A check behind the schema.
#[skill("even.only", version = "1", side_effects = "none", risk = "low")]
pub fn even_only(inputs: Strict) -> AnyOut {
    AnyOut {
        ok: true,
        got: inputs.even.into(),
    }
}

/// Formats.
#[derive(Debug, Deserialize, Serialize)]
pub struct Formats {
    uid: Option<String>,
    when: Option<String>,
    day: Option<String>,
}

/// Formats.
#[skill(
    "fmt.check",
    version = "1",
    side_effects = "none",
    risk = "low",
    inputs_schema = "fixtures/schemas/fmt.check.inputs.json"
)]
pub fn format_check(inputs: Formats) -> AnyOut {
    AnyOut {
        ok: true,
        got: json!(inputs),
    }
}

/// Takes longer than its contract allows.
#[skill(
    "slow.sync", version = "1", side_effects = "none", risk = "low", timeout = 1,
    inputs_schema = json!({"type": "object"}), outputs_schema = json!({"type": "object"}),
)]
pub fn slow_sync(_inputs: Value, ctx: &SkillContext) -> Result<Value, SkillError> {
    while !ctx.is_cancelled() {
        ctx.check_deadline()?;
        std::thread::park_timeout(Duration::from_millis(5));
    }
    Ok(json!({"remainingNegative": true}))
}

/// A point of the plane.
#[derive(Debug, Deserialize, Serialize)]
pub struct Point {
    x: f64,
    #[serde(default)]
    y: f64,
}

/// The fields of the zoo that are returned.
#[derive(Debug, Deserialize)]
pub struct ZooIn {
    s: String,
    i: i64,
    point: Point,
    when: Option<String>,
    dec: Option<Value>,
    #[serde(default = "v", rename = "aliasedName")]
    aliased: String,
    #[serde(flatten)]
    _rest: BTreeMap<String, Value>,
}

fn v() -> String {
    "v".to_owned()
}

/// Every type at once.
#[skill(
    "types.zoo", version = "3", side_effects = "external_read", risk = "medium", idempotency = "natural",
    timeout = 120, retry = (5, 60), permissions = ["tasks.read", "artifacts.read"],
    cost_model = (unit = "page", estimate = 0.5),
    inputs_schema = "fixtures/schemas/types.zoo.inputs.json",
    outputs_schema = "fixtures/schemas/types.zoo.outputs.json",
)]
pub fn types_zoo(inputs: ZooIn) -> Value {
    let ZooIn {
        s,
        i,
        point,
        when,
        dec,
        aliased,
        _rest,
    } = inputs;
    json!({
        "s": s, "n": i, "items": [point], "kind": "short", "when": when, "dec": dec, "aliasedName": aliased,
    })
}
