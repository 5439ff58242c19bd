//! Documents of the knowledge base.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A text that the platform can search by its parts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
#[must_use]
pub struct Document {
    /// The key of the document. Storing another document under the same key replaces it.
    pub natural_key: String,
    /// Its name for people.
    pub title: String,
    /// Its kind. The default is `document`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its parts in order. The core accepts 1 to 500.
    pub chunks: Vec<Chunk>,
    /// The entities that it describes.
    #[serde(default)]
    pub links: Vec<Link>,
    /// Tags of its parts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Map<String, Value>>,
}

impl Document {
    /// A document without parts.
    pub fn new(natural_key: impl Into<String>, title: impl Into<String>) -> Self {
        Self {
            natural_key: natural_key.into(),
            title: title.into(),
            kind: "document".to_owned(),
            chunks: Vec::new(),
            links: Vec::new(),
            meta: None,
        }
    }

    /// Adds a part.
    pub fn chunk(mut self, chunk: impl Into<Chunk>) -> Self {
        self.chunks.push(chunk.into());
        self
    }

    /// Adds an entity that it describes; `rel` is the relation.
    pub fn link(mut self, kind: impl Into<String>, key: impl Into<String>, rel: impl Into<String>) -> Self {
        self.links.push(Link {
            kind: kind.into(),
            key: key.into(),
            rel: rel.into(),
        });
        self
    }

    /// Sets a tag of its parts.
    pub fn meta(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.meta
            .get_or_insert_default()
            .insert(name.into(), value.into());
        self
    }
}

/// A part of a document. A string converts into one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
#[must_use]
pub struct Chunk {
    /// The text.
    pub text: String,
    /// The heading above the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heading: Option<String>,
    /// Its position, if it differs from that in the list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<u32>,
}

impl Chunk {
    /// A part without a heading.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }

    /// Sets the heading.
    pub fn heading(mut self, heading: impl Into<String>) -> Self {
        self.heading = Some(heading.into());
        self
    }
}

impl<T: Into<String>> From<T> for Chunk {
    fn from(text: T) -> Self {
        Self::new(text)
    }
}

/// An entity that a document describes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// Its kind.
    pub kind: String,
    /// Its key.
    pub key: String,
    /// The relation of the document to it.
    pub rel: String,
}

/// The response of the core to a stored document.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct StoredDocument {
    /// The key of the document.
    pub natural_key: String,
    /// The status, such as `stored`.
    pub status: String,
    /// Other fields of the response.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}
