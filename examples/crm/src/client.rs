//! Requests to the CRM.

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
    /// The base URL of the CRM.
    base_url: String,
}

/// The body of an error response.
#[derive(Default, Deserialize)]
struct ErrorBody {
    error: String,
}

/// The result of a request.
pub(crate) enum Found {
    /// The customer; `None` if no customer has this address.
    Answer(Option<Customer>),
    /// The token is no longer valid.
    TokenRefused,
}

pub(crate) fn make() -> Result<reqwest::Client, SkillError> {
    reqwest::Client::builder()
        // The token must reach the CRM only, so redirects and proxies are off.
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .timeout(Duration::from_secs(10))
        .build()
        .retryable("crm_client")
}

/// Looks up the customer with `email`.
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
            "`baseUrl` of the connection must be a URL such as `https://crm.example/api`",
        )
    })?;
    url.query_pairs_mut().append_pair("email", email);
    let sent = http.get(url).bearer_auth(token.expose()).send().await;
    // The URL contains the e-mail address, so it is removed from the error.
    let response = sent
        .map_err(reqwest::Error::without_url)
        .retryable("crm_unavailable")?;
    match response.status() {
        StatusCode::OK => {
            let customer = response.json().await.map_err(reqwest::Error::without_url);
            Ok(Found::Answer(Some(customer.terminal("crm_answer_invalid")?)))
        }
        StatusCode::NOT_FOUND => {
            // A server at a wrong URL responds with 404 as well.
            let body: ErrorBody = response.json().await.unwrap_or_default();
            if body.error == "customer_not_found" {
                return Ok(Found::Answer(None));
            }
            Err(SkillError::terminal(
                "crm_answer_invalid",
                "the CRM responded with 404, but not in its own format; check `baseUrl` of the connection",
            ))
        }
        StatusCode::UNAUTHORIZED => Ok(Found::TokenRefused),
        status if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS => Err(
            SkillError::retryable("crm_unavailable", format!("the CRM responded with {status}")),
        ),
        status => Err(SkillError::terminal(
            "crm_answer_invalid",
            format!("the CRM responded with {status}"),
        )),
    }
}

/// The URL of the customers, below `base`.
fn customers(base: &str) -> Option<reqwest::Url> {
    let mut url = reqwest::Url::parse(base).ok()?;
    if !matches!(url.scheme(), "http" | "https") {
        return None;
    }
    // `Url::join` would replace the last path segment of a base without a trailing slash.
    url.path_segments_mut().ok()?.pop_if_empty().push("customers");
    Some(url)
}
