//! `tools/call`: one call of a skill.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};

use super::McpServer;
use super::elicitation::{Asked, AskingPeer, Capabilities, Rounds};
use super::notify::{Reporter, Threshold, Wanted};
use super::protocol::{
    AskedResult, CallResult, CommonFields, Content, Id, Params, RequestMeta, Revision, RpcError, error,
    response,
};
use super::session::Session;
use crate::context::{Caller, Cost, InputChannel, NoticeSink, ProgressSink, TraceContext};
use crate::error::SkillError;
use crate::handler::Attachment;
use crate::pipeline::{Call, CallOutcome, Meta, Runnable};
use crate::serve::{Overloaded, Service};

/// The error of a call that needs a capability that the client did not declare.
const MISSING_CAPABILITY: i32 = -32021;

/// The place of the level of log messages in a request.
const LOG_LEVEL: &str = "params._meta.io.modelcontextprotocol/logLevel";

/// The way of messages to the client while a call runs.
pub(super) trait Outgoing: Clone + Send + Sync + 'static {
    /// Sends a notification, or drops it when the client is slow to read.
    fn offer(&self, notification: Vec<u8>);

    /// Sends a question; false when the client is too slow to read.
    fn ask(&self, question: Vec<u8>) -> bool;
}

/// What happens to calls beyond the concurrency limit.
#[derive(Debug, Clone, Copy)]
pub(super) enum Admission {
    /// They are rejected: the client can try another replica.
    #[cfg(feature = "mcp-http")]
    Immediate,
    /// They wait, at most until their timeout.
    InTurn,
}

/// What a transport knows about a call beside its message.
pub(super) struct Origin<'a, O> {
    pub(super) revision: &'static Revision,
    pub(super) caller: Option<Arc<Caller>>,
    pub(super) trace: Option<TraceContext>,
    pub(super) session: Option<&'a Session>,
    /// `None` when the client can receive nothing but the result.
    pub(super) outgoing: Option<O>,
}

/// A call that was parsed.
pub(super) struct ToolCall {
    runnable: Arc<Runnable>,
    inputs: Vec<u8>,
    meta: Meta,
    rounds: Option<Arc<Rounds>>,
    reporter: Option<Arc<Reporter>>,
}

impl ToolCall {
    /// Parses the parameters of a call. An unknown tool is an outcome of the call, not an error of the protocol.
    pub(super) fn parse<O: Outgoing>(
        server: &McpServer,
        params: &Params<'_>,
        request_meta: &RequestMeta<'_>,
        origin: Origin<'_, O>,
    ) -> Result<Result<Self, Outcome>, RpcError> {
        let name = params.tool()?;
        let inputs = params.inputs()?.as_bytes();
        let Some(runnable) = server.tools().skill(&name) else {
            return Ok(Err(Outcome::Failed(not_hosted(server, &name))));
        };
        let mut meta = Meta::new("mcp");
        meta.environment = server.environment().clone();
        meta.invocation_id = request_meta.invocation_id();
        meta.idempotency_key = request_meta.idempotency_key();
        meta.settings = request_meta.settings();
        meta.trace = request_meta.trace().or(origin.trace);
        meta.caller = origin.caller;
        let mut call = Self {
            runnable: Arc::clone(runnable),
            inputs: inputs.to_vec(),
            meta,
            rounds: None,
            reporter: None,
        };
        if !origin.revision.has_initialize {
            call.set_rounds(server, params, request_meta)?;
        }
        let mut wanted = Wanted {
            progress: request_meta.progress_token().map(ToOwned::to_owned),
            log: None,
        };
        if server.sends_notices() {
            wanted.log = match (origin.revision.has_initialize, request_meta.log_level) {
                (true, _) => origin.session.map(|session| session.threshold.clone()),
                (false, None) => None,
                (false, level) => {
                    let threshold = Threshold::default();
                    threshold.set(level, LOG_LEVEL)?;
                    Some(threshold)
                }
            };
        }
        if let Some(outgoing) = origin.outgoing {
            if let Some(session) = origin.session.filter(|_| origin.revision.has_initialize) {
                let asking = outgoing.clone();
                let asking = AskingPeer::new(&session.peer, move |question| asking.ask(question));
                call.meta.input = Some(Arc::new(asking));
            }
            call.set_reporter(wanted, outgoing);
        }
        Ok(Ok(call))
    }

