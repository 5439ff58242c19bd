//! The macros of `skill-sdk`. Use them through that crate, which re-exports them and provides what they expand to.
//!
//! - `args`: what may stand in `#[skill(…)]`; `keys` in it is the one table of arguments
//! - `item`, `shape`, `inputs`, `docs`: what the function says
//! - `rules`: the publication rules that a literal can break
//! - `expand`, `resource`, `failure`: what is generated
//! - `ide`: what an editor completes and shows inside the attribute
//! - `errors`: all mistakes of one use, reported together
//!
//! Every macro is a function from tokens to tokens, so that tests need no compiler; this file only names them.

mod args;
mod docs;
mod errors;
mod expand;
mod failure;
mod ide;
mod inputs;
mod item;
mod resource;
mod rules;
mod shape;
#[cfg(test)]
mod tests;

use proc_macro::TokenStream;

/// Declares a function to be a skill.
///
/// The first argument is the name, all others are `key = value` in any order:
///
#[doc = include_str!("keys.md")]
///
/// The function stays what it is. Beside it stands a type of the same name with the handle `SKILL`.
#[proc_macro_attribute]
pub fn skill(attribute: TokenStream, item: TokenStream) -> TokenStream {
    expand::expand(attribute.into(), item.into()).into()
}

/// Declares a function to build a value that all calls of a process share, such as a client or a pool.
///
/// The function takes nothing or the host's parameters as `&Environment`, and returns `T` or `Result<T, E>`. It runs when
/// a skill first asks its context for a `T`, and again later when it failed. The only argument is `crate = path`, as in
/// `#[skill]`.
#[proc_macro_attribute]
pub fn resource(attribute: TokenStream, item: TokenStream) -> TokenStream {
    resource::expand(attribute.into(), item.into()).into()
}

/// Turns an error type into failures of a skill with codes of their own: implements `From<Type> for SkillError`.
///
/// The type implements `std::error::Error`, `Send` and `Sync`. Each variant of an enum, or the struct itself, has
/// `#[failure(code = "git_unavailable", retryable)]`; without `retryable` (or with `terminal`) a repeat will not help.
/// The message is what `Display` writes, and the error is kept as the source. `#[failure(crate = path)]` on the type says where
/// the library is in a crate that renames or re-exports it.
#[proc_macro_derive(SkillFailure, attributes(failure))]
pub fn skill_failure(input: TokenStream) -> TokenStream {
    failure::expand(input.into()).into()
}
