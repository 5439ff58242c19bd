//! Checking values against a schema, in the dialect of the platform.

mod dialect;
mod violations;

pub(crate) use self::dialect::compile;
pub(crate) use self::violations::{Violation, check};
