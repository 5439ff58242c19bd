//! Running one call of a tool.

use std::sync::Arc;
use std::time::Duration;

use serde_json::value::RawValue;
use tokio::task::{AbortHandle, JoinHandle};

use super::McpServer;
use super::answer::Outcome;
use super::input::{Asking, Peer, Rounds};
use super::message::{Request, Wrong};
use super::params::{Params, RequestMeta};
use super::reporter::Reporter;
use super::threshold::Threshold;
use crate::context::{Caller, NoticeSink, ProgressSink, SkillContext, TraceContext};
use crate::error::SkillError;
use crate::pipeline::{Call, CallOutcome, Meta, Place, Runnable, timed_out};
use crate::serve::{Overloaded, Service};

/// How long after its timeout a call whose body does not yield is given up.
const GRACE: Duration = Duration::from_millis(200);

/// A call that was understood.
pub(super) struct ToolCall {
    runnable: Arc<Runnable>,
    inputs: Vec<u8>,
    meta: Meta,
    asking: Option<Asking>,
}

impl ToolCall {
    /// Reads a request of `tools/call`. A tool that is not hosted is an outcome, not a mistake in the protocol.
    pub(super) fn read(
        host: &McpServer,
        request: &Request<'_>,
        params: &Params<'_>,
        request_meta: &RequestMeta<'_>,
    ) -> Result<Result<Self, Outcome>, Wrong> {
        let name = params.tool(request)?;
        let inputs = params.inputs(request)?;
        let Some(runnable) = host.tools().skill(&name) else {
            return Ok(Err(not_hosted(host, &name).into()));
        };
        let mut meta = Meta::new("mcp");
        meta.environment = host.environment_of_calls();
        meta.invocation_id = request_meta.invocation_id();
        meta.idempotency_key = request_meta.idempotency_key();
        meta.settings = request_meta.settings();
        meta.trace = request_meta.trace();
        Ok(Ok(Self {
            runnable: Arc::clone(runnable),
            inputs: inputs.as_bytes().to_vec(),
            meta,
            asking: None,
        }))
    }

    /// Reads what a client of the new era answered so far. Belongs after the caller is known.
    pub(super) fn set_rounds(
        &mut self,
        host: &McpServer,
        request: &Request<'_>,
        params: &Params<'_>,
        request_meta: &RequestMeta<'_>,
    ) -> Result<(), Wrong> {
        let capabilities = request_meta.capabilities();
        let (state, responses) = (params.request_state, params.input_responses);
        // Most calls have nobody to ask.
        if !capabilities.any() && state.is_none() && responses.is_none() {
            return Ok(());
        }
        let about = (
            self.runnable.skill().reference(),
            self.inputs.as_slice(),
            self.meta.caller.as_deref(),
        );
        let (state, responses) = (state.map(RawValue::get), responses.map(RawValue::get));
        let rounds = Rounds::read(host.state_key(), capabilities, about, state, responses)
            .map_err(|message| Wrong::params(&request.id, message))?;
        self.asking = Some(Asking::Rounds(Arc::new(rounds)));
        Ok(())
    }

    /// How a client of the old era is asked: `send` sends messages on the way of this call, and says
    /// whether they went.
    pub(super) fn set_peer(
        &mut self,
        peer: &Arc<Peer>,
        send: impl Fn(Vec<u8>) -> bool + Send + Sync + 'static,
    ) {
        self.asking = Some(Asking::Peer(peer.way(send)));
    }

    /// The caller as the host verified it.
    pub(super) fn set_caller(&mut self, caller: Option<Arc<Caller>>) {
        self.meta.caller = caller;
    }

    /// Reports to a caller that gave a token or wants notices; nothing to one that does neither.
    pub(super) fn set_reporter(
        &mut self,
        token: Option<&str>,
        notices: Option<Threshold>,
        send: impl Fn(Vec<u8>) + Send + Sync + 'static,
    ) -> Option<Arc<Reporter>> {
        if token.is_none() && notices.is_none() {
            return None;
        }
        let reporter = Arc::new(Reporter::new(self.runnable.skill().name(), token, notices, send));
        if reporter.tells_progress() {
            self.meta.progress = Some(Arc::clone(&reporter) as Arc<dyn ProgressSink>);
        }
        if reporter.tells_notices() {
            self.meta.notices = Some(Arc::clone(&reporter) as Arc<dyn NoticeSink>);
        }
        Some(reporter)
    }

    /// The trace that the caller is part of.
    pub(super) fn set_trace(&mut self, trace: Option<TraceContext>) {
        if self.meta.trace.is_none() {
            self.meta.trace = trace;
        }
    }

