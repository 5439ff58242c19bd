//! From the text of a model to a value of a type.
//!
//! - `extract`: the JSON in the text
//! - `wanted`: what the answer must be, and whether it is

mod extract;
#[cfg(test)]
mod tests;
mod wanted;

pub(super) use self::wanted::Misfit;
pub(crate) use self::wanted::{Wanted, unreadable};
