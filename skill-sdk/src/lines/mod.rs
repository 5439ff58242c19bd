//! Protocols of lines: what every host that speaks one over a pipe needs.
//!
//! [`Lines`] reads lines of bounded length, [`write_all`] writes; both have patience with a descriptor that does not wait

mod input;
mod patience;
mod scan;

pub(crate) use self::input::{Line, Lines};
pub(crate) use self::patience::write_all;
