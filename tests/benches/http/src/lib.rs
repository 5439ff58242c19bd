//! What the programs of the benchmark share: the types and bodies of the calls, and how a server starts.

pub mod body;
pub mod model;
pub mod start;
