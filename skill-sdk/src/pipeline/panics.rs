//! A panic of a skill ends its call and nothing else.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::future::Future;
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::pin::Pin;
use std::sync::Once;
use std::task::{Context, Poll};

use crate::error::{SkillError, panic_text};
use crate::registry::Skill;

thread_local! {
    /// Whether this thread is running code of a skill.
    static IN_SKILL: Cell<bool> = const { Cell::new(false) };
    /// The text and location of the last panic.
    static SEEN: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Logs panics of skills with their location, instead of printing them to standard error.
///
/// Servers call it once at start. Panics outside of skills are handled by the hook that was set before.
pub fn install_panic_hook() {
    static INSTALL: Once = Once::new();
    INSTALL.call_once(|| {
        if cfg!(panic = "abort") {
            tracing::warn!("built with panic = \"abort\": a skill that panics ends the whole program");
        }
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            // A program that aborts on panic cannot catch it: this is the last chance to log it.
            if IN_SKILL.get() && !cfg!(panic = "abort") {
                SEEN.set(Some(describe(info)));
            } else {
                before(info);
            }
        }));
    });
}

fn describe(info: &PanicHookInfo<'_>) -> String {
    let text = panic_text(info.payload());
    match info.location() {
        Some(place) => format!("{text} ({place})"),
        None => text.to_owned(),
    }
}

/// Runs the code of a skill; a panic becomes a failure.
pub(super) fn caught<T>(skill: &Skill, work: impl FnOnce() -> T) -> Result<T, SkillError> {
    // A call may run within a call, in the author's tests.
    let outer = IN_SKILL.replace(true);
    // A panic that the author's code caught is not reported.
    SEEN.set(None);
    // Unwinding drops what the skill owned; shared values are the responsibility of the author.
    let result = panic::catch_unwind(AssertUnwindSafe(work));
    IN_SKILL.set(outer);
    result.map_err(|payload| {
        let seen = SEEN
            .take()
            .unwrap_or_else(|| panic_text(payload.as_ref()).to_owned());
        tracing::error!(skill = skill.reference(), panic = seen, "the skill panicked");
        dismiss(payload);
        SkillError::crash("the implementation of the skill panicked")
    })
}

/// Drops the panic payload. The `Drop` of an author's type may panic in turn, so other payloads than strings are leaked.
fn dismiss(payload: Box<dyn Any + Send>) {
    if !payload.is::<&str>() && !payload.is::<String>() {
        std::mem::forget(payload);
    }
}

/// A future of a skill; a panic becomes a failure, also while it is dropped.
pub(super) fn caught_future<F: Future + Unpin>(skill: &Skill, future: F) -> CaughtFuture<'_, F> {
    CaughtFuture {
        skill,
        future: Some(future),
    }
}

/// See [`caught_future`].
pub(super) struct CaughtFuture<'a, F> {
    skill: &'a Skill,
    /// `None` once it ended.
    future: Option<F>,
}

impl<F: Future + Unpin> Future for CaughtFuture<'_, F> {
    type Output = Result<F::Output, SkillError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let skill = self.skill;
        let Some(future) = self.future.as_mut() else {
            return Poll::Pending;
        };
        match caught(skill, || Pin::new(future).poll(cx)) {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(output)) => {
                self.future = None;
                Poll::Ready(Ok(output))
            }
            Err(error) => {
                self.give_up();
                Poll::Ready(Err(error))
            }
        }
    }
}

impl<F> CaughtFuture<'_, F> {
    /// Drops the rest of the future, which may panic.
    fn give_up(&mut self) {
        if let Some(rest) = self.future.take() {
            // The panic was logged, and no caller waits for a result.
            let _ = caught(self.skill, move || drop(rest));
        }
    }
}

impl<F> Drop for CaughtFuture<'_, F> {
    fn drop(&mut self) {
        self.give_up();
    }
}
