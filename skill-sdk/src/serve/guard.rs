//! Host names and origins that are served (`Host` and `Origin` checks).
//!
//! A web page can make a browser send requests to a server on the same machine, and with a name that it made point there
//! it can even read the responses. Such requests carry the page's name in `Host` or `Origin`, or are marked as cross-site.

use std::net::Ipv6Addr;
use std::sync::Arc;
use std::time::Instant;

use axum::http::header::{HOST, ORIGIN};
use axum::http::{HeaderMap, HeaderValue, Uri, uri};

use super::log_limit::LogLimit;
use crate::error::ConfigError;

/// A host name, and a port unless any will do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Authority {
    name: String,
    port: Option<u16>,
}

impl Authority {
    /// Reads `NAME` or `NAME:PORT`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        // An IPv6 address may be written without brackets.
        let bracketed = text.parse::<Ipv6Addr>().map(|address| format!("[{address}]"));
        let text = bracketed.as_deref().unwrap_or(text);
        let authority: uri::Authority = text.parse().ok()?;
        let (name, port) = (authority.host(), authority.port_u16());
        // Rejects user names and invalid ports.
        let whole = port.map_or_else(|| name.to_owned(), |port| format!("{name}:{port}"));
        let name = name.trim_matches(['[', ']']).trim_end_matches('.');
        (whole == text && !name.is_empty()).then(|| Self {
            name: name.to_ascii_lowercase(),
            port,
        })
    }

    fn is_loopback(&self) -> bool {
        matches!(self.name.as_str(), "localhost" | "127.0.0.1" | "::1")
    }

    /// Whether this entry of a list means `other`. An entry without a port means every port.
    fn means(&self, other: &Self) -> bool {
        self.name == other.name && (self.port.is_none() || self.port == other.port)
    }
}

/// Where a web page comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Origin {
    scheme: uri::Scheme,
    authority: Authority,
}

impl Origin {
    /// Reads `SCHEME://NAME` or `SCHEME://NAME:PORT`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (scheme, rest) = text.split_once("://")?;
        let scheme: uri::Scheme = scheme.to_ascii_lowercase().parse().ok()?;
        let mut authority = Authority::parse(rest).filter(|_| !scheme.as_str().is_empty())?;
        authority.port = authority.port.or(match scheme.as_str() {
            "http" => Some(80),
            "https" => Some(443),
            _ => None,
        });
        Some(Self { scheme, authority })
    }

    fn is_loopback(&self) -> bool {
        matches!(self.scheme.as_str(), "http" | "https") && self.authority.is_loopback()
    }
}

/// The host names and origins that are served beside the loopback ones.
#[derive(Debug, Clone, Default)]
pub(crate) struct Guard {
    hosts: Vec<Authority>,
    any_host: bool,
    origins: Vec<Origin>,
    any_origin: bool,
    log: Arc<LogLimit>,
}

impl Guard {
    /// Serves one more host name: `NAME`, `NAME:PORT` or `*` for all.
    pub(crate) fn allow_host(&mut self, name: &str) -> Result<(), ConfigError> {
        if name == "*" {
            self.any_host = true;
            return Ok(());
        }
        let authority = Authority::parse(name);
        let error = || ConfigError::form("host", name, "NAME, NAME:PORT or *");
        self.hosts.push(authority.ok_or_else(error)?);
        Ok(())
    }

    /// Serves web pages of one more origin: `SCHEME://NAME`, `SCHEME://NAME:PORT` or `*` for all.
    pub(crate) fn allow_origin(&mut self, text: &str) -> Result<(), ConfigError> {
        if text == "*" {
            self.any_origin = true;
            return Ok(());
        }
        let origin = Origin::parse(text);
        let error = || ConfigError::form("origin", text, "SCHEME://NAME or SCHEME://NAME:PORT");
        self.origins.push(origin.ok_or_else(error)?);
        Ok(())
    }

