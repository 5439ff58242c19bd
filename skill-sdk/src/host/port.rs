//! What hosts that listen on a port have in common, from the request to the exit code.

use std::fmt::Display;
use std::pin::Pin;
use std::process::ExitCode;
use std::time::Duration;

use super::protocol::{Anonymous, ServeHttpRequest};
use super::runtime::runtime;
use super::signals::stop_signal;
use super::{Refusal, chosen};
use crate::auth::Verifier;
use crate::context::Environment;
use crate::http::{Limits, ServeOptions};
use crate::pipeline::{Runnable, SkillSet, install_panic_hook};

/// What is to be served, where and to whom.
pub(super) struct Port {
    pub(super) host: SkillSet,
    /// `None`: anybody may call.
    pub(super) verifier: Option<Verifier>,
    pub(super) limits: Limits,
    pub(super) public_metrics: bool,
    /// The fewest threads that poll.
    pub(super) least_threads: usize,
    options: ServeOptions,
    #[cfg(feature = "log")]
    log: super::logging::Started,
}

/// Resolves when the program is told to stop.
pub(super) type Stop = Pin<Box<dyn Future<Output = ()>>>;

impl Port {
    /// Reads a request, starts the log and finds the skills.
    pub(super) fn prepare(request: &ServeHttpRequest) -> Result<Self, Refusal> {
        let verifier = match request.anonymous {
            Anonymous::Refused => {
                Some(Verifier::from_environment(&Environment::process()).map_err(|error| error.to_string())?)
            }
            Anonymous::Loopback | Anonymous::Anywhere => None,
        };
        #[cfg(feature = "log")]
        let log = super::logging::start(request.log_format);
        install_panic_hook();
        let host = chosen(&request.skills)?;
        let known = |name: &str| {
            let mut skills = host.iter().map(Runnable::skill);
            skills.any(|skill| skill.reference() == name || skill.name() == name)
        };
        if let Some(unknown) = request.limits.named_skills().find(|name| !known(name)) {
            return Err(format!(
                "--skill-concurrency names {unknown}, which is not hosted here"
            ));
        }
        let mut options = ServeOptions::new(request.host.clone(), request.port);
        options.anonymous_anywhere = request.anonymous == Anonymous::Anywhere;
        options.ops.clone_from(&request.ops_addr);
        options.drain = Duration::from_secs(request.limits.drain_seconds);
        Ok(Self {
            host,
            verifier,
            limits: request.limits.limits(),
            public_metrics: request.public_metrics,
            least_threads: 1,
            options,
            #[cfg(feature = "log")]
            log,
        })
    }

    /// Serves with `serve` until the program is told to stop.
    pub(super) fn serve<E: Display>(
        self,
        serve: impl AsyncFnOnce(ServeOptions, Stop) -> Result<(), E>,
    ) -> Result<ExitCode, Refusal> {
        let runtime = runtime(self.limits.concurrency, self.least_threads)?;
        let stop = stop_signal(self.options.drain);
        let stop = stop.map_err(|error| format!("cannot listen for signals: {error}"))?;
        let served = runtime.block_on(async {
            serve(self.options, Box::pin(stop))
                .await
                .map_err(|error| error.to_string())
        });
        // What still runs was given its time.
        runtime.shutdown_background();
        #[cfg(feature = "log")]
        self.log.finish();
        served.map(|()| ExitCode::SUCCESS)
    }
}
