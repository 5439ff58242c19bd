//! A function behind a skill, first with its types, then without.
//!
//! Every generic function here is compiled once more for every skill, and those that have to do with the future of the
//! author's function again whenever its body changes. So the expansion boxes the future itself, in the author's module,
//! and only what depends on no more than the input or the output type is generic: parse, write, and `start`.

use std::future::Future;

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{Failure, Reply, Running, SkillInput, SkillOutput, Written};
use crate::context::SkillContext;
use crate::contract::schema::{OutputShape, Outputs, TypeSchema};
use crate::error::SkillError;

/// A skill's function and where the schemas come from.
pub struct Handler<C: ?Sized = dyn Call> {
    inputs_schema: Option<TypeSchema>,
    outputs_schema: Option<TypeSchema>,
    attaches: bool,
    call: C,
}

/// A function of whatever types.
pub trait Call: Send + Sync + 'static {
    /// Parses the inputs and prepares the call. Nothing of the author's code runs but `Deserialize`.
    fn start(&self, inputs: &str, context: SkillContext) -> Result<Running, serde_json::Error>;
}

/// Writes what a function gave.
pub type Write<O> = fn(Result<O, SkillError>) -> Reply;

/// A function that takes `I` and gives `O`.
pub struct Typed<I, O> {
    parse: fn(&str) -> Result<I, serde_json::Error>,
    call: fn(I, SkillContext, Write<O>) -> Running,
    write: Write<O>,
}

/// The handler of a skill. `SI` and `SO` say where the schemas come from.
pub const fn handler<I, O, SI, SO>(call: fn(I, SkillContext, Write<O>) -> Running) -> Handler<Typed<I, O>>
where
    I: SkillInput<SI>,
    O: SkillOutput<SO>,
{
    Handler {
        inputs_schema: I::SCHEMA,
        outputs_schema: O::SCHEMA,
        attaches: O::ATTACHES,
        call: Typed {
            parse: parse::<I>,
            call,
            write: write::<O, SO>,
        },
    }
}

/// What `serde_json::from_str` does, in one function where that has three.
fn parse<I: DeserializeOwned>(inputs: &str) -> Result<I, serde_json::Error> {
    let mut json = serde_json::Deserializer::from_str(inputs);
    match I::deserialize(&mut json) {
        Ok(inputs) => match json.end() {
            Ok(()) => Ok(inputs),
            Err(error) => Err(error),
        },
        Err(error) => Err(error),
    }
}

/// What `serde_json::to_vec` does, likewise.
fn write<O: SkillOutput<SO>, SO>(returned: Result<O, SkillError>) -> Reply {
    match returned {
        Ok(outputs) => {
            let mut json = Vec::with_capacity(128);
            match outputs.write(&mut json) {
                Ok(()) => Ok(Written {
                    json,
                    attachments: outputs.into_attachments(),
                }),
                Err(error) => Err(Failure::Unwritable(error)),
            }
        }
        Err(error) => Err(Failure::Skill(error)),
    }
}

impl<I: 'static, O: 'static> Call for Typed<I, O> {
    fn start(&self, inputs: &str, context: SkillContext) -> Result<Running, serde_json::Error> {
        match (self.parse)(inputs) {
            Ok(inputs) => Ok((self.call)(inputs, context, self.write)),
            Err(error) => Err(error),
        }
    }
}

impl Handler {
    /// Parses the inputs and prepares the call. Nothing of the author's code runs but `Deserialize`.
    ///
    /// # Errors
    ///
    /// The inputs cannot be deserialized.
    pub fn start(&self, inputs: &str, context: SkillContext) -> Result<Running, serde_json::Error> {
        self.call.start(inputs, context)
    }

    /// The schema of the inputs, by their type.
    pub(crate) fn inputs_schema(&self) -> Result<Value, String> {
        let schema = self.inputs_schema.ok_or("the inputs have no schema")?;
        schema.inputs().map_err(|problem| problem.to_string())
    }

    /// The schema of the outputs, by their type, and how they are put into an object.
    pub(crate) fn outputs_schema(&self) -> Result<(Value, OutputShape), String> {
        let schema = self.outputs_schema.ok_or("the outputs have no schema")?;
        let Outputs { schema, shape, .. } = schema.outputs().map_err(|problem| problem.to_string())?;
        Ok((schema, shape))
    }

    /// Whether there may be attachments beside the outputs.
    pub fn attaches(&self) -> bool {
        self.attaches
    }
}

/// A call to be awaited.
pub fn asynchronous(call: Box<dyn Future<Output = Reply> + Send>) -> Running {
    Running::Asynchronous(Box::into_pin(call))
}

/// A call that may block its thread.
pub fn blocking(call: Box<dyn FnOnce() -> Reply + Send>) -> Running {
    Running::Blocking(call)
}

/// Is there for its bound alone: the compiler names the function whose future cannot move between threads. A struct, since
/// a function would be compiled for every future, all of them again whenever one changes.
pub struct SendFuture<F: Future + Send>(pub F);
