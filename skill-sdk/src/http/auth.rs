//! The token of a request: asked for before anything else.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::Response;
use tokio::task::JoinSet;

use super::{HttpServer, answer};
use crate::auth::{AuthError, Verifier};
use crate::context;
use crate::serve::Probe;

/// What a caller without a good token is told to bring.
const BEARER: HeaderValue = HeaderValue::from_static("Bearer");

/// The caller whose bearer token is in the headers.
pub(crate) async fn authenticate(
    verifier: &Verifier,
    headers: &HeaderMap,
) -> Result<Arc<context::Caller>, AuthError> {
    let values = headers.get_all(AUTHORIZATION).iter();
    verifier.authenticate(values.map(HeaderValue::as_bytes)).await
}

/// The response to a rejected caller: 401 with `challenge` as `WWW-Authenticate`, or 503.
pub(crate) fn refused(rejected: &AuthError, challenge: HeaderValue) -> Response {
    let error = rejected.to_error();
    if error.is_retryable() {
        return answer::failure(&error);
    }
    let mut response = answer::with_status(StatusCode::UNAUTHORIZED, &error);
    response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
    response
}

/// Makes a host not ready as long as there never were keys. Asking also begins to fetch them.
pub(crate) fn keys_missing(verifier: &Verifier) -> Probe {
    let verifier = verifier.clone();
    let message = "the keys of the issuer were never fetched";
    Arc::new(move || (!verifier.is_ready()).then_some(("keys_missing", message)))
}

/// Fetches keys until there are some, so that the first caller does not wait and `/readyz` tells the truth. It ends with what
/// is returned.
pub(crate) fn warm_up(verifier: Option<&Verifier>) -> JoinSet<()> {
    let mut warming = JoinSet::new();
    if let Some(verifier) = verifier.cloned() {
        warming.spawn(async move { verifier.warm_up().await });
    }
    warming
}

/// The verified caller of a request, or `None` on a server that anybody may call; the response to a request without a
/// good token.
pub(super) async fn caller(
    http: &HttpServer,
    headers: &HeaderMap,
) -> Result<Option<Arc<context::Caller>>, Response> {
    let Some(verifier) = http.verifier() else {
        return Ok(None);
    };
    match authenticate(verifier, headers).await {
        Ok(caller) => Ok(Some(caller)),
        Err(rejected) => {
            http.service().rejected(rejected.code());
            Err(refused(&rejected, BEARER))
        }
    }
}

/// Proof that a request may pass. A handler takes it as its first parameter: then a request without a good token gets nowhere.
pub(super) struct Caller;

impl FromRequestParts<HttpServer> for Caller {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, http: &HttpServer) -> Result<Self, Response> {
        caller(http, &parts.headers).await.map(|_| Self)
    }
}
