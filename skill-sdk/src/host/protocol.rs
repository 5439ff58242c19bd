//! What the command line tool and a program with skills say to each other.
//!
//! The tool runs the program as `PROGRAM __skill-sdk ACTION REQUEST OUT`: `REQUEST` and `OUT` are paths of files that hold
//! one JSON document each. Nothing is read from standard input and nothing is written to standard output, since a
//! skill may use both.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use super::limits::LimitArgs;

/// The version of this protocol. A tool and a program that disagree on it refuse to work together.
pub const PROTOCOL: u32 = 1;

/// The hidden first argument that makes a program speak this protocol.
pub const MARKER: &str = "__skill-sdk";

/// The features of `skill-sdk` that the action `invoke` needs.
pub const INVOKE_FEATURES: &[&str] = &["log"];

/// The features of `skill-sdk` that the action `serve-http` needs.
pub const SERVE_HTTP_FEATURES: &[&str] = &["http", "telemetry"];

/// The features of `skill-sdk` that the action `serve-local` needs.
pub const SERVE_LOCAL_FEATURES: &[&str] = &["telemetry"];

/// The features of `skill-sdk` that the action `serve-mcp-stdio` needs.
pub const SERVE_MCP_STDIO_FEATURES: &[&str] = &["mcp", "telemetry"];

/// The features of `skill-sdk` that the action `serve-mcp-http` needs.
pub const SERVE_MCP_HTTP_FEATURES: &[&str] = &["mcp-http", "telemetry"];

/// The action that describes the skills.
pub const DESCRIBE: &str = "describe";

/// The action that runs one call.
pub const INVOKE: &str = "invoke";

/// The action that hosts the skills over HTTP.
pub const SERVE_HTTP: &str = "serve-http";

/// The action that hosts the skills for programs on this machine.
pub const SERVE_LOCAL: &str = "serve-local";

/// The action that hosts the skills over MCP for the client that starts it.
pub const SERVE_MCP_STDIO: &str = "serve-mcp-stdio";

/// The action that hosts the skills over MCP on a port.
pub const SERVE_MCP_HTTP: &str = "serve-mcp-http";

/// The feature of `skill-sdk` without which a program does not know the action; `None` for an action that nobody knows.
pub fn feature_of(action: &str) -> Option<&'static str> {
    match action {
        INVOKE | SERVE_LOCAL => Some("runtime"),
        SERVE_HTTP => Some("http"),
        SERVE_MCP_STDIO => Some("mcp"),
        SERVE_MCP_HTTP => Some("mcp-http"),
        _ => None,
    }
}

/// The answer to the action `describe`: all skills of the program.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Envelope {
    /// [`PROTOCOL`] of the program.
    pub protocol: u32,
    /// The version of `skill-sdk` that the program was built with.
    pub sdk: String,
    /// The skills, sorted by name and version.
    pub skills: Vec<SkillEntry>,
    /// What makes the set of skills unusable: nothing but reporting it may be done while there is one.
    pub problems: Vec<Problem>,
    /// The actions that the program knows: those whose [feature](feature_of) it was built with. Empty: it does not say.
    #[serde(default)]
    pub actions: Vec<String>,
}

/// One skill of an [`Envelope`].
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SkillEntry {
    /// `name@version`.
    #[serde(rename = "ref")]
    pub reference: String,
    /// The name of the skill.
    pub name: String,
    /// The version of the skill.
    pub version: String,
    /// The entrypoint in the notation of the contract: `acme_skills.reports:build`.
    pub entrypoint: String,
    /// The Rust path of the function: `acme_skills::reports::build`.
    pub path: String,
    /// The cargo package that declares the skill.
    pub package: String,
    /// The version of that package.
    pub package_version: String,
    /// The source file of the declaration, as the compiler named it.
    pub file: String,
    /// The line of the declaration, from 1.
    pub line: u32,
    /// The spec of the catalog object: `version`, `description`, `sideEffects`, `riskLevel`, `contract`.
    pub spec: Value,
    /// What is declared beside the contract (`title`, `tags`, `secrets`, `config`, `hosts`, `examples`, `deprecated`).
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
}

/// A reason why the skills of a program cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Problem {
    /// A stable code: `duplicate_skill`, or a code of the publication rules.
    pub code: String,
    /// The skill, `name@version`, when the problem belongs to one.
    #[serde(rename = "ref", default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// A JSON pointer into the contract, when the problem has a place there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pointer: Option<String>,
    /// Where it was declared: `file:line`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// What is wrong and what to do.
    pub message: String,
}

