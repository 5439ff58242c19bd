//! The table of routes.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ALLOW, ORIGIN, VARY,
};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use serde_json::json;

use super::config::McpHttpServer;
use super::metadata::WELL_KNOWN;
use super::{PATH, metadata, post};
use crate::context::Caller;
use crate::http::{answer, auth, body, operations};
use crate::mcp::protocol::{self, RpcError};

/// The routes of the MCP endpoint, to serve or to mount into an own application at its root.
///
/// The responses to unknown paths and methods are part of it as long as it is not merged with routes that have their own.
pub fn router(mcp: McpHttpServer) -> Router {
    let probes = operations::routes(mcp.http.service());
    let prefix = mcp.public.as_ref().map_or("", |public| &public.prefix).to_owned();
    let mut router = Router::new()
        .route("/metrics", any(metrics))
        .route(WELL_KNOWN, any(metadata::document));
    // The path of the endpoint as clients see it, and the one that a proxy may make of it.
    let mut prefixes = vec!["", &prefix];
    prefixes.dedup();
    for path in prefixes.into_iter().map(|prefix| format!("{prefix}{PATH}")) {
        router = router
            .route(&format!("{WELL_KNOWN}{path}"), any(metadata::document))
            .route(&format!("{path}/"), any(endpoint))
            .route(&path, any(endpoint));
    }
    router.fallback(not_found).with_state(mcp).merge(probes)
}

async fn endpoint(State(mcp): State<McpHttpServer>, request: Request) -> Response {
    let (head, mut body) = request.into_parts();
    let origin = head.headers.get(ORIGIN).filter(|_| mcp.cors).cloned();
    let responded = if origin.is_some() && head.method == Method::OPTIONS {
        // A browser asks without a token, and learns nothing but whether it may ask.
        check_names(&mcp, &head.uri, &head.headers).map(|()| preflight(&mcp))
    } else {
        respond(&mcp, &head, &mut body).await
    };
    let mut response = match responded {
        Ok(response) => response,
        Err(rejection) => {
            // Clients that send all of a body first must see the response.
            body::discard(mcp.http.service().limits(), &head.headers, body).await;
            rejection
        }
    };
    // Pages of other origins can read nothing; those that are served can read that they need a token.
    if let Some(origin) = origin.filter(|_| response.status() != StatusCode::FORBIDDEN) {
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

async fn respond(mcp: &McpHttpServer, head: &Parts, body: &mut Body) -> Result<Response, Response> {
    let (method, headers) = (&head.method, &head.headers);
    let caller = admit(mcp, &head.uri, headers).await?;
    match &mcp.sessions {
        _ if method == Method::POST => post::post(mcp, caller, headers, body).await,
        Some(sessions) if method == Method::DELETE => {
            if sessions.close(headers, caller.as_deref()) {
                return Ok(StatusCode::NO_CONTENT.into_response());
            }
            let message = "the session does not exist or has expired";
            Err(rejection(StatusCode::NOT_FOUND, message))
        }
        _ => {
            let message = format!(
                "{method} is not supported here: this is an MCP endpoint, which takes messages by POST"
            );
            let mut response = rejection(StatusCode::METHOD_NOT_ALLOWED, message);
            response.headers_mut().insert(ALLOW, methods(mcp));
            Err(response)
        }
    }
}

/// Checks the token, then the host name and the origin. The caller is `None` on an anonymous server.
async fn admit(mcp: &McpHttpServer, uri: &Uri, headers: &HeaderMap) -> Result<Option<Arc<Caller>>, Response> {
    let challenge = || metadata::challenge(mcp, uri, headers);
    let caller = auth::caller(&mcp.http, headers, challenge).await?;
    check_names(mcp, uri, headers).map(|()| caller)
}

/// Rejects requests for host names and from origins that are not served.
pub(super) fn check_names(mcp: &McpHttpServer, uri: &Uri, headers: &HeaderMap) -> Result<(), Response> {
    let checked = mcp.http.guard().check(uri, headers);
    checked.map_err(|message| rejection(StatusCode::FORBIDDEN, message))
}

/// The methods of the endpoint.
fn methods(mcp: &McpHttpServer) -> HeaderValue {
    HeaderValue::from_static(if mcp.sessions.is_some() {
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
    for header in mcp.mcp.0.tools.mirrored() {
        read.push_str(", ");
        read.push_str(header);
    }
    let mut response = StatusCode::NO_CONTENT.into_response();
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, methods(mcp));
    // The contract checks that these are names of headers.
    let read = HeaderValue::try_from(read).unwrap_or(HeaderValue::from_static(HEADERS));
    headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, read);
    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    response
}

/// A message as response.
pub(super) fn reply(status: StatusCode, mut message: Vec<u8>) -> Response {
    // It is one line.
    message.pop();
    answer::json(status, message)
}

/// An error of the protocol that belongs to no request.
pub(super) fn rejection(status: StatusCode, message: impl Into<String>) -> Response {
    rejected(status, &RpcError::request(message))
}

/// The same with a code of its own.
pub(super) fn rejected(status: StatusCode, error: &RpcError) -> Response {
    reply(status, protocol::error(None, error))
}

async fn metrics(State(mcp): State<McpHttpServer>, request: Request) -> Response {
    if !mcp.http.has_public_metrics()
        && let Err(rejected) = admit(&mcp, request.uri(), request.headers()).await
    {
        return rejected;
    }
    match *request.method() {
        Method::GET | Method::HEAD => operations::metrics(mcp.http.service()),
        _ => answer::method_not_allowed("GET,HEAD", request.method()),
    }
}

async fn not_found(State(mcp): State<McpHttpServer>, request: Request) -> Response {
    if let Err(rejected) = admit(&mcp, request.uri(), request.headers()).await {
        return rejected;
    }
    let path = request.uri().path();
    let message = format!("there is nothing at {path}; the MCP endpoint is {PATH}");
    if matches!(path, "/register" | "/token") {
        // Clients of OAuth read no other form of an error.
        let error = json!({"error": "not_found", "error_description": message});
        return answer::json(StatusCode::NOT_FOUND, error.to_string().into_bytes());
    }
    answer::refusal(StatusCode::NOT_FOUND, "not_found", message)
}
