//! The arguments of `serve`.

use std::num::{NonZeroUsize, ParseIntError};
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::BoolishValueParser;
use clap::{Args, Subcommand, ValueEnum};

use super::{About, LogFormat};
use crate::auth::AuthSettings;
use crate::context::Environment;
use crate::host::command::Failure;
use crate::serve::{Limits, flags};
pub use crate::serve::{ToolOptions, ToolSchemas};

/// Who may call a server without a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AllowAnonymous {
    /// Callers on this machine
    Loopback,
    /// All callers that can reach the address
    Anywhere,
}

/// The arguments of `serve http`.
#[derive(Debug, Clone, Args)]
pub struct ServeHttpArgs {
    /// Host name or IP address to listen on
    #[arg(long, default_value = "127.0.0.1")]
    pub host: String,

    /// Port to listen on; 0 selects a free port
    #[arg(long, default_value_t = 8080)]
    pub port: u16,

    /// Accept calls without a token, for development; without `=WHERE` on loopback addresses only
    #[arg(long, value_enum, value_name = "WHERE", num_args = 0..=1, require_equals = true, default_missing_value = "loopback")]
    pub allow_anonymous: Option<AllowAnonymous>,

    /// Serve /metrics without a token
    #[arg(long, env = "SKILL_SDK_PUBLIC_METRICS", value_parser = BoolishValueParser::new())]
    pub public_metrics: bool,

    /// Host name of requests to accept too; `*` accepts all; may be repeated
    #[arg(long = "allowed-host", value_name = "NAME[:PORT]")]
    pub allowed_hosts: Vec<String>,

    /// Origin of web pages to accept too, such as `https://app.example.com`; `*` accepts all; may be repeated
    #[arg(long = "allowed-origin", value_name = "ORIGIN")]
    pub allowed_origins: Vec<String>,

    /// Address of the management port, which serves /healthz, /readyz and /metrics without a token
    #[arg(long, env = "SKILL_SDK_OPS_ADDR")]
    #[arg(value_name = "HOST:PORT")]
    pub ops_addr: Option<String>,

    /// Format of the log
    #[arg(long, env = "SKILL_SDK_LOG_FORMAT",
        value_enum, value_name = "FORMAT", default_value_t = LogFormat::Auto)]
    pub log_format: LogFormat,

    /// The limits.
    #[command(flatten)]
    pub limits: Limits,

    /// Maximum concurrent calls of each skill, or of the skill with that name or ref; may be repeated
    #[arg(long, env = "SKILL_SDK_SKILL_CONCURRENCY", value_delimiter = ',',
        value_name = "[SKILL=]CALLS", default_value = "256", help_heading = "Limits", value_parser = skill_calls)]
    pub skill_concurrency: Vec<(Option<String>, usize)>,

    /// Worker threads for async functions [default: one per core, at least 4]
    #[arg(long, env = "TOKIO_WORKER_THREADS",
        value_name = "COUNT", help_heading = "Limits", value_parser = flags::count(1..=65_536))]
    pub workers: Option<usize>,

    /// Drain timeout: time for running calls to finish after a signal [default: 30 s]
    #[arg(long = "drain-seconds", env = "SKILL_SDK_DRAIN_SECONDS", default_value = "30", hide_default_value = true,
        value_name = "SECONDS", help_heading = "Limits", value_parser = flags::seconds(0))]
    pub drain: Duration,
}

impl ServeHttpArgs {
    /// Whether a server may start with these arguments; asked before anything is built.
    pub fn check(&self) -> Result<(), Failure> {
        if self.allow_anonymous.is_some() {
            return Ok(());
        }
        match AuthSettings::from_environment(&Environment::process()) {
            Ok(_) => Ok(()),
            Err(error) => Err(Failure::usage(error)
                .help("for development pass --allow-anonymous, which serves on loopback addresses only")),
        }
    }
}

/// The limits of a server for the one process that started it.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Limits")]
pub struct PipeLimits {
    /// Maximum concurrent calls
    #[arg(long, value_name = "CALLS", default_value = "256", value_parser = flags::count(1..))]
    pub concurrency: usize,

    /// Worker threads for async functions [default: one per core, at least 4]
    #[arg(long, env = "TOKIO_WORKER_THREADS",
        value_name = "COUNT", value_parser = flags::count(1..=65_536))]
    pub workers: Option<usize>,

    /// Drain timeout: time for running calls to finish after the end of the input or a signal [default: 30 s]
    #[arg(long = "drain-seconds", value_name = "SECONDS", default_value = "30", hide_default_value = true,
        value_parser = flags::seconds(0))]
    pub drain: Duration,
}

/// The arguments of `serve local`.
#[derive(Debug, Clone, Args)]
pub struct ServeLocalArgs {
    /// Serve on this Unix socket instead of standard input and output; only the same user can connect
    #[arg(long, value_name = "PATH")]
    pub socket: Option<PathBuf>,

    /// Longest line, in bytes [default: 4 MiB]
    #[arg(long, value_name = "BYTES", default_value = "4194304", hide_default_value = true, value_parser = flags::count(1..))]
    pub line_limit: usize,

    /// How many calls, and how long they may take at the end.
    #[command(flatten)]
    pub limits: PipeLimits,

    /// The process that started this one: the server stops when it is gone, and ends what its skills started
    #[arg(long, value_name = "PID", hide = true)]
    pub parent: Option<u32>,
}

/// What the servers of MCP have in common.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "MCP options")]
pub struct McpArgs {
    /// How the skills are tools.
    #[command(flatten)]
    pub tools: ToolOptions,

