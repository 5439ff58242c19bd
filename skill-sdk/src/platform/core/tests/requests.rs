//! Which requests are sent, how often and for how long.

use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;

use super::script::{Reply, Script};
use super::{context, context_of, with_key};
use crate::platform::clock::Clock;
use crate::platform::core::CoreClient;
use crate::platform::core::knowledge::{
    Document, Entity, EntityQuery, Filter, RecallQuery, Snapshot, SnapshotStale,
};
use crate::platform::web::Method;

fn unavailable() -> Reply {
    Reply::Json(503, json!({"error": {"code": "busy", "message": "later"}}))
}

fn snapshot() -> Snapshot {
    Snapshot::new("p", "s", "c")
}

#[tokio::test(start_paused = true)]
async fn repeats_have_pauses_within_the_window_and_one_key() {
    // The first response, and whether a retryable request is retried.
    let table = [
        (Reply::Refused, true),
        (Reply::Json(502, json!({})), true),
        (unavailable(), true),
        (Reply::Text(504, ""), true),
        (Reply::Text(500, "<html>"), true),
        (Reply::Json(500, json!({"error": {"code": "broken"}})), false),
        (Reply::Json(429, json!({"error": {"code": "slow"}})), false),
        (Reply::Json(400, json!({"error": {"code": "bad"}})), false),
        (Reply::Large, false),
    ];
    for (number, (reply, repeated)) in table.into_iter().enumerate() {
        let script = Script::of([reply.clone(), reply.clone(), reply]);
        let context = context(&with_key(), &script, &Clock::manual());
        let start = Instant::now();
        context.artifacts().read("a").await.unwrap_err();
        let tries = if repeated { 3 } else { 1 };
        assert_eq!(script.seen().len(), tries, "{number}");
        let pauses = if repeated { 1500 } else { 0 };
        assert_eq!(start.elapsed(), Duration::from_millis(pauses), "{number}");
    }
    let script = Script::of([Reply::Refused, unavailable()]);
    let context = context(&with_key(), &script, &Clock::manual());
    context
        .knowledge()
        .document(&Document::new("k", "t"), "w")
        .await
        .unwrap();
    let seen = script.seen();
    let keys: Vec<_> = seen
        .iter()
        .map(|request| request.header("idempotency-key"))
        .collect();
    assert_eq!(keys.len(), 3);
    assert!(keys[0].is_some_and(|key| key.len() == 32 && key.bytes().all(|b| b.is_ascii_hexdigit())));
    assert!(keys.iter().all(|key| *key == keys[0]), "one key over all tries");
    context
        .knowledge()
        .document(&Document::new("k", "t"), "w")
        .await
        .unwrap();
    assert_ne!(
        script.seen()[3].header("idempotency-key"),
        keys[0],
        "another request, another key"
    );
}

#[tokio::test(start_paused = true)]
async fn what_may_have_two_effects_is_not_repeated() {
    let script = Script::of([Reply::Refused, Reply::Refused, Reply::Refused]);
    let context = context(&with_key(), &script, &Clock::manual());
    let knowledge = context.knowledge();
    knowledge.preview(&snapshot(), "w").await.unwrap_err();
    knowledge.recall(&RecallQuery::new("w")).await.unwrap_err();
    knowledge.query(&EntityQuery::new(["k"]), "w").await.unwrap_err();
    let seen = script.seen();
    assert_eq!(seen.len(), 3);
    assert!(
        seen.iter()
            .all(|request| request.header("idempotency-key").is_none())
    );
}

