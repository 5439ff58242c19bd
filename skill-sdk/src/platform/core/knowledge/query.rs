//! Lists of entities.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::Filter;

/// The entities of one page.
const PAGE_SIZE: usize = 500;

/// The default limit of entities of a query.
const DEFAULT_MAX_ITEMS: usize = 10_000;

/// A query for entities.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[must_use]
pub struct EntityQuery {
    /// Their kinds.
    pub kinds: Vec<String>,
    /// The conditions that all of them satisfy.
    pub filters: Vec<Filter>,
    /// The time at which they are valid, in ISO 8601. The default is now.
    pub as_of: Option<String>,
    /// The most entities that the query may return. The default is 10,000.
    pub max_items: usize,
    /// Other fields of the request, such as `include`.
    pub rest: Map<String, Value>,
}

impl EntityQuery {
    /// All entities of these kinds that are valid now.
    pub fn new<K: Into<String>>(kinds: impl IntoIterator<Item = K>) -> Self {
        Self {
            kinds: kinds.into_iter().map(Into::into).collect(),
            filters: Vec::new(),
            as_of: None,
            max_items: DEFAULT_MAX_ITEMS,
            rest: Map::new(),
        }
    }

    /// Adds a condition.
    pub fn filter(mut self, filter: Filter) -> Self {
        self.filters.push(filter);
        self
    }

    /// Queries the entities that are valid at a time, such as `2026-01-31T12:00:00Z`.
    pub fn as_of(mut self, moment: impl Into<String>) -> Self {
        self.as_of = Some(moment.into());
        self
    }

    /// Sets the most entities that the query may return. With more the query fails; the list is never cut. The default is
    /// 10,000.
    pub fn max_items(mut self, most: usize) -> Self {
        self.max_items = most;
        self
    }

    /// The request for one page.
    pub(crate) fn page(&self, workspace: &str, cursor: Option<&Value>) -> Value {
        let mut page = Value::Object(self.rest.clone());
        // The query must start with the first page.
        if let Some(rest) = page.as_object_mut() {
            rest.shift_remove("cursor");
        }
        page["workspaceId"] = workspace.into();
        page["kinds"] = json!(self.kinds);
        page["where"] = json!(self.filters);
        page["limit"] = PAGE_SIZE.into();
        if let Some(moment) = &self.as_of {
            page["asOf"] = moment.as_str().into();
        }
        if let Some(cursor) = cursor {
            page["cursor"] = cursor.clone();
        }
        page
    }
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Page {
    pub(crate) items: Vec<EntityRecord>,
    /// Absent, null or empty on the last page.
    pub(crate) next_cursor: Option<Value>,
}

/// A known entity.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct EntityRecord {
    /// Its kind.
    pub kind: String,
    /// Its key.
    pub key: String,
    /// Its name for people.
    #[serde(deserialize_with = "super::or_default")]
    pub title: String,
    /// Its attributes.
    #[serde(deserialize_with = "super::or_default")]
    pub attributes: Map<String, Value>,
    /// Other fields, such as `source` and `validFrom`.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

impl EntityRecord {
    /// The attribute `name`, or null.
    pub fn attribute(&self, name: &str) -> &Value {
        self.attributes.get(name).unwrap_or(&Value::Null)
    }
}
