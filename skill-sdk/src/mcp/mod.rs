//! The MCP servers (Model Context Protocol): every skill is a tool.
//!
//! [`serve_stdio`] serves a client that started the program and talks over two pipes. With the feature `mcp-http`,
//! `http::router` and `http::serve` serve streamable HTTP at `/mcp`. Both speak the stateless revision 2026-07-28 and the
//! revisions up to 2025-11-25, which begin with `initialize`, on one pipe and one port.
//!
//! Calls run through the [pipeline](crate::pipeline) as on every server.
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
//!
//! Guides: `docs/guides/mcp-clients.md`, `docs/guides/embedding.md`. Reference: `docs/reference/mcp.md`.

mod call;
mod elicitation;
#[cfg(feature = "mcp-http")]
pub mod http;
mod methods;
mod notify;
mod protocol;
mod session;
mod stdio;
mod tools;

use std::ffi::OsStr;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use self::elicitation::StateKey;
#[cfg(feature = "host")]
pub(crate) use self::stdio::serve_until_gone;
pub use self::stdio::{StdioOptions, serve_stdio};
use self::tools::Tools;
pub use self::tools::{McpError, ToolNames};
use crate::context::Environment;
use crate::pipeline::SkillSet;
pub use crate::serve::{ToolOptions, ToolSchemas};

/// How many calls run at the same time by default.
const DEFAULT_CONCURRENCY: usize = 256;

/// How many tools a page of `tools/list` holds by default. Many clients never ask for a second page.
const DEFAULT_PAGE: usize = 1000;

/// A server of skills over MCP.
///
/// It is cheap to clone; all clones share the concurrency limit.
#[derive(Clone)]
pub struct McpServer(Arc<Shared>);

#[derive(Clone)]
struct Shared {
    skills: SkillSet,
    tools: Tools,
    /// The concurrency limit of calls over a pipe.
    concurrency: usize,
    environment: Environment,
    page_size: usize,
    /// The name and the version of this server.
    implementation: Value,
    instructions: Option<String>,
    state_key: StateKey,
    /// Whether callers are verified, so that lists are not public.
    private: bool,
    /// Whether clients can ask for log messages.
    notices: bool,
}

impl McpServer {
    /// Makes a tool of every skill, of several versions of one the newest.
    ///
    /// # Errors
    ///
    /// [`McpError::OneTool`] if two skills have one tool name, [`McpError::RequestStateKey`] if the value of
    /// `SKILL_SDK_REQUEST_STATE_KEY` is invalid.
    pub fn new(skills: SkillSet) -> Result<Self, McpError> {
        Self::with_environment(skills, Environment::process())
    }

    /// The same with the source of configuration and secrets, instead of the environment of the process. It may have
    /// `SKILL_SDK_REQUEST_STATE_KEY`, which is read here.
    ///
    /// # Errors
    ///
    /// Those of [`new`](Self::new).
    pub fn with_environment(skills: SkillSet, environment: Environment) -> Result<Self, McpError> {
        Self::with_options(skills, environment, ToolOptions::default())
    }

    /// The same with other names, schemas or versions of tools.
    ///
    /// # Errors
    ///
    /// Those of [`new`](Self::new).
    pub fn with_options(
        skills: SkillSet,
        environment: Environment,
        options: ToolOptions,
    ) -> Result<Self, McpError> {
        Ok(Self(Arc::new(Shared {
            tools: Tools::new(&skills, options)?,
            concurrency: DEFAULT_CONCURRENCY,
            state_key: StateKey::new(&environment).map_err(McpError::RequestStateKey)?,
            environment,
            page_size: DEFAULT_PAGE,
            implementation: implementation(&skills),
            skills,
            instructions: None,
            private: false,
            notices: false,
        })))
    }

    /// Sets how many calls over a pipe may run at the same time. Further calls wait, at most until their timeout. The
    /// default is 256.
    #[must_use]
    pub fn concurrency(self, calls: usize) -> Self {
        self.with(|shared| shared.concurrency = calls)
    }

    /// Sets how many tools a page of `tools/list` holds, at least one. The default is 1000.
    #[must_use]
    pub fn page(self, tools: usize) -> Self {
        self.with(|shared| shared.page_size = tools.max(1))
    }

    /// Sets the name and the version that clients show for this server, instead of those of the package of the skills.
    #[must_use]
    pub fn named(self, name: impl Into<String>, version: impl Into<String>) -> Self {
        let implementation = json!({"name": name.into(), "version": version.into()});
        self.with(|shared| shared.implementation = implementation)
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

    fn with(self, change: impl FnOnce(&mut Shared)) -> Self {
        let mut shared = Arc::unwrap_or_clone(self.0);
        change(&mut shared);
        Self(Arc::new(shared))
    }

    /// What this server says of itself in results of a stateless revision.
    fn about(&self) -> Map<String, Value> {
        let about = self.0.implementation.clone();
        Map::from_iter([("io.modelcontextprotocol/serverInfo".to_owned(), about)])
    }
}

/// The name and the version of a server: those of the package of the skills; of several packages the name of the program.
fn implementation(skills: &SkillSet) -> Value {
    let origins = skills
        .iter()
        .map(|runnable| runnable.skill().declaration().origin);
    let mut packages: Vec<_> = origins
        .map(|origin| (origin.package, origin.package_version))
        .collect();
    packages.sort_unstable();
    packages.dedup();
    if let [(name, version)] = packages.as_slice() {
        return json!({"name": name, "version": version});
    }
    let program = std::env::current_exe().ok();
    let name = program
        .as_deref()
        .and_then(Path::file_stem)
        .map(OsStr::to_string_lossy);
    json!({"name": name.unwrap_or("skills".into()), "version": env!("CARGO_PKG_VERSION")})
}

impl fmt::Debug for McpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpServer")
            .field("tools", &self.0.tools.names().collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}
