//! The calls of the benchmark: a quote for a list of items, with and without constraints on values.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One item of an order.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct Item {
    /// The article number.
    pub sku: String,
    /// The description.
    pub title: String,
    /// The quantity.
    pub quantity: u32,
    /// The price per piece.
    pub price: f64,
    /// Whether it is in stock.
    pub available: bool,
}

/// An order.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct Order {
    /// The customer.
    pub customer: String,
    /// The currency.
    pub currency: String,
    /// The items.
    pub items: Vec<Item>,
}

/// The price of an order.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct Quote {
    /// The sum.
    pub total: f64,
    /// The items.
    pub items: Vec<Item>,
}

/// The work of the skill, which is next to nothing.
pub fn quote(order: Order) -> Quote {
    let total = order
        .items
        .iter()
        .map(|item| item.price * f64::from(item.quantity))
        .sum();
    Quote {
        total,
        items: order.items,
    }
}

/// One item of an order, with constraints.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct RuledItem {
    /// The article number.
    #[schemars(length(min = 3, max = 20))]
    pub sku: String,
    /// The description.
    #[schemars(length(min = 1, max = 200))]
    pub title: String,
    /// The quantity.
    #[schemars(range(min = 1, max = 1000))]
    pub quantity: u32,
    /// The price per piece.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub price: f64,
    /// Whether it is in stock.
    pub available: bool,
}

/// A currency.
#[derive(Debug, Clone, Copy, Deserialize, Serialize, JsonSchema)]
pub enum Currency {
    /// Euro.
    EUR,
    /// US dollar.
    USD,
}

/// An order, with constraints.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct RuledOrder {
    /// The customer.
    #[schemars(length(min = 1, max = 200))]
    pub customer: String,
    /// The currency.
    pub currency: Currency,
    /// The items.
    #[schemars(length(min = 1, max = 1000))]
    pub items: Vec<RuledItem>,
}

/// The price of an order, with constraints.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct RuledQuote {
    /// The sum.
    #[schemars(range(min = 0.0))]
    pub total: f64,
    /// The items.
    #[schemars(length(min = 1, max = 1000))]
    pub items: Vec<RuledItem>,
}

/// The same work with constraints.
pub fn ruled_quote(order: RuledOrder) -> RuledQuote {
    let total = order
        .items
        .iter()
        .map(|item| item.price * f64::from(item.quantity))
        .sum();
    RuledQuote {
        total,
        items: order.items,
    }
}
