//! From the text of a reply to a value of a type.
//!
//! - `extract`: the JSON in the text
//! - `wanted`: validates the reply

mod extract;
#[cfg(test)]
mod tests;
mod wanted;

pub(super) use self::wanted::Misfit;
pub(crate) use self::wanted::{Wanted, unreadable};
