//! What a result carries beside its outputs.

use std::fmt;

use serde::Serialize;

use super::base64;

/// Outputs with something beside them for the person or the model that reads the result: a text, an image, a sound, a
/// file.
///
/// A skill returns `Attached<T>` instead of `T`. The contract does not change: its outputs are those of `T`, and a
/// caller that knows nothing of attachments gets them as always. MCP sends the attachments as content blocks after the
/// outputs; the other hosts are described in `docs/guides/progress-and-attachments.md`.
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
    /// The attachments, in order.
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
#[derive(Clone, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Attachment(Block);

#[derive(Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "lowercase", rename_all_fields = "camelCase")]
enum Block {
    Text {
        text: String,
    },
    Image {
        #[serde(serialize_with = "base64::serialize")]
        data: Vec<u8>,
        mime_type: String,
    },
    Audio {
        #[serde(serialize_with = "base64::serialize")]
        data: Vec<u8>,
        mime_type: String,
    },
    Resource {
        resource: Resource,
    },
}

#[derive(Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Resource {
    uri: String,
    mime_type: String,
    #[serde(flatten)]
    content: Content,
}

#[derive(Clone, PartialEq, Serialize)]
enum Content {
    #[serde(rename = "text")]
    Text(String),
    #[serde(rename = "blob", serialize_with = "base64::serialize")]
    Bytes(Vec<u8>),
}

impl Attachment {
    /// A text to read: a summary, a warning, a table in Markdown.
    pub fn text(text: impl Into<String>) -> Self {
        Self(Block::Text { text: text.into() })
    }

    /// An image: the bytes of the file and their media type, such as `image/png`.
    pub fn image(data: impl Into<Vec<u8>>, media_type: impl Into<String>) -> Self {
        Self(Block::Image {
            data: data.into(),
            mime_type: media_type.into(),
        })
    }

    /// A sound: the bytes of the file and their media type, such as `audio/wav`.
    pub fn audio(data: impl Into<Vec<u8>>, media_type: impl Into<String>) -> Self {
        Self(Block::Audio {
            data: data.into(),
            mime_type: media_type.into(),
        })
    }

    /// A document of text with an address and a media type, such as `text/markdown`.
    pub fn document(uri: impl Into<String>, media_type: impl Into<String>, text: impl Into<String>) -> Self {
        Self::resource(uri.into(), media_type.into(), Content::Text(text.into()))
    }

    /// A file of any bytes with an address and a media type, such as `application/pdf`.
    pub fn file(uri: impl Into<String>, media_type: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self::resource(uri.into(), media_type.into(), Content::Bytes(bytes.into()))
    }

    fn resource(uri: String, mime_type: String, content: Content) -> Self {
        let resource = Resource {
            uri,
            mime_type,
            content,
        };
        Self(Block::Resource { resource })
    }

    /// The media type; `text/plain; charset=utf-8` for a text.
    pub fn media_type(&self) -> &str {
        match &self.0 {
            Block::Text { .. } => "text/plain; charset=utf-8",
            Block::Image { mime_type, .. } | Block::Audio { mime_type, .. } => mime_type,
            Block::Resource { resource } => &resource.mime_type,
        }
    }

    /// The content as bytes.
    pub fn bytes(&self) -> &[u8] {
        match &self.0 {
            Block::Text { text } => text.as_bytes(),
            Block::Image { data, .. } | Block::Audio { data, .. } => data,
            Block::Resource { resource } => match &resource.content {
                Content::Text(text) => text.as_bytes(),
                Content::Bytes(bytes) => bytes,
            },
        }
    }

    /// The address of a document or a file.
    pub fn uri(&self) -> Option<&str> {
        match &self.0 {
            Block::Resource { resource } => Some(&resource.uri),
            _ => None,
        }
    }
}

/// Media type and size: the content is output of a skill.
impl fmt::Debug for Attachment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attachment")
            .field("media_type", &self.media_type())
            .field("bytes", &self.bytes().len())
            .finish()
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
        assert_eq!(text, r#"Attachment { media_type: "text/plain", bytes: 11 }"#);
    }
}
