//! The macros of `skill-sdk`. Use them through that crate, which re-exports them and provides what they expand to.
//!
//! - `args`: the arguments of `#[skill(…)]`; `keys` in it is the one table of them
//! - `item`, `shape`, `inputs`, `field_words`, `docs`: what the function says
//! - `rules`: the rules that a literal can break; those of the contract are in `skill-sdk-contract`
//! - `expand`, `state`, `failure`: what is generated
//! - `manifest`: what the library is called in the author's crate
//! - `ide`: what an editor completes and shows inside the attribute
//! - `errors`: all mistakes of one use, reported together
//!
//! Every macro is a function from tokens to tokens, so that tests need no compiler; this file only names them.

mod args;
mod attributes;
mod docs;
mod errors;
mod expand;
mod failure;
mod field_words;
mod ide;
mod inputs;
mod item;
mod manifest;
mod rules;
mod shape;
mod state;
#[cfg(test)]
mod tests;

use proc_macro::TokenStream;

/// Declares a function to be a skill.
///
/// The contract is made of the signature, the types and the doc comment; the skill is registered in the program.
///
/// # Functions
///
/// | shape | smallest example | the input object |
/// |---|---|---|
/// | nothing | `fn ping() -> String` | empty |
/// | one object | `fn total(inputs: Invoice) -> Total` | what `Invoice` is read from |
/// | one object, taken apart | `fn total(#[inputs] Invoice { lines, .. }: Invoice) -> Total` | the same |
/// | plain parameters | `fn greet(name: String, times: Option<u8>) -> String` | a field for each parameter |
/// | with context | `fn total(inputs: Invoice, ctx: &SkillContext) -> Total` | the context is not a field |
/// | `async` | `async fn total(inputs: Invoice, ctx: SkillContext) -> Total` | any of the above |
/// | that may fail | `fn total(inputs: Invoice) -> Result<Total, SkillError>` | any of the above |
///
/// - The parameter that is the whole object is called `inputs` or `_inputs`, or has `#[inputs]` on it. Beside it only the
///   context may stand. Its type derives `Deserialize` and `JsonSchema`.
/// - Otherwise every parameter but the context is a field. Doc comments, `#[serde(…)]` and `#[schemars(…)]` on it apply to
///   the field, an `Option<T>` may be absent, and unknown fields are rejected.
/// - The context is recognised by its type, `&SkillContext` or `SkillContext`, at any place.
/// - The function returns `T` or `Result<T, E>`. `T` derives `Serialize` and `JsonSchema`; a value that is not an object becomes the
///   member `result`. `E` is `SkillError`, something that turns into one, any `std::error::Error`, or `anyhow::Error`.
/// - A plain `fn` runs on a thread of its own and may block; an `async fn` may not.
///
/// # Arguments
///
/// The first argument is the name, all others are `key = value` in any order:
///
#[doc = include_str!("keys.md")]
///
/// # Generated items
///
/// The function stays what it is. Beside it, with the same visibility, stands a type of the same name with the handle
/// `SKILL`: the skill of `fn merge` is `merge::SKILL`. So no type, module or crate called `merge` can be in the same scope, and
/// a link in rustdoc is written `` [`merge()`] `` when the function is meant.
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
pub fn state(attribute: TokenStream, item: TokenStream) -> TokenStream {
    state::expand(attribute.into(), item.into()).into()
}

/// Turns an error type into failures of a skill with codes of their own: implements `From<Type> for SkillError`.
///
/// The type implements `std::error::Error`, `Send` and `Sync`. Each variant of an enum, or the struct itself, has
/// `#[failure(code = "git_unavailable", retryable)]`; without `retryable` (or with `terminal`) a retry will not help.
/// The message is what `Display` writes, and the error is kept as the source. `#[failure(crate = path)]` on the type says where
/// the library is in a crate that renames or re-exports it.
#[proc_macro_derive(SkillFailure, attributes(failure))]
pub fn skill_failure(input: TokenStream) -> TokenStream {
    failure::expand(input.into()).into()
}
