//! Hosting over HTTP, from the request to the exit code.

use std::io::Write;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::runtime::Builder;

use super::protocol::{Anonymous, ServeHttpRequest};
use super::sample::sample;
use super::signals::stop_signal;
use super::{NO_SKILLS, Refusal};
use crate::auth::Verifier;
use crate::context::Environment;
use crate::contract::Idempotency;
use crate::http::{HttpHost, ServeOptions, path_of, serve};
use crate::pipeline::{Host, Runnable, report_panics_of_skills};

/// Serves until the program is told to stop.
pub(super) fn http(request: ServeHttpRequest) -> Result<ExitCode, Refusal> {
    let verifier = match request.anonymous {
        Anonymous::Refused => {
            Some(Verifier::from_environment(&Environment::process()).map_err(|error| error.to_string())?)
        }
        Anonymous::Loopback | Anonymous::Anywhere => None,
    };
    let anonymous = verifier.is_none();
    #[cfg(feature = "log")]
    let log = super::logging::start(request.log_format);
    report_panics_of_skills();
    let host = Host::collect_only(&request.skills).map_err(|error| error.to_string())?;
    let Some(example) = example(&host) else {
        return Err(NO_SKILLS.to_owned());
    };
    let known = |name: &str| {
        let mut skills = host.iter().map(Runnable::skill);
        skills.any(|skill| skill.reference() == name || skill.name() == name)
    };
    if let Some(unknown) = request.limits.named_skills().find(|name| !known(name)) {
        return Err(format!(
            "--skill-concurrency names {unknown}, which is not hosted here"
        ));
    }
    let http = match verifier {
        Some(verifier) => HttpHost::new(host, verifier),
        None => HttpHost::anonymous(host),
    };
    let mut http = http.limits(request.limits.limits());
    if request.open_metrics {
        http = http.open_metrics();
    }
    let mut options = ServeOptions::new(request.host, request.port);
    options.anonymous_anywhere = request.anonymous == Anonymous::Anywhere;
    options.drain = Duration::from_secs(request.limits.drain_seconds);

    let runtime = Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("cannot start the runtime: {error}"))?;
    let served = runtime.block_on(async {
        let stop = stop_signal().map_err(|error| format!("cannot listen for signals: {error}"))?;
        let bound = |address: SocketAddr| announce(address, &example, anonymous);
        serve(http, options, bound, stop)
            .await
            .map_err(|error| error.to_string())
    });
    // What still runs was given its time.
    runtime.shutdown_background();
    #[cfg(feature = "log")]
    log.finish();
    served.map(|()| ExitCode::SUCCESS)
}

/// A call to paste: the path of a skill and a body for it.
struct Example {
    path: String,
    body: String,
}

/// A call of the first skill that comes with an example, else of the first skill with a sample of its inputs.
fn example(host: &Host) -> Option<Example> {
    let inputs_of = |runnable: &Runnable| {
        let examples = runnable.described().metadata().get("examples")?;
        examples.get(0)?.get("inputs").cloned()
    };
    let chosen = host
        .iter()
        .find(|runnable| inputs_of(runnable).is_some())
        .or(host.iter().next())?;
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
