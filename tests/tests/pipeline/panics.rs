//! A panic ends its call and nothing else.

use std::panic::panic_any;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::json;
use skill_sdk::pipeline::install_panic_hook;
use skill_sdk::{Skill, SkillContext, skill};
use skill_sdk_tests::log;

use super::{call_on, crash, meta, skill_set, wire};

/// A text that no caller may see.
const MARKER: &str = "hunter2";

/// Panics before the first await point.
#[skill("panics.early", version = "1", side_effects = "none", risk = "low")]
async fn early(go: bool) -> u8 {
    assert!(!go, "hunter2");
    1
}

/// Panics after an await point.
#[skill("panics.late", version = "1", side_effects = "none", risk = "low")]
async fn late(go: bool, ctx: SkillContext) -> u8 {
    tokio::task::yield_now().await;
    assert!(!go, "{MARKER} of {}", ctx.skill());
    1
}

/// Panics in a synchronous function.
#[skill("panics.sync", version = "1", side_effects = "none", risk = "low")]
fn sync(go: bool) -> u8 {
    let list = [1, 2];
    assert!(!go, "hunter2");
    list[usize::from(go)]
}

/// Panics at the point that the test selects.
#[derive(Debug, JsonSchema)]
#[schemars(transparent)]
struct Bomb(String);

impl<'de> Deserialize<'de> for Bomb {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let place = String::deserialize(deserializer)?;
        assert!(place != "deserialize", "hunter2");
        Ok(Self(place))
    }
}

impl Serialize for Bomb {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        assert!(self.0 != "serialize", "hunter2");
        serializer.serialize_str(&self.0)
    }
}

impl Drop for Bomb {
    fn drop(&mut self) {
        assert!(self.0 != "drop", "hunter2");
    }
}

/// An asynchronous skill whose own code panics.
#[skill("panics.bomb", version = "1", side_effects = "none", risk = "low")]
async fn bomb(place: Bomb) -> Bomb {
    tokio::task::yield_now().await;
    place
}

/// A synchronous skill whose own code panics.
#[skill("panics.sync_bomb", version = "1", side_effects = "none", risk = "low")]
fn sync_bomb(place: Bomb) -> Bomb {
    place
}

/// Panics with a payload that panics when it is dropped.
#[skill("panics.payload", version = "1", side_effects = "none", risk = "low")]
async fn payload(go: bool) -> u8 {
    if go {
        panic_any(Bomb("drop".to_owned()));
    }
    1
}

#[tokio::test]
async fn a_panic_fails_the_call_and_is_logged() {
    install_panic_hook();
    let skills: &[(&'static Skill, _, _)] = &[
        (early::SKILL, json!({"go": true}), json!({"go": false})),
        (late::SKILL, json!({"go": true}), json!({"go": false})),
        (sync::SKILL, json!({"go": true}), json!({"go": false})),
        (bomb::SKILL, json!({"place": "deserialize"}), json!({"place": ""})),
        (bomb::SKILL, json!({"place": "serialize"}), json!({"place": ""})),
        (bomb::SKILL, json!({"place": "drop"}), json!({"place": ""})),
        (
            sync_bomb::SKILL,
            json!({"place": "deserialize"}),
            json!({"place": ""}),
        ),
        (
            sync_bomb::SKILL,
            json!({"place": "serialize"}),
            json!({"place": ""}),
        ),
        (sync_bomb::SKILL, json!({"place": "drop"}), json!({"place": ""})),
    ];
    for (index, (skill, bad, good)) in skills.iter().enumerate() {
        let skill_set = skill_set(&[skill]);
        let id = format!("panic-{index}");
        let completed = call_on(&skill_set, skill, bad, meta(&id)).await;
        let error = completed.result().unwrap_err();
        assert_eq!(
            wire(error),
            crash("the implementation of the skill panicked"),
            "{id} {bad}"
        );
        assert!(error.is_crash(), "{id}");
        let panics: Vec<_> = log::of_call(&id)
            .into_iter()
            .filter(|event| event.fields.contains_key("panic"))
            .collect();
        assert_eq!(panics.len(), 1, "{id} {bad}: {panics:?}");
        assert_eq!(panics[0].level, tracing::Level::ERROR);
        assert_eq!(panics[0].inherited("skill"), skill.reference());
        let text = panics[0].field("panic");
        assert!(
            text.contains(MARKER) && text.contains("panics.rs:"),
            "{id} {bad}: {text}"
        );
        // Other calls still work.
        assert!(
            call_on(&skill_set, skill, good, meta(&id)).await.result().is_ok(),
            "{id}"
        );
    }
}

#[tokio::test]
async fn a_panicking_payload_is_contained() {
    install_panic_hook();
    let skill_set = skill_set(&[payload::SKILL]);
    let completed = call_on(&skill_set, payload::SKILL, &json!({"go": true}), meta("payload")).await;
    assert_eq!(wire(completed.result().unwrap_err())["code"], "skill_error");
    assert!(
        call_on(&skill_set, payload::SKILL, &json!({"go": false}), meta("payload"))
            .await
            .result()
            .is_ok()
    );
}

/// Never returns, and panics when it is dropped.
#[skill("panics.given_up", version = "1", side_effects = "none", risk = "low")]
async fn given_up(place: Bomb) -> Bomb {
    std::future::pending::<()>().await;
    place
}

#[tokio::test(start_paused = true)]
async fn a_panic_while_dropping_the_body_is_contained() {
    install_panic_hook();
    let skill_set = skill_set(&[given_up::SKILL]);
    let mut times_out = meta("given-up");
    times_out.timeout = Some(Duration::from_secs(1));
    let inputs = json!({"place": "drop"});
    let completed = call_on(&skill_set, given_up::SKILL, &inputs, times_out).await;
    assert_eq!(completed.result().unwrap_err().code(), "timeout");
    let logged = log::of_call("given-up");
    assert!(
        logged.iter().any(|event| event.field("panic").contains(MARKER)),
        "{logged:?}"
    );

    // The same when the call is cancelled.
    let call = tokio::spawn(async move { call_on(&skill_set, given_up::SKILL, &inputs, meta("gone")).await });
    tokio::task::yield_now().await;
    call.abort();
    assert!(
        call.await.unwrap_err().is_cancelled(),
        "the task of the caller does not panic"
    );
    let logged = log::of_call("gone");
    assert!(
        logged.iter().any(|event| event.field("panic").contains(MARKER)),
        "{logged:?}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn other_calls_continue_after_a_panic() {
    install_panic_hook();
    let skill_set = skill_set(&[late::SKILL, sync::SKILL]);
    let calls = (0..40).map(|index| {
        let (skill_set, skill) = (
            skill_set.clone(),
            if index % 4 < 2 { late::SKILL } else { sync::SKILL },
        );
        let go = index % 2 == 0;
        tokio::spawn(async move {
            let completed = call_on(&skill_set, skill, &json!({"go": go}), meta("beside")).await;
            (go, completed.result().is_err())
        })
    });
    for call in calls.collect::<Vec<_>>() {
        let (go, failed) = call.await.unwrap();
        assert_eq!(go, failed);
    }
}
