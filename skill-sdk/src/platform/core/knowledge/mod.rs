//! Knowledge: entities, documents and recall, in a workspace of the platform.

mod document;
mod filter;
mod query;
mod recall;
mod snapshot;

use serde::Deserialize;
use serde::de::Deserializer;

pub use self::document::{Chunk, Document, Link, StoredDocument};
pub use self::filter::Filter;
pub(crate) use self::query::Page;
pub use self::query::{EntityQuery, EntityRecord};
pub use self::recall::{Recall, RecallQuery};
pub use self::snapshot::{Changes, Entity, EntityKey, Snapshot, SnapshotPlan, SnapshotStale};

/// Deserializes null as the default.
pub(crate) fn or_default<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: Default + Deserialize<'de>,
    D: Deserializer<'de>,
{
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}
