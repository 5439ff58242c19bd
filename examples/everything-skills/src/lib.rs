//! Every tool that the official conformance suite of the Model Context Protocol asks a server for, as skills.
//!
//! The suite calls tools by fixed names and looks at what comes back: images, sounds, progress, questions to the user,
//! arguments in headers. Each of them is a function with `#[skill]` here, so this crate shows how an author writes
//! these things; `tests/clients` runs the suite against it.
//!
//! | module | what it shows |
//! |---|---|
//! | [`content`] | results with attachments, and a failure |
//! | [`running`] | progress, notices and events while a call runs |
//! | [`asking`] | questions to the user |
//! | [`rounds`] | questions that decide how the call goes on |
//! | [`schemas`] | a schema written by hand, and an argument that is repeated in a header |

pub mod asking;
pub mod content;
pub mod rounds;
pub mod running;
pub mod schemas;

#[cfg(test)]
mod tests;
