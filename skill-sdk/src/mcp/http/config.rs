//! The settings of a server.

use std::fmt;
use std::sync::Arc;

use super::sessions::Sessions;
use crate::auth::Verifier;
use crate::error::ConfigError;
use crate::http::{HttpServer, Limits};
use crate::mcp::McpServer;

/// Skills to host over streamable HTTP, who may call them, and the limits.
///
/// It is cheap to clone. All clones share what they count and whether they are stopping, once one of them was made into
/// a [`router`](super::router) or is served.
#[derive(Clone)]
pub struct McpHttpServer {
    pub(super) mcp: McpServer,
    /// The settings that every port has.
    pub(super) http: HttpServer,
    /// `None`: the server has no sessions.
    pub(super) sessions: Option<Arc<Sessions>>,
    pub(super) public: Option<Arc<PublicUrl>>,
    pub(super) cors: bool,
}

/// The URL under which clients reach the server.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PublicUrl {
    /// `https://agents.example.com`.
    pub(super) root: String,
    /// Empty, or `/skills`.
    pub(super) prefix: String,
}

impl McpHttpServer {
    /// Callers need a bearer token that the verifier takes, before anything else and on every path but `/healthz`,
    /// `/readyz` and the metadata that says where tokens come from. Skills find the caller in their context.
    pub fn new(server: McpServer, verifier: Verifier) -> Self {
        let http = HttpServer::new(server.0.skills.clone(), verifier);
        Self::over(server, http)
    }

    /// Anybody who reaches the routes may call the tools. Use it for development, or behind a layer of your own that
    /// checks callers.
    pub fn anonymous(server: McpServer) -> Self {
        let http = HttpServer::anonymous(server.0.skills.clone());
        Self::over(server, http)
    }

    /// The tools of a server, called by those whom `http` lets in.
    pub(crate) fn over(mut mcp: McpServer, http: HttpServer) -> Self {
        if !http.is_anonymous() {
            mcp = mcp.with(|shared| shared.private = true);
        }
        Self {
            http: http.environment(mcp.0.environment.clone()),
            mcp,
            sessions: None,
            public: None,
            cors: false,
        }
    }

    /// Sets what is taken from clients, and how much of it. These limits take the place of
    /// [`McpServer::concurrency`](crate::mcp::McpServer::concurrency).
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.http = self.http.limits(limits);
        self
    }

    /// Asks for no token and looks at no host name at `/metrics`, for a Prometheus that has none and comes by address. The
    /// names of the skills are read there.
    #[must_use]
    pub fn public_metrics(mut self) -> Self {
        self.http = self.http.public_metrics();
        self
    }

    /// Serves requests for one more host name: `agents.example.com`, `agents.example.com:8443` or `*` for all. Without a port
    /// it is any port. Loopback names are always served.
    ///
    /// # Errors
    ///
    /// `name` must be a host name, a host name with a port, or `*`.
    pub fn allow_host(mut self, name: &str) -> Result<Self, ConfigError> {
        self.http = self.http.allow_host(name)?;
        Ok(self)
    }

    /// Serves requests from web pages of one more origin: `https://app.example.com`, `http://example.com:3000` or `*` for
    /// all. Pages of loopback origins are always served, and so are requests that come from no page.
    ///
    /// # Errors
    ///
    /// `origin` must be `SCHEME://NAME`, `SCHEME://NAME:PORT` or `*`.
    pub fn allow_origin(mut self, origin: &str) -> Result<Self, ConfigError> {
        self.http = self.http.allow_origin(origin)?;
        Ok(self)
    }

    /// Sets the URL under which clients reach the server through a proxy, without `/mcp`: `https://agents.example.com` or
    /// `https://example.com/skills`. Its host name and origin are served, and a path is served with and without it.
    ///
    /// # Errors
    ///
    /// `url` must be an `http` or `https` URL with a host name and without a query.
    pub fn public_url(mut self, url: &str) -> Result<Self, ConfigError> {
        let expected = "https://NAME, https://NAME:PORT or https://NAME/PATH, without a query";
        let error = || ConfigError::form("public URL", url, expected);
        let public = PublicUrl::parse(url).ok_or_else(error)?;
        let name = public.name().ok_or_else(error)?;
        let served = self.http.allow_origin(&public.root);
        self.http = served
            .and_then(|http| http.allow_host(name))
            .map_err(|_| error())?;
        self.public = Some(Arc::new(public));
        Ok(self)
    }

    /// Sets whether web pages of the origins that are served may read the responses (CORS). Off by default.
    #[must_use]
    pub fn cors(mut self, on: bool) -> Self {
        self.cors = on;
        self
    }

    /// Sets whether a client of revision 2025-11-25 or older gets a session when it says that it can be asked. Without one
    /// `ctx.ask` fails for it; clients of later revisions need none. A client must then always reach the same replica.
    /// Off by default.
    #[must_use]
    pub fn sessions(mut self, on: bool) -> Self {
        self.sessions = on.then(Arc::default);
        self
    }
}

impl PublicUrl {
    fn parse(url: &str) -> Option<Self> {
        let url = url.trim_end_matches('/');
        let url = url.strip_suffix(super::PATH).unwrap_or(url);
        let (scheme, rest) = url.split_once("://")?;
        let (authority, prefix) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte);
        let usable = matches!(scheme, "http" | "https")
            && prefix.bytes().all(plain)
            && !prefix.contains("//")
            && !prefix.split('/').any(|part| matches!(part, "." | ".."));
        usable.then(|| Self {
            root: format!("{scheme}://{authority}"),
            prefix: prefix.to_owned(),
        })
    }

    /// The host name. A proxy may send it with any port.
    fn name(&self) -> Option<&str> {
        let (_, authority) = self.root.split_once("://")?;
        match authority.rsplit_once(':') {
            Some((name, port)) if !port.contains(']') => Some(name),
            _ => Some(authority),
        }
    }
}

impl fmt::Debug for McpHttpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpHttpServer")
            .field("mcp", &self.mcp)
            .field("http", &self.http)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::Environment;
    use crate::pipeline::SkillSet;
    use crate::registry::Registry;

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
            let skills = SkillSet::new(&Registry::from_skills([]).unwrap()).unwrap();
            let server = McpServer::with_environment(skills, Environment::from_vars([])).unwrap();
            assert!(McpHttpServer::anonymous(server).public_url(url).is_err(), "{url}");
        }
    }
}
