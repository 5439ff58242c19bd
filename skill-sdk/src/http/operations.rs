//! `/healthz`, `/readyz` and `/metrics`: what those ask who run a host. The first two need no token.

use axum::Router;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, Method, StatusCode};
use axum::response::Response;
use axum::routing::get;
use prometheus_client::encoding::prometheus_text;
use serde_json::{Value, json};

use super::answer;
use crate::error::SkillError;
use crate::serve::Service;

pub(super) const HEALTH: &str = "/healthz";
pub(super) const READY: &str = "/readyz";
pub(super) const METRICS: &str = "/metrics";

/// Whether a path is one of these routes.
pub(crate) fn is_operation(path: &str) -> bool {
    [HEALTH, READY, METRICS].contains(&path)
}

/// The routes that need no token.
pub(crate) fn routes(service: &Service) -> Router {
    let get_only = |method: Method| async move { answer::method_not_allowed("GET,HEAD", &method) };
    Router::new()
        .route(HEALTH, get(health).fallback(get_only))
        .route(READY, get(ready).fallback(get_only))
        .with_state(service.clone())
}

/// The response to `GET /metrics`, which is for those only who may call skills: it names them.
pub(crate) fn metrics(service: &Service) -> Response {
    let Ok(text) = service.metrics_text() else {
        // Text in memory is always written.
        return answer::refusal(StatusCode::INTERNAL_SERVER_ERROR, "skill_error", "out of memory");
    };
    let mut response = Response::new(text.into());
    let content_type = HeaderValue::from_static(prometheus_text::CONTENT_TYPE);
    response.headers_mut().insert(CONTENT_TYPE, content_type);
    response
}

pub(super) async fn health() -> Response {
    answer::json(StatusCode::OK, br#"{"status":"ok"}"#.to_vec())
}

pub(super) async fn ready(State(service): State<Service>) -> Response {
    let reasons = service.not_ready_reasons().await;
    if reasons.is_empty() {
        return answer::json(StatusCode::OK, br#"{"status":"ready"}"#.to_vec());
    }
    not_ready_because(&json!(reasons))
}

/// The response of `/readyz` for one reason that is not the service's.
pub(super) fn not_ready(code: &str, message: &str) -> Response {
    not_ready_because(&json!([{"code": code, "message": message}]))
}

fn not_ready_because(reasons: &Value) -> Response {
    let error = SkillError::retryable("not_ready", "the server is not ready, see the reasons")
        .with_details(json!({"reasons": reasons}));
    answer::with_status(StatusCode::SERVICE_UNAVAILABLE, &error)
}
