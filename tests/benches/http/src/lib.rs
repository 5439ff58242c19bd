//! Shared by the programs of the benchmark: types and bodies of the calls, and the start of a server.

pub mod body;
pub mod model;
pub mod start;
