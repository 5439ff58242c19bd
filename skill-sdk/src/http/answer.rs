//! Answers: outputs with the cost header, and the one envelope of errors.

use std::io;

use axum::body::{Body, Bytes};
use axum::http::header::{ALLOW, CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode};
use axum::response::Response;
use serde::Serialize;
use serde_json::Value;
use serde_json::ser::{CompactFormatter, Formatter, Serializer};

use crate::error::SkillError;
use crate::serve::Overloaded;

/// The header that holds the cost document.
pub(super) const COST: HeaderName = HeaderName::from_static("x-skill-cost");

/// `Retry-After`, in seconds, of rejected calls.
const SOON: HeaderValue = HeaderValue::from_static("1");

/// The code of requests from web pages and for host names that are not served.
pub(super) const FORBIDDEN: &str = "forbidden";

/// How much of a value messages repeat, in bytes.
const MOST_REPEATED: usize = 200;

/// The largest cost document that is sent, in bytes: clients have limits of headers.
const MOST_COST: usize = 8 * 1024;

/// The largest response that has room in the buffer of a socket, in bytes.
const SMALL: usize = 64 * 1024;

const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// An answer with a JSON text.
pub(crate) fn json(status: StatusCode, body: Vec<u8>) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, JSON);
    response
}

/// The outputs, and what they cost. A large response keeps the permit of its call until it is written; a small one has room in
/// the buffer of its socket, and a client that calls again at once finds its permit free.
pub(crate) fn outputs(body: Vec<u8>, cost: Option<&Value>, permit: impl Send + 'static) -> Response {
    let mut response = if body.len() > SMALL {
        let mut response = Response::new(Body::from(Bytes::from_owner(Outputs {
            body,
            _permit: permit,
        })));
        response.headers_mut().insert(CONTENT_TYPE, JSON);
        response
    } else {
        json(StatusCode::OK, body)
    };
    if let Some(header) = cost.and_then(cost_header) {
        response.headers_mut().insert(COST, header);
    }
    response
}

/// The bytes of a response with the permit of its call. hyper drops them once they are written.
struct Outputs<P> {
    body: Vec<u8>,
    _permit: P,
}

impl<P> AsRef<[u8]> for Outputs<P> {
    fn as_ref(&self) -> &[u8] {
        &self.body
    }
}

/// The beginning of a value that a message repeats.
pub(super) fn cut(value: &str) -> &str {
    &value[..value.floor_char_boundary(MOST_REPEATED)]
}

/// The failure of a call.
pub(super) fn failure(error: &SkillError) -> Response {
    let status = if error.is_retryable() {
        StatusCode::SERVICE_UNAVAILABLE
    } else if error.is_crash() {
        StatusCode::INTERNAL_SERVER_ERROR
    } else {
        StatusCode::UNPROCESSABLE_ENTITY
    };
    with_status(status, error)
}

/// A request that the server rejects before it calls a skill.
pub(crate) fn refusal(status: StatusCode, code: &'static str, message: impl Into<String>) -> Response {
    with_status(status, &SkillError::terminal(code, message))
}

/// A call that may be tried again.
pub(crate) fn overloaded(overloaded: Overloaded) -> Response {
    let mut response = with_status(overloaded.status(), &overloaded.error());
    response.headers_mut().insert(RETRY_AFTER, SOON);
    response
}

/// A request from a web page, or for a host name, that is not served.
pub(super) fn forbidden(message: &'static str) -> Response {
    refusal(StatusCode::FORBIDDEN, FORBIDDEN, message)
}

/// A route that has no such method.
pub(crate) fn method_not_allowed(allowed: &'static str, method: &Method) -> Response {
    let method = cut(method.as_str());
    let message = format!("{method} is not supported here, use {allowed}");
    let mut response = refusal(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", message);
    response
        .headers_mut()
        .insert(ALLOW, HeaderValue::from_static(allowed));
    response
}

/// A failure under a status of the host's choice.
pub(crate) fn with_status(status: StatusCode, error: &SkillError) -> Response {
    json(status, document(error))
}

/// The one envelope of errors.
pub(crate) fn document(error: &SkillError) -> Vec<u8> {
    #[derive(Serialize)]
    struct Envelope<'a> {
        error: &'a SkillError,
    }
    // The details of a failure are JSON already, so writing them cannot fail.
    serde_json::to_vec(&Envelope { error }).unwrap_or_else(|_| b"{}".to_vec())
}

/// The cost as compact JSON in ASCII, as headers need it.
fn cost_header(cost: &Value) -> Option<HeaderValue> {
    let mut text = Vec::new();
    cost.serialize(&mut Serializer::with_formatter(&mut text, Ascii))
        .ok()?;
    if text.len() > MOST_COST {
        tracing::warn!(
            bytes = text.len(),
            "the cost of a call is too large for the header X-Skill-Cost and is left out"
        );
        return None;
    }
    HeaderValue::from_bytes(&text).ok()
}

/// Compact JSON in which everything beyond ASCII is escaped.
struct Ascii;

impl Formatter for Ascii {
    fn write_string_fragment<W: io::Write + ?Sized>(&mut self, writer: &mut W, text: &str) -> io::Result<()> {
        let mut units = [0; 2];
        for character in text.chars() {
            if character.is_ascii() && character != '\u{7f}' {
                CompactFormatter.write_string_fragment(writer, character.encode_utf8(&mut [0; 4]))?;
            } else {
                for unit in character.encode_utf16(&mut units) {
                    write!(writer, "\\u{unit:04x}")?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_cost_header_is_ascii() {
        let cost = json!({"units": {"руб": 0.5, "a\"b\\c\n": 1.0, "🙂\u{7f}": 2.0}});
        assert_eq!(
            cost_header(&cost).unwrap().to_str().unwrap(),
            r#"{"units":{"\u0440\u0443\u0431":0.5,"a\"b\\c\n":1.0,"\ud83d\ude42\u007f":2.0}}"#
        );
    }
}
