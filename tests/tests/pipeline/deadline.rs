//! The time of a call, and callers that go away.

use std::future::pending;
use std::pin::pin;
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use serde_json::json;
use skill_sdk::{SkillContext, SkillError, skill};
use skill_sdk_tests::signs::{self, Body, Sign, Signs};
use tokio::time::Instant;

use super::{call_on, host, meta};

/// Never ends.
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

/// Ends when it is told to, and then has a result that nobody wants.
#[skill("deadline.blocking", version = "1", side_effects = "none", risk = "low")]
fn blocking(ctx: &SkillContext) -> &'static str {
    signs::give(ctx, Sign::Started(ctx.clone()));
    signs::block_until_cancelled(ctx);
    signs::give(ctx, Sign::Ended);
    "too late"
}

/// Hands its work to a task of its own.
#[skill("deadline.spawning", version = "1", side_effects = "none", risk = "low")]
async fn spawning(ctx: SkillContext) {
    let work = ctx.clone();
    tokio::spawn(async move {
        signs::give(&work, Sign::Started(work.clone()));
        work.cancelled().await;
        signs::give(&work, Sign::Ended);
    });
    pending::<()>().await;
}

/// Ends at once.
#[skill("deadline.quick", version = "1", side_effects = "none", risk = "low")]
fn quick(ctx: &SkillContext) -> Option<u64> {
    signs::give(ctx, Sign::Ended);
    ctx.remaining().map(|left| left.as_secs())
}

#[tokio::test(start_paused = true)]
async fn the_timeout_of_the_contract_ends_an_asynchronous_body() {
    let host = host(&[asynchronous::SKILL]);
    let mut signs = Signs::of_call("async-timeout");
    let begin = Instant::now();
    let completed = call_on(&host, asynchronous::SKILL, &json!({}), meta("async-timeout")).await;
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
    let context = signs.started().await;
    // Its body is gone, and whoever still holds the context knows.
    assert!(matches!(signs.next().await, Sign::Dropped));
    assert!(context.is_cancelled());
}

/// Computes beyond its time, and yields to nobody.
#[skill("deadline.spinning", version = "1", side_effects = "none", risk = "low")]
async fn spinning(ctx: &SkillContext) -> &'static str {
    while ctx.remaining() != Some(Duration::ZERO) {
        std::hint::spin_loop();
    }
    "too late"
}

#[tokio::test]
async fn the_result_of_a_body_that_did_not_yield_in_time_is_thrown_away() {
    let host = host(&[spinning::SKILL]);
    let mut meta = meta("spinning");
    meta.timeout = Some(Duration::from_millis(20));
    let completed = call_on(&host, spinning::SKILL, &json!({}), meta).await;
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
async fn a_host_may_set_another_timeout() {
    let host = host(&[asynchronous::SKILL, quick::SKILL]);
    let mut meta = meta("own-timeout");
    meta.timeout = Some(Duration::from_secs(100));
    let begin = Instant::now();
    let completed = call_on(&host, asynchronous::SKILL, &json!({}), meta.clone()).await;
    assert_eq!(completed.result().unwrap_err().code(), "timeout");
    assert!(
        (99..101).contains(&begin.elapsed().as_secs()),
        "{:?}",
        begin.elapsed()
    );
    let completed = call_on(&host, quick::SKILL, &json!({}), meta.clone()).await;
    // The clock of deadlines is that of the runtime, which stands still here.
    assert_eq!(completed.result().unwrap(), br#"{"result":100}"#);
    // Longer than any clock: no limit, and no crash.
    meta.timeout = Some(Duration::MAX);
    let completed = call_on(&host, quick::SKILL, &json!({}), meta).await;
    assert_eq!(completed.result().unwrap(), br#"{"result":null}"#);
}

#[tokio::test]
async fn a_synchronous_body_is_told_and_its_late_result_is_thrown_away() {
    let host = host(&[blocking::SKILL, quick::SKILL]);
    let mut signs = Signs::of_call("sync-timeout");
    let mut short = meta("sync-timeout");
    short.timeout = Some(Duration::from_millis(20));
    let completed = call_on(&host, blocking::SKILL, &json!({}), short).await;
    let error = completed.result().unwrap_err();
    assert_eq!((error.code(), error.is_retryable()), ("timeout", true));
    assert!(signs.started().await.is_cancelled());
    signs.ended().await;
    // Nothing comes of it: the host goes on with other calls.
    assert!(
        call_on(&host, quick::SKILL, &json!({}), meta("after"))
            .await
            .result()
            .is_ok()
    );
}

/// Blocks beyond its time.
#[skill("deadline.late", version = "1", side_effects = "none", risk = "low")]
fn late(ctx: &SkillContext) -> &'static str {
    while ctx.remaining() != Some(Duration::ZERO) {
        std::hint::spin_loop();
    }
    "too late"
}

#[test]
fn the_late_result_of_a_thread_is_thrown_away_when_nobody_looked_at_the_clock() {
    struct Woken(mpsc::Sender<()>);
    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.send(()).unwrap();
        }
    }
    let (sender, woken) = mpsc::channel();
    let waker = Waker::from(Arc::new(Woken(sender)));
    let mut cx = Context::from_waker(&waker);
    // Nobody runs its clock, so nothing but the end of the thread wakes the call.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.unwrap();
    let _entered = runtime.enter();
    let host = host(&[late::SKILL]);
    let mut meta = meta("late");
    meta.timeout = Some(Duration::from_millis(20));
    let inputs = json!({});
    let mut call = pin!(call_on(&host, late::SKILL, &inputs, meta));
    let completed = loop {
        if let Poll::Ready(completed) = call.as_mut().poll(&mut cx) {
            break completed;
        }
        woken.recv_timeout(Duration::from_mins(1)).unwrap();
    };
    assert_eq!(completed.result().unwrap_err().code(), "timeout");
}

