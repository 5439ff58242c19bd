//! The exit codes of all commands.

/// The command did what it was asked to.
pub const GOOD: u8 = 0;

/// The command ran, and the result is negative: drift, a violation, a failed call.
pub const NO: u8 = 1;

/// The command could not start: wrong usage, a build that failed, a configuration that is missing.
pub const USAGE: u8 = 2;
