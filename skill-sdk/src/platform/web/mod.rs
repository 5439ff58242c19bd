//! HTTP for the clients of services. A request and its response are plain data, so that a test can replace the network.

use std::borrow::Cow;
use std::error::Error;
use std::future::Future;
use std::pin::Pin;
use std::sync::LazyLock;
use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, ETAG, HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder, Url};
use serde_json::Value;

pub(crate) use reqwest::Method;

use crate::contract::json;

/// The timeout for opening a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// A request. It contains credentials, so it does not implement `Debug`.
pub(crate) struct Request<'a> {
    pub(crate) method: Method,
    pub(crate) url: &'a str,
    /// Names in lower case.
    pub(crate) headers: Vec<(&'static str, Cow<'a, str>)>,
    pub(crate) body: Option<&'a Value>,
    /// The largest response, in bytes.
    pub(crate) limit: usize,
    /// The timeout of the whole request.
    pub(crate) timeout: Duration,
}

/// A response. Its body may contain a credential, so it does not implement `Debug`.
#[cfg_attr(
    not(feature = "core"),
    expect(dead_code, reason = "only artifacts have a type and a tag")
)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) media_type: Option<String>,
    pub(crate) etag: Option<String>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    /// A JSON response of a mock.
    #[cfg(all(feature = "core", feature = "testing"))]
    pub(crate) fn of(status: u16, document: &Value) -> Self {
        Self {
            status,
            media_type: Some("application/json".to_owned()),
            etag: None,
            body: document.to_string().into_bytes(),
        }
    }

    pub(crate) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// The body as JSON; `None` when it is not JSON.
    pub(crate) fn json(&self) -> Option<Value> {
        json::parse(&self.body).ok()
    }
}

/// Why a request got no response.
#[derive(Debug, Clone)]
pub(crate) enum WebError {
    /// The request timed out, or the connection failed. The text is for the log.
    Unreachable(String),
    /// The response is larger than the request allows.
    TooLarge,
    /// The request cannot be sent. The text is for people.
    Unsendable(String),
}

/// A response that is awaited.
pub(crate) type Sent<'a> = Pin<Box<dyn Future<Output = Result<Answer, WebError>> + Send + 'a>>;

/// Sends requests: an HTTP client, or its mock in a test.
pub(crate) trait Transport: Send + Sync + 'static {
    fn send<'a>(&'a self, request: Request<'a>) -> Sent<'a>;
}

/// Whether the scheme of an address is `https`, in any case.
fn is_tls(address: &str) -> bool {
    Url::parse(address).is_ok_and(|url| url.scheme() == "https")
}

/// Whether `address` is an absolute HTTP address without user name, password, query and fragment.
#[cfg(feature = "core")]
pub(crate) fn is_web_address(address: &str) -> bool {
    Url::parse(address).is_ok_and(|url| {
        matches!(url.scheme(), "http" | "https")
            && url.has_host()
            && url.username().is_empty()
            && url.password().is_none()
            && url.query().is_none()
            && url.fragment().is_none()
    })
}

/// HTTP over the network, with one client for the whole process.
pub(crate) struct Web;

/// The client for `http`. It does not load trusted certificates, so it also works in an image without any.
static PLAIN: LazyLock<reqwest::Result<Client>> = LazyLock::new(|| client().tls_certs_only([]).build());

/// The client for `https`.
static TLS: LazyLock<reqwest::Result<Client>> = LazyLock::new(|| client().build());

/// A client for requests with a credential. It does not follow redirects, so that the credential is not sent to another server,
/// and ignores proxies of the environment.
fn client() -> ClientBuilder {
    Client::builder()
        .redirect(Policy::none())
        .no_proxy()
        .referer(false)
        .connect_timeout(CONNECT_TIMEOUT)
        .user_agent(concat!("skill-sdk/", env!("CARGO_PKG_VERSION")))
}

impl Transport for Web {
    fn send<'a>(&'a self, request: Request<'a>) -> Sent<'a> {
        Box::pin(async move {
            let client = if is_tls(request.url) { &TLS } else { &PLAIN };
            let client = client.as_ref().map_err(|error| {
                WebError::Unreachable(format!(
                    "cannot create an HTTP client (are trusted certificates installed?): {error}"
                ))
            })?;
            let mut builder = client
                .request(request.method, request.url)
                .timeout(request.timeout);
            for (name, value) in request.headers {
                let mut value = HeaderValue::from_str(&value).map_err(|_| {
                    WebError::Unsendable(format!(
                        "the value for the header `{name}` contains characters that are not allowed in a header"
                    ))
                })?;
                value.set_sensitive(true);
                builder = builder.header(name, value);
            }
            if let Some(body) = request.body {
                builder = builder.json(body);
            }
            let mut response = builder.send().await?;
            let text = |name: HeaderName| Some(response.headers().get(name)?.to_str().ok()?.to_owned());
            let mut answer = Answer {
                status: response.status().as_u16(),
                media_type: text(CONTENT_TYPE),
                etag: text(ETAG),
                body: Vec::new(),
            };
            if response.content_length() > Some(request.limit as u64) {
                return Err(WebError::TooLarge);
            }
            while let Some(chunk) = response.chunk().await? {
                if chunk.len() > request.limit - answer.body.len() {
                    return Err(WebError::TooLarge);
                }
                answer.body.extend_from_slice(&chunk);
            }
            Ok(answer)
        })
    }
}

/// The error with all its causes, without the address.
impl From<reqwest::Error> for WebError {
    fn from(error: reqwest::Error) -> Self {
        let error = error.without_url();
        let mut text = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            text.push_str(&format!(": {cause}"));
            source = cause.source();
        }
        if error.is_builder() {
            Self::Unsendable(format!("the address cannot be used: {text}"))
        } else {
            Self::Unreachable(text)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_tls;

    #[test]
    fn the_scheme_is_case_insensitive() {
        for address in ["https://store.test", "HTTPS://store.test", "hTTPs://core.test"] {
            assert!(is_tls(address), "{address}");
        }
        // A host name is not a scheme.
        assert!(!is_tls("http://https.test"));
    }
}
