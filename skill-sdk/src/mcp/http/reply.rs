//! Small answers.

use axum::body::Body;
use axum::http::StatusCode;
use axum::response::Response;

use crate::http::answer::json;
use crate::mcp::answer;
use crate::mcp::message::Wrong;

/// An error of the protocol.
pub(super) fn error(status: StatusCode, wrong: &Wrong) -> Response {
    json(status, answer::error(wrong))
}

/// An answer without a body.
pub(super) fn empty(status: StatusCode) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}