    /// Rejects requests for host names and from web pages that are not served, with a message for the client.
    pub(crate) fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), &'static str> {
        self.check_host(uri, headers)?;
        self.check_origin(headers)
    }

    fn check_host(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), &'static str> {
        if self.any_host {
            return Ok(());
        }
        let mut sent = headers.get_all(HOST).iter();
        let text = match (sent.next(), sent.next()) {
            (Some(_), Some(_)) => None,
            (Some(host), None) => host.to_str().ok(),
            // HTTP/2 says it in the target.
            (None, _) => uri.authority().map(uri::Authority::as_str),
        };
        if text.is_some_and(is_loopback) {
            return Ok(());
        }
        let host = text.and_then(Authority::parse);
        let served = host
            .as_ref()
            .is_some_and(|host| host.is_loopback() || self.hosts.iter().any(|allowed| allowed.means(host)));
        if served {
            return Ok(());
        }
        if self.log.allows(Instant::now()) {
            let name = host.map_or_else(|| "its-name".to_owned(), |host| host.name);
            tracing::warn!(
                host = text.unwrap_or_default(),
                "rejected a request for another host name: if it is yours, serve it with --allowed-host {name} or --public-url"
            );
        }
        Err(
            "the host name of this request is not served here; the operator can allow it with --allowed-host or --public-url",
        )
    }

    fn check_origin(&self, headers: &HeaderMap) -> Result<(), &'static str> {
        if self.any_origin {
            return Ok(());
        }
        let mut sent = headers.get_all(ORIGIN).iter();
        let text = match sent.next() {
            Some(first) => first.to_str().ok().filter(|_| sent.next().is_none()),
            // Some requests of web pages carry no origin, but every browser says where they come from.
            None => match headers.get("sec-fetch-site").map(HeaderValue::as_bytes) {
                None | Some(b"same-origin" | b"none") => return Ok(()),
                Some(_) => None,
            },
        };
        let origin = text.and_then(Origin::parse);
        let served = origin
            .as_ref()
            .is_some_and(|origin| origin.is_loopback() || self.origins.contains(origin));
        if served {
            return Ok(());
        }
        if self.log.allows(Instant::now()) {
            tracing::warn!(
                origin = text.unwrap_or_default(),
                "rejected a request from a web page of another origin: if it is yours, serve it with --allowed-origin"
            );
        }
        Err("web pages of this origin are not served here; the operator can allow it with --allowed-origin")
    }
}

/// Whether a header `Host` names this machine, as nearly all do: told without an allocation.
fn is_loopback(host: &str) -> bool {
    let is_port = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
    let name = host.rsplit_once(':').filter(|(_, port)| is_port(port));
    matches!(
        name.map_or(host, |(name, _)| name),
        "localhost" | "127.0.0.1" | "[::1]"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn authorities() {
        let table = [
            ("Localhost", Some(("localhost", None))),
            ("127.0.0.1:80", Some(("127.0.0.1", Some(80)))),
            ("[::1]:80", Some(("::1", Some(80)))),
            ("[::1]", Some(("::1", None))),
            ("::1", Some(("::1", None))),
            ("a.example.", Some(("a.example", None))),
            ("", None),
            (":80", None),
            ("a:b", None),
            ("a:99999", None),
            ("[::1", None),
            ("[::1]x", None),
            ("a/b", None),
            ("u@a", None),
        ];
        for (text, expected) in table {
            let found = Authority::parse(text);
            let found = found.as_ref().map(|found| (found.name.as_str(), found.port));
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn origins_have_a_port() {
        let same = |a: &str, b: &str| Origin::parse(a).unwrap() == Origin::parse(b).unwrap();
        assert!(same("https://A.example", "https://a.example:443"));
        assert!(same("http://a.example", "http://a.example:80"));
        assert!(!same("http://a.example", "https://a.example"));
        assert!(!same("http://a.example", "http://a.example:8080"));
        for text in ["null", "", "a.example", "://a", "http://", "http://a/b"] {
            assert_eq!(Origin::parse(text), None, "{text}");
        }
        assert!(Origin::parse("http://localhost:1").unwrap().is_loopback());
        assert!(!Origin::parse("ftp://localhost:1").unwrap().is_loopback());
        assert!(
            !Origin::parse("http://localhost.evil.example")
                .unwrap()
                .is_loopback()
        );
    }

    #[test]
    fn requests_of_foreign_pages_are_rejected() {
        let check = |guard: &Guard, headers: &[(&'static str, &'static str)]| {
            let mut map = HeaderMap::new();
            for (name, value) in headers {
                map.append(*name, value.parse().unwrap());
            }
            guard.check(&Uri::from_static("/"), &map).is_ok()
        };
        let mut guard = Guard::default();
        assert!(check(&guard, &[("host", "127.0.0.1:8080")]));
        assert!(check(
            &guard,
            &[("host", "localhost"), ("origin", "http://localhost:3000")]
        ));
        assert!(check(
            &guard,
            &[("host", "localhost"), ("sec-fetch-site", "none")]
        ));
        let page = [("host", "localhost"), ("origin", "https://evil.example")];
        let rebound = [("host", "evil.example:8080")];
        for headers in [
            page.as_slice(),
            rebound.as_slice(),
            &[],
            &[("host", "localhost"), ("sec-fetch-site", "cross-site")],
            &[("host", "localhost"), ("origin", "null")],
        ] {
            assert!(!check(&guard, headers), "{headers:?}");
        }
        guard.allow_host("evil.example").unwrap();
        guard.allow_origin("https://evil.example").unwrap();
        assert!(check(&guard, &page) && check(&guard, &rebound));
        assert!(guard.allow_host("a/b").is_err() && guard.allow_origin("evil.example").is_err());
    }
}
