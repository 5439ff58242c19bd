//! Small answers.

use axum::body::Body;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;

use crate::error::SkillError;
use crate::mcp::answer;
use crate::mcp::message::Wrong;

/// A JSON document.
pub(super) fn json(status: StatusCode, body: Vec<u8>) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// An error of the protocol.
pub(super) fn error(status: StatusCode, wrong: &Wrong) -> Response {
    json(status, answer::error(wrong))
}

/// A refusal outside of the protocol, in the envelope of the HTTP host.
pub(super) fn refusal(status: StatusCode, error: &SkillError) -> Response {
    json(status, answer::envelope(error).into_bytes())
}

/// An answer without a body.
pub(super) fn empty(status: StatusCode) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}
