//! The arguments of `serve`.

use std::path::PathBuf;

use clap::builder::BoolishValueParser;
use clap::{Args, Subcommand, ValueEnum};

use super::{LimitArgs, LogFormat, SkillNames};
use crate::host::limits::LONGEST;
use crate::host::protocol::{Anonymous, ToolSchemas};

/// Who may call a host without a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[non_exhaustive]
pub enum AllowAnonymous {
    /// Anybody on this machine
    Loopback,
    /// Anybody who reaches the address
    Anywhere,
}

/// The arguments of `serve http`.
#[derive(Debug, Clone, Args)]
pub struct ServeHttpArgs {
    /// The address to listen on, a name or an IP address
    #[arg(long, default_value = "127.0.0.1")]
    pub host: String,

    /// The port to listen on; 0 takes any free one
    #[arg(long, default_value_t = 8080)]
    pub port: u16,

    /// Ask callers for no token, for development; `=anywhere` also allows other addresses than loopback
    #[arg(
        long,
        value_enum,
        value_name = "WHERE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "loopback"
    )]
    pub allow_anonymous: Option<AllowAnonymous>,

    /// Ask for no token at /metrics
    #[arg(long, env = "SKILL_SDK_PUBLIC_METRICS", value_parser = BoolishValueParser::new())]
    pub public_metrics: bool,

    /// Serve requests for this host name too, NAME or NAME:PORT; `*` serves all; may be repeated
    #[arg(long = "allowed-host", value_name = "NAME")]
    pub allowed_hosts: Vec<String>,

    /// Serve requests from web pages of this origin too, like `https://app.example.com`; `*` serves all; may be repeated
    #[arg(long = "allowed-origin", value_name = "ORIGIN")]
    pub allowed_origins: Vec<String>,

    /// Serve /healthz, /readyz and /metrics without a token at this address too (HOST:PORT), from a thread of its own
    #[arg(long, env = "SKILL_SDK_OPS_ADDR")]
    pub ops_addr: Option<String>,

    /// How the log looks
    #[arg(
        long,
        env = "SKILL_SDK_LOG_FORMAT",
        value_enum,
        value_name = "FORMAT",
        default_value_t
    )]
    pub log_format: LogFormat,

    /// What is taken from clients, and how much of it.
    #[command(flatten)]
    pub limits: LimitArgs,
}

impl ServeHttpArgs {
    /// What the flags say about callers without a token.
    pub fn anonymous(&self) -> Anonymous {
        match self.allow_anonymous {
            None => Anonymous::Refused,
            Some(AllowAnonymous::Loopback) => Anonymous::Loopback,
            Some(AllowAnonymous::Anywhere) => Anonymous::Anywhere,
        }
    }
}

/// The arguments of `serve local`.
#[derive(Debug, Clone, Args)]
pub struct ServeLocalArgs {
    /// Serve at a Unix socket in place of standard input and output; only this user can connect
    #[arg(long, value_name = "PATH")]
    pub socket: Option<PathBuf>,

    /// The longest line in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 4 * 1024 * 1024, value_parser = at_least_one)]
    pub line_limit: usize,

    /// How many calls may run at the same time
    #[arg(long, value_name = "CALLS", default_value_t = 256, value_parser = at_least_one)]
    pub concurrency: usize,

    /// How long running calls may take to finish once the input ended, or after a signal
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 30,
        value_parser = clap::value_parser!(u64).range(..=LONGEST)
    )]
    pub drain_seconds: u64,
}

/// Which schemas the tools of an MCP server show.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
#[non_exhaustive]
pub enum ToolSchemasArg {
    /// The form that clients and models read alike
    #[default]
    Portable,
    /// The schemas of the contract, untouched
    Contract,
}

impl From<ToolSchemasArg> for ToolSchemas {
    fn from(schemas: ToolSchemasArg) -> Self {
        match schemas {
            ToolSchemasArg::Portable => Self::Portable,
            ToolSchemasArg::Contract => Self::Contract,
        }
    }
}

/// The arguments of `serve mcp-stdio`.
#[derive(Debug, Clone, Args)]
pub struct ServeMcpStdioArgs {
    /// Which schemas the tools show; what is checked is always the contract
    #[arg(long, value_enum, default_value_t)]
    pub tool_schemas: ToolSchemasArg,

    /// Send what skills say with `ctx.notify` to clients that ask for log messages
    #[arg(long)]
    pub notices: bool,

    /// The longest message in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 4 * 1024 * 1024, value_parser = at_least_one)]
    pub message_limit: usize,

    /// How many calls may run at the same time
    #[arg(long, value_name = "CALLS", default_value_t = 256, value_parser = at_least_one)]
    pub concurrency: usize,

    /// How long running calls may take to finish once the client closed its end, or after a signal
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 30,
        value_parser = clap::value_parser!(u64).range(..=LONGEST)
    )]
    pub drain_seconds: u64,
}

/// The arguments of `serve mcp-http`.
#[derive(Debug, Clone, Args)]
#[command(mut_arg("port", |port| port.default_value("8081")))]
pub struct ServeMcpHttpArgs {
    /// Where, to whom and within which limits.
    #[command(flatten)]
    pub http: ServeHttpArgs,

    /// Which schemas the tools show; what is checked is always the contract
    #[arg(long, value_enum, default_value_t)]
    pub tool_schemas: ToolSchemasArg,

    /// The URL under which clients reach this host through a proxy, without /mcp
    #[arg(long, value_name = "URL")]
    pub public_url: Option<String>,

    /// Let web pages of the origins that are served read the answers
    #[arg(long)]
    pub cors: bool,

    /// Give clients up to revision 2025-11-25 that can be asked, or with --notices all of them, a session, so that skills
    /// can ask them and they can ask for log messages
    #[arg(long)]
    pub sessions: bool,

    /// Send what skills say with `ctx.notify` to clients that ask for log messages
    #[arg(long)]
    pub notices: bool,
}

/// The protocols that a program with skills can be hosted over.
#[derive(Debug, Clone, Subcommand)]
#[non_exhaustive]
pub enum HostServe {
    /// Host the skills over HTTP
    Http {
        /// How to host them.
        #[command(flatten)]
        args: ServeHttpArgs,
        /// Which of them.
        #[command(flatten)]
        skills: SkillNames,
    },
    /// Host the skills as tools of an MCP server for the client that starts it
    McpStdio {
        /// How to host them.
        #[command(flatten)]
        args: ServeMcpStdioArgs,
        /// Which of them.
        #[command(flatten)]
        skills: SkillNames,
    },
    /// Host the skills as tools of an MCP server over streamable HTTP
    McpHttp {
        /// How to host them.
        #[command(flatten)]
        args: ServeMcpHttpArgs,
        /// Which of them.
        #[command(flatten)]
        skills: SkillNames,
    },
    /// Host the skills for a program on this machine, as lines of JSON over standard input and output
    Local {
        /// How to host them.
        #[command(flatten)]
        args: ServeLocalArgs,
        /// Which of them.
        #[command(flatten)]
        skills: SkillNames,
    },
}

fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse::<usize>() {
        Ok(0) => Err("at least one call must be able to run".to_owned()),
        Ok(count) => Ok(count),
        Err(error) => Err(error.to_string()),
    }
}
