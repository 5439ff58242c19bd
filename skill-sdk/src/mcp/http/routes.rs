//! The table of routes.

use axum::Router;
use axum::extract::{Request, State};
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ALLOW, ORIGIN, VARY,
};
use axum::http::{HeaderValue, Method, StatusCode};
use axum::response::Response;
use axum::routing::any;

use super::caller::{self, Denied};
use super::config::McpHttpServer;
use super::{PATH, guard, metadata, post, reply};
use crate::http::{answer, operations};
use crate::mcp::message::{INVALID_REQUEST, Wrong};

/// The routes of the MCP endpoint, to serve or to mount into an own application at its root.
///
/// The answers to unknown paths and methods are part of it as long as it is not merged with routes that have their own.
pub fn router(mcp: McpHttpServer) -> Router {
    let probes = operations::routes(mcp.service());
    let prefix = mcp
        .0
        .names
        .public
        .as_ref()
        .map_or("", |public| public.prefix.as_str())
        .to_owned();
    let mut router = Router::new()
        .route(PATH, any(endpoint))
        .route(&format!("{PATH}/"), any(endpoint))
        .route("/metrics", any(metrics));
    for path in metadata::paths(&prefix) {
        router = router.route(&path, any(metadata::document));
    }
    if !prefix.is_empty() {
        router = router
            .route(&format!("{prefix}{PATH}"), any(endpoint))
            .route(&format!("{prefix}{PATH}/"), any(endpoint));
    }
    router.fallback(not_found).with_state(mcp).merge(probes)
}

async fn endpoint(State(mcp): State<McpHttpServer>, request: Request) -> Response {
    let origin = request.headers().get(ORIGIN).cloned();
    let cors = mcp.0.names.cors && origin.is_some();
    let mut response = if cors && *request.method() == Method::OPTIONS {
        // A browser asks without a token, and learns nothing but whether it may ask.
        match guard::check(&mcp.0.names, request.uri(), request.headers()) {
            Err(wrong) => return guard::answer(&wrong),
            Ok(()) => preflight(&mcp),
        }
    } else {
        match caller::enter(&mcp, request.uri(), request.headers()).await {
            // A page must be able to read that it needs a token.
            Err(Denied::Token(response)) => response,
            Err(Denied::Name(response)) => return response,
            Ok(caller) if *request.method() == Method::POST => post::post(&mcp, caller, request).await,
            Ok(caller) if *request.method() == Method::DELETE => match &mcp.0.sessions {
                Some(sessions) => match sessions.close(request.headers(), caller.as_deref()) {
                    Ok(()) => reply::empty(StatusCode::NO_CONTENT),
                    Err(()) => {
                        let wrong =
                            Wrong::new(None, INVALID_REQUEST, "there is no such session, or no longer");
                        reply::error(StatusCode::NOT_FOUND, &wrong)
                    }
                },
                None => method_not_allowed(&mcp, request.method()),
            },
            Ok(_) => method_not_allowed(&mcp, request.method()),
        }
    };
    if let Some(origin) = origin.filter(|_| cors) {
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

/// The methods of the endpoint.
fn methods(mcp: &McpHttpServer) -> HeaderValue {
    HeaderValue::from_static(if mcp.0.sessions.is_some() {
        "POST, DELETE"
    } else {
        "POST"
    })
}

/// The headers of requests that are read, beside those that repeat arguments.
const HEADERS: &str = "Accept, Authorization, Content-Type, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id, \
                       Last-Event-ID, traceparent, tracestate";

/// What a browser asks before it lets a page send a request.
fn preflight(mcp: &McpHttpServer) -> Response {
    let mut read = HEADERS.to_owned();
    for header in mcp.0.host.tools().mirrored() {
        read.push_str(", ");
        read.push_str(header);
    }
    let mut response = reply::empty(StatusCode::NO_CONTENT);
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, methods(mcp));
    // The contract checks that these are names of headers.
    let read = HeaderValue::try_from(read).unwrap_or(HeaderValue::from_static(HEADERS));
    headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, read);
    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    response
}

fn method_not_allowed(mcp: &McpHttpServer, method: &Method) -> Response {
    let message =
        format!("{method} is not supported here: this is an MCP endpoint, which takes messages by POST");
    let wrong = Wrong::new(None, INVALID_REQUEST, message);
    let mut response = reply::error(StatusCode::METHOD_NOT_ALLOWED, &wrong);
    response.headers_mut().insert(ALLOW, methods(mcp));
    response
}

async fn metrics(State(mcp): State<McpHttpServer>, request: Request) -> Response {
    if !mcp.0.public_metrics
        && let Err(denied) = caller::enter(&mcp, request.uri(), request.headers()).await
    {
        return denied.into_response();
    }
    match *request.method() {
        Method::GET | Method::HEAD => operations::metrics(mcp.service()),
        _ => answer::method_not_allowed("GET,HEAD", request.method()),
    }
}

async fn not_found(State(mcp): State<McpHttpServer>, request: Request) -> Response {
    if let Err(denied) = caller::enter(&mcp, request.uri(), request.headers()).await {
        return denied.into_response();
    }
    let message = format!(
        "there is nothing at {}; the MCP endpoint is {PATH}",
        request.uri().path()
    );
    answer::refusal(StatusCode::NOT_FOUND, "not_found", message)
}