    /// Reads the answers of the previous rounds.
    fn set_rounds(
        &mut self,
        server: &McpServer,
        params: &Params<'_>,
        request_meta: &RequestMeta<'_>,
    ) -> Result<(), RpcError> {
        let capabilities = Capabilities::read(request_meta.capabilities);
        let (state, responses) = (params.request_state, params.input_responses);
        if !capabilities.any() && state.is_none() && responses.is_none() {
            return Ok(());
        }
        let bound_to = (
            self.runnable.skill().reference(),
            self.inputs.as_slice(),
            self.meta.caller.as_deref(),
        );
        let (rounds, cost) = Rounds::new(server.state_key(), capabilities, bound_to, state, responses)
            .map_err(RpcError::params)?;
        let rounds = Arc::new(rounds);
        self.meta.cost = Arc::new(Mutex::new(cost));
        self.meta.input = Some(Arc::clone(&rounds) as Arc<dyn InputChannel>);
        self.rounds = Some(rounds);
        Ok(())
    }

    fn set_reporter(&mut self, wanted: Wanted, outgoing: impl Outgoing) {
        if !wanted.any() {
            return;
        }
        let send = move |notification| outgoing.offer(notification);
        let reporter = Arc::new(Reporter::new(self.runnable.skill().name(), wanted, send));
        if reporter.wants_progress() {
            self.meta.progress = Some(Arc::clone(&reporter) as Arc<dyn ProgressSink>);
        }
        if reporter.wants_log() {
            self.meta.notices = Some(Arc::clone(&reporter) as Arc<dyn NoticeSink>);
        }
        self.reporter = Some(reporter);
    }

    /// The verified caller.
    #[cfg(feature = "mcp-http")]
    pub(super) fn caller(&self) -> Option<&Caller> {
        self.meta.caller.as_deref()
    }

    /// What sends the notifications of the call.
    pub(super) fn reporter(&self) -> Option<Arc<Reporter>> {
        self.reporter.clone()
    }

    /// Runs the call once `service` admits it. Dropping the future cancels it.
    pub(super) async fn run(self, service: &Service, admission: Admission) -> Outcome {
        let cost = Arc::clone(&self.meta.cost);
        let running = run(&self.runnable, self.inputs, self.meta, service, admission);
        let completed = match &self.rounds {
            None => Some(running.await),
            Some(rounds) => rounds.watch(running).await,
        };
        if let Some(reporter) = &self.reporter {
            reporter.close();
        }
        match (completed, self.rounds) {
            (Some(Ok(completed)), _) => Outcome::new(completed),
            (Some(Err(rejected)), _) => Outcome::Failed(rejected),
            (None, rounds) => asked(rounds.as_deref(), &cost),
        }
    }
}

async fn run(
    runnable: &Runnable,
    inputs: Vec<u8>,
    mut meta: Meta,
    service: &Service,
    admission: Admission,
) -> Result<CallOutcome, SkillError> {
    let reference = runnable.skill().reference();
    let not_hosted = || SkillError::terminal("skill_not_hosted", format!("{reference} is not hosted here"));
    let hosted = service.get(reference).ok_or_else(not_hosted)?;
    let admitted = match admission {
        #[cfg(feature = "mcp-http")]
        Admission::Immediate => service.admit(hosted),
        Admission::InTurn => {
            let seconds = runnable.described().contract().timeout_seconds;
            let deadline = Instant::now() + Duration::from_secs(seconds.into());
            let admitted = timeout_at(deadline, service.admit_in_turn(hosted)).await;
            meta.timeout = Some(deadline.duration_since(Instant::now()));
            admitted.map_err(|_| {
                let message = format!("the call waited {seconds} s for others: too many calls are running");
                SkillError::retryable("timeout", message)
            })?
        }
    };
    let mut permit = admitted.map_err(Overloaded::error)?;
    let completed = service.call(Call::json(inputs, meta), &mut permit).await;
    completed.map_err(Overloaded::error)
}

