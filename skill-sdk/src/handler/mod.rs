//! From a Rust function to something that takes JSON and gives JSON.
//!
//! What is generic here is kept thin, since each skill pays for it in compile time: parse, call, write. Everything else
//! works on the erased [`Handler`].

mod attachment;
mod base64;
mod field;
mod function;
mod input;
mod output;
mod returns;

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::pin::Pin;

pub use self::attachment::{Attached, Attachment, ResourceContent};
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
    /// To be run where blocking stalls nobody.
    Blocking(Box<dyn FnOnce() -> Reply + Send>),
}

impl fmt::Debug for Running {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Asynchronous(_) => "Asynchronous",
            Self::Blocking(_) => "Blocking",
        })
    }
}

/// What a function gave, or why there is nothing.
pub(crate) type Reply = Result<Written, Failure>;

/// What a function gave.
pub struct Written {
    /// The JSON of its outputs, as its type writes it.
    pub json: Vec<u8>,
    /// What stands beside them.
    pub attachments: Vec<Attachment>,
}

/// Sizes only.
impl fmt::Debug for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Written")
            .field("json", &format_args!("{} bytes", self.json.len()))
            .field("attachments", &self.attachments)
            .finish()
    }
}

/// Why there are no outputs.
#[derive(Debug)]
pub enum Failure {
    /// The function failed.
    Skill(SkillError),
    /// The outputs cannot be written as JSON.
    Unwritable(serde_json::Error),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Skill(error) => error.fmt(f),
            Self::Unwritable(error) => error.fmt(f),
        }
    }
}

impl Error for Failure {}
