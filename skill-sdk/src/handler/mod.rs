//! From a Rust function to something that takes JSON and gives JSON.
//!
//! Generic code here is kept thin, since each skill pays for it in compile time: parse, call, write. Everything else
//! works on the erased [`Handler`].

#![allow(
    missing_debug_implementations,
    reason = "types that only the macros name hold functions, and are not printed"
)]

mod attachment;
mod base64;
mod field;
mod function;
mod input;
mod output;
mod returns;

use std::future::Future;
use std::pin::Pin;

pub use self::attachment::{Attached, Attachment};
pub use self::field::{FieldBounds, SkillField, SkillValue, ValueBounds};
pub use self::function::{Handler, SendFuture, Write, asynchronous, blocking, handler};
pub use self::input::SkillInput;
pub use self::output::SkillOutput;
pub use self::returns::{ReturnOf, kinds};
use crate::error::SkillError;

/// The schema of a side comes from its type.
#[derive(Debug)]
pub enum Derived {}

/// The schema of a side is given beside its type.
#[derive(Debug)]
pub enum Explicit {}

/// A call that was prepared.
pub enum Running {
    /// To be awaited.
    Asynchronous(Pin<Box<dyn Future<Output = Reply> + Send>>),
    /// To be run on a thread that may block.
    Blocking(Box<dyn FnOnce() -> Reply + Send>),
}

/// What a function gave, or why there is nothing.
pub(crate) type Reply = Result<Written, Failure>;

/// What a function gave.
pub struct Written {
    /// The JSON of its outputs, as its type writes it.
    pub json: Vec<u8>,
    /// The attachments.
    pub attachments: Vec<Attachment>,
}

debug_fields!(Written { attachments });

/// The reason for missing outputs.
#[derive(Debug)]
pub enum Failure {
    /// The function failed.
    Skill(SkillError),
    /// The outputs cannot be written as JSON.
    Unwritable(serde_json::Error),
}
