//! Timeouts and cancelled calls.

use std::future::pending;
use std::pin::pin;
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use serde_json::json;
use skill_sdk::{SkillContext, SkillError, skill};
use skill_sdk_tests::skill_events::{self, Body, SkillEvent, SkillEvents};
use tokio::time::Instant;

use super::{call_on, meta, skill_set};

/// Never returns.
#[skill(
    "deadline.asynchronous",
    version = "1",
    side_effects = "none",
    risk = "low",
    timeout = 2
)]
async fn asynchronous(ctx: &SkillContext) {
    let _body = Body::begins(ctx);
    pending::<()>().await;
}

/// Returns once it is cancelled; the result is discarded.
#[skill("deadline.blocking", version = "1", side_effects = "none", risk = "low")]
fn blocking(ctx: &SkillContext) -> &'static str {
    skill_events::report(ctx, SkillEvent::Started(ctx.clone()));
    skill_events::block_until_cancelled(ctx);
    skill_events::report(ctx, SkillEvent::Ended);
    "too late"
}

/// Does its work in a spawned task.
#[skill("deadline.spawning", version = "1", side_effects = "none", risk = "low")]
async fn spawning(ctx: SkillContext) {
    let work = ctx.clone();
    tokio::spawn(async move {
        skill_events::report(&work, SkillEvent::Started(work.clone()));
        work.cancelled().await;
        skill_events::report(&work, SkillEvent::Ended);
    });
    pending::<()>().await;
}

/// Returns at once.
#[skill("deadline.quick", version = "1", side_effects = "none", risk = "low")]
fn quick(ctx: &SkillContext) -> Option<u64> {
    skill_events::report(ctx, SkillEvent::Ended);
    ctx.remaining().map(|left| left.as_secs())
}

#[tokio::test(start_paused = true)]
async fn the_timeout_drops_an_asynchronous_body() {
    let skill_set = skill_set(&[asynchronous::SKILL]);
    let mut events = SkillEvents::of_call("async-timeout");
    let begin = Instant::now();
    let completed = call_on(&skill_set, asynchronous::SKILL, &json!({}), meta("async-timeout")).await;
    let error = completed.result().unwrap_err();
    assert_eq!((error.code(), error.is_retryable()), ("timeout", true));
    assert_eq!(
        error.message(),
        format!(
            "{}: the call took longer than 2 s, the timeout of its contract",
            asynchronous::SKILL.reference()
        )
    );
    assert!(!error.is_crash());
    let took = begin.elapsed();
    assert!((1900..2100).contains(&took.as_millis()), "{took:?}");
    let context = events.started().await;
    // The body was dropped, and the remaining context is cancelled.
    assert!(matches!(events.next().await, SkillEvent::Dropped));
    assert!(context.is_cancelled());
}

/// Computes beyond its timeout without an await point.
#[skill("deadline.spinning", version = "1", side_effects = "none", risk = "low")]
async fn spinning(ctx: &SkillContext) -> &'static str {
    while ctx.remaining() != Some(Duration::ZERO) {
        std::hint::spin_loop();
    }
    "too late"
}

#[tokio::test]
async fn a_late_result_of_an_asynchronous_body_is_discarded() {
    let skill_set = skill_set(&[spinning::SKILL]);
    let mut meta = meta("spinning");
    meta.timeout = Some(Duration::from_millis(20));
    let completed = call_on(&skill_set, spinning::SKILL, &json!({}), meta).await;
    let error = completed.result().unwrap_err();
    assert_eq!((error.code(), error.is_retryable()), ("timeout", true));
    assert!(
        error
            .message()
            .ends_with("took longer than 0.02 s, the timeout that the caller set"),
        "{}",
        error.message()
    );
}

