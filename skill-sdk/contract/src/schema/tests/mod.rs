//! Tests of schemas: what they look like, what holds for all of them, and whether they tell the truth about serde.

mod changes;
mod generated;
mod problems;
mod roots;
mod rules;
mod table;
mod truth;
mod types;

use super::*;
