//! Who calls, and whether it may: the token before anything else, then the names.

use std::sync::Arc;

use axum::http::{HeaderMap, HeaderValue, Uri};
use axum::response::Response;

use super::config::McpHttpServer;
use super::{guard, metadata};
use crate::context::Caller;
use crate::http::auth::{authenticate, refused};

/// Why a request gets no further.
pub(super) enum Denied {
    /// It has no good token.
    Token(Response),
    /// It is for a name, or from a page, that is not served.
    Name(Response),
}

impl Denied {
    pub(super) fn into_response(self) -> Response {
        match self {
            Self::Token(response) | Self::Name(response) => response,
        }
    }
}

/// Lets a request in. The caller is `None` on a host that anybody may call.
pub(super) async fn enter(
    mcp: &McpHttpServer,
    uri: &Uri,
    headers: &HeaderMap,
) -> Result<Option<Arc<Caller>>, Denied> {
    let caller = match &mcp.0.verifier {
        None => None,
        Some(verifier) => match authenticate(verifier, headers).await {
            Ok(caller) => Some(caller),
            Err(refusal) => {
                mcp.service().rejected(refusal.code());
                return Err(Denied::Token(refused(&refusal, challenge(mcp, uri, headers))));
            }
        },
    };
    guard::check(&mcp.0.names, uri, headers).map_err(|wrong| Denied::Name(guard::answer(&wrong)))?;
    Ok(caller)
}

/// Tells a client where it is written who gives out tokens (RFC 9728).
fn challenge(mcp: &McpHttpServer, uri: &Uri, headers: &HeaderMap) -> HeaderValue {
    // A name that is not served is not repeated.
    let known = guard::check(&mcp.0.names, uri, headers).is_ok();
    let value = known.then(|| {
        let (_, metadata) = metadata::urls(mcp, uri, headers);
        HeaderValue::from_str(&format!("Bearer resource_metadata=\"{metadata}\"")).ok()
    });
    value.flatten().unwrap_or(HeaderValue::from_static("Bearer"))
}
