//! The calls that are measured: a quote for a list of items, with and without rules on values.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One position of an order.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct Item {
    /// The number of the article.
    pub sku: String,
    /// What it is.
    pub title: String,
    /// How many.
    pub quantity: u32,
    /// The price of one.
    pub price: f64,
    /// Whether it is on stock.
    pub available: bool,
}

/// An order.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct Order {
    /// Who orders.
    pub customer: String,
    /// The currency.
    pub currency: String,
    /// What is ordered.
    pub items: Vec<Item>,
}

/// What an order costs.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct Quote {
    /// The sum.
    pub total: f64,
    /// What is ordered.
    pub items: Vec<Item>,
}

/// The work of the skill, which is next to none.
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

/// One position of an order, with rules.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct RuledItem {
    /// The number of the article.
    #[schemars(length(min = 3, max = 20))]
    pub sku: String,
    /// What it is.
    #[schemars(length(min = 1, max = 200))]
    pub title: String,
    /// How many.
    #[schemars(range(min = 1, max = 1000))]
    pub quantity: u32,
    /// The price of one.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub price: f64,
    /// Whether it is on stock.
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

/// An order, with rules.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct RuledOrder {
    /// Who orders.
    #[schemars(length(min = 1, max = 200))]
    pub customer: String,
    /// The currency.
    pub currency: Currency,
    /// What is ordered.
    #[schemars(length(min = 1, max = 1000))]
    pub items: Vec<RuledItem>,
}

/// What an order costs, with rules.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct RuledQuote {
    /// The sum.
    #[schemars(range(min = 0.0))]
    pub total: f64,
    /// What is ordered.
    #[schemars(length(min = 1, max = 1000))]
    pub items: Vec<RuledItem>,
}

/// The same work.
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
