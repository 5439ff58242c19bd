//! Recall: what the platform knows about a subject.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A query for recall. Fields of the core without a method here are [`set`](Self::set) by name.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
#[must_use]
pub struct RecallQuery {
    /// Other fields of the JSON object. A field of this type that is set takes precedence.
    //
    // Must be first: of two fields with the same name the last is sent.
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

    /// Sets a field without a method of its own.
    pub fn set(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.rest.insert(name.into(), value.into());
        self
    }
}

/// The result of recall.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct Recall {
    /// The sections, as the core returns them.
    pub sections: Vec<Value>,
    /// Other fields of the response.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}
