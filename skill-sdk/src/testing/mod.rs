//! The test kit: calls skills in tests, with mocks of the services.
//!
//! [`invoke`] runs a skill through the same pipeline as every server. Inputs and outputs are validated against the contract.
//! Failures are [`SkillError`](crate::SkillError)s.
//!
//! ```
//! use serde_json::json;
//! use skill_sdk::{skill, testing};
//!
//! /// Says hello.
//! #[skill("greeting.say", version = "1", side_effects = "none", risk = "low")]
//! async fn say(name: String) -> String {
//!     format!("Hello, {name}!")
//! }
//!
//! testing::assert_valid_contract(say::SKILL);
//! let result = testing::invoke(say::SKILL, json!({"name": "Ada"})).blocking().unwrap();
//! assert_eq!(result.outputs, json!({"result": "Hello, Ada!"}));
//! let error = testing::invoke(say::SKILL, json!({})).blocking().unwrap_err();
//! assert_eq!(error.code(), "input_contract_violation");
//! ```
//!
//! Guide: `docs/guides/testing.md`.

mod capture;
#[cfg(feature = "connections")]
mod connections;
mod contract;
#[cfg(feature = "core")]
mod core;
mod examples;
mod input;
mod invoke;
#[cfg(feature = "auth")]
mod issuer;
#[cfg(feature = "llm")]
mod llm;
mod log;
#[cfg(feature = "package")]
mod package;
#[cfg(feature = "http")]
mod server;
mod shared;

pub use self::capture::{LogEvent, LogSpan};
#[cfg(feature = "connections")]
pub use self::connections::{FakeConnection, FakeConnections};
pub use self::contract::assert_valid_contract;
#[cfg(feature = "core")]
pub use self::core::FakeCore;
pub use self::examples::run_examples;
pub use self::invoke::{Invoke, Invoked, invoke};
#[cfg(feature = "auth")]
pub use self::issuer::{KeysAnswer, TestIssuer, TestToken};
#[cfg(feature = "llm")]
pub use self::llm::{FakeAnswer, FakeLlm};
pub use self::log::CallLog;
#[cfg(feature = "package")]
pub use self::package::{assert_package_matches, assert_package_of};
#[cfg(feature = "http")]
pub use self::server::TestServer;

/// Fails a test that uses the test kit wrongly.
#[cfg(any(feature = "connections", feature = "llm", feature = "package"))]
#[track_caller]
fn fail(message: &str) -> ! {
    #[expect(clippy::panic, reason = "a test that expects something else is wrong")]
    {
        panic!("{message}")
    }
}
