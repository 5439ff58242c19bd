//! Exchanges the platform access token for a short-lived token of an audience.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::super::cached::Cached;
use super::super::clock::Clock;
use super::super::web::{Method, Request, Transport, WebError};
use super::IamSettings;
use super::identity::platform_token;
use crate::environment::Secret;
use crate::error::SkillError;

/// The timeout of the exchange.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The largest response, in bytes.
const MAX_ANSWER: usize = 1024 * 1024;

/// How long before its expiry a token is renewed.
const MARGIN: Duration = Duration::from_secs(30);

/// The token of one audience. One caller at a time renews it, 30 s before its expiry.
pub(crate) struct AudienceToken {
    settings: IamSettings,
    transport: Arc<dyn Transport>,
    token: Cached<Secret, SkillError>,
}

impl AudienceToken {
    pub(crate) fn new(settings: IamSettings, transport: &Arc<dyn Transport>, clock: &Clock) -> Self {
        Self {
            settings,
            transport: Arc::clone(transport),
            token: Cached::new(clock),
        }
    }

    /// The token.
    pub(crate) async fn get(&self) -> Result<Secret, SkillError> {
        let renew = || async {
            let (token, expires_in) = self.exchange().await?;
            self.token.set(token.clone(), expires_in.saturating_sub(MARGIN));
            Ok(token)
        };
        self.token.get_or_renew(false, renew).await
    }

    /// Removes `token` from the cache.
    pub(crate) fn forget(&self, token: &Secret) {
        self.token.clear_if(|known| known == token);
    }

    /// Requests a token for the audience of the settings from the IAM. Returns it with its lifetime.
    async fn exchange(&self) -> Result<(Secret, Duration), SkillError> {
        let settings = self.settings.clone();
        // The file system may block.
        let token = tokio::task::spawn_blocking(move || platform_token(&settings)).await;
        let token = token.map_err(|error| {
            let message = "reading the credential for the IAM was interrupted";
            SkillError::retryable("iam_unreachable", message).with_source(error)
        })??;
        let IamSettings {
            url,
            audience,
            scopes,
            ..
        } = &self.settings;
        let request = Request {
            method: Method::POST,
            url: &format!("{url}/api/v1/platform-access-tokens:exchange"),
            headers: Vec::new(),
            body: Some(&json!({"token": token.expose(), "audience": audience, "scopes": scopes})),
            limit: MAX_ANSWER,
            timeout: TIMEOUT,
        };
        let answer = self.transport.send(request).await.map_err(|error| match error {
            WebError::Unreachable(source) => {
                SkillError::retryable("iam_unreachable", "the IAM cannot be reached").with_source(source)
            }
            WebError::TooLarge => malformed("it is larger than 1 MiB"),
            WebError::Unsendable(why) => SkillError::terminal("iam_exchange_failed", why),
        })?;
        match answer.status {
            200..300 => {}
            401 => {
                return Err(SkillError::terminal(
                    "iam_invalid_token",
                    "the IAM rejects the platform access token: it is revoked, expired or unknown",
                ));
            }
            403 => {
                let message = format!(
                    "the platform access token is not allowed for the audience `{audience}` with these scopes"
                );
                return Err(SkillError::terminal("iam_audience_not_allowed", message));
            }
            status => {
                let message = format!("the IAM returned status {status}");
                let failure = if status >= 500 || status == 429 {
                    SkillError::retryable("iam_exchange_failed", message)
                } else {
                    SkillError::terminal("iam_exchange_failed", message)
                };
                return Err(failure.with_details(json!({"status": status})));
            }
        }
        let document = answer.json().unwrap_or_default();
        let token = document["accessToken"].as_str().filter(|token| !token.is_empty());
        let token = token.ok_or_else(|| malformed("it has no `accessToken`"))?;
        let expires_in = seconds(&document["expiresIn"]).ok_or_else(|| malformed("it has no `expiresIn`"))?;
        Ok((Secret::new(token), expires_in))
    }
}

/// A time in seconds, cut to 136 years.
pub(crate) fn seconds(value: &Value) -> Option<Duration> {
    let seconds = value.as_f64().filter(|seconds| *seconds >= 0.0)?;
    let longest = f64::from(u32::MAX);
    Some(Duration::from_secs_f64(seconds.min(longest)))
}

fn malformed(why: &str) -> SkillError {
    SkillError::terminal(
        "iam_exchange_malformed",
        format!("the response of the IAM to the token exchange is invalid: {why}"),
    )
}
