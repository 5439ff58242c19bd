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
    /// The id of the ticket.
    #[schemars(regex(pattern = r"^[A-Z]{2,8}-[1-9][0-9]{0,8}$"))]
    pub ticket: String,
    /// The text of the reply.
    #[schemars(length(min = 1, max = 4000))]
    pub text: String,
    /// Who can see the reply.
    #[serde(default)]
    pub visibility: Visibility,
}

/// Who can see a message.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Visibility {
    /// The customer and the staff.
    #[default]
    Public,
    /// Only the staff.
    Internal,
}

/// The result of a reply.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ReplyOut {
    /// Whether the helpdesk has the reply, from this call or from an earlier one with the same idempotency key.
    pub sent: bool,
    /// The helpdesk's id of the message; null if it was not sent.
    pub message_id: Option<String>,
    /// Why it was not sent; null if it was.
    pub reason: Option<NotSent>,
    /// Where the reply went.
    pub answered_by: Desk,
}

/// Why a reply was not sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NotSent {
    /// The ticket does not exist.
    UnknownTicket,
    /// The ticket is closed.
    TicketClosed,
}

/// Where a reply went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Desk {
    /// The helpdesk that `HELPDESK_URL` names.
    Helpdesk,
    /// The built-in mock helpdesk, for trying the skill out. It delivers nothing.
    StandIn,
}

/// Send a reply to a helpdesk ticket, once for each idempotency key.
///
/// If `HELPDESK_URL` is set, the secret `helpdesk-token` must be set as well. Both are read in each call, so a renewed
/// token takes effect without a restart.
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
    // A call without a key is rejected before anything is sent: each retry of it would send another message.
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
