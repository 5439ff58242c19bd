//! The table of routes.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ALLOW, ORIGIN, VARY,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use axum::response::Response;
use axum::routing::any;

use super::config::McpHttpServer;
use super::{PATH, guard, metadata, post};
use crate::context::Caller;
use crate::http::answer::{self, json};
use crate::http::auth::{authenticate, refused};
use crate::http::operations;
use crate::mcp::protocol::{self, RpcError};

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
            Err(message) => return guard::rejected(message),
            Ok(()) => preflight(&mcp),
        }
    } else {
        match admit(&mcp, request.uri(), request.headers()).await {
            // A page must be able to read that it needs a token.
            Err(Rejected::Token(response)) => response,
            Err(Rejected::Name(response)) => return response,
            Ok(caller) => respond(&mcp, caller, request).await,
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

async fn respond(mcp: &McpHttpServer, caller: Option<Arc<Caller>>, request: Request) -> Response {
    match (request.method().clone(), &mcp.0.sessions) {
        (Method::POST, _) => post::post(mcp, caller, request).await,
        (Method::DELETE, Some(sessions)) if sessions.close(request.headers(), caller.as_deref()) => {
            empty(StatusCode::NO_CONTENT)
        }
        (Method::DELETE, Some(_)) => {
            rejection(StatusCode::NOT_FOUND, "there is no such session, or no longer")
        }
        (method, _) => {
            let message = format!(
                "{method} is not supported here: this is an MCP endpoint, which takes messages by POST"
            );
            let mut response = rejection(StatusCode::METHOD_NOT_ALLOWED, message);
            response.headers_mut().insert(ALLOW, methods(mcp));
            response
        }
    }
}

/// Why a request is rejected before it is read.
enum Rejected {
    /// It has no valid token.
    Token(Response),
    /// Its host name or origin is not served.
    Name(Response),
}

impl Rejected {
    fn into_response(self) -> Response {
        match self {
            Self::Token(response) | Self::Name(response) => response,
        }
    }
}

/// Checks the token, then the host name and the origin. The caller is `None` on an anonymous server.
async fn admit(mcp: &McpHttpServer, uri: &Uri, headers: &HeaderMap) -> Result<Option<Arc<Caller>>, Rejected> {
    let caller = match &mcp.0.verifier {
        None => None,
        Some(verifier) => match authenticate(verifier, headers).await {
            Ok(caller) => Some(caller),
            Err(error) => {
                mcp.service().rejected(error.code());
                let challenge = metadata::challenge(mcp, uri, headers);
                return Err(Rejected::Token(refused(&error, challenge)));
            }
        },
    };
    guard::check(&mcp.0.names, uri, headers).map_err(|message| Rejected::Name(guard::rejected(message)))?;
    Ok(caller)
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
    for header in mcp.0.server.tools().mirrored() {
        read.push_str(", ");
        read.push_str(header);
    }
    let mut response = empty(StatusCode::NO_CONTENT);
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, methods(mcp));
    // The contract checks that these are names of headers.
    let read = HeaderValue::try_from(read).unwrap_or(HeaderValue::from_static(HEADERS));
    headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, read);
    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    response
}

/// A response without a body.
pub(super) fn empty(status: StatusCode) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}

/// An error of the protocol that belongs to no request.
pub(super) fn rejection(status: StatusCode, message: impl Into<String>) -> Response {
    json(status, protocol::error(None, &RpcError::request(message)))
}

async fn metrics(State(mcp): State<McpHttpServer>, request: Request) -> Response {
    if !mcp.0.public_metrics
        && let Err(rejected) = admit(&mcp, request.uri(), request.headers()).await
    {
        return rejected.into_response();
    }
    match *request.method() {
        Method::GET | Method::HEAD => operations::metrics(mcp.service()),
        _ => answer::method_not_allowed("GET,HEAD", request.method()),
    }
}

async fn not_found(State(mcp): State<McpHttpServer>, request: Request) -> Response {
    if let Err(rejected) = admit(&mcp, request.uri(), request.headers()).await {
        return rejected.into_response();
    }
    let message = format!(
        "there is nothing at {}; the MCP endpoint is {PATH}",
        request.uri().path()
    );
    answer::refusal(StatusCode::NOT_FOUND, "not_found", message)
}
