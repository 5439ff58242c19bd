//! A question does not outlive its call.

use std::future::pending;
use std::pin::pin;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use super::*;
use crate::context::Meta;

/// A user who does not respond; a test can observe the request.
struct Silent(Sender<Happened>);

#[derive(Debug, PartialEq)]
enum Happened {
    /// The question came.
    Asked,
    /// The response is awaited.
    Awaited,
}

impl InputChannel for Silent {
    fn supports(&self, _: InputKind) -> bool {
        true
    }

    fn request<'a>(&'a self, _: &'a str, _: InputRequest) -> Responding<'a> {
        // The test may have ended.
        let _ = self.0.send(Happened::Asked);
        Box::pin(async {
            let _ = self.0.send(Happened::Awaited);
            pending().await
        })
    }
}

/// A call, and what happens at the user of it.
fn asked(timeout: Option<Duration>) -> (SkillContext, Receiver<Happened>) {
    let (happened, seen) = channel();
    let mut meta = Meta::new("test");
    meta.input = Some(Arc::new(Silent(happened)));
    meta.timeout = timeout;
    (SkillContext::new("a@1", meta), seen)
}

#[test]
fn a_question_ends_with_its_call() {
    for timeout in [None, Some(Duration::from_hours(1))] {
        let (context, _seen) = asked(timeout);
        let mut question = pin!(context.request_input("a", InputRequest::Roots));
        let mut cx = Context::from_waker(Waker::noop());
        assert!(question.as_mut().poll(&mut cx).is_pending());
        context.cancel();
        assert_eq!(refused(question.poll(&mut cx)), ("cancelled", true));
    }
}

#[test]
fn a_call_that_is_over_asks_nothing() {
    for (timeout, code) in [(Some(Duration::ZERO), "timeout"), (None, "cancelled")] {
        let (context, seen) = asked(timeout);
        if timeout.is_none() {
            context.cancel();
        }
        let question = pin!(context.request_input("a", InputRequest::Roots));
        let answered = question.poll(&mut Context::from_waker(Waker::noop()));
        assert_eq!(refused(answered), (code, true));
        let error = context.ask_blocking::<Empty>("a", "?").map(drop).unwrap_err();
        assert_eq!((error.code(), error.is_retryable()), (code, true));
        assert_eq!(seen.try_recv().ok(), None, "{code}");
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
    let (context, seen) = asked(None);
    let asking = std::thread::spawn({
        let context = context.clone();
        move || context.ask_blocking::<Empty>("a", "?").map(drop)
    });
    assert_eq!(seen.recv(), Ok(Happened::Asked));
    assert_eq!(seen.recv(), Ok(Happened::Awaited));
    context.cancel();
    let error = asking.join().unwrap().unwrap_err();
    assert_eq!((error.code(), error.is_retryable()), ("cancelled", true));
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Empty {}
