//! What is served, to whom, and under which names.

use std::error::Error;
use std::fmt;
use std::sync::{Arc, OnceLock};

use super::guard::{Authority, Origin};
use super::sessions::Sessions;
use crate::auth::Verifier;
use crate::http::Limits;
use crate::http::auth::keys_missing;
use crate::mcp::McpServer;
use crate::serve::{Probe, Service};

/// Skills to host over streamable HTTP, who may call them, and the limits.
///
/// It is cheap to clone. All clones share what they count and whether they are stopping, once one of them was made into
/// a [`router`](super::router) or is served.
#[derive(Clone)]
pub struct McpHttpServer(pub(super) Arc<Shared>);

pub(super) struct Shared {
    pub(super) server: McpServer,
    /// `None`: anybody may call.
    pub(super) verifier: Option<Verifier>,
    pub(super) names: Names,
    /// `None`: the host has no sessions.
    pub(super) sessions: Option<Arc<Sessions>>,
    limits: Limits,
    pub(super) public_metrics: bool,
    probes: Vec<Probe>,
    /// Made of all the others when it is first needed.
    service: OnceLock<Service>,
}

/// Under which names the host is reached, and by which web pages.
#[derive(Debug, Clone, Default)]
pub(super) struct Names {
    /// Host names beside the loopback ones.
    pub(super) hosts: Vec<Authority>,
    pub(super) any_host: bool,
    /// Origins beside the loopback ones.
    pub(super) origins: Vec<Origin>,
    pub(super) any_origin: bool,
    pub(super) public: Option<PublicUrl>,
    pub(super) cors: bool,
}

/// The URL under which clients reach the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PublicUrl {
    pub(super) origin: Origin,
    /// `https://agents.example.com`.
    pub(super) root: String,
    /// Empty, or `/skills`.
    pub(super) prefix: String,
}

/// A value of the configuration that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConfigError {
    what: &'static str,
    value: String,
    expected: &'static str,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} `{}` is not of the form {}",
            self.what, self.value, self.expected
        )
    }
}

impl Error for ConfigError {}

impl McpHttpServer {
    /// Callers need a bearer token that the verifier takes, before anything else and on every path but `/healthz`,
    /// `/readyz` and the metadata that says where tokens come from. Skills find the caller in their context.
    pub fn new(server: McpServer, verifier: Verifier) -> Self {
        Self::with_verifier(server.private(), Some(verifier))
    }

    /// Anybody who reaches the routes may call the tools. Use it for development, or behind a layer of your own that
    /// checks callers.
    pub fn anonymous(server: McpServer) -> Self {
        Self::with_verifier(server, None)
    }

    fn with_verifier(server: McpServer, verifier: Option<Verifier>) -> Self {
        Self(Arc::new(Shared {
            server,
            verifier,
            names: Names::default(),
            sessions: None,
            limits: Limits::default(),
            public_metrics: false,
            probes: Vec::new(),
            service: OnceLock::new(),
        }))
    }

    /// Sets what is taken from clients, and how much of it. These limits take the place of
    /// [`McpServer::concurrency`](crate::mcp::McpServer::concurrency).
    #[must_use]
    pub fn limits(self, limits: Limits) -> Self {
        self.with(|shared| shared.limits = limits)
    }

    /// Asks for no token and looks at no host name at `/metrics`, for a Prometheus that has none and comes by address. The
    /// names of the skills are read there.
    #[must_use]
    pub fn public_metrics(self) -> Self {
        self.with(|shared| shared.public_metrics = true)
    }

    /// Makes `/readyz` say no as long as `condition` holds, beside its own reasons. It is asked often and must answer at
    /// once; `code` is for programs, `message` for people.
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

    /// Serves requests for one more host name: `agents.example.com`, `agents.example.com:8443` or `*` for all. Without a port
    /// it is any port. Loopback names are always served.
    pub fn allow_host(self, name: &str) -> Result<Self, ConfigError> {
        if name == "*" {
            return Ok(self.with(|shared| shared.names.any_host = true));
        }
        let authority = Authority::parse(name).ok_or_else(|| ConfigError {
            what: "the host",
            value: name.to_owned(),
            expected: "NAME, NAME:PORT or *",
        })?;
        Ok(self.with(|shared| shared.names.hosts.push(authority)))
    }

