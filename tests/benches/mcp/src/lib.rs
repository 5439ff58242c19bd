//! Shared by the programs of the benchmark: the call, and the start of a program.

use std::io;

use rustix::thread::{CpuSet, sched_setaffinity};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The environment variable with the core to run on. If it is not set, the system chooses.
pub const CORE: &str = "BENCH_CORE";

/// The inputs of the call.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Order {
    /// The customer.
    #[schemars(length(min = 1, max = 100))]
    pub customer: String,
    /// The price per piece in cents.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub price: u64,
    /// The quantity.
    #[schemars(range(min = 1, max = 1000))]
    pub count: u64,
}

/// The outputs of the call.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Quote {
    /// The customer.
    pub customer: String,
    /// The total in cents.
    pub total: u64,
}

/// The work of the call.
pub fn quote(order: Order) -> Quote {
    Quote {
        total: order.price * order.count,
        customer: order.customer,
    }
}

/// The inputs as JSON.
pub const INPUTS: &str = r#"{"customer":"Ada Lovelace","price":1250,"count":3}"#;

/// Pins this process to the core that the environment names.
pub fn pin() -> io::Result<()> {
    let Some(core) = std::env::var(CORE).ok().and_then(|core| core.parse().ok()) else {
        return Ok(());
    };
    pin_to(core)
}

/// Pins this process to a core.
pub fn pin_to(core: usize) -> io::Result<()> {
    let mut set = CpuSet::new();
    set.set(core);
    Ok(sched_setaffinity(None, &set)?)
}
