//! Running one call of a skill: the only way to do it, for every host and for tests.
//!
//! The order: the inputs are an object → schema check of the inputs → parse → run under the deadline → write →
//! schema check of the outputs → outputs and cost.

mod abandoned;
mod call;
#[cfg(feature = "testing")]
mod capture;
mod deadline;
mod examples;
mod host;
mod locate;
mod pace;
mod panics;
mod relax;
mod report;
mod runnable;
mod runtime;
mod spanned;
mod violations;

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;

use tokio::task::AbortHandle;

pub(crate) use self::abandoned::Abandoned;
use self::call::Inputs;
pub use self::call::{Call, CallOutcome, Meta};
#[cfg(feature = "testing")]
pub(crate) use self::capture::Capture;
#[cfg(feature = "testing")]
pub use self::capture::{LogEvent, LogSpan};
#[cfg(feature = "http")]
pub(crate) use self::deadline::timed;
pub use self::examples::check_examples;
pub use self::host::{SkillSet, SkillSetError};
pub use self::panics::install_panic_hook;
pub use self::runnable::{Runnable, check_schema_compiles};
pub(crate) use self::runtime::runtime;
use crate::context::{SkillContext, States};
use crate::contract::schema::OutputShape;
use crate::error::SkillError;
use crate::handler::{Failure, Reply, Running, Written};

/// The code of inputs that break the contract.
pub const INPUT_CONTRACT_VIOLATION: &str = "input_contract_violation";

/// The code of outputs that break the contract.
pub const OUTPUT_CONTRACT_VIOLATION: &str = "output_contract_violation";

/// Runs one call. Dropping the future cancels the call.
pub(crate) async fn run(runnable: &Runnable, states: &Arc<States>, call: Call) -> CallOutcome {
    Opened::new(runnable, states, call)
        .run(runnable, Place::Runtime(None))
        .await
}

/// Where a skill runs that keeps its thread.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Place<'a> {
    /// On a thread that the runtime has for it, and the deadline is kept here. When the thread goes on after the call it is
    /// counted.
    Runtime(Option<&'a Abandoned>),
    /// On the thread that polls. Whoever polls sees to the deadline.
    #[expect(dead_code, reason = "goes with the rewrite of the pipeline")]
    Here,
}

/// A call whose context is known, so that others than its own thread can end it.
#[derive(Debug)]
pub(crate) struct Opened {
    inputs: Inputs,
    context: SkillContext,
}

impl Opened {
    fn new(runnable: &Runnable, states: &Arc<States>, call: Call) -> Self {
        let Call { inputs, meta } = call;
        let context = runnable.context(states, meta);
        Self { inputs, context }
    }

    /// Runs the call. Dropping the future cancels it.
    pub(crate) async fn run(self, runnable: &Runnable, place: Place<'_>) -> CallOutcome {
        let Self { inputs, context } = self;
        let span = report::span(&context);
        let work = pin!(Some(async {
            let result = steps(runnable, inputs, &context, place).await;
            report::finish(&context, result)
        }));
        spanned::within(&span, work).await
    }
}

async fn steps(
    runnable: &Runnable,
    inputs: Inputs,
    context: &SkillContext,
    place: Place<'_>,
) -> Result<Written, SkillError> {
    let text = runnable.check_inputs(&inputs.0)?;
    let running = runnable.start(text, context)?;
    // The skill has its own; a call that waits for long keeps no other.
    drop(inputs);
    let guard = CancelOnDrop(context);
    let reply: Result<Reply, SkillError> = match (running, place) {
        (Running::Asynchronous(future), place) => {
            let call = panics::caught_future(runnable.skill(), future);
            let seen = runnable.pace();
            match (seen.apart(), place) {
                (Some(runtime), Place::Runtime(abandoned @ Some(_))) => {
                    let call = pace::watched(Arc::clone(seen), call);
                    let of_call = context.clone();
                    let work = move || runtime.block_on(unless_cancelled(&of_call, told(&of_call, call)));
                    Box::pin(on_a_thread(context, work, abandoned)).await?
                }
                _ => deadline::within(context, pace::watched(&**seen, call)).await?,
            }
        }
        (Running::Blocking(work), Place::Here) => panics::caught(runnable.skill(), work),
        (Running::Blocking(work), Place::Runtime(abandoned)) => {
            let skill = runnable.skill();
            Box::pin(on_a_thread(
                context,
                move || panics::caught(skill, work),
                abandoned,
            ))
            .await?
        }
    };
    // What did not yield, or whose end nobody could look at, may come too late, or after somebody ended the call.
    context.check_deadline()?;
    drop(guard);
    let mut written = match reply? {
        Ok(written) => written,
        Err(Failure::Skill(error)) => return Err(error),
        Err(Failure::Unwritable(error)) => {
            let message = format!("the outputs cannot be written as JSON: {error}");
            return Err(violations::OUTPUTS.violation("/".to_owned(), message));
        }
    };
    written.json = shape_outputs(runnable.output_shape(), written.json);
    runnable.check_outputs(&written.json)?;
    Ok(written)
}

/// Awaits the code of a skill, which is dropped once nobody waits for it.
async fn unless_cancelled<T>(
    context: &SkillContext,
    call: impl Future<Output = Result<T, SkillError>>,
) -> Result<T, SkillError> {
    tokio::select! {
        biased;
        () = context.cancelled() => Err(context.timeout()),
        reply = call => reply,
    }
}

/// The call, which tells who answers its questions about each of its polls.
async fn told<F: Future + Unpin>(context: &SkillContext, mut call: F) -> F::Output {
    poll_fn(|cx| {
        context.polling(true);
        let polled = Pin::new(&mut call).poll(cx);
        // A result counts more than the questions that were put before it.
        if polled.is_pending() {
            context.polling(false);
        }
        polled
    })
    .await
}

/// Runs what keeps its thread on one that the runtime has for it, and waits for it until the time of the call is up.
///
/// What waits for it belongs into a box: calls that stay where they are need no room for it.
async fn on_a_thread(
    context: &SkillContext,
    work: impl FnOnce() -> Result<Reply, SkillError> + Send + 'static,
    abandoned: Option<&Abandoned>,
) -> Result<Result<Reply, SkillError>, SkillError> {
    let (_of_call, of_thread) = abandoned.map(Abandoned::watch).unzip();
    let span = tracing::Span::current();
    let work = move || {
        let _of_thread = of_thread;
        span.in_scope(work)
    };
    // The span takes the log of a test along.
    let thread = tokio::task::spawn_blocking(work);
    let _waiting = AbortOnDrop(thread.abort_handle());
    // The runtime is shutting down: the thread never ran.
    let never_ran = |_| SkillError::retryable("overloaded", "the host is shutting down");
    deadline::within(context, thread).await?.map_err(never_ran)
}

/// Puts the JSON that a type wrote into the form of the contract.
fn shape_outputs(shape: OutputShape, json: Vec<u8>) -> Vec<u8> {
    match shape {
        OutputShape::Empty => b"{}".to_vec(),
        OutputShape::Wrapped => [b"{\"result\":", json.as_slice(), b"}"].concat(),
        OutputShape::Object => json,
    }
}

/// What has a thread of its own does not begin once nobody waits for it; what began goes on.
struct AbortOnDrop(AbortHandle);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Tells the skill, and all it started, that nobody waits for it any more.
struct CancelOnDrop<'a>(&'a SkillContext);

impl Drop for CancelOnDrop<'_> {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

#[cfg(test)]
mod tests;
