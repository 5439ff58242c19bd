//! The arguments that the command line tool and a program with skills have in common.
//!
//! Only clap types live here. The tool adds its targets and cargo's flags to them, a program adds the names of its own
//! skills.

mod examples;
mod serve;

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

pub use self::examples::with_examples;
pub use self::serve::{
    AllowAnonymous, McpArgs, PipeLimits, Serve, ServeHttpArgs, ServeLocalArgs, ServeMcpHttpArgs,
    ServeMcpStdioArgs, ToolOptions, ToolSchemas,
};
pub use super::logging::LogFormat;

/// How a result is printed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Lines of text; `list` prints an aligned table on a terminal
    #[default]
    Text,
    /// One JSON document
    Json,
}

/// The arguments of `list` and `check`.
#[derive(Debug, Clone, Default, Args)]
pub struct FormatArgs {
    /// Format of the result
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// The protocol of the implementation that an export writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Protocol {
    /// An executor on the same machine runs the skill
    Local,
    /// The platform calls the skill over HTTP
    Http,
    /// The platform calls the skill as a tool of an MCP server
    Mcp,
}

/// The arguments of `export`.
#[derive(Debug, Clone, Args)]
pub struct ExportArgs {
    /// Directory of the catalog package; the files are in DIR/skills
    #[arg(long, value_name = "DIR")]
    pub package: PathBuf,

    /// Compare only: exit with 1 and show the differences if code and files differ
    #[arg(long)]
    pub check: bool,

    /// Protocol of the implementation, instead of the one in the code
    #[arg(long, value_enum)]
    pub protocol: Option<Protocol>,

    /// URL of the server; may contain ${VARIABLE}
    #[arg(
        long,
        value_name = "URL",
        requires = "protocol",
        required_if_eq_any([("protocol", "http"), ("protocol", "mcp")])
    )]
    pub endpoint: Option<String>,

    /// Audience that tokens for the endpoint must have
    #[arg(long, value_name = "AUDIENCE", requires = "endpoint")]
    pub audience: Option<String>,

    /// Scope that tokens for the endpoint must have; may be repeated
    #[arg(long = "scope", value_name = "SCOPE", requires = "audience")]
    pub scopes: Vec<String>,

    /// Format of the result
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// The arguments of `invoke`.
#[derive(Clone, Args)]
pub struct InvokeArgs {
    /// Input object: JSON, @FILE, or - for standard input [default: {}]
    #[arg(
        long,
        value_name = "JSON|@FILE|-",
        default_value = "{}",
        hide_default_value = true
    )]
    pub input: String,

    /// Values of the package settings: JSON, @FILE, or - for standard input
    #[arg(long, value_name = "JSON|@FILE|-")]
    pub settings: Option<String>,

    /// Idempotency key of the call
    #[arg(long, value_name = "KEY", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub idempotency_key: Option<String>,

    /// Environment variable of the call; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = variable)]
    pub env: Vec<(String, String)>,
}

// Inputs, settings and variables may be secrets.
debug_fields!(InvokeArgs {});

/// The skills that a command of a program is about.
#[derive(Debug, Clone, Default, Args)]
pub struct SkillNames {
    /// Skills by ref, name, entrypoint or Rust path [default: all]
    #[arg(value_name = "SKILLS", help_heading = None::<&'static str>)]
    pub names: Vec<String>,
}

/// The arguments of a command, and what says which skills it is about.
#[derive(Debug, Clone, Args)]
pub struct About<A: Args, S: Args> {
    /// The arguments.
    #[command(flatten)]
    pub args: A,
    /// Which skills.
    #[command(flatten)]
    pub skills: S,
}

