//! The token of a request: asked for before anything else.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::Response;
use tokio::task::JoinSet;

use super::{HttpServer, answer};
#[cfg(feature = "mcp-http")]
use crate::auth::AuthSettings;
use crate::auth::{AuthError, Verifier};
use crate::context;
use crate::serve::Probe;

/// Authenticates callers: a [`Verifier`]. It is a trait object, so that the linker leaves out cryptography from servers without
/// authentication.
pub(crate) trait Authenticate: Send + Sync {
    /// The caller whose bearer token is in the headers.
    fn authenticate<'a>(&'a self, headers: &'a HeaderMap) -> Authenticating<'a>;

    /// Whether there ever were keys. If not, this starts to fetch them.
    fn is_ready(&self) -> bool;

    /// Fetches keys until there are some.
    fn warm_up(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;

    /// Which tokens are accepted.
    #[cfg(feature = "mcp-http")]
    fn settings(&self) -> &AuthSettings;
}

type Authenticating<'a> = Pin<Box<dyn Future<Output = Result<Arc<context::Caller>, AuthError>> + Send + 'a>>;

impl Authenticate for Verifier {
    fn authenticate<'a>(&'a self, headers: &'a HeaderMap) -> Authenticating<'a> {
        let values = headers.get_all(AUTHORIZATION).iter();
        Box::pin(self.authenticate(values.map(HeaderValue::as_bytes)))
    }

    fn is_ready(&self) -> bool {
        self.is_ready()
    }

    fn warm_up(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(self.warm_up())
    }

    #[cfg(feature = "mcp-http")]
    fn settings(&self) -> &AuthSettings {
        self.settings()
    }
}

/// Makes a host not ready as long as there never were keys. Asking also begins to fetch them.
pub(super) fn keys_missing(verifier: Arc<dyn Authenticate>) -> Probe {
    let message = "the keys of the issuer were never fetched";
    Arc::new(move || (!verifier.is_ready()).then_some(("keys_missing", message)))
}

/// Fetches keys until there are some, so that the first caller does not wait and `/readyz` tells the truth. It ends with what
/// is returned.
pub(crate) fn warm_up(http: &HttpServer) -> JoinSet<()> {
    let mut warming = JoinSet::new();
    if let Some(verifier) = http.verifier().cloned() {
        warming.spawn(async move { verifier.warm_up().await });
    }
    warming
}

/// The verified caller of a request, or `None` on a server that anybody may call. A request without a good token gets a 401 with
/// `challenge` as `WWW-Authenticate`, or a 503 while tokens cannot be verified.
pub(crate) async fn caller(
    http: &HttpServer,
    headers: &HeaderMap,
    challenge: impl FnOnce() -> HeaderValue,
) -> Result<Option<Arc<context::Caller>>, Response> {
    let Some(verifier) = http.verifier() else {
        return Ok(None);
    };
    let rejected = match verifier.authenticate(headers).await {
        Ok(caller) => return Ok(Some(caller)),
        Err(rejected) => rejected.to_error(),
    };
    http.service().rejected(rejected.code());
    if rejected.is_retryable() {
        return Err(answer::failure(&rejected));
    }
    let mut response = answer::with_status(StatusCode::UNAUTHORIZED, &rejected);
    response.headers_mut().insert(WWW_AUTHENTICATE, challenge());
    Err(response)
}

/// What a caller without a good token is told to bring.
pub(super) fn bearer() -> HeaderValue {
    HeaderValue::from_static("Bearer")
}

/// Proof that a request may pass. A handler takes it as its first parameter: then a request without a good token gets nowhere.
pub(super) struct Caller;

impl FromRequestParts<HttpServer> for Caller {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, http: &HttpServer) -> Result<Self, Response> {
        caller(http, &parts.headers, bearer).await.map(|_| Self)
    }
}
