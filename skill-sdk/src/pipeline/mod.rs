//! Runs one call of a skill. Every server, `invoke` and the test kit come through here.
//!
//! The order, all of it under the deadline: validate the inputs → deserialize → run → serialize → validate the outputs.
//!
//! ```
//! use skill_sdk::pipeline::{Call, Meta, SkillSet};
//! use skill_sdk::{Registry, skill};
//!
//! /// Double a number.
//! #[skill("number.double", version = "1", side_effects = "none", risk = "low")]
//! fn double(number: i32) -> i32 {
//!     number * 2
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // `SkillSet::collect()` takes all skills of the program.
//! let skills = SkillSet::new(&Registry::from_skills([double::SKILL])?)?;
//! let skill = skills.get("number.double@1").ok_or("no such skill")?;
//! let call = Call::json(r#"{"number": 2}"#, Meta::new("queue"));
//! let outcome = tokio::runtime::Runtime::new()?.block_on(skills.call(skill, call));
//! assert_eq!(outcome.result().unwrap(), br#"{"result":4}"#);
//! # Ok(())
//! # }
//! ```
//!
//! Guide: `docs/guides/embedding.md`.

mod call;
mod deadline;
mod host;
mod locate;
mod members;
mod not_hosted;
mod panics;
mod relax;
mod report;
mod runnable;
mod slow_poll;
mod violations;

use std::any::Any;
use std::sync::Arc;

use tokio::task::AbortHandle;
use tracing::Instrument;

use self::call::Inputs;
pub use self::call::{Call, CallOutcome};
pub use self::host::{SkillSet, SkillSetError};
pub(crate) use self::members::Members;
#[cfg(feature = "mcp")]
pub(crate) use self::not_hosted::not_hosted;
pub use self::panics::install_panic_hook;
pub use self::runnable::Runnable;
use self::slow_poll::Timed;
use self::violations::{INPUTS, OUTPUTS, Side};
#[doc(no_inline)]
pub use crate::context::Meta;
use crate::context::{SkillContext, States};
use crate::contract::schema::OutputShape;
use crate::error::SkillError;
use crate::handler::{Failure, Reply, Running, Written};
use crate::validation::Schema;

/// The longest text that is validated on the thread that serves, in bytes.
const MAX_VALIDATED_HERE: usize = 64 * 1024;

/// The code of inputs that break the contract.
pub(crate) const INPUT_CONTRACT_VIOLATION: &str = "input_contract_violation";

/// The code of outputs that break the contract.
pub(crate) const OUTPUT_CONTRACT_VIOLATION: &str = "output_contract_violation";

/// The concurrency slot of a call. The thread of a blocking skill holds it until it ends, also after the call has ended.
pub(crate) type Slot = Arc<dyn Any + Send + Sync>;

/// Runs one call. Dropping the future cancels the call.
pub(crate) async fn run(
    runnable: &Runnable,
    states: &Arc<States>,
    call: Call,
    slot: Option<Slot>,
) -> CallOutcome {
    let Call { inputs, meta } = call;
    let context = runnable.context(states, meta);
    let span = report::span(&context);
    async {
        let result = in_time(runnable, inputs, &context, slot).await;
        report::finish(&context, result)
    }
    .instrument(span)
    .await
}

/// Takes all steps of a call under its deadline.
async fn in_time(
    runnable: &Runnable,
    inputs: Inputs,
    context: &SkillContext,
    slot: Option<Slot>,
) -> Result<Written, SkillError> {
    let guard = CancelOnDrop(context);
    let result = deadline::within(context, steps(runnable, inputs, context, slot)).await?;
    // A future that did not yield may end after the deadline, or after the call was cancelled.
    context.check_deadline()?;
    drop(guard);
    result
}

async fn steps(
    runnable: &Runnable,
    inputs: Inputs,
    context: &SkillContext,
    slot: Option<Slot>,
) -> Result<Written, SkillError> {
    let text = validated(runnable.inputs(), INPUTS, inputs.0).await?;
    let running = runnable.start(&text, context)?;
    // The skill has its own copy of the inputs; a long call must not keep two.
    drop(text);
    let skill = runnable.skill();
    let reply: Result<Reply, SkillError> = match running {
        Running::Asynchronous(future) => {
            let future = panics::caught_future(skill, future);
            Timed { runnable, future }.await
        }
        Running::Blocking(work) => Box::pin(on_a_thread(move || panics::caught(skill, work), slot)).await?,
    };
    let mut written = match reply? {
        Ok(written) => written,
        Err(Failure::Skill(error)) => return Err(error),
        Err(Failure::Unwritable(error)) => {
            let message = format!("the outputs cannot be written as JSON: {error}");
            return Err(OUTPUTS.violation("/".to_owned(), message));
        }
    };
    let json = shape_outputs(runnable.output_shape(), written.json);
    written.json = validated(runnable.outputs(), OUTPUTS, json).await?.into_bytes();
    Ok(written)
}

/// Validates a JSON text, a long one on a thread for blocking work, so that no other call waits for it.
async fn validated(schema: &Arc<Schema>, side: Side, json: Vec<u8>) -> Result<String, SkillError> {
    let text = side.text(json)?;
    if text.len() <= MAX_VALIDATED_HERE {
        schema.validate(&text).map_err(|invalid| side.invalid(invalid))?;
        return Ok(text);
    }
    let schema = Arc::clone(schema);
    let work = move || {
        let verdict = schema.validate(&text);
        (text, verdict)
    };
    let (text, verdict) = Box::pin(on_a_thread(work, None)).await?;
    verdict.map_err(|invalid| side.invalid(invalid))?;
    Ok(text)
}

/// Runs blocking work on a thread of the runtime for blocking work.
///
/// Callers box this future, so that calls which do not use it stay small.
async fn on_a_thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
    slot: Option<Slot>,
) -> Result<T, SkillError> {
    let span = tracing::Span::current();
    let work = move || {
        let _slot = slot;
        // The span also routes log events to the capture of a test.
        span.in_scope(work)
    };
    let thread = tokio::task::spawn_blocking(work);
    let _waiting = AbortOnDrop(thread.abort_handle());
    // The runtime is shutting down: the thread never ran.
    let never_ran = |_| SkillError::retryable("overloaded", "the server is shutting down");
    thread.await.map_err(never_ran)
}

/// Wraps the JSON of a type as the contract says.
fn shape_outputs(shape: OutputShape, json: Vec<u8>) -> Vec<u8> {
    match shape {
        OutputShape::Empty => b"{}".to_vec(),
        OutputShape::Wrapped => [b"{\"result\":", json.as_slice(), b"}"].concat(),
        OutputShape::Object => json,
    }
}

/// Cancels blocking work that has not begun when the call is dropped. Work that has begun continues.
struct AbortOnDrop(AbortHandle);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Cancels the context of the call when the caller stops waiting.
struct CancelOnDrop<'a>(&'a SkillContext);

impl Drop for CancelOnDrop<'_> {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

#[cfg(test)]
mod tests;
