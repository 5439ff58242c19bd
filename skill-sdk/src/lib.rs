//! Write a skill as one Rust function. Its contract, its registration and its servers are derived from it.
//!
//! A *skill* is a named, versioned action with a formal contract: JSON Schemas of its inputs and outputs, side effects,
//! risk, idempotency, timeout and retries. `#[skill(…)]` on a function derives the contract from the signature, the types
//! and the doc comments, and registers the skill in the program.
//!
//! ```
//! use schemars::JsonSchema;
//! use serde::{Deserialize, Serialize};
//! use skill_sdk::skill;
//!
//! #[derive(Deserialize, JsonSchema)]
//! struct Claim {
//!     /// The text of the claim.
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
//! // The function is still an ordinary function …
//! assert!(triage(Claim { text: "Help!".into() }).urgent);
//! // … and the module of the same name has the handle of the skill.
//! assert_eq!(triage::SKILL.reference(), "claims.triage@1");
//! ```
//!
//! # Features
//!
//! | feature | what it adds |
//! |---|---|
//! | (none) | declaring skills: the macro, the contract, the registry, the context |
//! | `runtime` | running skills: the pipeline with validation, timeouts and log events; the local server: `local` |
//! | `testing` | calling skills in your own tests: `testing` |
//! | `llm` | the language model, [`SkillContext::llm`], and PII redaction |
//! | `core` | the artifacts and the knowledge of the platform: `SkillContext::artifacts`, `SkillContext::knowledge` |
//! | `connections` | accounts in external systems: `SkillContext::connection` |
//! | `auth` | verifying bearer tokens: `auth` |
//! | `http` | the HTTP server: `http` |
//! | `mcp` | the MCP server over stdio: `mcp` |
//! | `mcp-http` | the MCP server over streamable HTTP: `mcp::http` |
//! | `package` | the catalog package: YAML files, drift check |
//! | `host` | the commands of [`host::main`], with a log on standard error |
//! | `telemetry` | the same, and traces over OTLP |
//! | `full` | all features above |
//!
//! The CLI enables the features that a command needs. A crate that only declares skills needs no feature.
//!
//! # Guides
//!
//! `docs/README.md` in the repository lists the guides by task; `docs/guides/first-skill.md` is the first one. The page of each
//! module here names its guide.

#![warn(clippy::missing_errors_doc)]
#![cfg_attr(docsrs, feature(doc_cfg))]

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
    //! Artifacts: files stored by the platform.
    //!
    //! [`SkillContext::artifacts`](crate::SkillContext::artifacts) returns the client. An artifact is read into memory, at most
    //! 64 MiB, and its hash is compared with that of the core.
    //!
    //! ```
    //! use skill_sdk::{SkillContext, SkillError, skill};
    //!
    //! /// The number of bytes of an artifact.
    //! #[skill("artifact.size", version = "1", side_effects = "external_read", risk = "low")]
    //! async fn size(artifact: String, ctx: &SkillContext) -> Result<usize, SkillError> {
    //!     Ok(ctx.artifacts().read(&artifact).await?.data.len())
    //! }
    //! ```
    //!
    //! Guide: `docs/guides/artifacts-and-knowledge.md`.

    pub use crate::context::artifacts::Artifacts;
    pub use crate::platform::core::artifacts::Artifact;
    #[doc(hidden)]
    pub use crate::platform::core::artifacts::MAX_ARTIFACT_BYTES;
}

#[cfg(feature = "connections")]
pub mod connections {
    //! Connections: accounts in external systems that an administrator of the platform has set up for this agent.
    //!
    //! A skill passes the key of a connection to [`SkillContext::connection`](crate::SkillContext::connection). The core
    //! describes the connection. Its access token comes from the secret store and never passes through the core.
    //!
    //! ```
    //! use skill_sdk::connections::ConnectionStatus;
    //! use skill_sdk::{SkillContext, SkillError, skill};
    //!
    //! /// Whether the helpdesk can be used.
    //! #[skill("helpdesk.usable", version = "1", side_effects = "external_read", risk = "low")]
    //! async fn usable(ctx: &SkillContext) -> Result<bool, SkillError> {
    //!     let helpdesk = ctx.connection("helpdesk").await?;
    //!     Ok(*helpdesk.status() == ConnectionStatus::Active)
    //! }
    //! ```
    //!
    //! Guide: `docs/guides/connections.md`.

