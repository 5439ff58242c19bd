//! `serve mcp-stdio`, from the request to the exit code.

use std::process::ExitCode;
use std::time::Duration;

use tokio::fs::File;

use super::protocol::{ServeMcpStdioRequest, ToolSchemas};
use super::runtime::{LEAST, runtime};
use super::signals::stop_signal;
use super::{Refusal, chosen, stdio as protocol_stdio};
use crate::mcp::{self, DEFAULT_CONCURRENCY, McpServer, StdioOptions, serve_until_gone};
use crate::ndjson::peer_closed;
use crate::pipeline::{SkillSet, install_panic_hook};

/// Serves the client that started the program, until it closes its end or the program is told to stop.
pub(super) fn stdio(
    request: impl FnOnce() -> Result<ServeMcpStdioRequest, Refusal>,
) -> Result<ExitCode, Refusal> {
    let protocol = protocol_stdio::taken()?;
    let request = request()?;
    #[cfg(feature = "log")]
    let log = super::logging::start(super::logging::LogFormat::Auto);
    install_panic_hook();
    let host = chosen(&request.skills)?;
    let calls = request.concurrency.unwrap_or(DEFAULT_CONCURRENCY);
    let host = tools(host, request.tool_schemas)?
        .notices(request.notices)
        .concurrency(calls);
    let mut options = StdioOptions::default();
    if let Some(seconds) = request.drain_seconds {
        options.drain = Duration::from_secs(seconds);
    }
    if let Some(bytes) = request.message_limit {
        options.message_limit = bytes;
    }
    let runtime = runtime(calls, LEAST)?;
    // The client has as long to read the last answers.
    let stop = stop_signal(options.drain.saturating_mul(2));
    let stop = stop.map_err(|error| format!("cannot listen for signals: {error}"))?;
    let served = runtime.block_on(async {
        let failed = |error: std::io::Error| format!("cannot serve: {error}");
        let protocol_stdio::ProtocolStdio { input, output } = protocol;
        let probe = output.try_clone().map_err(failed)?;
        let (input, output) = (File::from_std(input), File::from_std(output));
        serve_until_gone(host, input, output, options, stop, peer_closed(probe))
            .await
            .map_err(failed)
    });
    // What still runs was given its time.
    runtime.shutdown_background();
    #[cfg(feature = "log")]
    log.finish();
    served.map(|()| ExitCode::SUCCESS)
}

/// The skills as tools.
pub(super) fn tools(host: SkillSet, schemas: ToolSchemas) -> Result<McpServer, Refusal> {
    let schemas = match schemas {
        ToolSchemas::Portable => mcp::ToolSchemas::Portable,
        ToolSchemas::Contract => mcp::ToolSchemas::Contract,
    };
    McpServer::new(host)
        .and_then(|host| host.tool_schemas(schemas))
        .map_err(|error| error.to_string())
}