/// The questions of a call.
fn asked(rounds: Option<&Rounds>, cost: &Mutex<Cost>) -> Outcome {
    let cost = cost.lock().unwrap_or_else(PoisonError::into_inner).clone();
    match rounds.map(|rounds| rounds.asked(cost)) {
        Some(Ok(asked)) => Outcome::Asked(asked),
        failed => {
            let reason = failed.and_then(Result::err);
            tracing::error!(reason, "the state of a call cannot be signed");
            Outcome::Failed(SkillError::terminal(
                "skill_error",
                "the questions of the call cannot be sent",
            ))
        }
    }
}

fn not_hosted(server: &McpServer, name: &str) -> SkillError {
    let names: Vec<&str> = server.tools().names().into_iter().take(20).collect();
    let known = if names.is_empty() {
        "none".to_owned()
    } else {
        names.join(", ")
    };
    SkillError::terminal(
        "skill_not_hosted",
        format!("there is no tool {name}; the tools are: {known}"),
    )
}

/// How a call ended.
pub(super) enum Outcome {
    Completed {
        outputs: Vec<u8>,
        attachments: Vec<Attachment>,
        cost: Option<Value>,
    },
    Failed(SkillError),
    /// The client has to answer questions and call again.
    Asked(Asked),
}

impl Outcome {
    fn new(mut completed: CallOutcome) -> Self {
        let attachments = completed.take_attachments();
        match completed.into_parts() {
            (Ok(outputs), cost) => Self::Completed {
                outputs,
                attachments,
                cost,
            },
            (Err(error), _) => Self::Failed(error),
        }
    }

    /// The failure of a call that ends with the server.
    pub(super) fn shutting_down() -> Self {
        Self::Failed(SkillError::retryable("overloaded", "the server is shutting down"))
    }

    /// The capability that the client does not have and the call needs. In a stateless revision that is an error of the
    /// protocol.
    pub(super) fn missing_capability(&self, revision: &Revision) -> Option<&str> {
        match self {
            Self::Failed(error) if !revision.has_initialize && error.code() == "input_not_supported" => {
                error.details()?.get("requires")?.as_str()
            }
            _ => None,
        }
    }

    /// The response.
    pub(super) fn response(&self, id: &Id, revision: &Revision, server: &McpServer) -> Vec<u8> {
        if let Some(capability) = self.missing_capability(revision) {
            let message = format!(
                "this call needs the capability `{capability}` of the client, which it does not declare"
            );
            let mut missing = RpcError::new(MISSING_CAPABILITY, message);
            missing.data = Some(json!({"requiredCapabilities": {capability: {}}}));
            return error(Some(id), &missing);
        }
        let common = CommonFields::new(revision, server.implementation());
        match self {
            Self::Completed {
                outputs,
                attachments,
                cost,
            } => {
                // The outputs of the pipeline are JSON.
                let structured: &RawValue = serde_json::from_slice(outputs).unwrap_or(RawValue::NULL);
                let text = [Content::text(structured.get())];
                let attachments = attachments.iter().map(Content::Attachment);
                let result = CallResult {
                    content: text.into_iter().chain(attachments).collect(),
                    structured_content: Some(structured),
                    is_error: false,
                    common: common.cost(cost.as_ref()),
                };
                response(id, &result)
            }
            Self::Failed(failure) => {
                let envelope = envelope(failure);
                let result = CallResult {
                    content: vec![Content::text(&envelope)],
                    structured_content: None,
                    is_error: true,
                    common,
                };
                response(id, &result)
            }
            Self::Asked(Asked { requests, state }) => {
                let result = AskedResult {
                    input_requests: requests,
                    request_state: state,
                    common: common.input_required(),
                };
                response(id, &result)
            }
        }
    }
}

