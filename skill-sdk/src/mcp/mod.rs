//! Hosting over MCP, the Model Context Protocol: every skill is a tool.
//!
//! [`serve_stdio`] serves a client that started the program and talks over two pipes;
//! [`http::router`] and [`http::serve`] serve streamable HTTP at `/mcp`. Both speak the revision 2026-07-28, in which every
//! request says all about itself, and those up to 2025-11-25, which begin with `initialize`, on one pipe and one port.
//!
//! Calls run through the [pipeline](crate::pipeline) as on every host. The rest of the protocol is answered by the crate
//! `rmcp`, of which nothing shows here.
//!
//! ```standalone_crate
//! use skill_sdk::mcp::McpServer;
//! use skill_sdk::pipeline::SkillSet;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let host = McpServer::new(SkillSet::collect()?)?;
//! # let _ = host;
//! # Ok(())
//! # }
//! ```

mod answer;
mod call;
mod handler;
pub mod http;
mod input;
mod message;
mod params;
mod reporter;
mod served;
mod stdio;
mod threshold;
mod tools;

use std::fmt;
use std::sync::Arc;

use serde_json::json;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use self::input::StateKey;
pub(crate) use self::stdio::serve_watched;
pub use self::stdio::{StdioOptions, serve_stdio};
use self::tools::Tools;
pub use self::tools::{McpError, ToolSchemas};
use crate::context::Environment;
use crate::pipeline::{Abandoned, SkillSet};

/// How many calls run at the same time by default.
pub const DEFAULT_CONCURRENCY: usize = 256;

/// How many tools a page of `tools/list` holds by default. Many clients never ask for a second page.
pub const DEFAULT_PAGE: usize = 1000;

/// Skills to host over MCP, and how.
///
/// It is cheap to clone; all clones share the limit of calls.
#[derive(Clone)]
pub struct McpServer(Arc<Shared>);

#[derive(Clone)]
struct Shared {
    host: SkillSet,
    tools: Tools,
    permits: Arc<Semaphore>,
    /// Threads that calls left behind. They keep the places of their calls.
    abandoned: Abandoned,
    environment: Environment,
    page: usize,
    name: String,
    version: String,
    /// What the host says about itself, as JSON text.
    identity: String,
    instructions: Option<String>,
    state_key: StateKey,
    /// Whether callers are verified, so that not everybody may see what they see.
    private: bool,
    /// Whether clients may hear notices.
    notices: bool,
}

impl McpServer {
    /// Makes a tool of every skill. Two versions of one skill cannot be on one server.
    pub fn new(host: SkillSet) -> Result<Self, McpError> {
        Self::with_environment(host, Environment::process())
    }

    /// The same with what configuration and secrets are read from, in place of the environment of the process; among them
    /// `SKILL_SDK_REQUEST_STATE_KEY`, which must be good. It is read when the host is made, so this is no setter.
    pub fn with_environment(host: SkillSet, environment: Environment) -> Result<Self, McpError> {
        let tools = Tools::new(&host, ToolSchemas::default())?;
        let state_key = StateKey::of(&environment).map_err(McpError::RequestStateKey)?;
        let (name, version) = ("skills".to_owned(), env!("CARGO_PKG_VERSION").to_owned());
        Ok(Self(Arc::new(Shared {
            host,
            tools,
            permits: Arc::new(Semaphore::new(DEFAULT_CONCURRENCY)),
            abandoned: Abandoned::default(),
            environment,
            page: DEFAULT_PAGE,
            identity: identity(&name, &version),
            name,
            version,
            instructions: None,
            state_key,
            private: false,
            notices: false,
        })))
    }

    /// Sets which schemas `tools/list` shows.
    pub fn tool_schemas(self, schemas: ToolSchemas) -> Result<Self, McpError> {
        let tools = Tools::new(&self.0.host, schemas)?;
        Ok(self.with(|shared| shared.tools = tools))
    }

    /// Sets how many calls may run at the same time; those above it fail with the retryable code `overloaded`.
    #[must_use]
    pub fn concurrency(self, calls: usize) -> Self {
        let permits = Semaphore::new(calls.min(Semaphore::MAX_PERMITS));
        self.with(|shared| shared.permits = Arc::new(permits))
    }

    /// Sets how many tools a page of `tools/list` holds, at least one.
    #[must_use]
    pub fn page(self, tools: usize) -> Self {
        self.with(|shared| shared.page = tools.max(1))
    }

    /// Sets the name and the version that clients show for this server, in place of `skills` and the version of the SDK.
    #[must_use]
    pub fn named(self, name: impl Into<String>, version: impl Into<String>) -> Self {
        self.with(|shared| {
            shared.name = name.into();
            shared.version = version.into();
            shared.identity = identity(&shared.name, &shared.version);
        })
    }

    /// Sets what clients may tell a model about all the tools together.
    #[must_use]
    pub fn instructions(self, text: impl Into<String>) -> Self {
        self.with(|shared| shared.instructions = Some(text.into()))
    }

    /// Sends what skills say with [`notify`](crate::SkillContext::notify) to clients that ask for log messages, and
    /// declares the capability `logging`, which the protocol wants of such a server. Without it nothing is sent.
    #[must_use]
    pub fn notices(self, sent: bool) -> Self {
        self.with(|shared| shared.notices = sent)
    }

    /// Says that callers are verified, so that lists are not for everybody.
    #[must_use]
    fn private(self) -> Self {
        self.with(|shared| shared.private = true)
    }

    fn with(self, change: impl FnOnce(&mut Shared)) -> Self {
        let mut shared = Arc::unwrap_or_clone(self.0);
        change(&mut shared);
        Self(Arc::new(shared))
    }

    fn pipeline(&self) -> &SkillSet {
        &self.0.host
    }

    fn tools(&self) -> &Tools {
        &self.0.tools
    }

    fn permit(&self) -> Option<OwnedSemaphorePermit> {
        let permit = Arc::clone(&self.0.permits).try_acquire_owned().ok()?;
        (self.0.abandoned.count() <= self.0.permits.available_permits()).then_some(permit)
    }

    fn abandoned(&self) -> &Abandoned {
        &self.0.abandoned
    }

    fn environment_of_calls(&self) -> Environment {
        self.0.environment.clone()
    }

    fn tools_per_page(&self) -> usize {
        self.0.page
    }

    fn identity(&self) -> (&str, &str) {
        (&self.0.name, &self.0.version)
    }

    fn identity_json(&self) -> &str {
        &self.0.identity
    }

    fn instructions_text(&self) -> Option<&str> {
        self.0.instructions.as_deref()
    }

    fn state_key(&self) -> &StateKey {
        &self.0.state_key
    }

    fn sends_notices(&self) -> bool {
        self.0.notices
    }

    fn is_private(&self) -> bool {
        self.0.private
    }
}

fn identity(name: &str, version: &str) -> String {
    json!({"name": name, "version": version}).to_string()
}

impl fmt::Debug for McpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpServer")
            .field("tools", &self.0.tools.names().count())
            .finish_non_exhaustive()
    }
}