/// The request of the action `invoke`: one call of one skill.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InvokeRequest {
    /// `name@version`.
    #[serde(rename = "ref")]
    pub reference: String,
    /// The input object.
    pub inputs: Value,
    /// The values of the package settings.
    #[serde(default)]
    pub settings: Option<Value>,
    /// The idempotency key.
    #[serde(default)]
    pub idempotency_key: Option<String>,
    /// Variables that are added to the environment of the call.
    #[serde(default)]
    pub env: Vec<(String, String)>,
}

/// Names only: inputs, settings and variables may be secrets.
impl fmt::Debug for InvokeRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let variables: Vec<_> = self.env.iter().map(|(name, _)| name).collect();
        f.debug_struct("InvokeRequest")
            .field("reference", &self.reference)
            .field("env", &variables)
            .finish_non_exhaustive()
    }
}

/// The answer to the action `invoke`.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InvokeReply {
    /// Whether the call succeeded.
    pub ok: bool,
    /// `{"outputs", "cost"}` or `{"error": …}`, ready to be printed.
    pub document: Value,
}

/// Whether it succeeded; the document holds outputs.
impl fmt::Debug for InvokeReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InvokeReply")
            .field("ok", &self.ok)
            .finish_non_exhaustive()
    }
}

/// The request of the action `serve-http`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ServeHttpRequest {
    /// The refs of the skills to host. Empty: all of the program.
    #[serde(default)]
    pub skills: Vec<String>,
    /// The address to bind, a name or an IP address.
    pub host: String,
    /// The port to bind. 0: any free one.
    pub port: u16,
    /// Whether callers need no token, and where such a host may listen.
    #[serde(default)]
    pub anonymous: Anonymous,
    /// Whether no token is asked for at `/metrics`.
    #[serde(default)]
    pub public_metrics: bool,
    /// Host names that are served beside the loopback ones.
    #[serde(default)]
    pub allowed_hosts: Vec<String>,
    /// Origins of web pages that are served beside the loopback ones.
    #[serde(default)]
    pub allowed_origins: Vec<String>,
    /// The address of the management port.
    #[serde(default)]
    pub ops_addr: Option<String>,
    /// How the log looks.
    #[cfg(feature = "log")]
    #[serde(default)]
    pub log_format: super::logging::LogFormat,
    /// What is taken from clients, and how much of it.
    pub limits: LimitArgs,
}

/// The request of the action `serve-local`. It may stand in the place of its path, as JSON in one argument.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ServeLocalRequest {
    /// The refs of the skills to host. Empty: all of the program.
    pub skills: Vec<String>,
    /// The path of the Unix socket to serve at. None: standard input and output.
    pub socket: Option<PathBuf>,
    /// The longest line in bytes.
    pub line_limit: Option<usize>,
    /// How many calls may run at the same time.
    pub concurrency: Option<usize>,
    /// How long running calls may take once the input ended or after a signal, in seconds.
    pub drain_seconds: Option<u64>,
    /// The process that started the host. The host stops when it is gone, where the system can tell.
    pub parent: Option<u32>,
}

/// Which schemas the tools of an MCP server show.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ToolSchemas {
    /// The form that clients and models read alike.
    #[default]
    Portable,
    /// The schemas of the contract, untouched.
    Contract,
}

/// The request of the action `serve-mcp-stdio`. It may stand in the place of its path, as JSON in one argument.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ServeMcpStdioRequest {
    /// The refs of the skills to host. Empty: all of the program.
    pub skills: Vec<String>,
    /// Which schemas the tools show.
    pub tool_schemas: ToolSchemas,
    /// Whether clients that ask for log messages get the notices of skills.
    pub notices: bool,
    /// The longest message in bytes.
    pub message_limit: Option<usize>,
    /// How many calls may run at the same time.
    pub concurrency: Option<usize>,
    /// How long running calls may take once the client closed its end or after a signal, in seconds.
    pub drain_seconds: Option<u64>,
}

/// The request of the action `serve-mcp-http`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ServeMcpHttpRequest {
    /// Where, to whom and within which limits.
    #[serde(flatten)]
    pub http: ServeHttpRequest,
    /// Which schemas the tools show.
    #[serde(default)]
    pub tool_schemas: ToolSchemas,
    /// The URL under which clients reach the host.
    #[serde(default)]
    pub public_url: Option<String>,
    /// Whether web pages may read the answers.
    #[serde(default)]
    pub cors: bool,
    /// Whether clients of older revisions that can be asked get a session.
    #[serde(default)]
    pub sessions: bool,
    /// Whether clients that ask for log messages get the notices of skills.
    #[serde(default)]
    pub notices: bool,
}

/// Whether callers of a host need no token.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Anonymous {
    /// Every caller needs a token.
    #[default]
    Refused,
    /// No token is needed, and the host may bind loopback addresses only.
    Loopback,
    /// No token is needed, and the host may bind any address.
    Anywhere,
}
