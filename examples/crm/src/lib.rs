//! A skill that looks customers up in a CRM, through a connection of the platform.
//!
//! An administrator of the platform decides which CRM that is; the skill only knows the key of the connection. The access
//! token comes from the secret store before each request. If the CRM rejects it, the skill renews it once.

mod client;
#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skill_sdk::{SkillContext, SkillError, skill, state};

use self::client::Found;

/// The customer to find.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Search {
    /// The e-mail address of the customer.
    #[schemars(email, length(max = 200))]
    pub email: String,
    /// The key of the connection.
    #[serde(default = "default_connection")]
    #[schemars(regex(pattern = "^[a-z0-9][a-z0-9-]{0,62}$"))]
    pub connection: String,
}

fn default_connection() -> String {
    "crm".to_owned()
}

/// A customer.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Customer {
    /// The id in the CRM.
    pub id: String,
    /// The name.
    pub name: String,
}

/// The result of the search.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SearchResult {
    /// The customer; null if no customer has this address.
    pub customer: Option<Customer>,
    /// The account of the connection, as the platform names it.
    pub account: Option<String>,
}

/// The HTTP client, shared by all calls.
#[state]
fn http() -> Result<reqwest::Client, SkillError> {
    client::make()
}

/// Find a customer by e-mail address.
#[skill(
    "crm.find_customer",
    version = "1",
    side_effects = "external_read",
    risk = "low",
    timeout = 30,
    retry = (3, 5),
    title = "Find a customer",
    tags = ["crm"],
)]
pub async fn find_customer(inputs: Search, ctx: &SkillContext) -> Result<SearchResult, SkillError> {
    let connection = ctx.connection(&inputs.connection).await?;
    let http = ctx.state::<reqwest::Client>().await?;
    let token = connection.access_token().await?;
    let mut found = client::find(&http, &connection, &token, &inputs.email).await?;
    if matches!(found, Found::TokenRefused) {
        // The token was rotated while it was cached.
        let token = connection.access_token_fresh().await?;
        found = client::find(&http, &connection, &token, &inputs.email).await?;
    }
    match found {
        Found::Answer(customer) => Ok(SearchResult {
            customer,
            account: connection.account().map(str::to_owned),
        }),
        Found::TokenRefused => Err(SkillError::terminal(
            "crm_access_refused",
            format!("the CRM of the connection {} rejects its token", connection.key()),
        )),
    }
}
