//! Running the function of a state: off the runtime when it may block, and without letting a panic out.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use super::{Build, Shared};
use crate::error::{SkillError, panic_text};

/// How long building may take. Calls that need the value end by their own time; this is for a build that hangs, which would
/// keep the value from all calls for ever.
#[cfg(feature = "runtime")]
const LONGEST: std::time::Duration = std::time::Duration::from_mins(10);

/// Runs work that may block where it stalls nobody. Its events belong to the call that needs the value.
#[cfg(feature = "runtime")]
pub(super) async fn off_the_runtime<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, SkillError> + Send + 'static,
) -> Result<T, SkillError> {
    let span = tracing::Span::current();
    match tokio::task::spawn_blocking(move || span.in_scope(work)).await {
        Ok(result) => result,
        Err(failed) => Err(SkillError::unclassified("panic", Some(Box::new(failed)))),
    }
}

/// Without a runtime nothing is hosted, so there is nobody to stall.
#[cfg(not(feature = "runtime"))]
pub(super) async fn off_the_runtime<T>(
    work: impl FnOnce() -> Result<T, SkillError>,
) -> Result<T, SkillError> {
    work()
}

/// Begins work that goes on whoever goes away. Its events belong to the call that began it.
#[cfg(feature = "runtime")]
pub(super) async fn in_its_own_task(work: impl Future<Output = ()> + Send + 'static) {
    match tokio::runtime::Handle::try_current() {
        Ok(runtime) => drop(runtime.spawn(tracing::Instrument::in_current_span(work))),
        // A context that is used on a thread of another runtime.
        Err(_) => work.await,
    }
}

/// Without a runtime there are no tasks: the work ends with its caller.
#[cfg(not(feature = "runtime"))]
pub(super) async fn in_its_own_task(work: impl Future<Output = ()>) {
    work.await;
}

/// Gives a build up that takes too long, by the clock of the runtime.
#[cfg(feature = "runtime")]
pub(super) async fn in_time(build: Caught) -> Result<Shared, SkillError> {
    if tokio::runtime::Handle::try_current().is_err() {
        // There is no clock; it is built within a call, and ends with that.
        return build.await;
    }
    tokio::time::timeout(LONGEST, build).await.unwrap_or_else(|_| {
        let message = format!("it took longer than {} minutes", LONGEST.as_secs() / 60);
        Err(SkillError::retryable("timeout", message))
    })
}

/// Without a runtime there is no clock either.
#[cfg(not(feature = "runtime"))]
pub(super) async fn in_time(build: Caught) -> Result<Shared, SkillError> {
    build.await
}

/// Building in which a panic is a failure like others: the next call tries again.
pub(super) struct Caught(pub(super) Build);

impl Future for Caught {
    type Output = Result<Shared, SkillError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let build = &mut self.0;
        // Nothing of a build that panicked is used again.
        catch_unwind(AssertUnwindSafe(|| build.as_mut().poll(cx))).unwrap_or_else(|payload| {
            let text = format!("it panicked: {}", panic_text(payload.as_ref()));
            Poll::Ready(Err(SkillError::unclassified("panic", Some(text.into()))))
        })
    }
}
