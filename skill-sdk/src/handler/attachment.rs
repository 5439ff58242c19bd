//! What a result carries beside its outputs.

use std::fmt;

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use super::base64::Base64;

/// Outputs with something beside them for the person or the model that reads the result: a text, an image, a sound, a
/// file.
///
/// A skill returns `Attached<T>` in place of `T`. The contract does not change: its outputs are those of `T`, and a
/// caller that knows nothing of attachments gets them as always. MCP sends the attachments as content blocks after the
/// outputs; the other hosts are described in `docs/writing-skills.md`.
///
/// ```
/// use skill_sdk::{Attached, Attachment, skill};
///
/// /// Draws a bar for each value; the outputs tell the largest.
/// #[skill("chart.bars", version = "1", side_effects = "none", risk = "low")]
/// fn bars(values: Vec<u32>) -> Attached<u32> {
///     let rows: Vec<_> = values.iter().map(|&value| format!("<rect width='{value}' height='9'/>")).collect();
///     let image = format!("<svg xmlns='http://www.w3.org/2000/svg'>{}</svg>", rows.concat());
///     Attached::new(values.into_iter().max().unwrap_or(0))
///         .with(Attachment::image(image, "image/svg+xml"))
/// }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Attached<T> {
    /// The outputs, as without attachments.
    pub outputs: T,
    /// What stands beside them, in order.
    pub attachments: Vec<Attachment>,
}

impl<T> Attached<T> {
    /// Outputs with nothing beside them yet.
    pub const fn new(outputs: T) -> Self {
        Self {
            outputs,
            attachments: Vec::new(),
        }
    }

    /// Adds an attachment after those that there are.
    #[must_use]
    pub fn with(mut self, attachment: Attachment) -> Self {
        self.attachments.push(attachment);
        self
    }
}

/// One thing beside the outputs of a call.
///
/// It serializes as a content block of MCP: `{"type": "image", "data": "…", "mimeType": "image/png"}`, bytes in
/// base64.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum Attachment {
    /// A text to read.
    Text(String),
    /// An image.
    Image {
        /// The file's bytes.
        data: Vec<u8>,
        /// Their media type: `image/png`.
        media_type: String,
    },
    /// A sound.
    Audio {
        /// The file's bytes.
        data: Vec<u8>,
        /// Their media type: `audio/wav`.
        media_type: String,
    },
    /// A document with an address of its own.
    Resource {
        /// The address: `report://2026/07`. Nobody has to be able to open it.
        uri: String,
        /// The media type of the content: `text/markdown`.
        media_type: String,
        /// What it holds.
        content: ResourceContent,
    },
}

/// What an attached document holds.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum ResourceContent {
    /// Text.
    Text(String),
    /// Anything else.
    Bytes(Vec<u8>),
}

impl Attachment {
    /// A text to read: a summary, a warning, a table in Markdown.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// An image: the bytes of the file and their media type, such as `image/png`.
    pub fn image(data: impl Into<Vec<u8>>, media_type: impl Into<String>) -> Self {
        Self::Image {
            data: data.into(),
            media_type: media_type.into(),
        }
    }

    /// A sound: the bytes of the file and their media type, such as `audio/wav`.
    pub fn audio(data: impl Into<Vec<u8>>, media_type: impl Into<String>) -> Self {
        Self::Audio {
            data: data.into(),
            media_type: media_type.into(),
        }
    }

    /// A document of text with an address and a media type, such as `text/markdown`.
    pub fn document(uri: impl Into<String>, media_type: impl Into<String>, text: impl Into<String>) -> Self {
        Self::Resource {
            uri: uri.into(),
            media_type: media_type.into(),
            content: ResourceContent::Text(text.into()),
        }
    }

    /// A file of any bytes with an address and a media type, such as `application/pdf`.
    pub fn file(uri: impl Into<String>, media_type: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self::Resource {
            uri: uri.into(),
            media_type: media_type.into(),
            content: ResourceContent::Bytes(bytes.into()),
        }
    }