/// The document of a failure.
fn envelope(error: &SkillError) -> String {
    #[derive(Serialize)]
    struct Envelope<'a> {
        error: &'a SkillError,
    }
    // The details of a failure are JSON already, so serializing them cannot fail.
    serde_json::to_string(&Envelope { error }).unwrap_or_else(|_| "{}".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::Environment;
    use crate::pipeline::SkillSet;
    use crate::registry::Registry;

    fn message(outcome: &Outcome, revision: &str) -> String {
        let skills = SkillSet::new(&Registry::from_skills([]).unwrap()).unwrap();
        let server = McpServer::with_environment(skills, Environment::from_vars([])).unwrap();
        let revision = Revision::find(revision).unwrap();
        let message = outcome.response(&Id::string("a").unwrap(), revision, &server);
        assert!(!message.contains(&b'\n'));
        String::from_utf8(message).unwrap()
    }

    fn parsed(outcome: &Outcome, revision: &str) -> Value {
        serde_json::from_str(&message(outcome, revision)).unwrap()
    }

    fn completed(outputs: &str, attachments: Vec<Attachment>) -> Outcome {
        Outcome::Completed {
            outputs: outputs.as_bytes().to_vec(),
            attachments,
            cost: Some(json!({"units": {"ops": 1.0}})),
        }
    }

    #[test]
    fn outputs_are_text_and_structure() {
        let outcome = completed(
            "{\"big\": 1180591620717411303424,\n\"t\": \"Ё\\n🙂\"}",
            Vec::new(),
        );
        let text = message(&outcome, "2025-11-25");
        assert!(text.contains(
            r#""structuredContent":{"big": 1180591620717411303424, "t": "Ё\n🙂"},"isError":false"#
        ));
        let result = parsed(&outcome, "2025-11-25")["result"].clone();
        let block: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(block["t"], "Ё\n🙂");
        assert_eq!(result["_meta"], json!({"skill/cost": {"units": {"ops": 1.0}}}));
        assert!(result.get("resultType").is_none());
        let result = parsed(&outcome, "2026-07-28")["result"].clone();
        assert_eq!(result["resultType"], "complete");
        assert_eq!(
            result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"],
            "skills"
        );
    }

    #[test]
    fn attachments_follow_the_outputs() {
        let attachments = vec![Attachment::text("a\nb"), Attachment::image([1], "image/png")];
        assert_eq!(
            parsed(&completed("{}", attachments), "2025-11-25")["result"]["content"],
            json!([
                {"type": "text", "text": "{}"},
                {"type": "text", "text": "a\nb"},
                {"type": "image", "data": "AQ==", "mimeType": "image/png"},
            ])
        );
    }

    #[test]
    fn questions_are_a_result_of_their_own() {
        let outcome = Outcome::Asked(Asked {
            requests: json!({"a": {"method": "roots/list", "params": {}}}),
            state: "s".to_owned(),
        });
        let result = parsed(&outcome, "2026-07-28")["result"].clone();
        assert_eq!(result["resultType"], "input_required");
        assert_eq!(result["inputRequests"]["a"]["method"], "roots/list");
        assert_eq!(result["requestState"], "s");
        assert!(result.get("content").is_none());
    }

    #[test]
    fn a_missing_capability_is_an_error_in_a_stateless_revision() {
        let error = SkillError::terminal("input_not_supported", "no");
        let outcome = Outcome::Failed(error.with_details(json!({"requires": "sampling"})));
        let response = parsed(&outcome, "2026-07-28");
        assert_eq!(response["error"]["code"], MISSING_CAPABILITY);
        assert_eq!(
            response["error"]["data"],
            json!({"requiredCapabilities": {"sampling": {}}})
        );
        let result = parsed(&outcome, "2025-11-25")["result"].clone();
        assert_eq!(result["isError"], true);
        assert!(result.get("_meta").is_none() && result.get("structuredContent").is_none());
    }
}
