//! `POST /skills/{name}@{version}`.

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::Response;

use super::auth::Caller;
use super::request::{Envelope, is_json, trace};
use super::{HttpServer, answer, body, multipart};
use crate::context::settings_values;
use crate::pipeline::{Call, Meta};

/// Calls a skill. The token comes before all else; the other checks come in the order in which they cost: ref, content
/// type, body, load.
pub(super) async fn invoke(
    Caller(caller): Caller,
    State(http): State<HttpServer>,
    reference: Result<Path<String>, PathRejection>,
    request: Request,
) -> Response {
    let service = http.service();
    let refusal = |status, code, message: String| {
        service.rejected(code);
        answer::refusal(status, code, message)
    };
    let Ok(Path(reference)) = reference else {
        let message = "the ref in the path is not UTF-8".to_owned();
        return refusal(StatusCode::NOT_FOUND, "skill_not_hosted", message);
    };
    let Some(hosted) = service.get(&reference) else {
        let message = format!("{reference} is not hosted here");
        return refusal(StatusCode::NOT_FOUND, "skill_not_hosted", message);
    };
    let trace = trace(request.headers());
    if !is_json(request.headers()) {
        let sent = request
            .headers()
            .get(CONTENT_TYPE)
            .and_then(|value| value.to_str().ok());
        let message = format!(
            "the content type must be application/json, and it is {}",
            sent.unwrap_or("not readable")
        );
        return refusal(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "unsupported_media_type",
            message,
        );
    }
    let attachments_wanted = multipart::is_wanted(request.headers());
    let body = match body::read(service, request.into_body()).await {
        Ok(body) => body,
        Err(refusal) => return refusal,
    };
    let envelope = match Envelope::read(&body, |text| hosted.runnable().accepts_prefix(text)) {
        Ok(envelope) => envelope,
        Err(message) => return refusal(StatusCode::BAD_REQUEST, "bad_request", message),
    };

    let mut meta = Meta::new("http");
    meta.environment = service.environment().clone();
    meta.invocation_id = envelope.invocation_id;
    meta.idempotency_key = envelope.idempotency_key;
    meta.settings = settings_values(envelope.settings);
    meta.caller = caller;
    meta.trace = trace;
    let inputs = envelope.inputs.unwrap_or_default();
    let call = if envelope.inputs_are_checked {
        Call::checked(inputs.to_owned(), meta)
    } else {
        Call::json(inputs, meta)
    };
    // What the skill needs of it is copied; the call may take long.
    drop(body);
    let outcome = match service.admit(hosted) {
        Ok(mut permit) => service.call(call, &mut permit).await,
        Err(overloaded) => Err(overloaded),
    };
    let mut completed = match outcome {
        Ok(completed) => completed,
        Err(overloaded) => return answer::overloaded(overloaded),
    };
    let attachments = completed.take_attachments();
    let (result, cost) = completed.into_parts();
    match result {
        Ok(outputs) => multipart::respond(outputs, cost.as_ref(), &attachments, attachments_wanted),
        Err(error) => answer::failure(&error),
    }
}
