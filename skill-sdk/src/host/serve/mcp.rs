//! `serve mcp-stdio`.

use std::io;

use tokio::fs::File;

use super::{run, start};
use crate::environment::Environment;
use crate::host::args::{McpArgs, ServeMcpStdioArgs};
use crate::host::command::Failure;
use crate::host::logging::LogFormat;
use crate::host::stdio::ProtocolStdio;
use crate::mcp::{McpServer, StdioOptions, serve_until_gone};
use crate::pipe::peer_closed;
use crate::pipeline::SkillSet;

/// Serves the client that started the program, until it closes its end or the program is told to stop.
pub(super) fn serve(args: &ServeMcpStdioArgs, refs: &[String], stdio: ProtocolStdio) -> Result<u8, Failure> {
    let skills = start(LogFormat::Auto, refs)?;
    let calls = args.limits.concurrency;
    let server = tools(skills, &args.mcp)?.concurrency(calls);
    let options = StdioOptions {
        drain: args.limits.drain,
        message_limit: args.message_limit,
    };
    // The client has as long to read the last responses.
    let patience = options.drain.saturating_mul(2);
    let ProtocolStdio { input, output } = stdio;
    let failed = |error: io::Error| format!("cannot serve: {error}");
    let serve = async |stop| {
        let gone = peer_closed(output.try_clone().map_err(failed)?);
        let (input, output) = (File::from_std(input), File::from_std(output));
        let ended = serve_until_gone(server, input, output, options, stop, gone).await;
        ended.map_err(failed)
    };
    run(calls, patience, || (), serve)
}

/// The skills as tools.
pub(super) fn tools(skills: SkillSet, args: &McpArgs) -> Result<McpServer, Failure> {
    let server = McpServer::with_options(skills, Environment::process(), args.tools);
    Ok(server.map_err(Failure::usage)?.notices(args.notices))
}
