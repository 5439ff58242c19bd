//! Running one call of a skill: the only way to do it, for every host and for tests.
//!
//! The order: the inputs are an object → schema check of the inputs → parse → run under the deadline → write →
//! schema check of the outputs → outputs and cost.

mod call;
#[cfg(feature = "testing")]
mod capture;
mod deadline;
mod examples;
mod host;
mod locate;
mod panics;
mod relax;
mod report;
mod runnable;
mod spanned;
mod violations;

use std::sync::Arc;

use tokio::task::AbortHandle;

use self::call::Inputs;
pub use self::call::{Call, Completed, Meta};
#[cfg(feature = "testing")]
pub(crate) use self::capture::Capture;
#[cfg(feature = "testing")]
pub use self::capture::{LogEvent, LogSpan};
#[cfg(feature = "http")]
pub(crate) use self::deadline::timed;
pub use self::examples::check_examples;
pub use self::host::{Host, HostError};
pub use self::panics::report_panics_of_skills;
pub use self::runnable::{Runnable, check_schema_compiles};
use crate::context::{Resources, SkillContext};
use crate::contract::schema::OutputShape;
use crate::error::SkillError;
use crate::handler::{Failure, Running, Written};

/// The code of inputs that break the contract.
pub const INPUT_CONTRACT_VIOLATION: &str = "input_contract_violation";

/// The code of outputs that break the contract.
pub const OUTPUT_CONTRACT_VIOLATION: &str = "output_contract_violation";

/// Runs one call. Dropping the future cancels the call.
pub(crate) async fn run(runnable: &Runnable, resources: &Arc<Resources>, call: Call) -> Completed {
    Opened::new(runnable, resources, call)
        .run(runnable, Place::Runtime)
        .await
}

/// Where a skill that blocks its thread runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// On a thread that the runtime has for it, and the deadline is kept here.
    Runtime,
    /// On the thread that polls. Whoever polls sees to the deadline, with [`timed_out`].
    Here,
}

/// A call whose context is known, so that others than its own thread can end it.
#[derive(Debug)]
pub(crate) struct Opened {
    inputs: Inputs,
    context: SkillContext,
}

impl Opened {
    fn new(runnable: &Runnable, resources: &Arc<Resources>, call: Call) -> Self {
        let Call { inputs, meta } = call;
        let context = runnable.context(resources, meta);
        Self { inputs, context }
    }

    /// The context of the call.
    pub(crate) fn context(&self) -> &SkillContext {
        &self.context
    }

    /// Runs the call. Dropping the future cancels it.
    pub(crate) async fn run(self, runnable: &Runnable, place: Place) -> Completed {
        let Self { inputs, context } = self;
        let span = report::span(&context);
        let work = async {
            let result = steps(runnable, &inputs, &context, place).await;
            report::finish(&context, result)
        };
        spanned::within(span, work).await
    }
}

/// The end of a call that is over its time, while its code may still run: tells the code, and gives the answer.
pub(crate) fn timed_out(context: &SkillContext) -> Completed {
    report::span(context).in_scope(|| {
        context.cancel();
        report::finish(context, Err(context.timeout()))
    })
}

async fn steps(
    runnable: &Runnable,
    inputs: &Inputs,
    context: &SkillContext,
    place: Place,
) -> Result<Written, SkillError> {
    let text = match inputs {
        Inputs::Unchecked(inputs) => runnable.check_inputs(inputs)?,
        #[cfg(feature = "http")]
        Inputs::Checked(inputs) => inputs,
    };
    let running = runnable.start(text, context)?;
    let guard = CancelOnDrop(context);
    let reply = match running {
        Running::Asynchronous(future) => {
            deadline::within(context, panics::caught_future(runnable.skill(), future)).await?
        }
        Running::Blocking(work) if place == Place::Here => {
            let reply = panics::caught(runnable.skill(), work);
            // Somebody ended the call meanwhile, so the result comes too late.
            context.check_deadline()?;
            reply
        }
        Running::Blocking(work) => {
            let span = tracing::Span::current();
            let skill = runnable.skill();
            // The span takes the log of a test along.
            let thread = tokio::task::spawn_blocking(move || span.in_scope(|| panics::caught(skill, work)));
            let _waiting = AbortOnDrop(thread.abort_handle());
            match deadline::within(context, thread).await? {
                Ok(reply) => reply,
                // The runtime is shutting down: the thread never ran.
                Err(_) => return Err(SkillError::retryable("overloaded", "the host is shutting down")),
            }
        }
    };
    drop(guard);
    let mut written = match reply? {
        Ok(written) => written,
        Err(Failure::Skill(error)) => return Err(error),
        Err(Failure::Unwritable(error)) => {
            let message = format!("the outputs cannot be written as JSON: {error}");
            return Err(violations::of_outputs(vec![violations::Violation::root(message)]));
        }
    };
    written.json = shape_outputs(runnable.output_shape(), written.json);
    runnable.check_outputs(&written.json)?;
    Ok(written)
}

/// Puts the JSON that a type wrote into the form of the contract.
fn shape_outputs(shape: OutputShape, json: Vec<u8>) -> Vec<u8> {
    match shape {
        OutputShape::Empty => b"{}".to_vec(),
        OutputShape::Wrapped => [b"{\"result\":", json.as_slice(), b"}"].concat(),
        OutputShape::Object => json,
    }
}

/// A synchronous call that nobody waits for any more does not begin; one that began goes on.
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
