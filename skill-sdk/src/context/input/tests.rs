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
    for deadline in [None, Some(later)] {
        let context = asked(deadline);
        let mut question = pin!(context.request_input("a", InputRequest::Roots));
        let mut cx = Context::from_waker(Waker::noop());
        assert!(question.as_mut().poll(&mut cx).is_pending());
        context.cancel();
        assert_eq!(refused(question.poll(&mut cx)), ("cancelled", true));
    }
}

#[test]
fn a_call_that_is_over_asks_nothing() {
    let (late, cancelled) = (asked(Some(Instant::now())), asked(None));
    cancelled.cancel();
    for (context, code) in [(late, "timeout"), (cancelled, "cancelled")] {
        let question = pin!(context.request_input("a", InputRequest::Roots));
        let answered = question.poll(&mut Context::from_waker(Waker::noop()));
        assert_eq!(refused(answered), (code, true));
    }
}

/// The code of a failure, and whether it is retryable.
fn refused(answered: Poll<Result<Value, SkillError>>) -> (&'static str, bool) {
    let Poll::Ready(Err(error)) = answered else {
        panic!("it goes on");
    };
    let code = ["cancelled", "timeout"]
        .into_iter()
        .find(|code| error.code() == *code);
    (code.unwrap_or("another"), error.is_retryable())
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
