//! The client and the bodies of its answers.

use std::fmt;
use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder, Response};

/// How long a connection may take to be made.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// A client for requests that carry a credential: it follows no redirect, so that the credential goes to nobody else, and
/// uses no proxy of the environment.
///
/// Without `tls` no trusted certificates are loaded, and `https` fails.
pub(crate) fn builder(tls: bool) -> ClientBuilder {
    let builder = Client::builder()
        .redirect(Policy::none())
        .no_proxy()
        .referer(false)
        .connect_timeout(CONNECT_TIMEOUT)
        .user_agent(concat!("skill-sdk/", env!("CARGO_PKG_VERSION")));
    if tls { builder } else { builder.tls_certs_only([]) }
}

/// Why a body was not read.
#[derive(Debug)]
pub(crate) enum BodyError {
    /// It has more bytes than the limit.
    TooLarge,
    /// The connection broke.
    Broken(reqwest::Error),
}

impl fmt::Display for BodyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge => f.write_str("the answer is larger than allowed"),
            Self::Broken(error) => write!(f, "the answer broke off: {error}"),
        }
    }
}

/// The body of an answer, of at most `limit` bytes.
pub(crate) async fn read_body(mut response: Response, limit: usize) -> Result<Vec<u8>, BodyError> {
    let announced = response.content_length().unwrap_or(0);
    let announced = usize::try_from(announced).unwrap_or(usize::MAX);
    if announced > limit {
        return Err(BodyError::TooLarge);
    }
    let mut body = Vec::with_capacity(announced);
    while let Some(chunk) = response
        .chunk()
        .await
        .map_err(|error| BodyError::Broken(error.without_url()))?
    {
        if chunk.len() > limit - body.len() {
            return Err(BodyError::TooLarge);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}
