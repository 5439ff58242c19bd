//! A question does not outlive its call.

use std::future::pending;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use super::*;
use crate::context::ContextStart;

/// Nobody answers.
struct Silent;

impl InputChannel for Silent {
    fn supports(&self, _: InputKind) -> bool {
        true
    }

    fn request<'a>(&'a self, _: &'a str, _: InputRequest) -> Responding<'a> {
        Box::pin(pending())
    }
}

fn asked(deadline: Option<Instant>) -> SkillContext {
    let mut start = ContextStart::new("a@1", "test", Arc::default());
    start.input = Some(Arc::new(Silent));
    start.deadline = deadline;
    SkillContext::new(start)
}

#[test]
fn a_question_ends_with_its_call() {
    let later = Instant::now() + Duration::from_hours(1);
    for (deadline, code) in [
        (None, "cancelled"),
        (Some(later), "cancelled"),
        (Some(Instant::now()), "timeout"),
    ] {
        let context = asked(deadline);
        let mut question = pin!(context.request_input("a", InputRequest::Roots));
        let mut cx = Context::from_waker(Waker::noop());
        assert!(question.as_mut().poll(&mut cx).is_pending());
        context.cancel();
        let Poll::Ready(Err(error)) = question.poll(&mut cx) else {
            panic!("it goes on");
        };
        assert_eq!((error.code(), error.is_retryable()), (code, true));
    }
}

#[test]
fn a_thread_that_asks_goes_on_when_the_call_ends() {
    let context = asked(None);
    let asking = std::thread::spawn({
        let context = context.clone();
        move || context.ask_blocking::<Empty>("a", "?").map(drop)
    });
    context.cancel();
    let error = asking.join().unwrap().unwrap_err();
    assert_eq!((error.code(), error.is_retryable()), ("cancelled", true));
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Empty {}
