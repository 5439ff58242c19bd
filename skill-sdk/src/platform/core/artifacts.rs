//! Artifacts: bytes that the platform stores.

use sha2::{Digest, Sha256};

use super::CoreClient;
use super::client::segment;
use crate::error::SkillError;

/// The largest artifact that can be read: 64 MiB.
pub const MAX_ARTIFACT_BYTES: usize = 64 * 1024 * 1024;

impl CoreClient {
    /// The artifact `id`, with the rights of the task if there is one.
    pub(crate) async fn read_artifact(&self, id: &str, task: Option<&str>) -> Result<Artifact, SkillError> {
        // A path cannot contain these ids, even encoded.
        if id.bytes().all(|byte| byte == b'.') {
            return Err(SkillError::terminal(
                "artifact_not_found",
                format!("the id `{id}` is not valid for an artifact"),
            ));
        }
        let mut path = format!("/artifacts/{}/content", segment(id));
        if let Some(task) = task {
            path.push_str("?forTask=");
            path.push_str(&segment(task));
        }
        let answer = self.send(&path, None, true, MAX_ARTIFACT_BYTES).await;
        let answer = answer.map_err(|failure| match failure.code() {
            "core_answer_too_large" => {
                let message = format!("the artifact is larger than {MAX_ARTIFACT_BYTES} bytes");
                SkillError::terminal("artifact_too_large", message)
            }
            _ => failure,
        })?;
        let sha256 = hash(&answer.body);
        if let Some(expected) = answer.etag.as_deref().and_then(hash_of_etag)
            && !expected.eq_ignore_ascii_case(&sha256)
        {
            return Err(SkillError::terminal(
                "content_integrity_failed",
                "the SHA-256 of the artifact differs from that of the core",
            ));
        }
        Ok(Artifact {
            data: answer.body,
            media_type: answer
                .media_type
                .unwrap_or_else(|| "application/octet-stream".to_owned()),
            sha256,
        })
    }
}

/// The SHA-256 of `data` in hexadecimal digits.
pub(crate) fn hash(data: &[u8]) -> String {
    Sha256::digest(data)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// The hash in an `ETag` of the form `"sha256:<hex>"`.
fn hash_of_etag(etag: &str) -> Option<&str> {
    let etag = etag.strip_prefix("W/").unwrap_or(etag);
    etag.trim_matches('"').strip_prefix("sha256:")
}

/// An artifact.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Artifact {
    /// The bytes.
    pub data: Vec<u8>,
    /// The media type, such as `text/csv`. The default is `application/octet-stream`.
    pub media_type: String,
    /// The SHA-256 of the bytes, in lower-case hexadecimal digits.
    pub sha256: String,
}

impl Artifact {
    /// The bytes as UTF-8 text.
    ///
    /// # Errors
    ///
    /// `artifact_not_text` (terminal) if the bytes are not UTF-8.
    pub fn text(&self) -> Result<&str, SkillError> {
        std::str::from_utf8(&self.data).map_err(|error| {
            let message = format!(
                "the artifact is not UTF-8 text: the first invalid byte is at {}",
                error.valid_up_to()
            );
            SkillError::terminal("artifact_not_text", message)
        })
    }
}

// The bytes are inputs and must not be logged.
debug_fields!(Artifact { media_type, sha256 });