    pub use crate::context::connection::Connection;
    pub use crate::platform::connections::{AccessToken, ConnectionStatus};
}

#[cfg(feature = "core")]
pub mod knowledge {
    //! Knowledge: entities, documents and memory in a workspace of the platform.
    //!
    //! A skill that loads a source passes all of it as a [`Snapshot`]. [`Knowledge::preview`] returns the changes that
    //! loading it would make. [`Knowledge::apply`] with the `state_token` of that plan makes exactly these changes, or
    //! fails with [`SnapshotStale`].
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
    //!         // The workspace has changed since the preview: preview again.
    //!         Err(error) if SnapshotStale::of(&error).is_some() => Err(error),
    //!         Err(error) => Err(error),
    //!     }
    //! }
    //! ```
    //!
    //! Guide: `docs/guides/artifacts-and-knowledge.md`.

    pub use crate::context::knowledge::Knowledge;
    pub use crate::platform::core::knowledge::{
        Changes, Chunk, Document, Entity, EntityKey, EntityQuery, EntityRecord, Filter, Link, Recall,
        RecallQuery, Snapshot, SnapshotPlan, SnapshotStale, StoredDocument,
    };
}

pub mod secrets {
    //! Reading secrets outside of a call, for example at the start of a program.
    //!
    //! A skill reads a secret with [`SkillContext::secret`](crate::SkillContext::secret) instead.
    //!
    //! ```
    //! use std::path::Path;
    //!
    //! use skill_sdk::secrets::read_secret;
    //!
    //! // Reads the environment variable `forge-token`, or else the file `/run/secrets/forge-token`.
    //! let env = |name: &str| std::env::var(name).ok();
    //! let error = read_secret("forge-token", env, Path::new("/run/secrets")).unwrap_err();
    //! assert_eq!(error.code(), "config_missing");
    //! ```
    //!
    //! Guide: `docs/guides/settings-and-secrets.md`.

    #[cfg(feature = "runtime")]
    pub use crate::environment::secrets::read_secret_file;
    pub use crate::environment::secrets::{check_secret_name, read_secret};
}

#[cfg(feature = "llm")]
pub mod llm {
    //! The language model.
    //!
    //! [`SkillContext::llm`](crate::SkillContext::llm) returns the client of the configured model. The environment of the
    //! server configures it, so a skill names no model. A response is JSON that is valid for a type of yours; the client
    //! retries and switches models by itself.
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
    //! Personal data in a text is replaced before the text is sent to a model: see [`pii`](crate::pii). The tokens of a
    //! call are added to its cost, also when the call fails. A model request never outlives its call: when the call times
    //! out or is cancelled, the request is dropped and a child process is killed.
    //!
    //! # Codes
    //!
    //! All codes but the last are retryable.
    //!
    //! | code | when |
    //! |---|---|
    //! | `llm_not_configured` | an environment variable is missing or invalid; the message names it |
    //! | `llm_unavailable` | the program that calls the model is missing or does not start |
    //! | `llm_rate_limited` | the last model in the list is over its rate limit |
    //! | `llm_timeout` | the model did not respond within `SKILL_LLM_TIMEOUT_SECONDS` |
    //! | `llm_failed` | the request failed for another reason |
    //! | `llm_invalid_response` | no model returned valid JSON, even after a re-prompt |
    //! | `llm_schema_unusable` | no JSON object can be deserialized into the requested type |
    //!
    //! Guide: `docs/guides/language-models.md`.

    pub use crate::context::llm::Llm;
    pub use crate::platform::llm::{
        Asked, ChatAnswer, ChatError, ChatModel, ClaudeCode, Correction, LlmClient, Message, OpenAi, Prompt,
        Reply, ResponseSchema, Role,
    };
}
