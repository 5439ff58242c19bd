//! All that a source says, and what it changes.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::SkillError;

/// All that a source says about a scope.
///
/// What is known of the same source and scope and is not in it ends to be valid.
///
/// Members of the platform that this type does not know go into `rest`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
#[must_use]
pub struct Snapshot {
    /// Further members, on the wire beside the others. One with the name of another member that is set
    /// does not count.
    //
    // First: of two members with one name the last is sent.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
    /// The package of the kinds of its entities.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub pack: String,
    /// Where it comes from, such as `table:branches`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub source: String,
    /// The part of the source that it is all of.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub scope: String,
    /// The entities.
    pub entities: Vec<Entity>,
}

impl Snapshot {
    /// A snapshot without entities.
    pub fn new(pack: impl Into<String>, source: impl Into<String>, scope: impl Into<String>) -> Self {
        Self {
            pack: pack.into(),
            source: source.into(),
            scope: scope.into(),
            ..Self::default()
        }
    }

    /// Adds an entity.
    pub fn entity(mut self, entity: Entity) -> Self {
        self.entities.push(entity);
        self
    }

    /// Adds entities.
    pub fn entities(mut self, entities: impl IntoIterator<Item = Entity>) -> Self {
        self.entities.extend(entities);
        self
    }
}

/// One entity of a snapshot.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
#[must_use]
pub struct Entity {
    /// Further members, on the wire beside the others. One with the name of another member that is set
    /// does not count.
    //
    // First: of two members with one name the last is sent.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
    /// Its kind, such as `branch`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// Its key among those of its kind.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub key: String,
    /// Its key where the platform finds one by itself.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub natural_key: String,
    /// Its name for people.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// What is known of it.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub attributes: Map<String, Value>,
}

impl Entity {
    /// An entity of which only kind and key are known.
    pub fn new(kind: impl Into<String>, key: impl Into<String>) -> Self {
        Self {
            kind: kind.into(),
            key: key.into(),
            ..Self::default()
        }
    }

    /// Sets the name for people.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// Sets an attribute.
    pub fn attribute(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.attributes.insert(name.into(), value.into());
        self
    }
}

/// What a snapshot changes, or has changed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct SnapshotPlan {
    /// How many entities begin to be valid. A changed one counts here, in `closed` and in `superseded`.
    pub opened: u64,
    /// How many end to be valid.
    pub closed: u64,
    /// How many are replaced by another state of them.
    pub superseded: u64,
    /// How many stay as they are.
    pub unchanged: u64,
    /// Which ones.
    #[serde(deserialize_with = "super::or_default")]
    pub changes: Changes,
    /// What [`apply`](crate::knowledge::Knowledge::apply) takes as its expected state.
    #[serde(deserialize_with = "super::or_default")]
    pub state_token: String,
    /// Further members of the answer, such as `conflicts`: entities of other sources with the same natural key.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// What is known has changed since the plan was made: make it again with [`preview`](crate::knowledge::Knowledge::preview).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SnapshotStale {
    /// The token of the state that there is now, if the core says it.
    pub state_token: Option<String>,
}

impl SnapshotStale {
    /// What a failure of [`apply`](crate::knowledge::Knowledge::apply) says of the state; `None` when it is another failure.
    pub fn of(error: &SkillError) -> Option<Self> {
        (error.code() == "snapshot_stale").then(|| Self {
            state_token: error
                .details()
                .and_then(|details| Some(details["stateToken"].as_str()?.to_owned())),
        })
    }
}

/// The entities that a snapshot changes, or the first of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct Changes {
    /// Those that are new.
    pub opened: Vec<EntityKey>,
    /// Those that become different.
    pub changed: Vec<EntityKey>,
    /// Those that are gone.
    pub closed: Vec<EntityKey>,
    /// The most entities that each list holds.
    pub limit: u64,
    /// Whether a list had to be cut.
    pub truncated: bool,
}

/// The kind and the key of an entity.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct EntityKey {
    /// Its kind.
    pub kind: String,
    /// Its key.
    pub key: String,
}
