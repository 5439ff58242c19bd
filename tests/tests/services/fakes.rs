//! Replays the recorded facts about the fake core through its client.

use std::sync::Arc;

use serde_json::{Value, json};
use skill_sdk::knowledge::{Document, Entity, EntityQuery, Filter, RecallQuery, Snapshot, SnapshotStale};
use skill_sdk::testing::FakeCore;
use skill_sdk::{SkillContext, SkillError};
use skill_sdk_tests::cases::{self, Case, Replay};

use super::borrowed_context;

/// The cases that are not replayed here, each with the reason.
const ELSEWHERE: &[(&str, &[&str])] = &[("belongs to the fake of the model", &["llm-"])];

/// Cases that are an error here and not in the reference: unknown operators, and values of a wrong type.
const REFUSED: &[&str] = &["where-027", "where-034", "where-053", "where-054"];

/// The context of a call with a fake core.
async fn context(core: &FakeCore) -> SkillContext {
    borrowed_context(|call| call.core(core)).await
}

#[tokio::test]
async fn recorded_facts_match() {
    let mut replay = Replay::new(ELSEWHERE);
    for case in &cases::load("fakes.json") {
        replay.run(case, fact(case)).await;
    }
    replay.finish();
}

async fn fact(case: &Case) {
    match case.id.split('-').next().unwrap() {
        "where" => matches(case).await,
        "fingerprint" => fingerprint(case),
        "artifact" => artifact(case).await,
        _ => steps(case).await,
    }
}

async fn matches(case: &Case) {
    let core = FakeCore::new();
    let mut entity = Entity::new("k", "1");
    entity.attributes = case.input["attributes"].as_object().unwrap().clone();
    core.load("w", &Snapshot::new("", "", "").entity(entity));
    let mut query = EntityQuery::new(["k"]);
    query.filters = serde_json::from_value(case.input["where"].clone()).unwrap();
    let found = context(&core).await.knowledge().query(&query, "w").await;
    if REFUSED.contains(&case.id.as_str()) {
        let error = found.unwrap_err();
        assert_eq!(
            (error.code(), error.is_retryable()),
            ("invalid_request", false),
            "{}",
            case.id
        );
        return;
    }
    assert_eq!(case.expect["match"], found.unwrap().len() == 1, "{}", case.id);
}

/// The token is derived from the state; numbers are formatted as in Rust.
fn fingerprint(case: &Case) {
    let mut snapshot = Snapshot::new("", "", "");
    for (id, entity) in case.input["state"].as_object().unwrap() {
        let mut entity = entity.clone();
        entity["kind"] = id.split_once('\u{1f}').unwrap().0.into();
        snapshot.entities.push(serde_json::from_value(entity).unwrap());
    }
    assert_eq!(
        case.expect["token"],
        FakeCore::new().load("w", &snapshot),
        "{}",
        case.id
    );
}

async fn artifact(case: &Case) {
    let core = FakeCore::new();
    core.put("x", "data", "text/plain");
    let context = context(&core).await;
    assert_eq!(context.artifacts().read("x").await.unwrap().data, b"data");
    let error = context
        .artifacts()
        .read(case.input["id"].as_str().unwrap())
        .await
        .unwrap_err();
    same(case, &error, &case.expect["error"]);
    assert_eq!(
        case.expect["error"]["details"],
        json!(error.details()),
        "{}",
        case.id
    );
    assert_eq!(case.expect["reads"], json!(core.reads()), "{}", case.id);
}

fn same(case: &Case, error: &SkillError, expected: &Value) {
    assert_eq!(expected["code"], error.code(), "{}", case.id);
    assert_eq!(expected["retryable"], error.is_retryable(), "{}", case.id);
}

