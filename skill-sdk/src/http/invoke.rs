//! `POST /skills/{name}@{version}`.

use std::time::Duration;

use axum::body::{Bytes, HttpBody};
use axum::extract::rejection::PathRejection;
use axum::extract::{FromRequest, Path, Request, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::Response;
use serde_json::value::RawValue;

use super::auth::Caller;
use super::request::{Envelope, is_json};
use super::{HttpHost, answer};
use crate::context::settings_values;
use crate::pipeline::{Call, Meta};

/// Calls a skill. The token comes before all else; the other checks come in the order in which they cost: ref, content
/// type, body, load.
pub(super) async fn invoke(
    Caller(caller): Caller,
    State(http): State<HttpHost>,
    reference: Result<Path<String>, PathRejection>,
    request: Request,
) -> Response {
    let Ok(Path(reference)) = reference else {
        let message = "the ref in the path is not UTF-8";
        return answer::refusal(StatusCode::NOT_FOUND, "skill_not_hosted", message);
    };
    let Some(runnable) = http.host().get(&reference).cloned() else {
        let message = format!("{reference} is not hosted here");
        return answer::refusal(StatusCode::NOT_FOUND, "skill_not_hosted", message);
    };
    if !is_json(request.headers()) {
        let sent = request
            .headers()
            .get(CONTENT_TYPE)
            .and_then(|value| value.to_str().ok());
        let message = format!(
            "the content type must be application/json, and it is {}",
            sent.unwrap_or("not readable")
        );
        return answer::refusal(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "unsupported_media_type",
            message,
        );
    }
    let body = match read(request, http.0.body_limit).await {
        Ok(body) => body,
        Err(refusal) => return refusal,
    };
    let envelope = match Envelope::read(&body) {
        Ok(envelope) => envelope,
        Err(message) => return answer::refusal(StatusCode::BAD_REQUEST, "bad_request", message),
    };
    let Ok(_permit) = http.0.permits.try_acquire() else {
        return answer::overloaded();
    };

    let mut meta = Meta::new("http");
    meta.environment = http.0.environment.clone();
    meta.invocation_id = envelope.invocation_id;
    meta.idempotency_key = envelope.idempotency_key;
    meta.settings = settings_values(envelope.settings);
    meta.caller = caller;
    let inputs = envelope.inputs.map(RawValue::get).unwrap_or_default();
    let call = Call::json(inputs, meta);
    let (result, cost) = http.host().call(&runnable, call).await.into_parts();
    match result {
        Ok(outputs) => answer::outputs(outputs, cost.as_ref()),
        Err(error) => answer::failure(&error),
    }
}

/// How long a client may take to send a body.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// Reads the body. One that says that it is too large is refused before it comes.
async fn read(request: Request, limit: usize) -> Result<Bytes, Response> {
    let too_large = || {
        let message = format!("the body is larger than {limit} bytes");
        answer::refusal(StatusCode::PAYLOAD_TOO_LARGE, "payload_too_large", message)
    };
    if request.body().size_hint().lower() > limit as u64 {
        return Err(too_large());
    }
    // The routes set the limit.
    let body = tokio::time::timeout(BODY_TIMEOUT, Bytes::from_request(request, &()))
        .await
        .map_err(|_| {
            let message = format!("the body did not come within {} seconds", BODY_TIMEOUT.as_secs());
            answer::refusal(StatusCode::REQUEST_TIMEOUT, "request_timeout", message)
        })?;
    body.map_err(|rejection| match rejection.status() {
        StatusCode::PAYLOAD_TOO_LARGE => too_large(),
        _ => answer::refusal(StatusCode::BAD_REQUEST, "bad_request", rejection.body_text()),
    })
}
