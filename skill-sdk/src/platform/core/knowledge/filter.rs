//! Conditions on the attributes of entities.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A condition on an attribute. A list satisfies it if one of its items does.
///
/// ```
/// use skill_sdk::knowledge::{EntityQuery, Filter};
///
/// let open = EntityQuery::new(["invoice"])
///     .filter(Filter::eq("status", "open"))
///     .filter(Filter::lte("due", "2026-12-31"))
///     .filter(Filter::exists("customer"));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Filter {
    /// The name of the attribute.
    pub attr: String,
    /// The operator.
    pub op: String,
    /// The value to compare with.
    #[serde(default)]
    pub value: Value,
}

impl Filter {
    /// A condition with an operator without a function here. The core rejects unknown operators.
    pub fn new(attr: impl Into<String>, op: impl Into<String>, value: impl Into<Value>) -> Self {
        Self {
            attr: attr.into(),
            op: op.into(),
            value: value.into(),
        }
    }

    /// The attribute equals `value`, of the same type.
    pub fn eq(attr: impl Into<String>, value: impl Into<Value>) -> Self {
        Self::new(attr, "eq", value)
    }

    /// The attribute equals one of `values`.
    pub fn one_of<V: Into<Value>>(attr: impl Into<String>, values: impl IntoIterator<Item = V>) -> Self {
        let values: Vec<Value> = values.into_iter().map(Into::into).collect();
        Self::new(attr, "in", values)
    }

    /// The attribute is the code `prefix` or a code below it: `62.01.11` is below `62.01`, `62.011` is not.
    pub fn prefix(attr: impl Into<String>, prefix: impl Into<String>) -> Self {
        Self::new(attr, "prefix", prefix.into())
    }

    /// The attribute is at most `value`. Numbers are compared as numbers, dates and times as such.
    pub fn lte(attr: impl Into<String>, value: impl Into<Value>) -> Self {
        Self::new(attr, "lte", value)
    }

    /// The attribute is at least `value`. Numbers are compared as numbers, dates and times as such.
    pub fn gte(attr: impl Into<String>, value: impl Into<Value>) -> Self {
        Self::new(attr, "gte", value)
    }

    /// The attribute exists: it is neither null nor an empty list.
    pub fn exists(attr: impl Into<String>) -> Self {
        Self::new(attr, "exists", true)
    }

    /// The attribute does not exist.
    pub fn missing(attr: impl Into<String>) -> Self {
        Self::new(attr, "exists", false)
    }
}
