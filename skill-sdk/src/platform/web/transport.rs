//! One request and its answer as plain data.

use std::borrow::Cow;
use std::error::Error;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use reqwest::Url;
use reqwest::header::{CONTENT_TYPE, ETAG, HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;

use super::{BodyError, builder, read_body};
use crate::contract::json;
use crate::error::SkillError;

/// The methods that the services use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    Get,
    Post,
}

/// One request. It holds credentials, so it has no `Debug`.
pub(crate) struct Request<'a> {
    pub(crate) method: Method,
    pub(crate) url: &'a str,
    /// Names in lower case.
    pub(crate) headers: Vec<(&'static str, Cow<'a, str>)>,
    /// A JSON text.
    pub(crate) body: Option<&'a [u8]>,
    /// The most bytes of the answer.
    pub(crate) limit: usize,
    /// How long the whole of it may take.
    pub(crate) timeout: Duration,
}

/// What came back. A body may hold a credential, so there is no `Debug`.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) media_type: Option<String>,
    pub(crate) etag: Option<String>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// The body as JSON; `None` when it is none.
    pub(crate) fn json(&self) -> Option<Value> {
        json::parse(&self.body).ok()
    }
}

/// Why there is no answer.
#[derive(Debug, Clone)]
pub(crate) enum ChatError {
    /// Nobody answered in time, or the connection broke. The text is for the log.
    Unreachable(String),
    /// The answer has more bytes than the request allows.
    TooLarge,
    /// The request cannot be sent as it is. The text is for people.
    Unsendable(String),
}

/// The answer to a request, when it comes.
pub(crate) type Sent<'a> = Pin<Box<dyn Future<Output = Result<Answer, ChatError>> + Send + 'a>>;

/// What carries requests: HTTP, or what stands in for it in a test.
pub(crate) trait Transport: Send + Sync + 'static {
    fn send<'a>(&'a self, request: Request<'a>) -> Sent<'a>;
}

/// Whether `address` is an absolute address for HTTP without a user name or password in it.
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

/// Whether an address is one of `https`, however it is written.
pub(crate) fn is_tls(address: &str) -> bool {
    Url::parse(address).is_ok_and(|url| url.scheme() == "https")
}

/// Requests over HTTP.
pub(crate) struct Http(reqwest::Client);

impl Http {
    /// Without `tls` only `http` addresses are reached.
    pub(crate) fn new(tls: bool) -> Result<Self, SkillError> {
        builder(tls).build().map(Self).map_err(|error| {
            SkillError::retryable(
                "config_invalid",
                "no HTTP client could be made: does the host have trusted certificates?",
            )
            .with_source(error.without_url())
        })
    }
}

impl Transport for Http {
    fn send<'a>(&'a self, request: Request<'a>) -> Sent<'a> {
        Box::pin(async move {
            let limit = request.limit;
            let timeout = request.timeout;
            let exchange = async {
                let response = self
                    .build(&request)?
                    .send()
                    .await
                    .map_err(|error| unreachable(&error))?;
                let answer = Answer {
                    status: response.status().as_u16(),
                    media_type: text(response.headers(), &CONTENT_TYPE),
                    etag: text(response.headers(), &ETAG),
                    body: Vec::new(),
                };
                match read_body(response, limit).await {
                    Ok(body) => Ok(Answer { body, ..answer }),
                    Err(BodyError::TooLarge) => Err(ChatError::TooLarge),
                    Err(BodyError::Broken(error)) => Err(unreachable(&error)),
                }
            };
            tokio::time::timeout(timeout, exchange).await.unwrap_or_else(|_| {
                let text = format!("no answer within {} seconds", timeout.as_secs_f32());
                Err(ChatError::Unreachable(text))
            })
        })
    }
}

impl Http {
    fn build(&self, request: &Request<'_>) -> Result<reqwest::RequestBuilder, ChatError> {
        let mut headers = HeaderMap::with_capacity(request.headers.len());
        for (name, value) in &request.headers {
            let mut value = HeaderValue::from_str(value).map_err(|_| {
                ChatError::Unsendable(format!(
                    "the value for the header `{name}` has characters that no header can hold"
                ))
            })?;
            value.set_sensitive(true);
            headers.insert(HeaderName::from_static(name), value);
        }
        let method = match request.method {
            Method::Get => reqwest::Method::GET,
            Method::Post => reqwest::Method::POST,
        };
        let builder = self.0.request(method, request.url).headers(headers);
        Ok(match request.body {
            Some(body) => builder
                .header(CONTENT_TYPE, "application/json")
                .body(body.to_vec()),
            None => builder,
        })
    }
}

fn text(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    Some(headers.get(name)?.to_str().ok()?.to_owned())
}

/// What went wrong with all its causes, without the address.
fn unreachable(error: &reqwest::Error) -> ChatError {
    let mut text = if error.is_connect() {
        "no connection".to_owned()
    } else if error.is_timeout() {
        "no answer in time".to_owned()
    } else {
        "the connection broke".to_owned()
    };
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    if error.is_builder() {
        ChatError::Unsendable(format!("the address cannot be used: {text}"))
    } else {
        ChatError::Unreachable(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        for good in ["http://core", "https://core.example:8443/base"] {
            assert!(is_web_address(good), "{good}");
        }
        for bad in [
            "",
            "core",
            "ftp://core",
            "http://",
            "http://user@core",
            "http://:secret@core",
            "http://core?x",
            "http://core#x",
            "data:x",
        ] {
            assert!(!is_web_address(bad), "{bad}");
        }
    }
}
