//! The skill `helpdesk.reply@1`.

mod client;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skill_sdk::{SkillContext, SkillError, skill};

use self::client::{Connection, Posted};

/// A reply to a ticket.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReplyIn {
    /// The ticket.
    #[schemars(regex(pattern = r"^[A-Z]{2,8}-[1-9][0-9]{0,8}$"))]
    pub ticket: String,
    /// What is written.
    #[schemars(length(min = 1, max = 4000))]
    pub text: String,
    /// Who sees it.
    #[serde(default)]
    pub visibility: Visibility,
}

/// Who sees a message.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Visibility {
    /// The customer and the staff.
    #[default]
    Public,
    /// The staff.
    Internal,
}

/// What became of the reply.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ReplyOut {
    /// Whether the helpdesk has it, by this call or by one with the same key before.
    pub sent: bool,
    /// The helpdesk's id of the message; null when it was not sent.
    pub message_id: Option<String>,
    /// Why it was not sent; null when it was.
    pub reason: Option<NotSent>,
    /// Whose answer this is.
    pub answered_by: Desk,
}

/// Why a reply was not sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NotSent {
    /// There is no such ticket.
    UnknownTicket,
    /// The ticket takes no messages any more.
    TicketClosed,
}

/// Where a reply went to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Desk {
    /// The helpdesk that `HELPDESK_URL` names.
    Helpdesk,
    /// The one in the memory of this program, for trying out. Nobody reads it.
    StandIn,
}

/// Send a reply to a helpdesk ticket, once for each idempotency key.
///
/// With `HELPDESK_URL` set, the secret `helpdesk-token` is needed as well. The address and the secret are read in each
/// call, so that a token that was renewed counts without a restart.
#[skill(
    "helpdesk.reply",
    version = "1",
    side_effects = "external_write",
    risk = "medium",
    idempotency = "required",
    timeout = 30,
    retry = (5, 10),
    title = "Reply to a ticket",
    tags = ["helpdesk"],
    config = ["HELPDESK_URL"],
    secrets = ["helpdesk-token"],
)]
pub async fn reply(inputs: ReplyIn, ctx: &SkillContext) -> Result<ReplyOut, SkillError> {
    // The contract asks callers for a key. One who gives none would get a second message with each repeat, so there is
    // no first one either.
    let key = ctx.require_idempotency_key()?;
    let connection = Connection::open(ctx).await?;
    let answered_by = connection.answered_by();
    Ok(match connection.post(&inputs, key).await? {
        Posted::Sent { message_id } => ReplyOut {
            sent: true,
            message_id: Some(message_id),
            reason: None,
            answered_by,
        },
        Posted::NotSent(reason) => ReplyOut {
            sent: false,
            message_id: None,
            reason: Some(reason),
            answered_by,
        },
    })
}
