//! The context as a skill sees it.

use std::time::Duration;

use serde::Deserialize;
use serde_json::json;

use super::*;

fn context(meta: Meta) -> SkillContext {
    SkillContext::new("a.b@1", meta)
}

#[test]
fn a_deadline_that_is_not_known_never_passes() {
    let context = context(Meta::new("test"));
    assert_eq!(context.remaining(), None);
    assert!(context.check_deadline().is_ok());
}

#[test]
fn a_deadline_that_passed_is_a_retryable_timeout() {
    let mut meta = Meta::new("test");
    meta.timeout = Some(Duration::ZERO);
    let context = context(meta);
    assert_eq!(context.remaining(), Some(Duration::ZERO));
    let error = context.check_deadline().unwrap_err();
    assert_eq!((error.code(), error.is_retryable()), ("timeout", true));
    assert!(error.message().starts_with("a.b@1: "), "{error}");
}

#[test]
fn clones_speak_of_the_same_call() {
    let context = context(Meta::new("test"));
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
    let mut meta = Meta::new("test");
    meta.settings = settings_values(Some(json!({"values": {"limit": 5}})));
    assert_eq!(
        context(meta.clone()).settings_as::<Limits>().unwrap(),
        Limits { limit: 5 }
    );
    meta.settings = settings_values(Some(json!({"values": {"limit": 500}})));
    let error = context(meta).settings_as::<Limits>().unwrap_err();
    assert_eq!((error.code(), error.is_retryable()), ("settings_invalid", false));
}