#[tokio::test]
async fn routes_and_bodies() {
    let stored = json!({"naturalKey": "k", "status": "stored"});
    let script = Script::new::<0>([])
        .then(
            "snapshots:preview",
            [Reply::Json(200, json!({"opened": 1, "stateToken": "st:1"}))],
        )
        .then("documents", [Reply::Json(200, stored)]);
    let context = context(&with_key(), &script, &Clock::manual());
    let knowledge = context.knowledge();
    let plan = knowledge.preview(&snapshot(), "w").await.unwrap();
    assert_eq!((plan.opened, plan.state_token.as_str()), (1, "st:1"));
    knowledge.apply(&snapshot(), "w", Some("st:1")).await.unwrap();
    knowledge.apply(&snapshot(), "w", None).await.unwrap();
    let document = Document::new("k", "t")
        .chunk("text")
        .link("branch", "b", "about")
        .meta("tag", 1);
    assert_eq!(knowledge.document(&document, "w").await.unwrap().status, "stored");
    knowledge
        .recall(&RecallQuery::new("w").anchor("x").set("budget", 5))
        .await
        .unwrap();
    let query = EntityQuery::new(["k"])
        .filter(Filter::eq("n", 1))
        .as_of("2026-01-01");
    knowledge.query(&query, "w").await.unwrap();
    context.artifacts().read_for_task("a/ä 1", "t&1").await.unwrap();
    let snapshot = json!({"workspaceId": "w", "pack": "p", "source": "s", "scope": "c", "entities": []});
    let mut expecting = snapshot.clone();
    expecting["expectedState"] = "st:1".into();
    let expected = [
        ("knowledge/snapshots:preview", snapshot.clone()),
        ("knowledge/snapshots", expecting),
        ("knowledge/snapshots", snapshot),
        (
            "knowledge/documents",
            json!({"workspaceId": "w", "naturalKey": "k", "title": "t", "type": "document", "chunks": [{"text": "text"}],
                   "links": [{"kind": "branch", "key": "b", "rel": "about"}], "meta": {"tag": 1}}),
        ),
        (
            "context/recall",
            json!({"workspaceId": "w", "anchor": "x", "budget": 5}),
        ),
        (
            "knowledge/entities:query",
            json!({"workspaceId": "w", "kinds": ["k"], "where": [{"attr": "n", "op": "eq", "value": 1}],
                   "asOf": "2026-01-01", "limit": 500}),
        ),
        ("artifacts/a%2F%C3%A4%201/content?forTask=t%261", json!(null)),
    ];
    let seen = script.seen();
    assert_eq!(seen.len(), expected.len());
    for (request, (path, body)) in seen.iter().zip(expected) {
        assert_eq!(request.url, format!("http://core.test/api/v1/{path}"));
        assert_eq!(request.body, body, "{path}");
        assert_eq!(request.header("authorization"), Some("Bearer key-1"));
        let method = if body.is_null() { Method::GET } else { Method::POST };
        assert_eq!(request.method, method, "{path}");
    }
}

#[tokio::test]
async fn ids_that_no_path_can_hold_are_not_sent() {
    let script = Script::of::<0>([]);
    let context = context(&with_key(), &script, &Clock::manual());
    for id in ["", ".", ".."] {
        let error = context.artifacts().read(id).await.unwrap_err();
        assert_eq!(error.code(), "artifact_not_found", "{id}");
    }
    assert!(script.seen().is_empty());
}

fn page(items: usize, next: &serde_json::Value) -> Reply {
    let items: Vec<_> = (0..items)
        .map(|n| json!({"kind": "k", "key": n.to_string()}))
        .collect();
    Reply::Json(200, json!({"items": items, "nextCursor": next}))
}

#[tokio::test]
async fn pages_are_read_up_to_the_most() {
    let next = json!("c-1");
    let ends = json!(null);
    let script = Script::of([page(500, &next), page(500, &json!("c-2")), page(3, &ends)]);
    let all = context(&with_key(), &script, &Clock::manual());
    let query = EntityQuery::new(["k"]).max_items(1003);
    assert_eq!(all.knowledge().query(&query, "w").await.unwrap().len(), 1003);
    let cursors: Vec<_> = script
        .seen()
        .iter()
        .map(|request| request.body["cursor"].clone())
        .collect();
    assert_eq!(cursors, [json!(null), json!("c-1"), json!("c-2")]);

    // Too many, a cursor that stays, a page of nothing with a cursor.
    let table = [
        ([page(500, &next), page(500, &ends)], "knowledge_query_too_large"),
        ([page(1, &next), page(1, &next)], "core_error"),
        ([page(0, &next), page(0, &ends)], "core_error"),
    ];
    for (replies, code) in table {
        let script = Script::of(replies);
        let context = context(&with_key(), &script, &Clock::manual());
        let query = EntityQuery::new(["k"]).max_items(999);
        let error = context.knowledge().query(&query, "w").await.unwrap_err();
        assert_eq!((error.code(), error.is_retryable()), (code, false));
    }
}

