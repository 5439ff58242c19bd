//! The log of one call.

use std::collections::BTreeSet;

use serde_json::json;
use skill_sdk::testing::{CallLog, invoke};
use skill_sdk::{SkillError, skill};
use skill_sdk_tests::log;
use tracing::Level;

/// Logs on the way.
#[skill("kit.asynchronous", version = "1", side_effects = "none", risk = "low")]
async fn asynchronous(word: String) -> Result<(), SkillError> {
    tracing::trace!(word, "one");
    tokio::task::yield_now().await;
    let span = tracing::info_span!("inner", inner = word);
    span.in_scope(|| tracing::warn!(count = 2, "two"));
    tokio::task::yield_now().await;
    tracing::info!("three");
    if word == "fail" {
        return Err(SkillError::terminal("no", "never"));
    }
    Ok(())
}

/// Logs on a thread of its own.
#[skill("kit.blocking", version = "1", side_effects = "none", risk = "low")]
fn blocking(word: String) {
    tracing::info!(word, "on another thread");
}

#[tokio::test]
async fn events_have_their_fields_and_the_spans_around_them() {
    let result = invoke(asynchronous::SKILL, json!({"word": "a"})).await.unwrap();
    let events: Vec<_> = result
        .logs
        .iter()
        .filter(|event| event.target.starts_with("kit"))
        .map(|event| (event.level, event.message.as_str()))
        .collect();
    assert_eq!(
        events,
        [
            (Level::TRACE, "one"),
            (Level::WARN, "two"),
            (Level::INFO, "three")
        ]
    );
    let two = result.logs.iter().find(|event| event.message == "two").unwrap();
    assert_eq!((two.field("count"), two.field("inner")), (Some("2"), Some("a")));
    assert_eq!(two.field("invocation_id"), Some("test"));
    assert_eq!(
        two.spans.iter().map(|span| span.name).collect::<Vec<_>>(),
        ["skill", "inner"]
    );
    assert_eq!(two.to_string(), "WARN two count=2");
    assert_eq!(result.logs.last().unwrap().message, "the call succeeded");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn calls_at_the_same_time_do_not_mix() {
    let calls: Vec<_> = (0..32)
        .map(|number| {
            tokio::spawn(async move {
                let word = number.to_string();
                let skill = if number % 2 == 0 {
                    asynchronous::SKILL
                } else {
                    blocking::SKILL
                };
                (word.clone(), invoke(skill, json!({"word": word})).await.unwrap())
            })
        })
        .collect();
    for call in calls {
        let (word, result) = call.await.unwrap();
        let words: BTreeSet<_> = result
            .logs
            .iter()
            .filter_map(|event| event.fields.get("word"))
            .collect();
        assert_eq!(words, BTreeSet::from([&word]));
    }
}

#[test]
fn a_call_that_fails_has_a_log_too() {
    let log = CallLog::new();
    let call = invoke(asynchronous::SKILL, json!({"word": "fail"})).log(&log);
    call.blocking().unwrap_err();
    let events = log.events();
    let last = events.last().unwrap();
    assert_eq!(
        (last.message.as_str(), last.field("code")),
        ("the call failed", Some("no"))
    );
    assert!(format!("{log:?}").contains("WARN two count=2"), "{log:?}");
}

#[test]
fn a_subscriber_of_the_test_gets_everything_as_well() {
    log::capture();
    let result = invoke(asynchronous::SKILL, json!({"word": "forwarded"}))
        .blocking()
        .unwrap();
    let text = log::text();
    assert!(text.contains("forwarded"), "{text}");
    let two = result.logs.iter().find(|event| event.message == "two").unwrap();
    assert_eq!(two.spans.len(), 2);
    let seen = log::of_call("test");
    let two = seen
        .iter()
        .find(|event| event.inherited("inner") == "forwarded")
        .unwrap();
    assert_eq!(
        (two.message(), two.inherited("skill")),
        ("two", "kit.asynchronous@1")
    );
}
