//! Outputs with attachments, for callers that ask for them: `Accept: multipart/mixed`.
//!
//! The first part is the outputs as they always are; each attachment is a part with its bytes after it.

use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::response::Response;
use serde_json::Value;

use super::answer;
use super::request::accepts;
use crate::handler::Attachment;

/// The header that holds how many attachments a result has, whether they are sent or not.
const ATTACHMENTS: HeaderName = HeaderName::from_static("x-skill-attachments");

const MIXED: &str = "multipart/mixed";

/// The response with the outputs, and with the attachments or at least their number.
pub(super) fn respond(
    outputs: Vec<u8>,
    cost: Option<&Value>,
    attachments: &[Attachment],
    headers: &HeaderMap,
    permit: impl Send + 'static,
) -> Response {
    if attachments.is_empty() {
        return answer::outputs(outputs, cost, permit);
    }
    let mut response = match boundary().filter(|_| accepts(headers, &[MIXED])) {
        Some(boundary) => {
            let mut response = answer::outputs(parts(&boundary, &outputs, attachments), cost, permit);
            if let Ok(kind) = HeaderValue::from_str(&format!("{MIXED}; boundary={boundary}")) {
                response.headers_mut().insert(CONTENT_TYPE, kind);
            }
            response
        }
        None => answer::outputs(outputs, cost, permit),
    };
    response
        .headers_mut()
        .insert(ATTACHMENTS, HeaderValue::from(attachments.len()));
    response
}

/// The outputs and the attachments, one after the other.
fn parts(boundary: &str, outputs: &[u8], attachments: &[Attachment]) -> Vec<u8> {
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
    part(&[("content-type", "application/json")], outputs);
    for attachment in attachments {
        let media_type = ("content-type", attachment.media_type());
        match attachment.uri() {
            Some(uri) => part(&[media_type, ("content-location", uri)], attachment.bytes()),
            None => part(&[media_type], attachment.bytes()),
        }
    }
    body.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    body
}

/// A boundary that no part contains: 128 random bits, drawn after the parts were written. `None` when the system has no
/// randomness: then the outputs are sent without the attachments.
fn boundary() -> Option<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).ok()?;
    Some(format!("skill-part-{:032x}", u128::from_ne_bytes(bytes)))
}

#[cfg(test)]
mod tests {
    use axum::http::header::ACCEPT;

    use super::*;

    async fn text(response: Response) -> String {
        let body = axum::body::to_bytes(response.into_body(), usize::MAX)
            .await
            .unwrap();
        String::from_utf8(body.to_vec()).unwrap()
    }

    fn boundary_of(response: &Response) -> String {
        let kind = response.headers()[CONTENT_TYPE].to_str().unwrap();
        kind.strip_prefix("multipart/mixed; boundary=")
            .unwrap()
            .to_owned()
    }

    fn answer_to(accept: &'static str, attachments: &[Attachment]) -> Response {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static(accept));
        respond(b"{}".to_vec(), None, attachments, &headers, ())
    }

    #[tokio::test]
    async fn attachments_are_parts_for_those_who_ask() {
        let attachments = [
            Attachment::text("see --skill-part-0"),
            Attachment::document("a://b", "text/markdown", "# c"),
            Attachment::image("d", "image/png\r\nx: y"),
        ];
        let response = answer_to("application/json, Multipart/Mixed;q=0.5", &attachments);
        let boundary = boundary_of(&response);
        assert_eq!(response.headers()[ATTACHMENTS], "3");
        let expected = format!(
            "--{boundary}\r\ncontent-type: application/json\r\n\r\n{{}}\r\n\
             --{boundary}\r\ncontent-type: text/plain; charset=utf-8\r\n\r\nsee --skill-part-0\r\n\
             --{boundary}\r\ncontent-type: text/markdown\r\ncontent-location: a://b\r\n\r\n# c\r\n\
             --{boundary}\r\n\r\nd\r\n--{boundary}--\r\n"
        );
        assert_eq!(text(response).await, expected);
    }

    #[tokio::test]
    async fn nobody_can_write_a_boundary_before_it_is_chosen() {
        // Parts that hold what earlier answers had, in which numbers were tried one after the other.
        let mut text = String::new();
        for number in 0..10_000 {
            text += &format!("--skill-part-{number}\r\n");
        }
        let attachments = [Attachment::text(text)];
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..100 {
            let boundary = boundary_of(&answer_to("multipart/mixed", &attachments));
            // RFC 2046: at most 70 characters, and these need no quotes.
            assert!(boundary.len() <= 70 && boundary.chars().all(|c| c.is_ascii_alphanumeric() || c == '-'));
            assert!(seen.insert(boundary));
        }
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
