//! Hosting over HTTP, from the request to the exit code.

use std::io::Write;
use std::net::SocketAddr;
use std::process::ExitCode;

use serde_json::{Map, Value};

use super::port::Port;
use super::protocol::ServeHttpRequest;
use super::sample::sample;
use super::{NO_SKILLS, Refusal};
use crate::contract::Idempotency;
use crate::http::{HttpServer, path_of, serve};
use crate::pipeline::{Runnable, SkillSet};

/// Serves until the program is told to stop.
pub(super) fn http(request: &ServeHttpRequest) -> Result<ExitCode, Refusal> {
    let mut port = Port::prepare(request)?;
    let Some(example) = example(&port.host) else {
        return Err(NO_SKILLS.to_owned());
    };
    let host = port.host.clone();
    let anonymous = port.verifier.is_none();
    let http = match port.verifier.take() {
        Some(verifier) => HttpServer::new(host, verifier),
        None => HttpServer::anonymous(host),
    };
    let mut http = http.limits(port.limits.clone());
    if port.public_metrics {
        http = http.public_metrics();
    }
    for name in &request.allowed_hosts {
        http = http.allow_host(name).map_err(|error| error.to_string())?;
    }
    for origin in &request.allowed_origins {
        http = http.allow_origin(origin).map_err(|error| error.to_string())?;
    }
    port.serve(async |options, stop| {
        let bound = |address: SocketAddr| announce(address, &example, anonymous);
        serve(http, options, bound, stop).await
    })
}

/// A call to paste: the path of a skill and a body for it.
struct Example {
    path: String,
    body: String,
}

/// A call of a skill that does as little as there is: of those the first one that comes with an example, else the first one
/// with a sample of its inputs. Whoever pastes a line does not read a contract before.
fn example(host: &SkillSet) -> Option<Example> {
    let inputs_of = |runnable: &Runnable| {
        let examples = runnable.described().metadata().get("examples")?;
        examples.get(0)?.get("inputs").cloned()
    };
    let chosen = host.iter().min_by_key(|runnable| {
        let declared = runnable.skill().declaration();
        (
            declared.side_effects(),
            declared.risk(),
            inputs_of(runnable).is_none(),
        )
    })?;
    let contract = chosen.described().contract();
    let mut body = Map::new();
    if contract.idempotency == Idempotency::Required {
        body.insert("idempotencyKey".into(), "example-1".into());
    }
    body.insert(
        "inputs".into(),
        inputs_of(chosen).unwrap_or_else(|| sample(&contract.inputs)),
    );
    Some(Example {
        path: path_of(chosen.skill().reference()),
        body: Value::Object(body).to_string(),
    })
}

/// Says where the skills are served, in one line on standard output, and how to try it, on standard error.
fn announce(address: SocketAddr, example: &Example, anonymous: bool) {
    let mut stdout = std::io::stdout();
    // A reader that went away does not stop the server.
    drop(writeln!(stdout, "listening on http://{address}").and_then(|()| stdout.flush()));
    let quoted = example.body.replace('\'', r"'\''");
    let (warning, token) = if anonymous {
        let warning = "warning: callers need no token (--allow-anonymous): use this for development only\n";
        (warning, "")
    } else {
        ("", " -H \"authorization: Bearer $TOKEN\"")
    };
    let text = format!(
        "{warning}try: curl -sS 'http://{address}{}'{token} -H 'content-type: application/json' -d '{quoted}'\n",
        example.path,
    );
    drop(std::io::stderr().write_all(text.as_bytes()));
}
