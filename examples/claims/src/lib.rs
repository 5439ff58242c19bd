//! Two skills of a claims department, as a package that goes into production.
//!
//! - [`classify()`] (`claims.classify@1`) sorts a customer's claim. It shows a contract with constraints, defaults and sets
//!   of words, and work that the language model of the host does and that costs something.
//! - [`reply()`] (`helpdesk.reply@1`) answers a ticket of a helpdesk over HTTP. It shows an external write that happens once
//!   however often it is repeated, values that all calls share, a secret, and failures that say whether a repeat helps.
//!
//! Neither needs an account anywhere to be tried out: a stand-in that is built in answers where the host has no model
//! (`SKILL_LLM_BASE_URL`, …), and another in place of the helpdesk. Both say so in the field `answered_by` of what they give.
//!
//! ```text
//! skill-sdk invoke claims.classify --input '{"subject": "Car crash", "text": "A collision on the way to work."}'
//! skill-sdk invoke helpdesk.reply --idempotency-key k-1 --input '{"ticket": "HD-1", "text": "We are on it."}'
//! ```
//!
//! The program in `src/bin` is what runs in production: `claims-skills serve http`.

mod classification;
mod helpdesk;
pub mod helpdesk_double;
mod model;
mod stand_in;
#[cfg(test)]
mod tests;

pub use crate::classification::{AnsweredBy, Category, Claim, Classification, Severity, classify};
pub use crate::helpdesk::{Desk, NotSent, ReplyIn, ReplyOut, Visibility, reply};
