//! `serve`: the request that starts a host, from the arguments.

use std::net::IpAddr;

use super::Failure;
use crate::auth::AuthSettings;
use crate::context::Environment;
use crate::host::args::{ServeHttpArgs, ServeLocalArgs, ServeMcpHttpArgs, ServeMcpStdioArgs};
use crate::host::protocol::{
    Anonymous, ServeHttpRequest, ServeLocalRequest, ServeMcpHttpRequest, ServeMcpStdioRequest,
};

/// Whether a host may start with these arguments; asked before anything is built.
pub fn check(args: &ServeHttpArgs) -> Result<(), Failure> {
    if args.anonymous() == Anonymous::Refused {
        AuthSettings::from_environment(&Environment::process()).map_err(|error| {
            Failure::usage(error.to_string())
                .help("for development pass --allow-anonymous, which serves on loopback addresses only")
        })?;
        return Ok(());
    }
    let address = args
        .host
        .parse::<IpAddr>()
        .ok()
        .filter(|ip| !ip.to_canonical().is_loopback());
    if let (Anonymous::Loopback, Some(address)) = (args.anonymous(), address) {
        return Err(Failure::usage(format!(
            "{address} can be reached from outside, and callers need no token"
        ))
        .help("listen on 127.0.0.1, or allow it with --allow-anonymous=anywhere"));
    }
    Ok(())
}

/// The request of `serve http` for the skills with the given refs; none: all of the program.
pub fn http(args: &ServeHttpArgs, skills: Vec<String>) -> ServeHttpRequest {
    ServeHttpRequest {
        skills,
        host: args.host.clone(),
        port: args.port,
        anonymous: args.anonymous(),
        public_metrics: args.public_metrics,
        allowed_hosts: args.allowed_hosts.clone(),
        allowed_origins: args.allowed_origins.clone(),
        ops_addr: args.ops_addr.clone(),
        log_format: args.log_format,
        limits: args.limits.clone(),
    }
}

/// The request of `serve mcp-stdio` for the skills with the given refs; none: all of the program.
pub fn mcp_stdio(args: &ServeMcpStdioArgs, skills: Vec<String>) -> ServeMcpStdioRequest {
    ServeMcpStdioRequest {
        skills,
        tool_schemas: args.tool_schemas.into(),
        notices: args.notices,
        message_limit: Some(args.message_limit),
        concurrency: Some(args.concurrency),
        drain_seconds: Some(args.drain_seconds),
    }
}

/// The request of `serve mcp-http` for the skills with the given refs; none: all of the program.
pub fn mcp_http(args: &ServeMcpHttpArgs, skills: Vec<String>) -> ServeMcpHttpRequest {
    ServeMcpHttpRequest {
        http: http(&args.http, skills),
        tool_schemas: args.tool_schemas.into(),
        public_url: args.public_url.clone(),
        cors: args.cors,
        sessions: args.sessions,
        notices: args.notices,
    }
}

/// The request of `serve local` for the skills with the given refs; none: all of the program.
pub fn local(args: &ServeLocalArgs, skills: Vec<String>) -> ServeLocalRequest {
    ServeLocalRequest {
        skills,
        socket: args.socket.clone(),
        line_limit: Some(args.line_limit),
        concurrency: Some(args.concurrency),
        drain_seconds: Some(args.drain_seconds),
        parent: None,
    }
}