    /// The media type; `text/plain; charset=utf-8` for a text.
    pub fn media_type(&self) -> &str {
        match self {
            Self::Text(_) => "text/plain; charset=utf-8",
            Self::Image { media_type, .. }
            | Self::Audio { media_type, .. }
            | Self::Resource { media_type, .. } => media_type,
        }
    }

    /// The content as bytes.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::Text(text)
            | Self::Resource {
                content: ResourceContent::Text(text),
                ..
            } => text.as_bytes(),
            Self::Image { data, .. }
            | Self::Audio { data, .. }
            | Self::Resource {
                content: ResourceContent::Bytes(data),
                ..
            } => data,
        }
    }
}

impl Serialize for Attachment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut block = serializer.serialize_map(None)?;
        match self {
            Self::Text(text) => {
                block.serialize_entry("type", "text")?;
                block.serialize_entry("text", text)?;
            }
            Self::Image { data, media_type } => {
                block.serialize_entry("type", "image")?;
                block.serialize_entry("data", &Base64(data))?;
                block.serialize_entry("mimeType", media_type)?;
            }
            Self::Audio { data, media_type } => {
                block.serialize_entry("type", "audio")?;
                block.serialize_entry("data", &Base64(data))?;
                block.serialize_entry("mimeType", media_type)?;
            }
            Self::Resource {
                uri,
                media_type,
                content,
            } => {
                block.serialize_entry("type", "resource")?;
                let resource = Resource {
                    uri,
                    media_type,
                    content,
                };
                block.serialize_entry("resource", &resource)?;
            }
        }
        block.end()
    }
}

/// The inner object of an attached document.
struct Resource<'a> {
    uri: &'a str,
    media_type: &'a str,
    content: &'a ResourceContent,
}

impl Serialize for Resource<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(Some(3))?;
        object.serialize_entry("uri", self.uri)?;
        object.serialize_entry("mimeType", self.media_type)?;
        match self.content {
            ResourceContent::Text(text) => object.serialize_entry("text", text)?,
            ResourceContent::Bytes(bytes) => object.serialize_entry("blob", &Base64(bytes))?,
        }
        object.end()
    }
}

/// Kind, media type and size: the content is output of a skill.
impl fmt::Debug for Attachment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self {
            Self::Text(_) => "Text",
            Self::Image { .. } => "Image",
            Self::Audio { .. } => "Audio",
            Self::Resource { .. } => "Resource",
        };
        f.debug_struct(kind)
            .field("media_type", &self.media_type())
            .field("bytes", &self.bytes().len())
            .finish()
    }
}

impl fmt::Debug for ResourceContent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(f, "Text({} bytes)", text.len()),
            Self::Bytes(bytes) => write!(f, "Bytes({} bytes)", bytes.len()),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn attachments_are_written_as_content_blocks() {
        let blocks = [
            (Attachment::text("a"), json!({"type": "text", "text": "a"})),
            (
                Attachment::image([1, 2, 3], "image/png"),
                json!({"type": "image", "data": "AQID", "mimeType": "image/png"}),
            ),
            (
                Attachment::audio([], "audio/wav"),
                json!({"type": "audio", "data": "", "mimeType": "audio/wav"}),
            ),
            (
                Attachment::document("a://b", "text/plain", "c"),
                json!({"type": "resource", "resource": {"uri": "a://b", "mimeType": "text/plain", "text": "c"}}),
            ),
            (
                Attachment::file("a://b", "application/pdf", [255]),
                json!({"type": "resource", "resource": {"uri": "a://b", "mimeType": "application/pdf", "blob": "/w=="}}),
            ),
        ];
        for (attachment, block) in blocks {
            assert_eq!(serde_json::to_value(&attachment).unwrap(), block);
        }
    }

    #[test]
    fn debug_output_holds_no_content() {
        let attachment = Attachment::document("a://b", "text/plain", "tell nobody");
        let text = format!("{attachment:?}");
        assert_eq!(text, r#"Resource { media_type: "text/plain", bytes: 11 }"#);
    }
}
