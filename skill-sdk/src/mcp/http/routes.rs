//! The table of routes.

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ALLOW, ORIGIN, VARY,
};
use axum::http::{HeaderValue, Method, StatusCode};
use axum::response::Response;
use axum::routing::any;

use super::config::McpHttp;
use super::{PATH, guard, metadata, post, reply};
use crate::error::SkillError;
use crate::mcp::message::{INVALID_REQUEST, Wrong};

/// The routes of the MCP endpoint, to serve or to mount into an own application at its root.
///
/// The answers to unknown paths and methods are part of it as long as it is not merged with routes that have their own.
pub fn router(mcp: McpHttp) -> Router {
    let limit = mcp.0.body_limit;
    let prefix = mcp.0.public.as_ref().map_or("", |public| public.prefix.as_str()).to_owned();
    let mut router = Router::new()
        .route(PATH, any(endpoint))
        .route(&format!("{PATH}/"), any(endpoint))
        .route("/healthz", any(health));
    for path in metadata::paths(&prefix) {
        router = router.route(&path, any(metadata::document));
    }
    if !prefix.is_empty() {
        router = router
            .route(&format!("{prefix}{PATH}"), any(endpoint))
            .route(&format!("{prefix}{PATH}/"), any(endpoint));
    }
    router
        .fallback(not_found)
        .layer(DefaultBodyLimit::max(limit))
        .with_state(mcp)
}

async fn endpoint(State(mcp): State<McpHttp>, request: Request) -> Response {
    let origin = request.headers().get(ORIGIN).cloned();
    let mut response = match guard::check(&mcp.0, request.uri(), request.headers()) {
        Err(refused) => return refused,
        Ok(()) => match *request.method() {
            Method::POST => post::post(&mcp, request).await,
            Method::OPTIONS if mcp.0.cors && origin.is_some() => preflight(),
            _ => method_not_allowed(request.method()),
        },
    };
    if let Some(origin) = origin.filter(|_| mcp.0.cors) {
        let headers = response.headers_mut();
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(VARY, HeaderValue::from_static("Origin"));
        headers.insert(
            ACCESS_CONTROL_EXPOSE_HEADERS,
            HeaderValue::from_static("MCP-Protocol-Version, Mcp-Session-Id, WWW-Authenticate"),
        );
    }
    response
}

/// What a browser asks before it lets a page send a request.
fn preflight() -> Response {
    let mut response = reply::empty(StatusCode::NO_CONTENT);
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("POST"));
    headers.insert(
        ACCESS_CONTROL_ALLOW_HEADERS,
        HeaderValue::from_static(
            "Accept, Authorization, Content-Type, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id, \
             Last-Event-ID, traceparent, tracestate",
        ),
    );
    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    response
}

fn method_not_allowed(method: &Method) -> Response {
    let message = format!(
        "{method} is not supported here: this is an MCP endpoint without sessions, which takes messages by POST"
    );
    let wrong = Wrong::new(None, INVALID_REQUEST, message);
    let mut response = reply::error(StatusCode::METHOD_NOT_ALLOWED, &wrong);
    response.headers_mut().insert(ALLOW, HeaderValue::from_static("POST"));
    response
}

async fn health(request: Request) -> Response {
    match *request.method() {
        Method::GET | Method::HEAD => reply::json(StatusCode::OK, br#"{"status":"ok"}"#.to_vec()),
        _ => {
            let message = format!("{} is not supported here, use GET,HEAD", request.method());
            let error = SkillError::terminal("method_not_allowed", message);
            let mut response = reply::refusal(StatusCode::METHOD_NOT_ALLOWED, &error);
            response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET,HEAD"));
            response
        }
    }
}

async fn not_found(State(mcp): State<McpHttp>, request: Request) -> Response {
    if let Err(refused) = guard::check(&mcp.0, request.uri(), request.headers()) {
        return refused;
    }
    let message = format!("there is nothing at {}; the MCP endpoint is {PATH}", request.uri().path());
    reply::refusal(StatusCode::NOT_FOUND, &SkillError::terminal("not_found", message))
}
