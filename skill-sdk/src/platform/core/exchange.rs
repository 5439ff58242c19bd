//! From the platform access token to a short-lived one for an audience.

use std::time::Duration;

use serde_json::{Value, json};

use super::super::web::{Method, Request, Transport, WebError};
use super::identity::platform_token;
use super::settings::IamSettings;
use crate::environment::Secret;
use crate::error::SkillError;

/// How long the exchange may take.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The most bytes of the answer.
const MAX_ANSWER: usize = 1024 * 1024;

/// Asks the IAM for a token of the audience in the settings. Says how long it is good for.
pub(super) async fn exchange(
    transport: &dyn Transport,
    settings: &IamSettings,
) -> Result<(Secret, Duration), SkillError> {
    let (from, audience) = (settings.clone(), &settings.audience);
    let token = read(move || platform_token(&from)).await?;
    let url = format!("{}/api/v1/platform-access-tokens:exchange", settings.url);
    let body = json!({"token": token.expose(), "audience": audience, "scopes": settings.scopes});
    let request = Request {
        method: Method::POST,
        url: &url,
        headers: Vec::new(),
        body: Some(&body),
        limit: MAX_ANSWER,
        timeout: TIMEOUT,
    };
    let answer = match transport.send(request).await {
        Ok(answer) => answer,
        Err(WebError::Unreachable(source)) => {
            return Err(
                SkillError::retryable("iam_unreachable", "the IAM cannot be reached").with_source(source),
            );
        }
        Err(WebError::TooLarge) => return Err(malformed("it has over 1 MiB")),
        Err(WebError::Unsendable(why)) => return Err(SkillError::terminal("iam_exchange_failed", why)),
    };
    match answer.status {
        200..300 => {}
        401 => {
            return Err(SkillError::terminal(
                "iam_invalid_token",
                "the IAM does not accept the platform access token: it is revoked, expired or unknown",
            ));
        }
        403 => {
            return Err(SkillError::terminal(
                "iam_audience_not_allowed",
                format!(
                    "the platform access token is not allowed for the audience `{audience}` with these scopes"
                ),
            ));
        }
        status => {
            let message = format!("the IAM answered {status}");
            let failure = if status >= 500 || status == 429 {
                SkillError::retryable("iam_exchange_failed", message)
            } else {
                SkillError::terminal("iam_exchange_failed", message)
            };
            return Err(failure.with_details(json!({"status": status})));
        }
    }
    let document = answer.json().unwrap_or_default();
    let token = document["accessToken"]
        .as_str()
        .filter(|token| !token.is_empty())
        .ok_or_else(|| malformed("it has no `accessToken`"))?;
    let expires_in = seconds(&document["expiresIn"]).ok_or_else(|| malformed("it has no `expiresIn`"))?;
    Ok((Secret::new(token), expires_in))
}

/// A time in seconds. One beyond what can be counted is a very long one.
pub(crate) fn seconds(value: &Value) -> Option<Duration> {
    let seconds = value.as_f64().filter(|seconds| *seconds >= 0.0)?;
    let longest = f64::from(u32::MAX);
    Some(Duration::from_secs_f64(seconds.min(longest)))
}

/// Reads what this host is known by, on a thread that may block.
async fn read(
    credential: impl FnOnce() -> Result<Secret, SkillError> + Send + 'static,
) -> Result<Secret, SkillError> {
    let span = tracing::Span::current();
    let read = tokio::task::spawn_blocking(move || span.in_scope(credential)).await;
    // A task that was stopped or panicked says nothing about what this host is known by.
    read.unwrap_or_else(|_| {
        Err(SkillError::retryable(
            "iam_unreachable",
            "reading the credential of this host for the IAM was given up before its end",
        ))
    })
}

fn malformed(why: &str) -> SkillError {
    SkillError::terminal(
        "iam_exchange_malformed",
        format!("the answer of the IAM to the exchange of tokens is not understood: {why}"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn reading_that_does_not_end_is_no_missing_credential() {
        let error = read(|| panic!("hunter2")).await.err().unwrap();
        assert_eq!((error.code(), error.is_retryable()), ("iam_unreachable", true));
        assert!(
            error.message().contains("the credential of this host") && !error.message().contains("hunter2"),
            "{error}"
        );
    }
}
