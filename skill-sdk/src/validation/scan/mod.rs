//! Validation of a JSON text that builds no tree of it.
//!
//! By far most calls are valid, and building a [`Value`] for each of them costs several times as much as validation itself. So a schema is compiled into a plan, and the text is read once along the plan. The result is "surely
//! valid" or "not sure". In the second case [`walk`](super::walk) decides on a [`Value`], so that a violation, its place and the
//! order of several come from one source only. Surely valid means: [`json::parse`](crate::contract::json::parse) takes the
//! text, and the schema takes the value.
//!
//! Keywords that look at one value only and that the plan does not know (patterns, formats, unique items, …) are left to a
//! validator of these keywords, on a [`Value`] of that part of the text. Of a value under other unknown keywords (conditions,
//! …) the plan is never sure.

mod apart;
mod plan;
mod reader;

#[cfg(test)]
pub(super) mod tests;

use std::cell::Cell;

use serde_json::Value;

use self::plan::{Node, NodeId};
use self::reader::Reader;

/// The plan of a schema.
#[derive(Debug)]
pub(crate) struct Scan {
    nodes: Vec<Node>,
    root: NodeId,
}

impl Scan {
    /// The plan of a schema that the validator accepts. `None` when the schema cannot be planned.
    pub(crate) fn compile(schema: &Value) -> Option<Self> {
        plan::plan(schema).map(|(nodes, root)| Self { nodes, root })
    }

    /// Whether the text is surely an object that satisfies the schema.
    pub(crate) fn accepts(&self, text: &str) -> bool {
        let budget = Cell::new(reader::budget(text));
        let reader = Reader::new(&self.nodes, self.root, &budget);
        text.trim_ascii_start().starts_with('{') && reader.accepts(text)
    }
}