#[tokio::test]
async fn a_caller_that_goes_away_cancels_an_asynchronous_call() {
    let host = host(&[asynchronous::SKILL]);
    let mut signs = Signs::of_call("async-gone");
    let call =
        tokio::spawn(
            async move { call_on(&host, asynchronous::SKILL, &json!({}), meta("async-gone")).await },
        );
    let context = signs.started().await;
    assert!(!context.is_cancelled());
    call.abort();
    signs.dropped().await;
    context.cancelled().await;
}

#[tokio::test]
async fn a_caller_that_goes_away_cancels_a_synchronous_call() {
    let host = host(&[blocking::SKILL]);
    let mut signs = Signs::of_call("sync-gone");
    let call =
        tokio::spawn(async move { call_on(&host, blocking::SKILL, &json!({}), meta("sync-gone")).await });
    assert!(!signs.started().await.is_cancelled());
    call.abort();
    signs.ended().await;
}

#[tokio::test]
async fn work_in_another_task_is_woken() {
    let host = host(&[spawning::SKILL]);
    let mut signs = Signs::of_call("woken");
    let call = tokio::spawn(async move { call_on(&host, spawning::SKILL, &json!({}), meta("woken")).await });
    let _context = signs.started().await;
    // The task waits by now: there is one thread, and it gave way.
    tokio::task::yield_now().await;
    assert!(signs.is_quiet());
    call.abort();
    signs.ended().await;
}

/// A synchronous call that had no thread in time must not have an effect after its caller was told of the timeout.
#[test]
fn a_call_that_timed_out_before_it_began_never_begins() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .max_blocking_threads(1)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let host = host(&[blocking::SKILL, quick::SKILL]);
        let (mut busy, mut waiting) = (Signs::of_call("busy"), Signs::of_call("waiting"));
        let first = tokio::spawn({
            let host = host.clone();
            async move { call_on(&host, blocking::SKILL, &json!({}), meta("busy")).await }
        });
        busy.started().await;
        let mut short = meta("waiting");
        short.timeout = Some(Duration::from_millis(5));
        let completed = call_on(&host, quick::SKILL, &json!({}), short).await;
        assert_eq!(completed.result().unwrap_err().code(), "timeout");
        first.abort();
        busy.ended().await;
        // The only thread takes work in order: what came before this is done.
        tokio::task::spawn_blocking(|| ()).await.unwrap();
        assert!(waiting.is_quiet());
    });
}

/// Looks at its clock.
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
async fn a_skill_knows_what_time_is_left() {
    let host = host(&[checking::SKILL]);
    let completed = call_on(&host, checking::SKILL, &json!({}), meta("left")).await;
    assert_eq!(completed.result().unwrap(), br#"{"result":true}"#);
    let mut none = meta("none-left");
    none.timeout = Some(Duration::ZERO);
    let completed = call_on(&host, checking::SKILL, &json!({}), none).await;
    let error = completed.result().unwrap_err();
    assert_eq!((error.code(), error.is_retryable()), ("timeout", true));
}
