//! The HTTP server: calls skills with `POST` requests.
//!
//! `POST /skills/{name}@{version}` with `{"invocationId", "idempotencyKey", "settings", "inputs"}` calls a skill and
//! responds with its outputs. `GET /skills` lists the skills. `GET /healthz` is the liveness probe, `GET /readyz` the readiness
//! probe, `GET /metrics` has the metrics for Prometheus, and `GET /openapi.json` describes the skills. Every error has
//! the body `{"error": {"code", "message", "retryable", "details"}}`.
//!
//! [`router`] returns the routes, to mount into your own [`axum`] application; [`serve`] is the whole server.
//!
//! ```standalone_crate
//! use skill_sdk::http::{HttpServer, router};
//! use skill_sdk::pipeline::SkillSet;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let host = HttpServer::anonymous(SkillSet::collect()?);
//! let app: axum::Router = axum::Router::new().nest("/v1", router(host));
//! # let _ = app;
//! # Ok(())
//! # }
//! ```
//!
//! Guides: `docs/guides/embedding.md`, `docs/guides/deploying.md`. Reference: `docs/reference/http.md`.

pub(crate) mod answer;
pub(crate) mod auth;
pub(crate) mod body;
mod invoke;
mod multipart;
mod openapi;
pub(crate) mod operations;
pub(crate) mod request;
mod routes;
pub(crate) mod server;

use std::fmt;
use std::sync::{Arc, OnceLock};

use self::auth::Authenticate;
pub(crate) use self::routes::path_of;
pub use self::routes::router;
pub use self::server::{ServeOptions, serve};
use crate::auth::Verifier;
use crate::context::Environment;
use crate::error::ConfigError;
use crate::pipeline::SkillSet;
pub use crate::serve::Limits;
use crate::serve::{Guard, Probe, Service};

/// Skills to serve over HTTP, with authentication and limits.
///
/// It is cheap to clone. Once a clone is served or made into a [`router`], all clones share the metrics and the state of the
/// graceful shutdown.
#[derive(Clone)]
pub struct HttpServer(Arc<Shared>);

#[derive(Clone)]
struct Shared {
    host: SkillSet,
    /// `None`: callers need no token.
    verifier: Option<Arc<dyn Authenticate>>,
    limits: Limits,
    environment: Environment,
    probes: Vec<Probe>,
    public_metrics: bool,
    guard: Arc<Guard>,
    /// Built from the other fields when it is first needed.
    service: OnceLock<Service>,
}

impl HttpServer {
    /// Callers need a bearer token that the verifier accepts, on every path but `/healthz` and `/readyz`. It is verified
    /// before the ref is looked up; only a method that a path does not have gets its 405 before. Skills find the caller in
    /// their context.
    pub fn new(host: SkillSet, verifier: Verifier) -> Self {
        Self::anonymous(host).with(|shared| shared.verifier = Some(Arc::new(verifier)))
    }

    /// Callers need no token: every client that reaches the routes can call the skills. Use it for development, or behind a
    /// layer of your own that authenticates callers.
    pub fn anonymous(host: SkillSet) -> Self {
        Self(Arc::new(Shared {
            host,
            verifier: None,
            limits: Limits::default(),
            environment: Environment::process(),
            probes: Vec::new(),
            public_metrics: false,
            guard: Arc::default(),
            service: OnceLock::new(),
        }))
    }

    /// Sets the limits and timeouts.
    #[must_use]
    pub fn limits(self, limits: Limits) -> Self {
        self.with(|shared| shared.limits = limits)
    }

    /// Sets the largest request body that is read, in bytes. The default is 4 MiB.
    #[must_use]
    pub fn body_limit(self, bytes: usize) -> Self {
        self.with(|shared| shared.limits.max_body_bytes = bytes)
    }

    /// Sets how many calls may run at the same time, all skills together; those above it are rejected with the retryable
    /// code `overloaded`. The default is 256.
    #[must_use]
    pub fn concurrency(self, calls: usize) -> Self {
        self.with(|shared| shared.limits.concurrency = calls)
    }

    /// Sets the source of configuration and secrets. The default is the environment of the process.
    #[must_use]
    pub fn environment(self, environment: Environment) -> Self {
        self.with(|shared| shared.environment = environment)
    }

    /// Makes `/readyz` report 503 while `condition` returns true, in addition to its own reasons. `condition` is called often and must
    /// return at once. `code` is for programs, `message` for people.
    #[must_use]
    pub fn not_ready_while(
        self,
        code: &'static str,
        message: &'static str,
        condition: impl Fn() -> bool + Send + Sync + 'static,
    ) -> Self {
        let probe: Probe = Arc::new(move || condition().then_some((code, message)));
        self.with(|shared| shared.probes.push(probe))
    }

    /// Serves `/metrics` without a token, for a Prometheus that has none. The metrics contain the names of the skills.
    #[must_use]
    pub fn public_metrics(self) -> Self {
        self.with(|shared| shared.public_metrics = true)
    }

    /// Serves requests for one more host name: `skills.example.com`, `skills.example.com:8443` or `*` for all. A server without
    /// tokens on a loopback address serves loopback names only, since a web page can make any other name point there.
    ///
    /// # Errors
    ///
    /// `name` must be a host name, a host name with a port, or `*`.
    pub fn allow_host(self, name: &str) -> Result<Self, ConfigError> {
        let mut guard = Guard::clone(&self.0.guard);
        guard.allow_host(name)?;
        Ok(self.with(|shared| shared.guard = Arc::new(guard)))
    }

    /// Serves requests from web pages of one more origin: `https://app.example.com` or `*` for all. A server without tokens
    /// on a loopback address serves pages of loopback origins only, and requests that come from no page.
    ///
    /// # Errors
    ///
    /// `origin` must be `SCHEME://NAME`, `SCHEME://NAME:PORT` or `*`.
    pub fn allow_origin(self, origin: &str) -> Result<Self, ConfigError> {
        let mut guard = Guard::clone(&self.0.guard);
        guard.allow_origin(origin)?;
        Ok(self.with(|shared| shared.guard = Arc::new(guard)))
    }

    fn with(self, change: impl FnOnce(&mut Shared)) -> Self {
        let mut shared = Arc::unwrap_or_clone(self.0);
        shared.service = OnceLock::new();
        change(&mut shared);
        Self(Arc::new(shared))
    }

    /// The skills.
    #[cfg(feature = "host")]
    pub(crate) fn host(&self) -> &SkillSet {
        &self.0.host
    }

    /// Whether callers need no token.
    pub fn is_anonymous(&self) -> bool {
        self.0.verifier.is_none()
    }

    /// The verifier; `None` when callers need no token.
    pub(crate) fn verifier(&self) -> Option<&Arc<dyn Authenticate>> {
        self.0.verifier.as_ref()
    }

    #[cfg(feature = "mcp-http")]
    pub(crate) fn has_public_metrics(&self) -> bool {
        self.0.public_metrics
    }

    pub(crate) fn guard(&self) -> &Arc<Guard> {
        &self.0.guard
    }

    pub(crate) fn service(&self) -> &Service {
        self.0.service.get_or_init(|| {
            let mut probes = self.0.probes.clone();
            probes.extend(self.0.verifier.clone().map(auth::keys_missing));
            let (skills, environment) = (self.0.host.clone(), self.0.environment.clone());
            Service::new(skills, &self.0.limits, environment, probes)
        })
    }
}

impl fmt::Debug for HttpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpServer")
            .field("skills", &self.0.host.iter().len())
            .field("anonymous", &self.0.verifier.is_none())
            .field("limits", &self.0.limits)
            .finish_non_exhaustive()
    }
}
