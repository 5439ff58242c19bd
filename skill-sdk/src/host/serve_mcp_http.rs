//! `serve mcp-http`, from the request to the exit code.

use std::io::Write;
use std::net::SocketAddr;
use std::process::ExitCode;

use super::Refusal;
use super::port::Port;
use super::protocol::ServeMcpHttpRequest;
use super::runtime::LEAST;
use super::serve_mcp::tools;
use crate::mcp::http::{McpHttpServer, PATH, serve};

/// Serves until the program is told to stop.
pub(super) fn http(request: &ServeMcpHttpRequest) -> Result<ExitCode, Refusal> {
    let mut port = Port::prepare(&request.http)?;
    port.least_threads = LEAST;
    let host = tools(port.host.clone(), request.tool_schemas)?.notices(request.notices);
    let anonymous = port.verifier.is_none();
    let http = match port.verifier.take() {
        Some(verifier) => McpHttpServer::new(host, verifier),
        None => McpHttpServer::anonymous(host),
    };
    let mut http = http
        .limits(port.limits.clone())
        .cors(request.cors)
        .sessions(request.sessions);
    if port.public_metrics {
        http = http.public_metrics();
    }
    for name in &request.http.allowed_hosts {
        http = http.allow_host(name).map_err(|error| error.to_string())?;
    }
    for origin in &request.http.allowed_origins {
        http = http.allow_origin(origin).map_err(|error| error.to_string())?;
    }
    if let Some(url) = &request.public_url {
        http = http.public_url(url).map_err(|error| error.to_string())?;
    }
    port.serve(async |options, stop| serve(http, options, |address| announce(address, anonymous), stop).await)
}

/// Says where the tools are served, in one line on standard output, and what to think of it, on standard error.
fn announce(address: SocketAddr, anonymous: bool) {
    let mut stdout = std::io::stdout();
    // A reader that went away does not stop the server.
    drop(writeln!(stdout, "listening on http://{address}{PATH}").and_then(|()| stdout.flush()));
    if !anonymous {
        return;
    }
    let text = "warning: callers need no token (--allow-anonymous): use this for development only\n";
    drop(std::io::stderr().write_all(text.as_bytes()));
}
