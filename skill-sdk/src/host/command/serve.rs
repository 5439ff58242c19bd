//! `serve`: the request that starts a host, from the arguments.

use crate::host::args::ServeHttpArgs;
use crate::host::protocol::ServeHttpRequest;

/// The request of `serve http` for the skills with the given refs; none: all of the program.
pub fn http(args: &ServeHttpArgs, skills: Vec<String>) -> ServeHttpRequest {
    ServeHttpRequest {
        skills,
        host: args.host.clone(),
        port: args.port,
        anonymous: args.anonymous(),
        body_limit: args.body_limit,
        concurrency: args.concurrency,
        drain_seconds: args.drain_seconds,
    }
}
