//! The two kinds of functions, erased.

use std::fmt;
use std::future::Future;

use serde_json::Value;

use super::{Failure, Handler, Reply, Running, SkillInput, SkillOutput};
use crate::context::SkillContext;
use crate::contract::schema::{Outputs, SchemaProblem};
use crate::error::SkillError;

/// A function and what the engine must know of its types.
pub struct Function<F> {
    call: F,
    start: fn(&F, &[u8], SkillContext) -> Result<Running, serde_json::Error>,
    inputs_schema: fn() -> Option<Result<Value, SchemaProblem>>,
    outputs_schema: fn() -> Option<Result<Outputs, SchemaProblem>>,
}

/// An asynchronous skill. `SI` and `SO` say where the schemas come from.
pub const fn asynchronous<I, O, SI, SO, F, Fut>(function: F) -> Function<F>
where
    I: SkillInput<SI>,
    O: SkillOutput<SO>,
    F: Fn(I, SkillContext) -> Fut,
    Fut: Future<Output = Result<O, SkillError>> + Send + 'static,
{
    Function {
        call: function,
        start: |function, inputs, context| {
            let call = function(serde_json::from_slice(inputs)?, context);
            Ok(Running::Asynchronous(Box::pin(async move { write(call.await) })))
        },
        inputs_schema: I::schema,
        outputs_schema: O::schema,
    }
}

/// A skill that may block its thread. `SI` and `SO` say where the schemas come from.
pub const fn blocking<I, O, SI, SO, F>(function: F) -> Function<F>
where
    I: SkillInput<SI>,
    O: SkillOutput<SO>,
    F: Fn(I, SkillContext) -> Result<O, SkillError> + Copy + Send + 'static,
{
    Function {
        call: function,
        start: |function, inputs, context| {
            let inputs: I = serde_json::from_slice(inputs)?;
            let function = *function;
            Ok(Running::Blocking(Box::new(move || {
                write(function(inputs, context))
            })))
        },
        inputs_schema: I::schema,
        outputs_schema: O::schema,
    }
}

fn write<O: serde::Serialize>(returned: Result<O, SkillError>) -> Reply {
    match returned {
        Ok(outputs) => serde_json::to_vec(&outputs).map_err(Failure::Unwritable),
        Err(error) => Err(Failure::Skill(error)),
    }
}

/// Is there for its bound alone: the compiler names the function whose future cannot move between threads.
pub const fn assert_send<F: Future + Send>(future: F) -> F {
    future
}

impl<F: Send + Sync + 'static> Handler for Function<F> {
    fn start(&self, inputs: &[u8], context: SkillContext) -> Result<Running, serde_json::Error> {
        (self.start)(&self.call, inputs, context)
    }

    fn inputs_schema(&self) -> Option<Result<Value, SchemaProblem>> {
        (self.inputs_schema)()
    }

    fn outputs_schema(&self) -> Option<Result<Outputs, SchemaProblem>> {
        (self.outputs_schema)()
    }
}

impl<F> fmt::Debug for Function<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Function").finish_non_exhaustive()
    }
}
