//! The metadata of the endpoint as a protected resource (RFC 9728).

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::header::HOST;
use axum::response::Response;
use serde_json::json;

use super::config::McpHttp;
use super::{PATH, guard, reply};
use crate::error::SkillError;

/// Where such metadata is found, in front of the path of the resource.
const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// The paths it is served at: at the root, in front of the path of the endpoint as clients see it, and of the one that a
/// proxy may make of it.
pub(super) fn paths(prefix: &str) -> Vec<String> {
    let mut paths = vec![WELL_KNOWN.to_owned(), format!("{WELL_KNOWN}{PATH}")];
    if !prefix.is_empty() {
        paths.push(format!("{WELL_KNOWN}{prefix}{PATH}"));
    }
    paths
}

/// The URL of the endpoint, and of its metadata.
pub(super) fn urls(mcp: &McpHttp, request: &Request) -> (String, String) {
    let (root, prefix) = match &mcp.0.public {
        Some(public) => (public.root.clone(), public.prefix.as_str()),
        None => {
            let host = request.headers().get(HOST).and_then(|host| host.to_str().ok());
            let host = host.or(request.uri().authority().map(axum::http::uri::Authority::as_str));
            (format!("http://{}", host.unwrap_or("localhost")), "")
        }
    };
    (
        format!("{root}{prefix}{PATH}"),
        format!("{root}{WELL_KNOWN}{prefix}{PATH}"),
    )
}

pub(super) async fn document(State(mcp): State<McpHttp>, request: Request) -> Response {
    if let Err(refused) = guard::check(&mcp.0, request.uri(), request.headers()) {
        return refused;
    }
    let (resource, _) = urls(&mcp, &request);
    // Nothing protects it when callers need no token.
    let message = format!("callers of {resource} need no token");
    let _ = json!({});
    reply::refusal(StatusCode::NOT_FOUND, &SkillError::terminal("not_found", message))
}
