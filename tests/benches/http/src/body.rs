//! The request bodies.

use crate::model::{Item, Order};

/// The number of items in the large body.
const MANY: u32 = 200;

/// The sizes of bodies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// About 150 bytes.
    Small,
    /// About 20 KB.
    Large,
}

impl Size {
    /// The name in the tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Small => "small",
            Self::Large => "large",
        }
    }
}

/// The inputs of a call.
pub fn order(size: Size) -> Order {
    let item = |number: u32| Item {
        sku: format!("sku-{number:05}"),
        title: format!("A thing of the kind {}", number % 7),
        quantity: number % 9 + 1,
        price: f64::from(number) + 0.25,
        available: !number.is_multiple_of(3),
    };
    let items = match size {
        Size::Small => 1,
        Size::Large => MANY,
    };
    Order {
        customer: "Ada".to_owned(),
        currency: "EUR".to_owned(),
        items: (1..=items).map(item).collect(),
    }
}

/// The body of a call, as an engine sends it.
pub fn body(size: Size) -> Result<Vec<u8>, serde_json::Error> {
    let inputs = serde_json::to_string(&order(size))?;
    Ok(format!(r#"{{"invocationId":"5d41402a-0001","inputs":{inputs}}}"#).into_bytes())
}
