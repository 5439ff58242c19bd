//! Snapshots of a source, and what they change.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::SkillError;

/// The complete content of a source for a scope.
///
/// Known entities of the same source and scope that are not in the snapshot become invalid. `rest` contains the fields of the
/// platform that this type does not have.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
#[must_use]
pub struct Snapshot {
    /// Other fields of the JSON object. A field of this type that is set takes precedence.
    //
    // Must be first: of two fields with the same name the last is sent.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
    /// The package of the kinds of its entities.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub pack: String,
    /// The source, such as `table:branches`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub source: String,
    /// The part of the source that the snapshot covers.
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
    /// Other fields of the JSON object. A field of this type that is set takes precedence.
    //
    // Must be first: of two fields with the same name the last is sent.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
    /// Its kind, such as `branch`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// Its key among those of its kind.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub key: String,
    /// Its natural key, if the platform determines the key.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub natural_key: String,
    /// Its name for people.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// Its attributes.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub attributes: Map<String, Value>,
}

impl Entity {
    /// An entity with a kind and a key.
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

/// The changes of a snapshot.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct SnapshotPlan {
    /// How many entities become valid. A changed entity counts here, in `closed` and in `superseded`.
    pub opened: u64,
    /// How many entities become invalid.
    pub closed: u64,
    /// How many entities get another state.
    pub superseded: u64,
    /// How many entities do not change.
    pub unchanged: u64,
    /// The changed entities.
    #[serde(deserialize_with = "super::or_default")]
    pub changes: Changes,
    /// The expected state for [`apply`](crate::knowledge::Knowledge::apply).
    #[serde(deserialize_with = "super::or_default")]
    pub state_token: String,
    /// Other fields of the response, such as `conflicts`: entities of other sources with the same natural key.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// The state has changed since the plan was made: call [`preview`](crate::knowledge::Knowledge::preview) again.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SnapshotStale {
    /// The token of the current state, if the core returns it.
    pub state_token: Option<String>,
}

impl SnapshotStale {
    /// Reads an error of [`apply`](crate::knowledge::Knowledge::apply); `None` for other errors.
    pub fn of(error: &SkillError) -> Option<Self> {
        (error.code() == "snapshot_stale").then(|| Self {
            state_token: error
                .details()
                .and_then(|details| Some(details["stateToken"].as_str()?.to_owned())),
        })
    }
}

/// The entities that a snapshot changes. The lists are cut at `limit`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct Changes {
    /// New entities.
    pub opened: Vec<EntityKey>,
    /// Entities that change.
    pub changed: Vec<EntityKey>,
    /// Entities that become invalid.
    pub closed: Vec<EntityKey>,
    /// The most entities in each list.
    pub limit: u64,
    /// Whether a list was cut.
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
