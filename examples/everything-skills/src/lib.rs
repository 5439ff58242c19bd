//! Every tool that the official MCP conformance suite requires of a server, as skills.
//!
//! The suite calls tools by fixed names and checks their results: images, audio, progress, elicitation, arguments in
//! headers. Each tool is a function with `#[skill]` in this crate, so the crate also shows how to write such skills.
//! `tests/clients` runs the suite against it.
//!
//! | module | content |
//! |---|---|
//! | [`content`] | results with attachments, and a failure |
//! | [`running`] | progress, log messages and log events of a running call |
//! | [`elicitation`] | elicitation and sampling |
//! | [`multi_round`] | calls that need several rounds of elicitation |
//! | [`schemas`] | a handwritten schema, and an argument that is mirrored in a header |

pub mod content;
pub mod elicitation;
pub mod multi_round;
pub mod running;
pub mod schemas;

#[cfg(test)]
mod tests;
