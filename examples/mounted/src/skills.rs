//! The skills of the shop.

use std::sync::Arc;

use skill_sdk::{SkillContext, SkillError, skill};

use crate::orders::{Order, Orders};

/// Look up an order by its number.
#[skill("shop.order", version = "1", side_effects = "none", risk = "low", timeout = 5)]
pub async fn order(
    /// The number of the order.
    number: u32,
    ctx: &SkillContext,
) -> Result<Order, SkillError> {
    let orders = ctx.state::<Arc<Orders>>().await?;
    let order = orders.find(number);
    order
        .cloned()
        .ok_or_else(|| SkillError::terminal("order_unknown", format!("order {number} does not exist")))
}
