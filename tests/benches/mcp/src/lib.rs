//! What the programs of the benchmark share: the call that is measured, and how a program starts.

use std::io;

use rustix::thread::{CpuSet, sched_setaffinity};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The variable that names the core to run on; without it the system chooses.
pub const CORE: &str = "BENCH_CORE";

/// What a call is given.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Order {
    /// Who orders.
    #[schemars(length(min = 1, max = 100))]
    pub customer: String,
    /// What a piece costs, in cents.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub price: u64,
    /// How many pieces.
    #[schemars(range(min = 1, max = 1000))]
    pub count: u64,
}

/// What a call gives.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Quote {
    /// Whom to send it to.
    pub customer: String,
    /// In cents.
    pub total: u64,
}

/// The call.
pub fn quote(order: Order) -> Quote {
    Quote {
        total: order.price * order.count,
        customer: order.customer,
    }
}

/// The inputs of the call.
pub const INPUTS: &str = r#"{"customer":"Ada Lovelace","price":1250,"count":3}"#;

/// Keeps this process on the core that the environment names.
pub fn pin() -> io::Result<()> {
    let Some(core) = std::env::var(CORE).ok().and_then(|core| core.parse().ok()) else {
        return Ok(());
    };
    pin_to(core)
}

/// Keeps this process on a core.
pub fn pin_to(core: usize) -> io::Result<()> {
    let mut set = CpuSet::new();
    set.set(core);
    Ok(sched_setaffinity(None, &set)?)
}