    /// Serves requests from web pages of one more origin: `https://app.example.com`, `http://example.com:3000` or `*` for
    /// all. Pages of loopback origins are always served, and so are requests that come from no page.
    pub fn allow_origin(self, origin: &str) -> Result<Self, ConfigError> {
        if origin == "*" {
            return Ok(self.with(|shared| shared.names.any_origin = true));
        }
        let origin = Origin::parse(origin).ok_or_else(|| ConfigError {
            what: "the origin",
            value: origin.to_owned(),
            expected: "SCHEME://NAME or SCHEME://NAME:PORT",
        })?;
        Ok(self.with(|shared| shared.names.origins.push(origin)))
    }

    /// Sets the URL under which clients reach the host through a proxy, without `/mcp`: `https://agents.example.com` or
    /// `https://example.com/skills`. Its host name and origin are served, and a path is served with and without it.
    pub fn public_url(self, url: &str) -> Result<Self, ConfigError> {
        let public = PublicUrl::parse(url).ok_or_else(|| ConfigError {
            what: "the public URL",
            value: url.to_owned(),
            expected: "https://NAME, https://NAME:PORT or https://NAME/PATH, without a query",
        })?;
        Ok(self.with(|shared| shared.names.public = Some(public)))
    }

    /// Sets whether web pages of the origins that are served may read the answers (CORS). Off by default.
    #[must_use]
    pub fn cors(self, on: bool) -> Self {
        self.with(|shared| shared.names.cors = on)
    }

    /// Sets whether a client of revision 2025-11-25 or older gets a session when it says that it can be asked. Without one
    /// `ctx.ask` fails for it; clients of later revisions need none. A client must then always reach the same replica.
    /// Off by default.
    #[must_use]
    pub fn sessions(self, on: bool) -> Self {
        self.with(|shared| shared.sessions = on.then(Arc::default))
    }

    fn with(self, change: impl FnOnce(&mut Shared)) -> Self {
        let mut shared = Arc::try_unwrap(self.0).unwrap_or_else(|shared| Shared {
            server: shared.server.clone(),
            verifier: shared.verifier.clone(),
            names: shared.names.clone(),
            sessions: shared.sessions.clone(),
            limits: shared.limits.clone(),
            public_metrics: shared.public_metrics,
            probes: shared.probes.clone(),
            service: OnceLock::new(),
        });
        shared.service = OnceLock::new();
        change(&mut shared);
        Self(Arc::new(shared))
    }

    pub(super) fn service(&self) -> &Service {
        self.0.service.get_or_init(|| {
            let mut probes = self.0.probes.clone();
            probes.extend(self.0.verifier.as_ref().map(keys_missing));
            Service::new(
                self.0.server.skills().clone(),
                self.0.limits.clone(),
                self.0.server.environment().clone(),
                probes,
            )
        })
    }
}

impl PublicUrl {
    fn parse(url: &str) -> Option<Self> {
        let url = url.trim_end_matches('/');
        let url = url.strip_suffix(super::PATH).unwrap_or(url);
        let (scheme, rest) = url.split_once("://")?;
        let (authority, prefix) = match rest.find('/') {
            Some(at) => rest.split_at(at),
            None => (rest, ""),
        };
        let root = format!("{scheme}://{authority}");
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte);
        let usable = matches!(scheme, "http" | "https")
            && prefix.bytes().all(plain)
            && !prefix.contains("//")
            && !prefix.split('/').any(|part| matches!(part, "." | ".."));
        usable.then_some(())?;
        Some(Self {
            origin: Origin::parse(&root)?,
            root,
            prefix: prefix.to_owned(),
        })
    }
}

impl fmt::Debug for McpHttpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpHttpServer")
            .field("server", &self.0.server)
            .field("anonymous", &self.0.verifier.is_none())
            .field("limits", &self.0.limits)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn public_urls() {
        for (url, root, prefix) in [
            ("https://a.example", "https://a.example", ""),
            ("https://a.example/", "https://a.example", ""),
            ("https://a.example/mcp", "https://a.example", ""),
            ("http://a.example:8443/x/y/mcp/", "http://a.example:8443", "/x/y"),
            ("https://[::1]:1/x", "https://[::1]:1", "/x"),
        ] {
            let parsed = PublicUrl::parse(url).expect(url);
            assert_eq!(
                (parsed.root.as_str(), parsed.prefix.as_str()),
                (root, prefix),
                "{url}"
            );
        }
        for url in [
            "",
            "a.example",
            "ftp://a.example",
            "https://",
            "https://a.example/x?y",
            "https://a.example/x#y",
            "https://a.example/../x",
            "https://a.example//x",
            "https://u:p@a.example",
            "https://a.example:x",
            "https://a b",
        ] {
            assert_eq!(PublicUrl::parse(url), None, "{url}");
        }
    }
}