#[tokio::test]
async fn a_stale_snapshot_can_be_told_from_others() {
    let stale = |details| {
        Reply::Json(
            409,
            json!({"error": {"code": "snapshot_stale", "message": "m", "details": details}}),
        )
    };
    for (details, token) in [(json!({"stateToken": "st:9"}), Some("st:9")), (json!(null), None)] {
        let script = Script::of([stale(details)]);
        let context = context(&with_key(), &script, &Clock::manual());
        let error = context
            .knowledge()
            .apply(&snapshot(), "w", Some("st:1"))
            .await
            .unwrap_err();
        let stale = SnapshotStale::of(&error).unwrap();
        assert_eq!(stale.state_token.as_deref(), token);
        assert_eq!((error.code(), error.is_retryable()), ("snapshot_stale", false));
        assert_eq!(
            error.details(),
            token.map(|token| json!({"stateToken": token})).as_ref()
        );
        assert_eq!(script.seen().len(), 1, "it is not repeated");
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_ends_with_its_call() {
    // An answer that never comes, and pauses that are longer than the call.
    for replies in [[Reply::Nothing, Reply::Nothing], [Reply::Refused, Reply::Refused]] {
        let script = Script::of(replies);
        let client = || {
            std::sync::Arc::new(CoreClient::new(
                &with_key(),
                script.clone() as _,
                &Clock::manual(),
            ))
        };
        let context = context_of(client(), Some(Duration::from_millis(300)));
        let start = Instant::now();
        let error = context.artifacts().read("a").await.unwrap_err();
        assert_eq!((error.code(), error.is_retryable()), ("timeout", true));
        // The timer counts whole milliseconds.
        assert!(
            start.elapsed() < Duration::from_millis(310),
            "{:?}",
            start.elapsed()
        );
    }
    let script = Script::of([Reply::Nothing]);
    let client = std::sync::Arc::new(CoreClient::new(
        &with_key(),
        script.clone() as _,
        &Clock::manual(),
    ));
    let context = context_of(client, None);
    let (result, ()) = tokio::join!(context.artifacts().read("a"), async {
        tokio::task::yield_now().await;
        context.cancel();
    });
    assert_eq!(result.unwrap_err().code(), "cancelled");
    // Nothing is sent for a call that is over.
    assert_eq!(
        context.artifacts().read("a").await.unwrap_err().code(),
        "cancelled"
    );
    assert_eq!(script.seen().len(), 1);
}

#[tokio::test]
async fn no_member_of_a_body_speaks_for_the_client() {
    let script = Script::of::<0>([]);
    let context = context(&with_key(), &script, &Clock::manual());
    let knowledge = context.knowledge();
    let read = json!({"pack": "p", "source": "s", "scope": "c", "workspaceId": "other", "expectedState": "st:0", "more": 1});
    let mut hostile: Snapshot = serde_json::from_value(read).unwrap();
    hostile.rest.insert("source".to_owned(), "another".into());
    hostile.rest.insert("entities".to_owned(), json!([1]));
    knowledge.preview(&hostile, "w").await.unwrap();
    knowledge.apply(&hostile, "w", None).await.unwrap();
    knowledge.apply(&hostile, "w", Some("st:1")).await.unwrap();
    let mut query = EntityQuery::new(["k"]);
    let rest = json!({"workspaceId": "other", "limit": 1, "cursor": "c-9", "kinds": ["other"], "where": 1, "include": "x"});
    query.rest = rest.as_object().unwrap().clone();
    knowledge.query(&query, "w").await.unwrap();
    let recall = RecallQuery::new("w")
        .anchor("a")
        .set("workspaceId", "other")
        .set("anchor", "b");
    knowledge.recall(&recall).await.unwrap();
    let mut entity = Entity::new("k", "1");
    entity.rest.insert("kind".to_owned(), "other".into());
    entity.rest.insert("key".to_owned(), "2".into());
    knowledge.preview(&snapshot().entity(entity), "w").await.unwrap();

    let without =
        json!({"workspaceId": "w", "pack": "p", "source": "s", "scope": "c", "entities": [], "more": 1});
    let mut expecting = without.clone();
    expecting["expectedState"] = "st:1".into();
    let page = json!({"workspaceId": "w", "kinds": ["k"], "where": [], "limit": 500, "include": "x"});
    let bodies: Vec<_> = script.seen().into_iter().map(|request| request.body).collect();
    assert_eq!(bodies[..3], [without.clone(), without, expecting]);
    assert_eq!(bodies[3], page);
    assert_eq!(bodies[4], json!({"workspaceId": "w", "anchor": "a"}));
    assert_eq!(bodies[5]["entities"], json!([{"kind": "k", "key": "1"}]));
}

#[tokio::test]
async fn an_empty_cursor_is_the_end() {
    let script = Script::of([
        page(500, &json!("c-1")),
        page(2, &json!("")),
        page(9, &json!(null)),
    ]);
    let context = context(&with_key(), &script, &Clock::manual());
    let found = context
        .knowledge()
        .query(&EntityQuery::new(["k"]), "w")
        .await
        .unwrap();
    assert_eq!((found.len(), script.seen().len()), (502, 2));
    let script = Script::of([page(0, &json!(""))]);
    let context = super::context(&with_key(), &script, &Clock::manual());
    assert!(
        context
            .knowledge()
            .query(&EntityQuery::new(["k"]), "w")
            .await
            .unwrap()
            .is_empty()
    );
}
