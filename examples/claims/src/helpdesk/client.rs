//! The HTTP client of the helpdesk.

use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{AUTHORIZATION, HeaderValue};
use reqwest::{Client, Response, StatusCode, Url, redirect};
use serde::Deserialize;
use serde_json::json;
use skill_sdk::{FailureExt, Secret, SkillContext, SkillError, state};

use super::{Desk, NotSent, ReplyIn};
use crate::mock_helpdesk::MockHelpdesk;

/// The timeout of one request, unless the call has less time left.
const PATIENCE: Duration = Duration::from_secs(10);

/// The HTTP client, shared by all calls. It is a type of its own because states are found by type, and another crate of
/// the program may share a plain [`Client`] with other settings.
#[derive(Debug)]
struct Shared(Client);

#[state]
fn shared() -> Result<Shared, reqwest::Error> {
    let client = Client::builder()
        .user_agent("claims-skills")
        // A redirect must not send the token to another address.
        .redirect(redirect::Policy::none())
        .no_proxy();
    client.build().map(Shared)
}

#[state]
async fn mock_helpdesk() -> std::io::Result<MockHelpdesk> {
    MockHelpdesk::start().await
}

/// The helpdesk of one call.
pub(super) struct Connection {
    shared: Arc<Shared>,
    address: Url,
    token: Secret,
    answered_by: Desk,
    patience: Duration,
}

/// The result of a message.
pub(super) enum Posted {
    Sent { message_id: String },
    NotSent(NotSent),
}

impl Connection {
    /// Connects to the configured helpdesk, or to the mock if none is configured.
    pub(super) async fn open(ctx: &SkillContext) -> Result<Self, SkillError> {
        let configured = ctx.config("HELPDESK_URL").filter(|url| !url.is_empty());
        let (address, token, answered_by) = if let Some(url) = configured {
            (url, ctx.secret("helpdesk-token")?, Desk::Helpdesk)
        } else {
            // The log adds the skill and the id of the call to every event.
            tracing::warn!(
                "HELPDESK_URL is not set: the reply goes to the built-in mock and is not delivered"
            );
            let helpdesk = ctx.state::<MockHelpdesk>().await?;
            (helpdesk.url(), Secret::new(MockHelpdesk::TOKEN), Desk::StandIn)
        };
        Ok(Self {
            shared: ctx.state::<Shared>().await?,
            address: parse(&address)?,
            token,
            answered_by,
            patience: ctx.remaining().map_or(PATIENCE, |left| left.min(PATIENCE)),
        })
    }

    pub(super) fn answered_by(&self) -> Desk {
        self.answered_by
    }

    /// Posts a message. If the helpdesk knows the idempotency key, it returns its earlier response.
    pub(super) async fn post(&self, reply: &ReplyIn, key: &str) -> Result<Posted, SkillError> {
        let mut address = self.address.clone();
        address
            .path_segments_mut()
            .map_err(|()| "the URL cannot have a path")
            .retryable("config_invalid")?
            .pop_if_empty()
            .extend(["tickets", &reply.ticket, "messages"]);
        // Check here that the key is a valid header value: an invalid one would look like a network error of the request.
        let key = HeaderValue::from_str(key).terminal("idempotency_key_unusable")?;
        let token = format!("Bearer {}", self.token.expose());
        let mut token = HeaderValue::from_str(&token).terminal("helpdesk_token_unusable")?;
        token.set_sensitive(true);

        let answer = self
            .shared
            .0
            .post(address)
            .timeout(self.patience)
            .header(AUTHORIZATION, token)
            .header("Idempotency-Key", key)
            .json(&json!({"text": reply.text, "visibility": reply.visibility}))
            .send()
            .await
            // The URL may contain a password, so it must not be logged.
            .map_err(reqwest::Error::without_url)
            // It is unknown whether the message arrived. Thanks to the idempotency key a retry is safe either way.
            .retryable("helpdesk_unavailable")?;
        read(answer).await
    }
}

fn parse(address: &str) -> Result<Url, SkillError> {
    Url::parse(address)
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https"))
        .ok_or_else(|| {
            // Retryable, like a missing setting: the operator can fix it without a new version of the skill.
            SkillError::retryable(
                "config_invalid",
                "HELPDESK_URL must be a URL that starts with `https://` or `http://`",
            )
        })
}

/// Interprets the response.
async fn read(answer: Response) -> Result<Posted, SkillError> {
    let status = answer.status();
    if status.is_success() {
        #[derive(Deserialize)]
        struct Created {
            id: String,
        }
        // The message was created, but its id is unknown. A retry with the same key returns it.
        let created: Created = answer.json().await.retryable("helpdesk_unavailable")?;
        return Ok(Posted::Sent {
            message_id: created.id,
        });
    }
    if matches!(status, StatusCode::NOT_FOUND | StatusCode::CONFLICT) {
        // Only if the body has the helpdesk's format: a wrong URL responds with 404 as well.
        #[derive(Deserialize)]
        struct Rejected {
            error: NotSent,
        }
        if let Ok(rejected) = answer.json::<Rejected>().await {
            return Ok(Posted::NotSent(rejected.error));
        }
    }
    let busy = [StatusCode::REQUEST_TIMEOUT, StatusCode::TOO_MANY_REQUESTS];
    let failure = if status.is_server_error() || busy.contains(&status) {
        SkillError::retryable(
            "helpdesk_unavailable",
            format!("the helpdesk is unavailable ({status})"),
        )
    } else {
        SkillError::terminal(
            "helpdesk_refused",
            format!("the helpdesk rejected the reply ({status})"),
        )
    };
    Err(failure.with_details(json!({"status": status.as_u16()})))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_http_urls_are_accepted() {
        for good in ["https://helpdesk.example.com", "http://127.0.0.1:8080/desk/"] {
            assert!(parse(good).unwrap().as_str().starts_with(good));
        }
    }
}
