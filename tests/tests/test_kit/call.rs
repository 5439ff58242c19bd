//! The context and the results of a call in a test.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use skill_sdk::knowledge::RecallQuery;
use skill_sdk::testing::{FakeCore, invoke};
use skill_sdk::{Caller, SkillContext, SkillError, skill};

/// What a skill sees of its call.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Seen {
    protocol: String,
    invocation: Option<String>,
    principal: Option<String>,
    tenant: Option<String>,
    may_write: bool,
}

/// Returns what it sees of its call.
#[skill("kit.looking", version = "1", side_effects = "none", risk = "low")]
fn looking(ctx: &SkillContext) -> Seen {
    let caller = ctx.caller();
    Seen {
        protocol: ctx.protocol().to_owned(),
        invocation: ctx.invocation_id().map(str::to_owned),
        principal: caller.map(|caller| caller.principal_id.clone()),
        tenant: caller.map(|caller| caller.tenant_id.clone()),
        may_write: caller.is_some_and(|caller| caller.has_scope("docs:write")),
    }
}

#[tokio::test]
async fn a_call_has_the_given_caller_and_the_test_protocol() {
    let nobody = invoke(looking::SKILL, json!({})).await.unwrap();
    let expected = Seen {
        protocol: "test".to_owned(),
        invocation: Some("test".to_owned()),
        principal: None,
        tenant: None,
        may_write: false,
    };
    assert_eq!(nobody.outputs_as::<Seen>().unwrap(), expected);
    let mut caller = Caller::new("t-1", "p-1");
    caller.scopes.insert("docs:write".to_owned());
    let somebody = invoke(looking::SKILL, json!({})).caller(caller).await.unwrap();
    let expected = Seen {
        principal: Some("p-1".to_owned()),
        tenant: Some("t-1".to_owned()),
        may_write: true,
        ..expected
    };
    assert_eq!(somebody.outputs_as::<Seen>().unwrap(), expected);
}

/// Returns a number that `f64` cannot represent.
#[skill("kit.large", version = "1", side_effects = "none", risk = "low")]
fn large() -> u64 {
    u64::MAX - 1
}

#[test]
fn outputs_can_be_deserialized_into_a_type() {
    #[derive(Debug, Deserialize)]
    struct Outputs<T> {
        result: T,
    }

    let result = invoke(large::SKILL, json!({})).blocking().unwrap();
    assert_eq!(result.outputs_as::<Outputs<u64>>().unwrap().result, u64::MAX - 1);
    let error = result.outputs_as::<Outputs<String>>().unwrap_err();
    assert!(error.to_string().contains("expected a string"), "{error}");
}

/// The number of recalled sections.
#[skill("kit.recalling", version = "1", side_effects = "external_read", risk = "low")]
async fn recalling(ctx: &SkillContext) -> Result<usize, SkillError> {
    let query = RecallQuery::new("w").anchor(json!({"kind": "branch", "key": "b-1"}));
    Ok(ctx.knowledge().recall(&query).await?.sections.len())
}

#[tokio::test]
async fn recall_returns_the_configured_sections() {
    let core = FakeCore::new();
    let sections = |core: &FakeCore| invoke(recalling::SKILL, json!({})).core(core);
    assert_eq!(sections(&core).await.unwrap().outputs["result"], 0);
    core.recall_answer(json!({"sections": [{"title": "a"}, {"title": "b"}], "more": true}));
    assert_eq!(sections(&core).await.unwrap().outputs["result"], 2);
    assert_eq!(
        core.recalls()[1],
        json!({"workspaceId": "w", "anchor": {"kind": "branch", "key": "b-1"}})
    );
}