/// The commands that a program with skills and the command line tool have in common. `S` says which skills, `C` are the arguments
/// of `check`.
#[derive(Debug, Clone, Subcommand)]
#[expect(clippy::large_enum_variant, reason = "a program has one")]
pub enum HostCommand<S: Args, C: Args = FormatArgs> {
    /// List the skills with their entrypoints, side effects and risks
    List(About<FormatArgs, S>),
    /// Print the contract of one skill as JSON
    Contract(S),
    /// Write the skills as YAML files of a catalog package, or compare them with the files
    Export(About<ExportArgs, S>),
    /// Check the skills against the publication rules
    Check(About<C, S>),
    /// Run one skill and print its outputs and cost, or its error
    Invoke(About<InvokeArgs, S>),
    /// Serve the skills over HTTP, MCP or the local protocol
    #[command(subcommand)]
    Serve(Serve<S>),
}

fn variable(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("the value must be NAME=VALUE with a name that is not empty".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Program {
        #[command(subcommand)]
        command: HostCommand<SkillNames>,
    }

    fn parse(line: &str) -> Result<HostCommand<SkillNames>, clap::Error> {
        Program::try_parse_from(std::iter::once("program").chain(line.split(' ')))
            .map(|program| program.command)
    }

    #[test]
    fn what_a_call_is_given_is_not_printed() {
        let line = "invoke --input {\"a\":\"hunter2\"} --settings {\"a\":\"hunter2\"} --idempotency-key hunter2 \
                    --env A=hunter2 a@1";
        let command = parse(line).unwrap();
        let printed = format!("{command:?}");
        assert!(!printed.contains("hunter2"), "{printed}");
    }

    #[test]
    fn wrong_usage_is_refused() {
        for line in [
            "export",
            "export --package d --protocol http",
            "export --package d --protocol mcp",
            "export --package d --endpoint https://x",
            "export --package d --protocol http --endpoint https://x --scope a",
            "export --package d --protocol grpc --endpoint https://x",
            "invoke --env NAME",
            "invoke --env =x",
            "serve",
            "serve http --port 70000",
            "serve http --concurrency 0",
            "serve local --concurrency 0",
            "serve local --socket",
            "serve http --allow-anonymous=somewhere",
            "list --format yaml",
            "check --provider openai",
        ] {
            let error = parse(line).expect_err(line);
            assert_eq!(error.exit_code(), 2, "{line}");
        }
    }

    #[cfg(feature = "mcp-http")]
    #[test]
    fn each_protocol_has_its_port() {
        let HostCommand::Serve(Serve::Http(About { args: http, .. })) = parse("serve http").unwrap() else {
            panic!("it is HTTP");
        };
        let HostCommand::Serve(Serve::McpHttp(About { args: mcp, .. })) = parse("serve mcp-http").unwrap()
        else {
            panic!("it is MCP");
        };
        assert_eq!(http.port, 8080);
        assert_eq!(mcp.http.port, 8081);
    }

    #[test]
    fn anonymous_takes_its_value_only_after_an_equals_sign() {
        for (line, expected, names) in [
            ("serve http", None, 0),
            (
                "serve http --allow-anonymous git.merge",
                Some(AllowAnonymous::Loopback),
                1,
            ),
            (
                "serve http --allow-anonymous=anywhere git.merge",
                Some(AllowAnonymous::Anywhere),
                1,
            ),
        ] {
            let Ok(HostCommand::Serve(Serve::Http(About { args, skills }))) = parse(line) else {
                panic!("{line} was not understood");
            };
            assert_eq!(
                (args.allow_anonymous, skills.names.len()),
                (expected, names),
                "{line}"
            );
        }
    }

    #[test]
    fn values_are_kept_as_written() {
        let Ok(HostCommand::Invoke(About { args, .. })) = parse("invoke a --input - --env A=b=c --env B=")
        else {
            panic!("not understood");
        };
        assert_eq!(
            args.env,
            [
                ("A".to_owned(), "b=c".to_owned()),
                ("B".to_owned(), String::new())
            ]
        );
        let Ok(HostCommand::Export(About { args, .. })) = parse(
            "export --package d --protocol http --endpoint https://x/${V} --audience a --scope b --scope c",
        ) else {
            panic!("not understood");
        };
        assert_eq!(args.scopes, ["b", "c"]);
        assert_eq!(args.endpoint.as_deref(), Some("https://x/${V}"));
    }
}