#[tokio::test(start_paused = true)]
async fn the_timeout_can_be_overridden_per_call() {
    let skill_set = skill_set(&[asynchronous::SKILL, quick::SKILL]);
    let mut meta = meta("own-timeout");
    meta.timeout = Some(Duration::from_secs(100));
    let begin = Instant::now();
    let completed = call_on(&skill_set, asynchronous::SKILL, &json!({}), meta.clone()).await;
    assert_eq!(completed.result().unwrap_err().code(), "timeout");
    assert!(
        (99..101).contains(&begin.elapsed().as_secs()),
        "{:?}",
        begin.elapsed()
    );
    let completed = call_on(&skill_set, quick::SKILL, &json!({}), meta.clone()).await;
    // Deadlines use the clock of the runtime, which is paused here.
    assert_eq!(completed.result().unwrap(), br#"{"result":100}"#);
    // A timeout beyond the range of the clock means no limit.
    meta.timeout = Some(Duration::MAX);
    let completed = call_on(&skill_set, quick::SKILL, &json!({}), meta).await;
    assert_eq!(completed.result().unwrap(), br#"{"result":null}"#);
}

#[tokio::test]
async fn a_synchronous_body_is_cancelled_and_its_late_result_discarded() {
    let skill_set = skill_set(&[blocking::SKILL, quick::SKILL]);
    let mut events = SkillEvents::of_call("sync-timeout");
    let mut short = meta("sync-timeout");
    short.timeout = Some(Duration::from_millis(20));
    let completed = call_on(&skill_set, blocking::SKILL, &json!({}), short).await;
    let error = completed.result().unwrap_err();
    assert_eq!((error.code(), error.is_retryable()), ("timeout", true));
    assert!(events.started().await.is_cancelled());
    events.ended().await;
    // The result is discarded, and other calls are not affected.
    assert!(
        call_on(&skill_set, quick::SKILL, &json!({}), meta("after"))
            .await
            .result()
            .is_ok()
    );
}

/// Blocks beyond its timeout.
#[skill("deadline.late", version = "1", side_effects = "none", risk = "low")]
fn late(ctx: &SkillContext) -> &'static str {
    while ctx.remaining() != Some(Duration::ZERO) {
        std::hint::spin_loop();
    }
    "too late"
}

#[test]
fn a_late_result_is_discarded_even_if_the_timer_never_fired() {
    struct Woken(mpsc::Sender<()>);
    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.send(()).unwrap();
        }
    }
    let (sender, woken) = mpsc::channel();
    let waker = Waker::from(Arc::new(Woken(sender)));
    let mut cx = Context::from_waker(&waker);
    // The clock of this runtime is never polled, so only the end of the thread wakes the call.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.unwrap();
    let _entered = runtime.enter();
    let skill_set = skill_set(&[late::SKILL]);
    let mut meta = meta("late");
    meta.timeout = Some(Duration::from_millis(20));
    let inputs = json!({});
    let mut call = pin!(call_on(&skill_set, late::SKILL, &inputs, meta));
    let completed = loop {
        if let Poll::Ready(completed) = call.as_mut().poll(&mut cx) {
            break completed;
        }
        woken.recv_timeout(Duration::from_mins(1)).unwrap();
    };
    assert_eq!(completed.result().unwrap_err().code(), "timeout");
}

#[tokio::test]
async fn dropping_the_call_cancels_an_asynchronous_body() {
    let skill_set = skill_set(&[asynchronous::SKILL]);
    let mut events = SkillEvents::of_call("async-gone");
    let call = tokio::spawn(async move {
        call_on(&skill_set, asynchronous::SKILL, &json!({}), meta("async-gone")).await
    });
    let context = events.started().await;
    assert!(!context.is_cancelled());
    call.abort();
    events.dropped().await;
    context.cancelled().await;
}

#[tokio::test]
async fn dropping_the_call_cancels_a_synchronous_body() {
    let skill_set = skill_set(&[blocking::SKILL]);
    let mut events = SkillEvents::of_call("sync-gone");
    let call =
        tokio::spawn(
            async move { call_on(&skill_set, blocking::SKILL, &json!({}), meta("sync-gone")).await },
        );
    assert!(!events.started().await.is_cancelled());
    call.abort();
    events.ended().await;
}

#[tokio::test]
async fn cancellation_wakes_a_spawned_task() {
    let skill_set = skill_set(&[spawning::SKILL]);
    let mut events = SkillEvents::of_call("woken");
    let call =
        tokio::spawn(async move { call_on(&skill_set, spawning::SKILL, &json!({}), meta("woken")).await });
    let _context = events.started().await;
    // By now the task waits: it runs on the only thread, and this test has yielded to it.
    tokio::task::yield_now().await;
    assert!(events.has_no_event());
    call.abort();
    events.ended().await;
}

/// A synchronous call that got no thread before its timeout must not start afterwards.
#[test]
fn a_call_that_timed_out_in_the_queue_never_starts() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .max_blocking_threads(1)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let skill_set = skill_set(&[blocking::SKILL, quick::SKILL]);
        let (mut busy, mut waiting) = (SkillEvents::of_call("busy"), SkillEvents::of_call("waiting"));
        let first = tokio::spawn({
            let skill_set = skill_set.clone();
            async move { call_on(&skill_set, blocking::SKILL, &json!({}), meta("busy")).await }
        });
        busy.started().await;
        let mut short = meta("waiting");
        short.timeout = Some(Duration::from_millis(5));
        let completed = call_on(&skill_set, quick::SKILL, &json!({}), short).await;
        assert_eq!(completed.result().unwrap_err().code(), "timeout");
        first.abort();
        busy.ended().await;
        // The only thread runs work in order, so all earlier work has finished now.
        tokio::task::spawn_blocking(|| ()).await.unwrap();
        assert!(waiting.has_no_event());
    });
}

/// Checks its deadline.
#[skill(
    "deadline.checking",
    version = "1",
    side_effects = "none",
    risk = "low",
    timeout = 30
)]
fn checking(ctx: &SkillContext) -> Result<bool, SkillError> {
    ctx.check_deadline()?;
    Ok(ctx
        .remaining()
        .is_some_and(|left| left <= Duration::from_secs(30) && !left.is_zero()))
}

#[tokio::test]
async fn a_skill_sees_its_remaining_time() {
    let skill_set = skill_set(&[checking::SKILL]);
    let completed = call_on(&skill_set, checking::SKILL, &json!({}), meta("left")).await;
    assert_eq!(completed.result().unwrap(), br#"{"result":true}"#);
    let mut none = meta("none-left");
    none.timeout = Some(Duration::ZERO);
    let completed = call_on(&skill_set, checking::SKILL, &json!({}), none).await;
    let error = completed.result().unwrap_err();
    assert_eq!((error.code(), error.is_retryable()), ("timeout", true));
}