    /// Starts the call on a task of its own, so that a body that does not yield stops nobody else. A host that listens on
    /// a port has a `service`, which decides whether it may run; else the limit of `host` does.
    pub(super) fn start(self, host: &McpServer, service: Option<&Service>) -> Result<Running, Outcome> {
        let Self {
            runnable,
            inputs,
            mut meta,
            asking,
        } = self;
        meta.input = asking.as_ref().map(Asking::channel);
        let rounds = match asking {
            Some(Asking::Rounds(rounds)) => Some(rounds),
            _ => None,
        };
        let watching = rounds.clone();
        let opened = host.pipeline().open(&runnable, Call::json(inputs, meta));
        let context = opened.context().clone();
        if let Some(rounds) = &rounds {
            context.spent_before(rounds.spent_before());
        }
        let task = match service {
            Some(service) => {
                let Some(hosted) = service.get(runnable.skill().reference()).cloned() else {
                    return Err(not_hosted(host, runnable.skill().name()).into());
                };
                let service = service.clone();
                tokio::spawn(async move {
                    let mut permit = service.admit(&hosted).map_err(Overloaded::error)?;
                    let call = service.run(opened, &mut permit);
                    let completed = watched(watching.as_deref(), call).await.transpose();
                    completed.map_err(Overloaded::error)
                })
            }
            None => {
                let Some(permit) = host.permit() else {
                    let message = "too many calls are running, try again later";
                    return Err(SkillError::retryable("overloaded", message).into());
                };
                let abandoned = host.abandoned().clone();
                tokio::spawn(async move {
                    let call = opened.run(&runnable, Place::Runtime(Some(&abandoned)));
                    let completed = watched(watching.as_deref(), call).await;
                    drop(permit);
                    Ok(completed)
                })
            }
        };
        Ok(Running {
            stop: Stop {
                context,
                task: task.abort_handle(),
            },
            task,
            rounds,
        })
    }
}

/// A call that runs. Dropping it cancels the call.
#[derive(Debug)]
pub(super) struct Running {
    stop: Stop,
    /// Nothing is completed when the call has questions first.
    task: JoinHandle<Result<Option<CallOutcome>, SkillError>>,
    rounds: Option<Arc<Rounds>>,
}

/// Runs a call, which is given up when it has questions.
async fn watched<F: Future>(rounds: Option<&Rounds>, call: F) -> Option<F::Output> {
    match rounds {
        None => Some(call.await),
        Some(rounds) => rounds.watch(call).await,
    }
}

impl Running {
    /// Waits for the outcome.
    pub(super) async fn outcome(mut self) -> Outcome {
        let context = &self.stop.context;
        let joined = match context.remaining() {
            None => Some((&mut self.task).await),
            Some(left) => tokio::time::timeout(left + GRACE, &mut self.task).await.ok(),
        };
        let mut completed = match joined {
            Some(Ok(Ok(Some(completed)))) => completed,
            Some(Ok(Ok(None))) => return asked(self.rounds.as_deref(), context),
            Some(Ok(Err(refused))) => return refused.into(),
            // Panics of skills do not come here: the pipeline makes failures of them.
            Some(Err(_)) => return SkillError::retryable("overloaded", "the host is shutting down").into(),
            // Its body does not yield.
            None => timed_out(context),
        };
        let attachments = completed.take_attachments();
        match completed.into_parts() {
            (Ok(outputs), cost) => Outcome::Given {
                outputs,
                attachments,
                cost,
            },
            (Err(error), _) => Outcome::Failed(error),
        }
    }

    /// How to stop it from elsewhere.
    pub(super) fn stopper(&self) -> Stop {
        self.stop.clone()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.task.is_finished() {
            self.stop.now();
        }
    }
}

/// Stops a call.
#[derive(Debug, Clone)]
pub(super) struct Stop {
    context: SkillContext,
    task: AbortHandle,
}

impl Stop {
    /// Tells the skill that nobody waits any more, and drops its body as soon as it yields.
    pub(super) fn now(&self) {
        self.context.cancel();
        self.task.abort();
    }
}

/// The questions of a call.
fn asked(rounds: Option<&Rounds>, context: &SkillContext) -> Outcome {
    match rounds.map(|rounds| rounds.asked(context.spent())) {
        Some(Ok(asked)) => Outcome::Asked(asked),
        Some(Err(reason)) => {
            tracing::error!(reason, "the state of a call cannot be signed");
            SkillError::terminal("skill_error", "the questions of the call cannot be sent").into()
        }
        None => SkillError::retryable("overloaded", "the host is shutting down").into(),
    }
}

fn not_hosted(host: &McpServer, name: &str) -> SkillError {
    let names: Vec<&str> = host.tools().names().take(20).collect();
    let known = if names.is_empty() {
        "no tools".to_owned()
    } else {
        names.join(", ")
    };
    SkillError::terminal(
        "skill_not_hosted",
        format!("there is no tool {name} here; there is: {known}"),
    )
}
