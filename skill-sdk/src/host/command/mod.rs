//! The commands that the command line tool and a program with skills share: each works on what a program said about
//! its skills and knows nothing of cargo.
//!
//! - [`exit`] the exit codes, [`failure`] an error as the user sees it, [`output`] results on standard output
//! - [`select`] which skills a name means
//! - [`list`] prints skills, [`check`] checks them, [`export`] writes and compares their files

pub mod check;
pub mod exit;
pub mod export;
pub mod failure;
pub mod list;
pub mod output;
pub mod select;
#[cfg(test)]
mod tests;

pub use failure::Failure;
