//! Outputs with attachments, for callers that ask for them: `Accept: multipart/mixed`.
//!
//! The first part is the outputs as they always are; each attachment is a part with its bytes after it.

use axum::http::header::{ACCEPT, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::response::Response;

use crate::handler::Attachment;

/// The header that holds how many attachments a result has, whether they are sent or not.
const ATTACHMENTS: HeaderName = HeaderName::from_static("x-skill-attachments");

const MIXED: &str = "multipart/mixed";

/// Whether a caller wants to have attachments.
pub(super) fn is_wanted(headers: &HeaderMap) -> bool {
    let values = headers
        .get_all(ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|range| {
        let mut parts = range.split(';').map(str::trim);
        let kind = parts.next().unwrap_or_default();
        let unwanted = parts.any(|part| {
            part.split_once('=').is_some_and(|(name, weight)| {
                name.trim().eq_ignore_ascii_case("q") && weight.trim().parse() == Ok(0.0_f32)
            })
        });
        kind.eq_ignore_ascii_case(MIXED) && !unwanted
    })
}

/// Puts attachments into an answer that holds the outputs alone, or at least says that there are some.
pub(super) fn attach(
    mut response: Response,
    outputs: Vec<u8>,
    attachments: &[Attachment],
    wanted: bool,
) -> Response {
    if attachments.is_empty() {
        *response.body_mut() = outputs.into();
        return response;
    }
    response
        .headers_mut()
        .insert(ATTACHMENTS, HeaderValue::from(attachments.len()));
    if !wanted {
        *response.body_mut() = outputs.into();
        return response;
    }
    let boundary = boundary(&outputs, attachments);
    let mut body = Vec::new();
    let mut part = |headers: &[(&str, &str)], content: &[u8]| {
        body.extend_from_slice(format!("--{boundary}\r\n").as_bytes());
        for (name, value) in headers {
            // A value that no header can have would end the head of the part.
            if HeaderValue::from_str(value).is_ok() {
                body.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
            }
        }
        body.extend_from_slice(b"\r\n");
        body.extend_from_slice(content);
        body.extend_from_slice(b"\r\n");
    };
    part(&[("content-type", "application/json")], &outputs);
    for attachment in attachments {
        let media_type = ("content-type", attachment.media_type());
        match attachment {
            Attachment::Resource { uri, .. } => {
                part(&[media_type, ("content-location", uri)], attachment.bytes());
            }
            _ => part(&[media_type], attachment.bytes()),
        }
    }
    body.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    *response.body_mut() = body.into();
    if let Ok(kind) = HeaderValue::from_str(&format!("{MIXED}; boundary={boundary}")) {
        response.headers_mut().insert(CONTENT_TYPE, kind);
    }
    response
}

/// A line that no part holds.
fn boundary(outputs: &[u8], attachments: &[Attachment]) -> String {
    let parts: Vec<&[u8]> = [outputs]
        .into_iter()
        .chain(attachments.iter().map(Attachment::bytes))
        .collect();
    let mut number = 0_u64;
    loop {
        let boundary = format!("skill-part-{number}");
        let line = format!("--{boundary}");
        let holds = |part: &&[u8]| part.windows(line.len()).any(|window| window == line.as_bytes());
        if !parts.iter().any(holds) {
            return boundary;
        }
        number += 1;
    }
}

#[cfg(test)]
mod tests {
    use axum::http::StatusCode;

    use super::super::answer;
    use super::*;

    async fn text(response: Response) -> String {
        let body = axum::body::to_bytes(response.into_body(), usize::MAX)
            .await
            .unwrap();
        String::from_utf8(body.to_vec()).unwrap()
    }

    fn answer_to(accept: &'static str, attachments: &[Attachment]) -> Response {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static(accept));
        let bare = answer::json(StatusCode::OK, Vec::new());
        attach(bare, b"{}".to_vec(), attachments, is_wanted(&headers))
    }

    #[tokio::test]
    async fn attachments_are_parts_for_those_who_ask() {
        let attachments = [
            Attachment::text("see --skill-part-0"),
            Attachment::document("a://b", "text/markdown", "# c"),
            Attachment::image("d", "image/png\r\nx: y"),
        ];
        let response = answer_to("application/json, Multipart/Mixed;q=0.5", &attachments);
        assert_eq!(
            response.headers()[CONTENT_TYPE],
            "multipart/mixed; boundary=skill-part-1"
        );
        assert_eq!(response.headers()[ATTACHMENTS], "3");
        let expected = "--skill-part-1\r\ncontent-type: application/json\r\n\r\n{}\r\n\
                        --skill-part-1\r\ncontent-type: text/plain; charset=utf-8\r\n\r\nsee --skill-part-0\r\n\
                        --skill-part-1\r\ncontent-type: text/markdown\r\ncontent-location: a://b\r\n\r\n# c\r\n\
                        --skill-part-1\r\n\r\nd\r\n--skill-part-1--\r\n";
        assert_eq!(text(response).await, expected);
    }

    #[tokio::test]
    async fn others_get_the_outputs_and_the_number() {
        for accept in ["*/*", "application/json", "multipart/mixed;q=0"] {
            let response = answer_to(accept, &[Attachment::text("a")]);
            assert_eq!(response.headers()[CONTENT_TYPE], "application/json");
            assert_eq!(response.headers()[ATTACHMENTS], "1");
            assert_eq!(text(response).await, "{}");
        }
        let response = answer_to("multipart/mixed", &[]);
        assert!(!response.headers().contains_key(ATTACHMENTS));
        assert_eq!(text(response).await, "{}");
    }
}
