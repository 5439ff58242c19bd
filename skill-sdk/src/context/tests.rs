//! The context as a skill sees it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::json;

use super::*;

fn start() -> ContextBuilder {
    ContextBuilder::new("a.b@1", "test", Arc::default())
}

#[test]
fn a_deadline_that_is_not_known_never_passes() {
    let context = SkillContext::new(start());
    assert_eq!(context.remaining(), None);
    assert!(context.check_deadline().is_ok());
}

#[test]
fn a_deadline_that_passed_is_a_retryable_timeout() {
    let mut start = start();
    start.deadline = Instant::now().checked_sub(Duration::from_secs(1));
    let context = SkillContext::new(start);
    assert_eq!(context.remaining(), Some(Duration::ZERO));
    let error = context.check_deadline().unwrap_err();
    assert_eq!((error.code(), error.is_retryable()), ("timeout", true));
    assert!(error.message().starts_with("a.b@1: "), "{error}");
}

#[test]
fn clones_speak_of_the_same_call() {
    let context = SkillContext::new(start());
    let clone = context.clone();
    std::thread::spawn(move || clone.add_cost("page", 2.0))
        .join()
        .unwrap();
    context.add_cost("page", 1.0);
    assert_eq!(context.cost_document(), Some(json!({"units": {"page": 3.0}})));
}

#[test]
fn settings_come_as_a_type() {
    #[derive(Debug, Deserialize, PartialEq)]
    struct Limits {
        limit: u8,
    }
    let mut start = start();
    start.settings = settings_values(Some(json!({"values": {"limit": 5}})));
    assert_eq!(
        SkillContext::new(start.clone()).settings_as::<Limits>().unwrap(),
        Limits { limit: 5 }
    );
    start.settings = settings_values(Some(json!({"values": {"limit": 500}})));
    let error = SkillContext::new(start).settings_as::<Limits>().unwrap_err();
    assert_eq!((error.code(), error.is_retryable()), ("settings_invalid", false));
}
