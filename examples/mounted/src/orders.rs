//! The data of the shop.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

/// One order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Order {
    /// The item.
    pub article: String,
    /// Whether it was shipped.
    pub sent: bool,
}

/// All orders by number.
#[derive(Debug, Default)]
pub struct Orders(BTreeMap<u32, Order>);

impl Orders {
    /// Creates the list of orders.
    pub fn new(orders: impl IntoIterator<Item = (u32, Order)>) -> Self {
        Self(orders.into_iter().collect())
    }

    /// The order with this number.
    pub fn find(&self, number: u32) -> Option<&Order> {
        self.0.get(&number)
    }
}
