//! A skill that looks customers up in the system of a connection.
//!
//! Which system that is, an administrator of the platform decides: the skill knows the connection by its key. Its token comes
//! from the secret store, is asked for before each request, and is renewed once when the system refuses it.

mod client;
#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skill_sdk::{SkillContext, SkillError, skill, state};

use self::client::Found;

/// Who is looked for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Search {
    /// The address that the customer writes from.
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
    /// The number in the system.
    pub id: String,
    /// The name.
    pub name: String,
}

/// What the system knows.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SearchResult {
    /// The customer; null when nobody has this address.
    pub customer: Option<Customer>,
    /// The account of the connection, as the platform names it.
    pub account: Option<String>,
}

/// The connections of this program to all systems.
#[state]
fn http() -> Result<reqwest::Client, SkillError> {
    client::make()
}

/// Find the customer who has an e-mail address.
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
        // It was changed while it was in the cache.
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
            format!(
                "the system of the connection {} refuses its token",
                connection.key()
            ),
        )),
    }
}
