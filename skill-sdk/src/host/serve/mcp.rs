//! `serve mcp-stdio`.

use std::process::ExitCode;

use tokio::fs::File;

use super::{run, start, usage};
use crate::host::args::{ServeMcpStdioArgs, ToolSchemas};
use crate::host::command::Failure;
use crate::host::logging::LogFormat;
use crate::host::stdio::ProtocolStdio;
use crate::mcp::{self, McpServer, StdioOptions, serve_until_gone};
use crate::ndjson::peer_closed;
use crate::pipeline::SkillSet;

/// Serves the client that started the program, until it closes its end or the program is told to stop.
pub(super) fn serve(
    args: &ServeMcpStdioArgs,
    refs: &[String],
    stdio: ProtocolStdio,
) -> Result<ExitCode, Failure> {
    let (log, skills) = start(LogFormat::Auto, refs)?;
    let calls = args.limits.concurrency;
    let server = tools(skills, args.tool_schemas)?
        .notices(args.notices)
        .concurrency(calls);
    let mut options = StdioOptions::default();
    options.drain = args.limits.drain;
    options.message_limit = args.message_limit;
    // The client has as long to read the last responses.
    let patience = options.drain.saturating_mul(2);
    let ProtocolStdio { input, output } = stdio;
    run(
        log,
        calls,
        patience,
        || (),
        async |stop| {
            let served = async {
                let gone = peer_closed(output.try_clone()?);
                let (input, output) = (File::from_std(input), File::from_std(output));
                serve_until_gone(server, input, output, options, stop, gone).await
            };
            served.await.map_err(|error| format!("cannot serve: {error}"))
        },
    )
}

/// The skills as tools.
pub(super) fn tools(skills: SkillSet, schemas: ToolSchemas) -> Result<McpServer, Failure> {
    let schemas = match schemas {
        ToolSchemas::Portable => mcp::ToolSchemas::Portable,
        ToolSchemas::Contract => mcp::ToolSchemas::Contract,
    };
    McpServer::new(skills)
        .and_then(|server| server.tool_schemas(schemas))
        .map_err(usage)
}
