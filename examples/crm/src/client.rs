//! Requests to the system.

use std::time::Duration;

use reqwest::StatusCode;
use serde::Deserialize;
use skill_sdk::connections::{AccessToken, Connection};
use skill_sdk::{FailureExt, SkillError};

use crate::Customer;

/// The settings of the connection.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Settings {
    /// Where the system is.
    base_url: String,
}

/// What the system says when it has no answer.
#[derive(Default, Deserialize)]
struct Refusal {
    error: String,
}

/// What came of a request.
pub(crate) enum Found {
    /// The customer, or that there is none.
    Answer(Option<Customer>),
    /// The token is not good any more.
    TokenRefused,
}

pub(crate) fn make() -> Result<reqwest::Client, SkillError> {
    reqwest::Client::builder()
        // A token goes to the system that it is for and to no other: not where it is sent on to, and to no proxy.
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .timeout(Duration::from_secs(10))
        .build()
        .retryable("crm_client")
}

/// Asks for the customer with `email`.
pub(crate) async fn find(
    http: &reqwest::Client,
    connection: &Connection,
    token: &AccessToken,
    email: &str,
) -> Result<Found, SkillError> {
    let settings: Settings = connection.settings_as()?;
    let mut url = customers(&settings.base_url).ok_or_else(|| {
        SkillError::terminal(
            "settings_invalid",
            "`baseUrl` of the connection is not an address such as `https://crm.example/api`",
        )
    })?;
    url.query_pairs_mut().append_pair("email", email);
    let sent = http.get(url).bearer_auth(token.expose()).send().await;
    // The address has the e-mail in it, so the error is kept without it.
    let response = sent
        .map_err(reqwest::Error::without_url)
        .retryable("crm_unavailable")?;
    match response.status() {
        StatusCode::OK => {
            let customer = response.json().await.map_err(reqwest::Error::without_url);
            Ok(Found::Answer(Some(customer.terminal("crm_answer_invalid")?)))
        }
        StatusCode::NOT_FOUND => {
            // So does any server answer whose address is wrong.
            let refusal: Refusal = response.json().await.unwrap_or_default();
            if refusal.error == "customer_not_found" {
                return Ok(Found::Answer(None));
            }
            Err(SkillError::terminal(
                "crm_answer_invalid",
                "the system answered 404 and says nothing of a customer: is `baseUrl` of the connection right?",
            ))
        }
        StatusCode::UNAUTHORIZED => Ok(Found::TokenRefused),
        status if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS => Err(
            SkillError::retryable("crm_unavailable", format!("the system answered {status}")),
        ),
        status => Err(SkillError::terminal(
            "crm_answer_invalid",
            format!("the system answered {status}"),
        )),
    }
}

/// Where the customers of the system at `base` are.
fn customers(base: &str) -> Option<reqwest::Url> {
    let mut url = reqwest::Url::parse(base).ok()?;
    if !matches!(url.scheme(), "http" | "https") {
        return None;
    }
    // Joining would replace the last part of an address without a slash at its end.
    url.path_segments_mut().ok()?.pop_if_empty().push("customers");
    Some(url)
}
