//! Two skills of an insurance claims department, as a package for production.
//!
//! - [`classify()`] (`claims.classify@1`) classifies a customer's claim. It shows a contract with constraints, defaults
//!   and enums, and a skill that calls the language model of the server and reports its cost.
//! - [`reply()`] (`helpdesk.reply@1`) replies to a helpdesk ticket over HTTP. It shows an external write that is safe to
//!   retry, a state that all calls share, a secret, and failures that say whether a retry helps.
//!
//! Both can be tried without an account. If no model is configured (`SKILL_LLM_BASE_URL`, …), a built-in list of words
//! classifies the claim. If no helpdesk is configured, a built-in mock takes the reply. The output field `answered_by`
//! says which one was used.
//!
//! ```text
//! skill-sdk invoke claims.classify --input '{"subject": "Car crash", "text": "A collision on the way to work."}'
//! skill-sdk invoke helpdesk.reply --idempotency-key k-1 --input '{"ticket": "HD-1", "text": "We are on it."}'
//! ```
//!
//! `src/bin` has the binary for production: `claims-skills serve http`.

mod classification;
mod helpdesk;
mod keywords;
pub mod mock_helpdesk;
mod model;
#[cfg(test)]
mod tests;

pub use crate::classification::{AnsweredBy, Category, Claim, Classification, Severity, classify};
pub use crate::helpdesk::{Desk, NotSent, ReplyIn, ReplyOut, Visibility, reply};