    /// Send the log messages of `ctx.notify` to clients that request them
    #[arg(long)]
    pub notices: bool,
}

/// The arguments of `serve mcp-stdio`.
#[derive(Debug, Clone, Args)]
pub struct ServeMcpStdioArgs {
    /// The tools.
    #[command(flatten)]
    pub mcp: McpArgs,

    /// Longest message, in bytes [default: 4 MiB]
    #[arg(long, value_name = "BYTES", default_value = "4194304", hide_default_value = true, value_parser = flags::count(1..))]
    pub message_limit: usize,

    /// How many calls, and how long they may take at the end.
    #[command(flatten)]
    pub limits: PipeLimits,
}

/// The arguments of `serve mcp-http`.
#[derive(Debug, Clone, Args)]
#[command(mut_arg("port", |port| port.default_value("8081")))]
pub struct ServeMcpHttpArgs {
    /// Where, to whom and within which limits.
    #[command(flatten)]
    pub http: ServeHttpArgs,

    /// The tools.
    #[command(flatten)]
    pub mcp: McpArgs,

    /// URL of this server behind a proxy, without /mcp
    #[arg(long, value_name = "URL")]
    pub public_url: Option<String>,

    /// Let web pages of accepted origins read responses
    #[arg(long)]
    pub cors: bool,

    /// Start sessions for clients up to revision 2025-11-25, for elicitation and, with --notices, log messages
    #[arg(long)]
    pub sessions: bool,
}

/// The protocols that skills can be served over. `S` says which skills.
#[derive(Debug, Clone, Subcommand)]
pub enum Serve<S: Args> {
    /// Serve the skills over HTTP
    Http(About<ServeHttpArgs, S>),
    /// Serve the skills as MCP tools over standard input and output
    McpStdio(About<ServeMcpStdioArgs, S>),
    /// Serve the skills as MCP tools over streamable HTTP
    McpHttp(About<ServeMcpHttpArgs, S>),
    /// Serve the skills as newline-delimited JSON over standard input and output or a Unix socket
    Local(About<ServeLocalArgs, S>),
}

impl<S: Args> Serve<S> {
    /// What says which skills are served.
    pub fn skills(&self) -> &S {
        match self {
            Self::Http(About { skills, .. })
            | Self::McpStdio(About { skills, .. })
            | Self::McpHttp(About { skills, .. })
            | Self::Local(About { skills, .. }) => skills,
        }
    }

    /// What a server on a port is given.
    pub fn http(&self) -> Option<&ServeHttpArgs> {
        match self {
            Self::Http(about) => Some(&about.args),
            Self::McpHttp(about) => Some(&about.args.http),
            Self::McpStdio(_) | Self::Local(_) => None,
        }
    }
}

/// `CALLS`, or `SKILL=CALLS`.
fn skill_calls(text: &str) -> Result<(Option<String>, usize), String> {
    let (skill, calls) = match text.rsplit_once('=') {
        Some(("", _)) => return Err("a skill must stand before the `=`".to_owned()),
        Some((skill, calls)) => (Some(skill.to_owned()), calls),
        None => (None, text),
    };
    let calls: NonZeroUsize = calls.parse().map_err(|error: ParseIntError| error.to_string())?;
    Ok((skill, calls.get()))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Program {
        #[command(flatten)]
        args: ServeHttpArgs,
    }

    fn parse(line: &str) -> Result<ServeHttpArgs, clap::Error> {
        let words = line.split(' ').filter(|word| !word.is_empty());
        Program::try_parse_from(std::iter::once("program").chain(words)).map(|program| program.args)
    }

    #[test]
    fn the_defaults_of_flags_are_those_of_the_library() {
        assert_eq!(parse("").unwrap().limits, Limits::default());
    }

    #[test]
    fn help_shows_defaults_with_their_units() {
        let command = ServeHttpArgs::augment_args(clap::Command::new(""));
        for argument in command
            .get_arguments()
            .filter(|known| known.is_hide_default_value_set())
        {
            let default: u64 = argument.get_default_values()[0]
                .to_str()
                .unwrap()
                .parse()
                .unwrap();
            let shown = match argument.get_value_names().unwrap()[0].as_str() {
                "SECONDS" => format!("[default: {default} s]"),
                _ if default >= 1 << 20 => format!("[default: {} MiB]", default >> 20),
                _ => format!("[default: {} KiB]", default >> 10),
            };
            let help = argument.get_help().unwrap().to_string();
            assert!(help.contains(&shown), "{help}");
        }
    }

    #[test]
    fn limits_of_skills() {
        let args = parse("--skill-concurrency 8,a.b=2 --skill-concurrency a.b@3=4").unwrap();
        let named = |name: &str| Some(name.to_owned());
        assert_eq!(
            args.skill_concurrency,
            [(None, 8), (named("a.b"), 2), (named("a.b@3"), 4)]
        );
    }

    #[test]
    fn limits_that_let_nothing_through_are_refused() {
        for line in [
            "--concurrency 0",
            "--connections 0",
            "--streams 0",
            "--head-limit 100",
            "--headers 0",
            "--head-seconds 0",
            "--idle-seconds -1",
            "--body-seconds 31536001",
            "--head-seconds 31536001",
            "--idle-seconds 31536001",
            "--write-seconds 31536001",
            "--drain-seconds 18446744073709551615",
            "--body-limit x",
            "--skill-concurrency 0",
            "--skill-concurrency =1",
            "--skill-concurrency a=",
            "--skill-concurrency a",
        ] {
            assert_eq!(parse(line).unwrap_err().exit_code(), 2, "{line}");
        }
    }
}
