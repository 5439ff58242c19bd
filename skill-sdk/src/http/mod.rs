//! Hosting over HTTP.
//!
//! `POST /skills/{name}@{version}` with `{"invocationId", "idempotencyKey", "settings", "inputs"}` calls a skill and
//! answers with its outputs; `GET /skills` lists what is hosted; `GET /healthz` says that the program runs. Every error
//! has the body `{"error": {"code", "message", "retryable", "details"}}`.
//!
//! [`router`] gives the routes, to mount into an own [`axum`] application; [`serve`] is the whole server.
//!
//! ```
//! use skill_sdk::http::{HttpHost, router};
//! use skill_sdk::pipeline::Host;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let host = HttpHost::anonymous(Host::collect()?);
//! let app: axum::Router = axum::Router::new().nest("/v1", router(host));
//! # let _ = app;
//! # Ok(())
//! # }
//! ```

mod answer;
pub(crate) mod auth;
mod invoke;
mod opening;
mod request;
mod routes;
mod server;

use std::fmt;
use std::sync::Arc;

use tokio::sync::Semaphore;

pub(crate) use self::routes::path_of;
pub use self::routes::router;
pub use self::server::{BindError, ServeOptions, serve};
use crate::auth::Verifier;
use crate::context::Environment;
use crate::pipeline::Host;

/// The largest request body that is read by default, in bytes: 4 MiB.
pub const DEFAULT_BODY_LIMIT: usize = 4 * 1024 * 1024;

/// How many calls run at the same time by default.
pub const DEFAULT_CONCURRENCY: usize = 256;

/// Skills to host over HTTP, who may call them, and the limits.
#[derive(Clone)]
pub struct HttpHost(Arc<Shared>);

#[derive(Clone)]
struct Shared {
    host: Host,
    /// `None`: anybody may call.
    verifier: Option<Verifier>,
    body_limit: usize,
    /// One permit for each call that may run at the same time.
    permits: Arc<Semaphore>,
    environment: Environment,
}

impl HttpHost {
    /// Callers need a bearer token that the verifier takes, on every path but `/healthz` and `/readyz`. It is checked
    /// before the ref is looked up. Skills find the caller in their context.
    pub fn new(host: Host, verifier: Verifier) -> Self {
        Self::with_verifier(host, Some(verifier))
    }

    /// Anybody who reaches the routes may call the skills. Use it for development, or behind a layer of your own that
    /// checks callers.
    pub fn anonymous(host: Host) -> Self {
        Self::with_verifier(host, None)
    }

    fn with_verifier(host: Host, verifier: Option<Verifier>) -> Self {
        Self(Arc::new(Shared {
            host,
            verifier,
            body_limit: DEFAULT_BODY_LIMIT,
            permits: Arc::new(Semaphore::new(DEFAULT_CONCURRENCY)),
            environment: Environment::process(),
        }))
    }

    /// Sets the largest request body that is read, in bytes.
    #[must_use]
    pub fn body_limit(self, bytes: usize) -> Self {
        self.with(|shared| shared.body_limit = bytes)
    }

    /// Sets how many calls may run at the same time; those above it are refused with the retryable code `overloaded`.
    #[must_use]
    pub fn concurrency(self, calls: usize) -> Self {
        let permits = Semaphore::new(calls.min(Semaphore::MAX_PERMITS));
        self.with(|shared| shared.permits = Arc::new(permits))
    }

    /// Sets what configuration and secrets are read from, in place of the environment of the process.
    #[must_use]
    pub fn environment(self, environment: Environment) -> Self {
        self.with(|shared| shared.environment = environment)
    }

    fn with(self, change: impl FnOnce(&mut Shared)) -> Self {
        let mut shared = Arc::unwrap_or_clone(self.0);
        change(&mut shared);
        Self(Arc::new(shared))
    }

    /// The skills.
    pub fn host(&self) -> &Host {
        &self.0.host
    }

    /// What checks callers; `None` when anybody may call.
    pub fn verifier(&self) -> Option<&Verifier> {
        self.0.verifier.as_ref()
    }
}

impl fmt::Debug for HttpHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpHost")
            .field("skills", &self.0.host.iter().len())
            .field("anonymous", &self.0.verifier.is_none())
            .field("body_limit", &self.0.body_limit)
            .finish_non_exhaustive()
    }
}
