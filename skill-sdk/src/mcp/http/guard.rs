//! Which host names and origins are served.
//!
//! A web page can make a browser send requests to a server on the same machine, and with a name that it made point there
//! it can even read the answers. Such requests carry the page's name in `Host` or `Origin`.

use axum::http::header::{HOST, ORIGIN};
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::Response;

use super::config::Names;
use super::routes::rejection;

/// A host name, and a port unless any will do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Authority {
    name: String,
    port: Option<u16>,
}

impl Authority {
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (name, port) = match text.strip_prefix('[') {
            Some(rest) => {
                let (name, port) = rest.split_once(']')?;
                (name, port.strip_prefix(':').or((!port.is_empty()).then_some("?")))
            }
            None => match text.split_once(':') {
                // An address of IPv6 without brackets.
                Some((_, rest)) if rest.contains(':') => (text, None),
                Some((name, port)) => (name, Some(port)),
                None => (text, None),
            },
        };
        let name = name.trim_end_matches('.').to_ascii_lowercase();
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:%".contains(&byte);
        if name.is_empty() || !name.bytes().all(plain) {
            return None;
        }
        let port = match port {
            None => None,
            Some(port) => Some(port.parse().ok()?),
        };
        Some(Self { name, port })
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
pub(super) struct Origin {
    scheme: String,
    authority: Authority,
}

impl Origin {
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (scheme, rest) = text.split_once("://")?;
        let scheme = scheme.to_ascii_lowercase();
        let mut authority = Authority::parse(rest)?;
        authority.port = authority.port.or(match scheme.as_str() {
            "http" => Some(80),
            "https" => Some(443),
            _ => None,
        });
        let plain = !scheme.is_empty()
            && scheme
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
        plain.then_some(Self { scheme, authority })
    }

    fn is_loopback(&self) -> bool {
        matches!(self.scheme.as_str(), "http" | "https") && self.authority.is_loopback()
    }
}

/// Rejects requests for host names and from origins that are not served; the error is the message.
pub(super) fn check(names: &Names, uri: &Uri, headers: &HeaderMap) -> Result<(), &'static str> {
    check_host(names, uri, headers)?;
    check_origin(names, headers)
}

fn check_host(names: &Names, uri: &Uri, headers: &HeaderMap) -> Result<(), &'static str> {
    if names.any_host {
        return Ok(());
    }
    let mut sent = headers.get_all(HOST).iter();
    let text = match (sent.next(), sent.next()) {
        (Some(_), Some(_)) => None,
        (Some(host), None) => host.to_str().ok(),
        // HTTP/2 says it in the target.
        (None, _) => uri.authority().map(axum::http::uri::Authority::as_str),
    };
    let host = text.and_then(Authority::parse);
    let served = host.as_ref().is_some_and(|host| {
        host.is_loopback()
            || names.hosts.iter().any(|allowed| allowed.means(host))
            || names
                .public
                .as_ref()
                .is_some_and(|public| public.origin.authority.name == host.name)
    });
    if served {
        return Ok(());
    }
    let name = host.map_or_else(|| "its-name".to_owned(), |host| host.name);
    tracing::warn!(
        host = text.unwrap_or_default(),
        "rejected a request for another host name: if it is yours, serve it with --allowed-host {name} or --public-url"
    );
    Err(
        "the host name of this request is not served here; the operator can allow it with --allowed-host or --public-url",
    )
}

fn check_origin(names: &Names, headers: &HeaderMap) -> Result<(), &'static str> {
    let mut sent = headers.get_all(ORIGIN).iter();
    let Some(first) = sent.next() else {
        return Ok(());
    };
    if names.any_origin {
        return Ok(());
    }
    let text = first.to_str().ok().filter(|_| sent.next().is_none());
    let origin = text.and_then(Origin::parse);
    let served = origin.as_ref().is_some_and(|origin| {
        origin.is_loopback()
            || names.origins.contains(origin)
            || names
                .public
                .as_ref()
                .is_some_and(|public| public.origin == *origin)
    });
    if served {
        return Ok(());
    }
    tracing::warn!(
        origin = text.unwrap_or_default(),
        "rejected a request from a web page of another origin: if it is yours, serve it with --allowed-origin"
    );
    Err("web pages of this origin are not served here; the operator can allow it with --allowed-origin")
}

/// The response to a request that [`check`] rejects.
pub(super) fn rejected(message: &str) -> Response {
    rejection(StatusCode::FORBIDDEN, message)
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
}
