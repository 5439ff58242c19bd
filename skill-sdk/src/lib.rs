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
//! | `package` | the catalog package: YAML files, drift |
//! | `host` | the commands of [`host::main`], with a log on standard error |
//! | `telemetry` | the same, and traces over OTLP |
//! | `full` | all of these |
//!
//! The command line tool turns on what a command needs, so a crate that only declares skills needs no feature.

#[macro_use]
mod debug;

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;
#[cfg(any(feature = "auth", feature = "host"))]
pub mod auth;
pub mod context;
mod environment;
mod error;
mod handler;
pub mod host;
#[cfg(feature = "http")]
pub mod http;
#[cfg(feature = "runtime")]
pub mod local;
#[cfg(feature = "mcp")]
pub mod mcp;
#[cfg(feature = "runtime")]
mod pipe;
#[cfg(feature = "runtime")]
pub mod pipeline;
mod platform;
mod registry;
#[cfg(feature = "runtime")]
#[cfg_attr(not(feature = "http"), allow(unreachable_pub, reason = "public with `http`"))]
mod serve;
#[cfg(feature = "testing")]
pub mod testing;
#[cfg(feature = "runtime")]
mod validation;

pub use skill_sdk_contract as contract;
pub use skill_sdk_macros::{SkillFailure, skill, state};

pub use crate::context::SkillContext;
pub use crate::context::caller::Caller;
pub use crate::context::input::Answer;
pub use crate::environment::{Environment, Secret};
#[cfg(any(feature = "auth", feature = "host"))]
pub use crate::error::ConfigError;
#[doc(hidden)]
pub use crate::error::is_valid_code;
pub use crate::error::{FailureExt, SkillError};
pub use crate::handler::{Attached, Attachment, SkillInput, SkillOutput};
pub use crate::platform::LlmUsage;
#[cfg(feature = "llm")]
pub use crate::platform::llm::{ChatRequest, configure_llm};
#[cfg(feature = "llm")]
pub use crate::platform::pii;
pub use crate::registry::{Registry, RegistryError, RegistryProblem, Skill, SkillDescription};

#[cfg(feature = "core")]
pub mod artifacts {
    //! Artifacts: bytes that the platform keeps. See [`SkillContext::artifacts`](crate::SkillContext::artifacts).

    pub use crate::context::artifacts::Artifacts;
    pub use crate::platform::core::artifacts::Artifact;
    #[doc(hidden)]
    pub use crate::platform::core::artifacts::MAX_ARTIFACT_BYTES;
}

#[cfg(feature = "connections")]
pub mod connections {
    //! Connections: accounts in other systems that an administrator of the platform has set up for this agent. See
    //! [`SkillContext::connection`](crate::SkillContext::connection).
    //!
    //! A skill knows a connection by its key. What it is comes from the core; its token comes from the secret store, never
    //! through the core.

    pub use crate::context::connection::Connection;
    pub use crate::platform::connections::{AccessToken, ConnectionStatus};
}

#[cfg(feature = "core")]
pub mod knowledge {
    //! Knowledge: entities, documents and what is remembered, in a workspace of the platform.
    //!
    //! A skill that loads a source gives all of it as a [`Snapshot`]. [`Knowledge::preview`] says what would change, and
    //! [`Knowledge::apply`] with the `state_token` of that plan does exactly this or fails with [`SnapshotStale`].
    //!
    //! ```
    //! use skill_sdk::knowledge::{Entity, Snapshot, SnapshotStale};
    //! use skill_sdk::{SkillContext, SkillError, skill};
    //!
    //! /// Load the list of branches.
    //! #[skill("branches.load", version = "1", side_effects = "external_write", risk = "medium", idempotency = "natural")]
    //! async fn load(workspace: String, ctx: &SkillContext) -> Result<u64, SkillError> {
    //!     let snapshot = Snapshot::new("offices", "table:branches", "all")
    //!         .entity(Entity::new("branch", "b-1").title("Main street").attribute("seats", 12));
    //!     let plan = ctx.knowledge().preview(&snapshot, &workspace).await?;
    //!     let expected = Some(plan.state_token.as_str());
    //!     match ctx.knowledge().apply(&snapshot, &workspace, expected).await {
    //!         Ok(applied) => Ok(applied.opened),
    //!         // Somebody else was quicker: make the plan again.
    //!         Err(error) if SnapshotStale::of(&error).is_some() => Err(error),
    //!         Err(error) => Err(error),
    //!     }
    //! }
    //! ```

    pub use crate::context::knowledge::Knowledge;
    pub use crate::platform::core::knowledge::{
        Changes, Chunk, Document, Entity, EntityKey, EntityQuery, EntityRecord, Filter, Link, Recall,
        RecallQuery, Snapshot, SnapshotPlan, SnapshotStale, StoredDocument,
    };
}

pub mod secrets {
    //! Secrets without a call: see [`SkillContext::secret`](crate::SkillContext::secret).

    #[cfg(feature = "runtime")]
    pub use crate::environment::secrets::read_secret_file;
    pub use crate::environment::secrets::{check_secret_name, read_secret};
}

#[cfg(feature = "llm")]
pub mod llm {
    //! The language model of a call.
    //!
    //! [`SkillContext::llm`](crate::SkillContext::llm) gives the installation's model: the environment of the host says which, so a skill names none.
    //! An answer is JSON that fits a type of yours; what the model was asked, and how often, is not the skill's business.
    //!
    //! ```no_run
    //! use schemars::JsonSchema;
    //! use serde::{Deserialize, Serialize};
    //! use skill_sdk::{ChatRequest, SkillContext, SkillError, skill};
    //!
    //! /// Whether a claim is urgent, and why.
    //! #[derive(Debug, Deserialize, Serialize, JsonSchema)]
    //! struct Verdict {
    //!     urgent: bool,
    //!     reason: String,
    //! }
    //!
    //! /// Whether a claim is urgent.
    //! #[skill("claims.triage", version = "1", side_effects = "none", risk = "low")]
    //! async fn triage(text: String, ctx: &SkillContext) -> Result<Verdict, SkillError> {
    //!     let answer = ctx
    //!         .llm()?
    //!         .chat_json::<Verdict>(ChatRequest::new("You triage claims.").user(&text))
    //!         .await?;
    //!     Ok(answer.data)
    //! }
    //! ```
    //!
    //! Before any model sees a text, personal data in it is replaced: see [`pii`](crate::pii). The tokens of a call are added
    //! to its cost, also when the call fails. A model never works longer than the call: when its time is up or its caller goes
    //! away, the request is dropped and a child process is killed.
    //!
    //! # Codes
    //!
    //! All are retryable but the last one.
    //!
    //! | code | when |
    //! |---|---|
    //! | `llm_not_configured` | a variable of the host is missing or unusable; the message names it |
    //! | `llm_unavailable` | the program that asks the model is not there or does not start |
    //! | `llm_rate_limited` | the last model that was asked takes no more requests for now |
    //! | `llm_timeout` | the model did not answer within `SKILL_LLM_TIMEOUT_SECONDS` |
    //! | `llm_failed` | the model or the way to it failed otherwise |
    //! | `llm_invalid_response` | no model gave JSON that fits, also not when told what was wrong |
    //! | `llm_schema_unusable` | no JSON object can be read as the type that is asked for |

    pub use crate::context::llm::Llm;
    pub use crate::platform::llm::{
        Asked, ChatAnswer, ChatError, ChatModel, ClaudeCode, Correction, LlmClient, Message, OpenAi, Prompt,
        Reply, ResponseSchema, Role,
    };
}
