//! Speaking to a helpdesk over HTTP.

use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{AUTHORIZATION, HeaderValue};
use reqwest::{Client, Response, StatusCode, Url, redirect};
use serde::Deserialize;
use serde_json::json;
use skill_sdk::{FailureExt, Secret, SkillContext, SkillError, state};

use super::{Desk, NotSent, ReplyIn};
use crate::helpdesk_double::HelpdeskDouble;

/// How long one request may take; less when the call has less time left.
const PATIENCE: Duration = Duration::from_secs(10);

/// The connections that all calls share. A type of its own, since shared values are found by their type, and another
/// crate of the program may share a plain [`Client`] with other settings.
#[derive(Debug)]
struct Shared(Client);

#[state]
fn shared() -> Result<Shared, reqwest::Error> {
    let client = Client::builder()
        .user_agent("claims-skills")
        // A token goes where the configuration says, and nowhere else.
        .redirect(redirect::Policy::none())
        .no_proxy();
    client.build().map(Shared)
}

#[state]
async fn stand_in() -> std::io::Result<HelpdeskDouble> {
    HelpdeskDouble::start().await
}

/// A helpdesk to speak to during one call.
pub(super) struct Connection {
    shared: Arc<Shared>,
    address: Url,
    token: Secret,
    answered_by: Desk,
    patience: Duration,
}

/// What the helpdesk did with a message.
pub(super) enum Posted {
    Sent { message_id: String },
    NotSent(NotSent),
}

impl Connection {
    /// To the helpdesk that is configured, else to the stand-in.
    pub(super) async fn open(ctx: &SkillContext) -> Result<Self, SkillError> {
        let configured = ctx.config("HELPDESK_URL").filter(|url| !url.is_empty());
        let (address, token, answered_by) = if let Some(url) = configured {
            (url, ctx.secret("helpdesk-token")?, Desk::Helpdesk)
        } else {
            // An event within a call carries the skill and the call's id by itself.
            tracing::warn!("HELPDESK_URL is not set: the reply goes to a stand-in that nobody reads");
            let double = ctx.state::<HelpdeskDouble>().await?;
            (double.url(), Secret::new(HelpdeskDouble::TOKEN), Desk::StandIn)
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

    /// Posts a message. With a key that the helpdesk knows it gives the answer of the first time.
    pub(super) async fn post(&self, reply: &ReplyIn, key: &str) -> Result<Posted, SkillError> {
        let mut address = self.address.clone();
        address
            .path_segments_mut()
            .map_err(|()| "it cannot have a path")
            .retryable("config_invalid")?
            .pop_if_empty()
            .extend(["tickets", &reply.ticket, "messages"]);
        // What no header can hold is refused here; as a failure of the request it would look like a network's.
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
            // The address may hold a password; the log needs neither.
            .map_err(reqwest::Error::without_url)
            // Whether the message arrived is not known. With its key a repeat is safe in both cases.
            .retryable("helpdesk_unavailable")?;
        read(answer).await
    }
}

fn parse(address: &str) -> Result<Url, SkillError> {
    Url::parse(address)
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https"))
        .ok_or_else(|| {
            // As with a setting that is missing: whoever runs the host can mend it, and then a repeat helps.
            SkillError::retryable(
                "config_invalid",
                "HELPDESK_URL must be an address with `https://` or `http://`",
            )
        })
}

/// What an answer means.
async fn read(answer: Response) -> Result<Posted, SkillError> {
    let status = answer.status();
    if status.is_success() {
        #[derive(Deserialize)]
        struct Created {
            id: String,
        }
        // The message is there, only its id is not known: a repeat with the key asks for it again.
        let created: Created = answer.json().await.retryable("helpdesk_unavailable")?;
        return Ok(Posted::Sent {
            message_id: created.id,
        });
    }
    if matches!(status, StatusCode::NOT_FOUND | StatusCode::CONFLICT) {
        // Only in the helpdesk's own words: a wrong address answers 404 as well.
        #[derive(Deserialize)]
        struct Refused {
            error: NotSent,
        }
        if let Ok(refused) = answer.json::<Refused>().await {
            return Ok(Posted::NotSent(refused.error));
        }
    }
    let busy = [StatusCode::REQUEST_TIMEOUT, StatusCode::TOO_MANY_REQUESTS];
    let failure = if status.is_server_error() || busy.contains(&status) {
        SkillError::retryable(
            "helpdesk_unavailable",
            format!("the helpdesk cannot answer now ({status})"),
        )
    } else {
        SkillError::terminal(
            "helpdesk_refused",
            format!("the helpdesk refused the reply ({status})"),
        )
    };
    Err(failure.with_details(json!({"status": status.as_u16()})))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_helpdesk_has_an_address_of_the_web() {
        for good in ["https://helpdesk.example.com", "http://127.0.0.1:8080/desk/"] {
            assert!(parse(good).unwrap().as_str().starts_with(good));
        }
    }
}
