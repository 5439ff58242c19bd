//! What is remembered about a subject.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What to remember about. Its members are the core's; the ones that have no method are [`set`](Self::set) by name.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
#[must_use]
pub struct RecallQuery {
    /// Further members, on the wire beside the others. One with the name of another member that is set
    /// does not count.
    //
    // First: of two members with one name the last is sent.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
    /// The workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace_id: Option<String>,
    /// The subject.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub anchor: Option<Value>,
}

impl RecallQuery {
    /// A query in a workspace.
    pub fn new(workspace: impl Into<String>) -> Self {
        Self {
            workspace_id: Some(workspace.into()),
            ..Self::default()
        }
    }

    /// Sets the subject.
    pub fn anchor(mut self, anchor: impl Into<Value>) -> Self {
        self.anchor = Some(anchor.into());
        self
    }

    /// Sets a member that this type does not know.
    pub fn set(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.rest.insert(name.into(), value.into());
        self
    }
}

/// What is remembered.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct Recall {
    /// The sections of the answer, as the core gives them.
    pub sections: Vec<Value>,
    /// Further members of the answer.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}