async fn steps(case: &Case) {
    let core = FakeCore::new();
    let context = context(&core).await;
    let knowledge = context.knowledge();
    let mut last = String::new();
    let steps = case.input["steps"].as_array().unwrap();
    for (step, expected) in steps.iter().zip(case.expect["results"].as_array().unwrap()) {
        let snapshot = || serde_json::from_value::<Snapshot>(step["snapshot"].clone()).unwrap();
        let got = match step["do"].as_str().unwrap() {
            "preview" => {
                let plan = knowledge.preview(&snapshot(), "w").await.unwrap();
                last.clone_from(&plan.state_token);
                serde_json::to_value(plan).unwrap()
            }
            "apply" => {
                let expected = step["expected"].as_str();
                let expected = expected.map(|token| if token == "__last__" { last.as_str() } else { token });
                serde_json::to_value(knowledge.apply(&snapshot(), "w", expected).await.unwrap()).unwrap()
            }
            "query" => match knowledge.query(&query(step), "w").await {
                Ok(found) => serde_json::to_value(found).unwrap(),
                Err(error) => {
                    same(case, &error, &expected["error"]);
                    continue;
                }
            },
            "document" => {
                let stored = knowledge.document(&Document::new("n", "t"), "w").await.unwrap();
                serde_json::to_value(stored).unwrap()
            }
            "recall" => {
                let query = RecallQuery::default().anchor("x");
                serde_json::to_value(knowledge.recall(&query).await.unwrap()).unwrap()
            }
            other => panic!("{}: {other} is not replayed", case.id),
        };
        assert_eq!(got, *expected, "{}: {step}", case.id);
    }
    assert_eq!(case.expect["applied"], core.applied().len(), "{}", case.id);
    assert_eq!(case.expect["queries"], json!(core.queries()), "{}", case.id);
    assert_eq!(case.expect["recalls"], json!(core.recalls()), "{}", case.id);
    // The reference records the given value; the fake records the sent value, including defaults.
    for (sent, recorded) in core
        .documents()
        .iter()
        .zip(case.expect["documents"].as_array().unwrap())
    {
        for (name, value) in recorded.as_object().unwrap() {
            assert_eq!(sent[name], *value, "{}", case.id);
        }
    }
}

fn query(step: &Value) -> EntityQuery {
    let kinds = step["kinds"].as_array().unwrap().iter();
    let mut query = EntityQuery::new(kinds.map(|kind| kind.as_str().unwrap()));
    let args = &step["args"];
    if let Some(most) = args["max_items"].as_u64() {
        query = query.max_items(usize::try_from(most).unwrap());
    }
    if let Some(moment) = args["as_of"].as_str() {
        query = query.as_of(moment);
    }
    if let Some(filters) = args["where"].as_array() {
        query.filters = filters
            .iter()
            .map(|filter| serde_json::from_value(filter.clone()).unwrap())
            .collect();
    }
    query
}

#[tokio::test]
async fn concurrent_changes_can_be_simulated() {
    let core = FakeCore::new();
    let context = context(&core).await;
    let knowledge = context.knowledge();
    let mine = Snapshot::new("p", "s", "c").entity(Entity::new("k", "mine"));
    let theirs = Snapshot::new("p", "s", "c").entity(Entity::new("k", "theirs"));
    let plan = knowledge.preview(&mine, "w").await.unwrap();
    core.interfere("w", &theirs);
    let error = knowledge
        .apply(&mine, "w", Some(&plan.state_token))
        .await
        .unwrap_err();
    let stale = SnapshotStale::of(&error).unwrap();
    assert_eq!(core.entities("w")[0].key, "theirs");
    assert!(core.applied().is_empty());
    let again = knowledge.preview(&mine, "w").await.unwrap();
    assert_eq!(Some(again.state_token.as_str()), stale.state_token.as_deref());
    assert_eq!((again.opened, again.closed), (1, 1));
    knowledge
        .apply(&mine, "w", Some(&again.state_token))
        .await
        .unwrap();
    assert_eq!(core.entities("w")[0].key, "mine");
    assert!(core.entities("other").is_empty());
}

#[tokio::test]
async fn pages_and_outages_can_be_simulated() {
    let core = FakeCore::new();
    let entities = (0..1100).map(|n| Entity::new("k", format!("{n:04}")).attribute("even", n % 2 == 0));
    core.load("w", &Snapshot::new("p", "s", "c").entities(entities));
    let context = context(&core).await;
    let all = context
        .knowledge()
        .query(&EntityQuery::new(["k"]), "w")
        .await
        .unwrap();
    assert_eq!((all.len(), all[1099].key.as_str()), (1100, "1099"));
    let even = EntityQuery::new(["k"])
        .filter(Filter::eq("even", true))
        .filter(Filter::missing("odd"));
    assert_eq!(context.knowledge().query(&even, "w").await.unwrap().len(), 550);
    core.set_down(true);
    let error = context.artifacts().read("a").await.unwrap_err();
    assert_eq!((error.code(), error.is_retryable()), ("core_unavailable", true));
    core.set_down(false);
    assert_eq!(
        context.artifacts().read("a/ä").await.unwrap_err().code(),
        "artifact_not_found"
    );
    assert_eq!(core.reads(), ["a/ä"]);
    let _: Arc<FakeCore> = Arc::new(core);
}
