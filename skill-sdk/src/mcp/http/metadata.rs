//! The metadata of the endpoint as a protected resource (RFC 9728).

use axum::extract::{Request, State};
use axum::http::header::{ACCESS_CONTROL_ALLOW_ORIGIN, HOST};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use axum::response::Response;
use serde_json::json;

use super::PATH;
use super::config::McpHttpServer;
use super::routes::check_names;
use crate::http::answer;

/// Where such metadata is found: at the root, in front of the path of the resource.
pub(super) const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// The URL of the endpoint, and of its metadata.
pub(super) fn urls(mcp: &McpHttpServer, uri: &Uri, headers: &HeaderMap) -> (String, String) {
    let (root, prefix) = match &mcp.public {
        Some(public) => (public.root.clone(), public.prefix.as_str()),
        None => {
            let host = headers.get(HOST).and_then(|host| host.to_str().ok());
            let host = host.or(uri.authority().map(axum::http::uri::Authority::as_str));
            (format!("http://{}", host.unwrap_or("localhost")), "")
        }
    };
    (
        format!("{root}{prefix}{PATH}"),
        format!("{root}{WELL_KNOWN}{prefix}{PATH}"),
    )
}

/// The challenge of a 401, which names the metadata. A host name that is not served is not repeated.
pub(super) fn challenge(mcp: &McpHttpServer, uri: &Uri, headers: &HeaderMap) -> HeaderValue {
    let is_served = mcp.http.guard().check(uri, headers).is_ok();
    let value = is_served.then(|| {
        let (_, metadata) = urls(mcp, uri, headers);
        HeaderValue::from_str(&format!("Bearer resource_metadata=\"{metadata}\"")).ok()
    });
    value.flatten().unwrap_or(HeaderValue::from_static("Bearer"))
}

pub(super) async fn document(State(mcp): State<McpHttpServer>, request: Request) -> Response {
    if let Err(rejected) = check_names(&mcp, request.uri(), request.headers()) {
        return rejected;
    }
    let (resource, _) = urls(&mcp, request.uri(), request.headers());
    let Some(verifier) = mcp.http.verifier() else {
        let message = format!("callers of {resource} need no token");
        return answer::refusal(StatusCode::NOT_FOUND, "not_found", message);
    };
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return answer::method_not_allowed("GET,HEAD", request.method());
    }
    let document = json!({
        "resource": resource,
        "authorization_servers": [&verifier.settings().issuer],
        "bearer_methods_supported": ["header"],
    });
    let mut response = answer::json(StatusCode::OK, document.to_string().into_bytes());
    // Pages read it before they can have a token. It holds nothing that is not public.
    if mcp.cors {
        response
            .headers_mut()
            .insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    }
    response
}
