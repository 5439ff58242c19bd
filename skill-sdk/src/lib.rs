//! Write a skill as one Rust function; its contract, its registration and its hosting are derived from it.
//!
//! A *skill* is a named, versioned action with a formal contract: JSON Schemas of input and output, side effects, risk,
//! idempotency, timeout, retries. `#[skill(…)]` on a function derives the contract from the signature, the types and the
//! doc comments, and registers the skill in the program.
//!
//! ```
//! use schemars::JsonSchema;
//! use serde::{Deserialize, Serialize};
//! use skill_sdk::skill;
//!
//! #[derive(Deserialize, JsonSchema)]
//! struct Claim {
//!     /// What the customer wrote.
//!     text: String,
//! }
//!
//! #[derive(Serialize, JsonSchema)]
//! struct Verdict {
//!     urgent: bool,
//! }
//!
//! /// Whether a claim is urgent.
//! #[skill("claims.triage", version = "1", side_effects = "none", risk = "low")]
//! fn triage(inputs: Claim) -> Verdict {
//!     Verdict { urgent: inputs.text.contains('!') }
//! }
//!
//! // The function stays an ordinary function …
//! assert!(triage(Claim { text: "Help!".into() }).urgent);
//! // … and beside it stands the handle of the skill.
//! assert_eq!(triage::SKILL.reference(), "claims.triage@1");
//! ```
//!
//! # Features
//!
//! | feature | what it brings |
//! |---|---|
//! | (none) | declaring skills: the macro, the contract, the registry, the context |
//! | `runtime` | running skills: the pipeline with schema checks, deadlines and logging events; the local host: `local` |
//! | `testing` | calling skills in your own tests: `testing` |
//! | `llm` | the language model, [`SkillContext::llm`], and the personal-data guard |
//! | `core` | the artifacts and the knowledge of the platform: `SkillContext::artifacts`, `SkillContext::knowledge` |
//! | `connections` | accounts in other systems: `SkillContext::connection` |
//! | `auth` | checking bearer tokens: `auth` |
//! | `http` | the HTTP host: `http` |
//! | `mcp` | the MCP server over stdio: `mcp` |
//! | `mcp-http` | the MCP server over streamable HTTP: `mcp::http` |
//! | `log` | a log on standard error, set up by [`host::main`] |
//! | `telemetry` | the same, and traces over OTLP |
//! | `package` | the catalog package: YAML files, drift |
//! | `host` | the commands of [`host::main`] |
//! | `full` | all of these |
//!
//! The command line tool turns on what a command needs, so a crate that only declares skills needs no feature.

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;
#[cfg(any(feature = "auth", feature = "host"))]
pub mod auth;
pub mod context;
pub mod contract;
mod error;
mod handler;
pub mod host;
#[cfg(feature = "http")]
pub mod http;
#[cfg(feature = "mcp")]
mod lines;
#[cfg(feature = "runtime")]
pub mod local;
#[cfg(feature = "mcp")]
pub mod mcp;
#[cfg(feature = "runtime")]
mod ndjson;
#[cfg(feature = "runtime")]
pub mod pipeline;
mod registry;
#[cfg(any(feature = "http", feature = "mcp"))]
mod serve;
#[cfg(feature = "testing")]
pub mod testing;
#[cfg(feature = "runtime")]
mod validation;

#[cfg(feature = "package")]
pub use skill_sdk_contract::package;
pub use skill_sdk_macros::{SkillFailure, skill, state};

#[cfg(feature = "connections")]
pub use crate::context::connections;
#[cfg(feature = "core")]
pub use crate::context::core::{artifacts, knowledge};
#[cfg(feature = "llm")]
pub use crate::context::llm::{self, ChatRequest, configure_llm};
#[cfg(feature = "llm")]
pub use crate::context::pii;
pub use crate::context::secrets;
pub use crate::context::{Answer, Caller, Environment, LlmUsage, Secret, SkillContext};
pub use crate::error::{FailureExt, SkillError, is_valid_code};
pub use crate::handler::{Attached, Attachment, ResourceContent, SkillInput, SkillOutput};
pub use crate::registry::{
    Declaration, DeclaredImplementation, Registry, RegistryError, RegistryProblem, Skill, SkillDescription,
};
