//! Checking values against a schema, in the dialect of the platform.

mod alone;
mod dialect;
mod narrow;
mod scan;
mod violations;

pub(crate) use self::dialect::compile;
pub(crate) use self::scan::Scan;
#[cfg(feature = "http")]
pub(crate) use self::scan::value_prefix;
pub(crate) use self::violations::{Violation, check};
