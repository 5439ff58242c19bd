//! `POST /skills/{name}@{version}`.

use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;

use super::request::{Envelope, is_json, trace};
use super::{HttpServer, answer, auth, body, multipart};
use crate::pipeline::{Call, Meta};

/// Calls a skill. A response that comes before the body was read waits for a bounded rest of it, so that clients which send all
/// of it first see the response.
pub(super) async fn invoke(
    State(http): State<HttpServer>,
    reference: Result<Path<String>, PathRejection>,
    request: Request,
) -> Response {
    let (head, mut body) = request.into_parts();
    match call(&http, reference, &head.headers, &mut body).await {
        Ok(response) => response,
        Err(rejection) => {
            body::discard(http.service().limits(), &head.headers, body).await;
            rejection
        }
    }
}

/// The token comes before all else; the other checks come in the order in which they cost: ref, content type, body, load.
async fn call(
    http: &HttpServer,
    reference: Result<Path<String>, PathRejection>,
    headers: &HeaderMap,
    body: &mut Body,
) -> Result<Response, Response> {
    let service = http.service();
    let caller = auth::caller(http, headers, auth::bearer).await?;
    let reject = |status, code, message: String| {
        service.rejected(code);
        Err(answer::refusal(status, code, message))
    };
    let Ok(Path(reference)) = reference else {
        let message = "the ref in the path is not UTF-8".to_owned();
        return reject(StatusCode::NOT_FOUND, "skill_not_hosted", message);
    };
    let Some(skill) = service.get(&reference) else {
        let error = service.skills().not_hosted(&reference);
        return reject(
            StatusCode::NOT_FOUND,
            "skill_not_hosted",
            error.message().to_owned(),
        );
    };
    if !is_json(headers) {
        let sent = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let message = format!(
            "the content type must be application/json, and it is {}",
            sent.map_or("not readable", answer::cut)
        );
        return reject(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "unsupported_media_type",
            message,
        );
    }
    let bytes = body::read(service, body).await?;
    let envelope = match Envelope::read(&bytes) {
        Ok(envelope) => envelope,
        Err(message) => return reject(StatusCode::BAD_REQUEST, "bad_request", message),
    };
    let mut permit = service.admit(skill).map_err(answer::overloaded)?;
    let mut meta = Meta::new("http");
    meta.environment = service.environment().clone();
    meta.invocation_id = envelope.members.text("invocationId");
    meta.idempotency_key = envelope.members.text("idempotencyKey");
    meta.settings = envelope.members.settings("settings");
    meta.caller = caller;
    meta.trace = trace(headers);
    let call = Call::json(envelope.inputs, meta);
    // What the skill needs of it is copied; the call may take long.
    drop(bytes);
    let mut outcome = service
        .call(call, &mut permit)
        .await
        .map_err(answer::overloaded)?;
    let attachments = outcome.take_attachments();
    let (result, cost) = outcome.into_parts();
    Ok(match result {
        Ok(outputs) => multipart::respond(outputs, cost.as_ref(), &attachments, headers, permit),
        Err(error) => answer::failure(&error),
    })
}
