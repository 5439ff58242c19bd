//! Where keys come from.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::OnceLock;

use reqwest::redirect::Policy;
use reqwest::{Client, StatusCode, Url};

use super::jwks::MAX_JWKS_BYTES;
use super::keys::KEYS_TIMEOUT;
use super::settings::SettingsError;

/// A JWKS document that is on its way.
pub type Fetching<'a> = Pin<Box<dyn Future<Output = Result<Vec<u8>, KeySourceError>> + Send + 'a>>;

/// Where the JWKS document of the issuer comes from.
///
/// [`HttpKeys`] is the one that hosts use. Write your own to read keys from somewhere else.
pub trait KeySource: Send + Sync + 'static {
    /// Fetches the document. Whoever asks gives up after [`KEYS_TIMEOUT`].
    fn fetch(&self) -> Fetching<'_>;
}

/// Why there is no usable document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeySourceError(String);

impl KeySourceError {
    /// A reason for the log.
    pub fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }
}

impl fmt::Display for KeySourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for KeySourceError {}

/// Fetches the document over HTTP. Redirects are not followed, and nothing but a 200 of at most [`MAX_JWKS_BYTES`] counts.
pub struct HttpKeys {
    /// Made for the first fetch: reading the certificates of the system would delay the start of a host.
    client: OnceLock<Client>,
    url: Url,
    own_machine: bool,
}

impl HttpKeys {
    /// Fetches from `url`.
    ///
    /// # Errors
    ///
    /// The URL is not `https`, or not `http` on a loopback address: whoever can change keys on their way can sign
    /// tokens. It must not hold a user name or a password.
    pub fn new(url: &str) -> Result<Self, SettingsError> {
        let url = Url::parse(url).map_err(|error| {
            SettingsError::JwksUrl(format!("must be a URL such as https://iam.example/jwks: {error}"))
        })?;
        let refused = |why: &str| Err(SettingsError::JwksUrl(why.to_owned()));
        if !url.username().is_empty() || url.password().is_some() {
            return refused("must not hold a user name or a password");
        }
        let own_machine = url.host_str().is_some_and(is_loopback);
        match url.scheme() {
            "https" => {}
            "http" if own_machine => {}
            _ => {
                return refused(
                    "must begin with https://; http:// is for loopback addresses only, since whoever can change keys \
                     on their way can sign tokens",
                );
            }
        }
        Ok(Self {
            client: OnceLock::new(),
            url,
            own_machine,
        })
    }

    fn client(&self) -> Result<&Client, KeySourceError> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let mut client = Client::builder()
            .redirect(Policy::none())
            .timeout(KEYS_TIMEOUT)
            // Requests are minutes apart: a connection that waits for the next one is a connection that broke.
            .pool_max_idle_per_host(0)
            .user_agent(concat!("skill-sdk/", env!("CARGO_PKG_VERSION")));
        if self.own_machine {
            client = client.no_proxy();
        }
        let client = client.build().map_err(|error| {
            KeySourceError::new(format!("there is no client for HTTP: {}", chain(&error)))
        })?;
        Ok(self.client.get_or_init(|| client))
    }

    async fn document(&self) -> Result<Vec<u8>, KeySourceError> {
        let failed = |error: reqwest::Error| KeySourceError::new(chain(&error.without_url()));
        let mut response = self
            .client()?
            .get(self.url.clone())
            .send()
            .await
            .map_err(failed)?;
        if response.status() != StatusCode::OK {
            return Err(KeySourceError::new(format!(
                "the answer is {}",
                response.status()
            )));
        }
        let mut document = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(failed)? {
            if document.len() + chunk.len() > MAX_JWKS_BYTES {
                return Err(KeySourceError::new(format!(
                    "the JWKS document is larger than {MAX_JWKS_BYTES} bytes"
                )));
            }
            document.extend_from_slice(&chunk);
        }
        Ok(document)
    }
}

impl KeySource for HttpKeys {
    fn fetch(&self) -> Fetching<'_> {
        Box::pin(self.document())
    }
}

/// The URL may be a secret of the installation in parts: only its host is shown.
impl fmt::Debug for HttpKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpKeys")
            .field("host", &self.url.host_str())
            .finish_non_exhaustive()
    }
}

fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost"
        || address
            .parse::<IpAddr>()
            .is_ok_and(|address| address.to_canonical().is_loopback())
}

/// An error with what caused it, in one line.
fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_over_https_or_from_this_machine() {
        for url in [
            "https://iam.example/jwks",
            "HTTPS://iam.example:8443/a?b=c",
            "http://127.0.0.1:1/jwks",
            "http://127.9.9.9/jwks",
            "http://[::1]:1/jwks",
            "http://localhost:1/jwks",
        ] {
            assert!(HttpKeys::new(url).is_ok(), "{url}");
        }
        for (url, why) in [
            ("http://iam.example/jwks", "https://"),
            ("http://10.0.0.1/jwks", "https://"),
            ("http://127.0.0.1.example/jwks", "https://"),
            ("http://localhost.example/jwks", "https://"),
            ("file:///etc/passwd", "https://"),
            ("https://user:hunter2@iam.example/jwks", "user name"),
            ("https://user@iam.example/jwks", "user name"),
            ("iam.example/jwks", "a URL"),
            ("", "a URL"),
        ] {
            let error = HttpKeys::new(url).unwrap_err().to_string();
            assert!(
                error.contains(why) && error.contains("SKILL_SDK_JWKS_URL"),
                "{url}: {error}"
            );
            assert!(!error.contains("hunter2") && !error.contains('\n'), "{error}");
        }
    }
}
