//! `serve http` and `serve mcp-http`.

use std::io::{self, Write};
use std::net::SocketAddr;

use serde_json::json;
use tokio::net::TcpListener;

use super::sample::sample;
use super::{announce, run, start};
use crate::auth::Verifier;
use crate::context::Environment;
use crate::contract::Idempotency;
use crate::host::args::{AllowAnonymous, ServeHttpArgs};
use crate::host::command::Failure;
use crate::http::{self, HttpServer, ServeOptions, path_of};
use crate::pipeline::{Runnable, SkillSet};

const NO_TOKENS: &str = "warning: callers need no token (--allow-anonymous): use this for development only\n";

/// Serves over HTTP until the program is told to stop.
pub(super) fn serve(args: &ServeHttpArgs, refs: &[String]) -> Result<u8, Failure> {
    let server = prepare(args, refs)?;
    let (skills, anonymous) = (server.host().clone(), server.is_anonymous());
    let serve = async |stop| {
        let (listener, address, options) = listen(args, anonymous).await?;
        announce(format_args!("listening on http://{address}"));
        announce_ops(&options)?;
        tell(&example(&skills, anonymous, address));
        http::serve(server, listener, options, stop).await
    };
    run((args.limits.concurrency, args.workers), args.drain, || (), serve)
}

/// Serves MCP over HTTP until the program is told to stop.
#[cfg(feature = "mcp-http")]
pub(super) fn serve_mcp(args: &crate::host::args::ServeMcpHttpArgs, refs: &[String]) -> Result<u8, Failure> {
    use crate::mcp::http::{McpHttpServer, PATH, serve};

    let http = prepare(&args.http, refs)?;
    let anonymous = http.is_anonymous();
    let tools = super::mcp::tools(http.host().clone(), &args.mcp)?;
    let mut server = McpHttpServer::over(tools, http)
        .cors(args.cors)
        .sessions(args.sessions);
    if let Some(url) = &args.public_url {
        server = server.public_url(url).map_err(Failure::usage)?;
    }
    let serve = async |stop| {
        let (listener, address, options) = listen(&args.http, anonymous).await?;
        announce(format_args!("listening on http://{address}{PATH}"));
        announce_ops(&options)?;
        serve(server, listener, options, stop).await
    };
    let threads = (args.http.limits.concurrency, args.http.workers);
    run(threads, args.http.drain, || (), serve)
}

/// Starts the log, and makes the server that listens.
fn prepare(args: &ServeHttpArgs, refs: &[String]) -> Result<HttpServer, Failure> {
    let verifier = match args.allow_anonymous {
        None => Some(Verifier::from_environment(&Environment::process()).map_err(Failure::usage)?),
        Some(_) => None,
    };
    let skills = start(args.log_format, refs)?;
    let limits = args.limits(&skills)?;
    let mut server = match verifier {
        Some(verifier) => HttpServer::new(skills, verifier),
        None => {
            tell(NO_TOKENS);
            HttpServer::anonymous(skills)
        }
    };
    server = server.limits(limits);
    if args.public_metrics {
        server = server.public_metrics();
    }
    for name in &args.allowed_hosts {
        server = server.allow_host(name).map_err(Failure::usage)?;
    }
    for origin in &args.allowed_origins {
        server = server.allow_origin(origin).map_err(Failure::usage)?;
    }
    Ok(server)
}

/// Listens at the address of the arguments, if callers without a token may be served there.
async fn listen(
    args: &ServeHttpArgs,
    anonymous: bool,
) -> io::Result<(TcpListener, SocketAddr, ServeOptions)> {
    let (host, port) = (args.host.as_str(), args.port);
    let failed = |at: String| {
        move |error: io::Error| io::Error::new(error.kind(), format!("cannot listen on {at}: {error}"))
    };
    let listener = TcpListener::bind((host, port))
        .await
        .map_err(failed(format!("{host}:{port}")))?;
    let ops = args
        .ops_addr
        .as_ref()
        .map(|at| std::net::TcpListener::bind(at).map_err(failed(at.clone())));
    let options = ServeOptions {
        anonymous_anywhere: args.allow_anonymous == Some(AllowAnonymous::Anywhere),
        ops: ops.transpose()?,
        drain: args.drain,
    };
    let address = options.address(&listener, anonymous)?;
    Ok((listener, address, options))
}

/// Prints where the management port is, if there is one.
fn announce_ops(options: &ServeOptions) -> io::Result<()> {
    if let Some(listener) = &options.ops {
        announce(format_args!(
            "management port on http://{}",
            listener.local_addr()?
        ));
    }
    Ok(())
}

impl ServeHttpArgs {
    /// The limits of a server of these skills.
    fn limits(&self, skills: &SkillSet) -> Result<http::Limits, Failure> {
        let mut limits = self.limits.clone();
        for (skill, calls) in &self.skill_concurrency {
            let Some(name) = skill else {
                limits.skill_concurrency = *calls;
                continue;
            };
            let mut hosted = skills.iter().map(Runnable::skill);
            if !hosted.any(|skill| skill.reference() == name || skill.name() == name) {
                return Err(Failure::usage(format_args!(
                    "--skill-concurrency names {name}, which is not hosted here"
                )));
            }
            limits.skills.insert(name.clone(), *calls);
        }
        Ok(limits)
    }
}

/// A call to paste, of a skill that does as little as there is: of those the first one that comes with an example, else the
/// first one with a sample of its inputs.
fn example(skills: &SkillSet, anonymous: bool, address: SocketAddr) -> String {
    let inputs_of = |runnable: &Runnable| {
        let examples = runnable.described().metadata().get("examples")?;
        examples.get(0)?.get("inputs").cloned()
    };
    let chosen = skills.iter().min_by_key(|runnable| {
        let declared = runnable.skill().declaration();
        let has_example = inputs_of(runnable).is_some();
        (declared.side_effects, declared.risk, !has_example)
    });
    let Some(chosen) = chosen else {
        return String::new();
    };
    let contract = chosen.described().contract();
    let inputs = inputs_of(chosen).unwrap_or_else(|| sample(&contract.inputs));
    let body = match contract.idempotency {
        Idempotency::Required => json!({"idempotencyKey": "example-1", "inputs": inputs}),
        _ => json!({"inputs": inputs}),
    };
    let quoted = body.to_string().replace('\'', r"'\''");
    let path = path_of(chosen.skill().reference());
    let token = if anonymous {
        ""
    } else {
        " -H \"authorization: Bearer $TOKEN\""
    };
    format!(
        "try: curl -sS 'http://{address}{path}'{token} -H 'content-type: application/json' -d '{quoted}'\n"
    )
}

/// Tells the operator on standard error.
fn tell(text: &str) {
    drop(std::io::stderr().write_all(text.as_bytes()));
}
