//! Knowledge over real HTTP.

use serde_json::json;
use skill_sdk::knowledge::{Document, Entity, EntityQuery, RecallQuery, Snapshot, SnapshotStale};

use super::context;
use super::faulty_server::Reply;
use super::mock_platform::{Fault, Platform};

fn snapshot(source: &str) -> Snapshot {
    Snapshot::new("p", source, "c").entity(Entity::new("branch", "b-1").attribute("seats", 12))
}

#[tokio::test]
async fn a_lost_response_is_retried_with_one_effect() {
    let platform = Platform::start().await;
    platform.add_faults("/knowledge/snapshots", [Fault::LostAnswer]);
    let context = context(platform.variables());
    let applied = context
        .knowledge()
        .apply(&snapshot("s"), "w", None)
        .await
        .unwrap();
    assert_eq!(applied.state_token, "st:1");
    let seen = platform.seen("/knowledge/snapshots");
    assert_eq!(seen.len(), 2);
    assert_eq!(
        seen[0].header("idempotency-key"),
        seen[1].header("idempotency-key")
    );
    assert_eq!(platform.state().effects, 1);
    platform.add_faults("/knowledge/documents", [Fault::LostAnswer]);
    let stored = context
        .knowledge()
        .document(&Document::new("k", "t").chunk("text"), "w")
        .await
        .unwrap();
    assert_eq!(
        (stored.natural_key.as_str(), stored.status.as_str()),
        ("k", "stored")
    );
    assert_eq!(platform.state().effects, 2);
}

#[tokio::test]
async fn a_revoked_token_is_renewed_once() {
    let platform = Platform::start().await;
    let context = context(platform.variables());
    context
        .knowledge()
        .apply(&snapshot("s"), "w", None)
        .await
        .unwrap();
    platform.revoke_tokens();
    context
        .knowledge()
        .apply(&snapshot("s"), "w", None)
        .await
        .unwrap();
    assert_eq!(platform.seen("exchange").len(), 2);
    let bearers: Vec<_> = platform
        .seen("/knowledge/")
        .iter()
        .map(|request| request.header("authorization").unwrap().to_owned())
        .collect();
    assert_eq!(
        bearers,
        [
            "Bearer short-visible-1",
            "Bearer short-visible-1",
            "Bearer short-visible-2"
        ]
    );
    let keys = platform.seen("/knowledge/");
    assert_eq!(
        keys[1].header("idempotency-key"),
        keys[2].header("idempotency-key")
    );
    assert_ne!(
        keys[0].header("idempotency-key"),
        keys[1].header("idempotency-key")
    );
}

#[tokio::test]
async fn a_plan_is_valid_for_its_state_only() {
    let platform = Platform::start().await;
    let context = context(platform.variables());
    let knowledge = context.knowledge();
    let plan = knowledge.preview(&snapshot("s"), "w").await.unwrap();
    platform.state().change_concurrently("w", "s");
    let error = knowledge
        .apply(&snapshot("s"), "w", Some(&plan.state_token))
        .await
        .unwrap_err();
    assert_eq!((error.code(), error.is_retryable()), ("snapshot_stale", false));
    let stale = SnapshotStale::of(&error).unwrap();
    assert_eq!(stale.state_token.as_deref(), Some("st:1"));
    assert_eq!(platform.state().effects, 0);
    let plan = knowledge.preview(&snapshot("s"), "w").await.unwrap();
    knowledge
        .apply(&snapshot("s"), "w", Some(&plan.state_token))
        .await
        .unwrap();
    assert_eq!(platform.state().effects, 1);
    // Other failures are returned unchanged.
    platform.add_faults(
        "/knowledge/snapshots",
        [Fault::Instead(Reply::json(
            422,
            &json!({"error": {"code": "snapshot_invalid"}}),
        ))],
    );
    let error = knowledge.apply(&snapshot("s"), "w", None).await.unwrap_err();
    assert_eq!(error.code(), "snapshot_invalid");
    assert_eq!(SnapshotStale::of(&error), None);
}

#[tokio::test]
async fn lists_are_paginated() {
    let platform = Platform::start().await;
    let entity = |n| json!({"kind": "k", "key": format!("{n:05}"), "title": null, "attributes": {"n": n}, "source": "s"});
    platform.state().entities = (0..1203).map(entity).collect();
    let context = context(platform.variables());
    let found = context
        .knowledge()
        .query(&EntityQuery::new(["k"]), "w")
        .await
        .unwrap();
    assert_eq!(found.len(), 1203);
    assert_eq!(
        (found[1202].key.as_str(), found[1202].attribute("n")),
        ("01202", &json!(1202))
    );
    assert_eq!(found[7].rest["source"], "s");
    let pages: Vec<_> = platform
        .seen("entities:query")
        .iter()
        .map(|page| page.body["cursor"].clone())
        .collect();
    assert_eq!(pages, [json!(null), json!("after-500"), json!("after-1000")]);
    let query = EntityQuery::new(["k"]).max_items(1202);
    let error = context.knowledge().query(&query, "w").await.unwrap_err();
    assert_eq!(
        (error.code(), error.is_retryable()),
        ("knowledge_query_too_large", false)
    );
}

#[tokio::test]
async fn recall_returns_sections() {
    let platform = Platform::start().await;
    let recall = context(platform.variables())
        .knowledge()
        .recall(&RecallQuery::new("w").anchor("branch"))
        .await
        .unwrap();
    assert_eq!(recall.sections, [json!({"title": "s"})]);
    assert_eq!(recall.rest["budget"], 7);
}
