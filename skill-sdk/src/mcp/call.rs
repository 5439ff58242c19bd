//! `tools/call`: one call of a skill.

use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use tokio::time::{Instant, timeout_at};

use super::McpServer;
use super::elicitation::{Asked, AskingPeer, Capabilities, Rounds};
use super::notify::{CloseOnDrop, Reporter, Threshold, Wanted};
use super::outgoing::Outgoing;
use super::protocol::{Id, Params, RequestMeta, Revision, RpcError, error, response};
use super::session::Session;
use crate::context::{Caller, Cost, InputChannel, NoticeSink, ProgressSink, TraceContext};
use crate::error::SkillError;
use crate::handler::Attachment;
use crate::pipeline::{Call, CallOutcome, Meta, Runnable};
use crate::serve::{Overloaded, Permit, Service};

/// The error of a call that needs a capability that the client did not declare.
const MISSING_CAPABILITY: i32 = -32021;

/// The place of the level of log messages in a request.
const LOG_LEVEL: &str = "params._meta.io.modelcontextprotocol/logLevel";

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
pub(super) struct Origin<'a> {
    pub(super) revision: &'static Revision,
    pub(super) caller: Option<Arc<Caller>>,
    pub(super) trace: Option<TraceContext>,
    pub(super) session: Option<&'a Session>,
    /// `None` when the client can receive nothing but the result.
    pub(super) outgoing: Option<Outgoing>,
}

/// A call that was parsed.
pub(super) struct ToolCall {
    runnable: Arc<Runnable>,
    inputs: Vec<u8>,
    meta: Meta,
    rounds: Option<Arc<Rounds>>,
    reporter: Option<CloseOnDrop>,
}

impl ToolCall {
    /// Parses the parameters of a call. An unknown tool is an outcome of the call, not an error of the protocol.
    pub(super) fn parse(
        server: &McpServer,
        params: &Params<'_>,
        request_meta: RequestMeta<'_>,
        origin: Origin<'_>,
    ) -> Result<Result<Self, Outcome>, RpcError> {
        let name = params.tool()?;
        let inputs = params.inputs()?.as_bytes();
        let Some(runnable) = server.0.tools.skill(&name) else {
            return Ok(Err(Outcome::Failed(not_hosted(server, &name))));
        };
        let mut meta = Meta::new("mcp");
        meta.environment = server.0.environment.clone();
        meta.settings = request_meta.settings();
        meta.trace = request_meta.trace().or(origin.trace);
        meta.invocation_id = request_meta.invocation_id.filter(|id| !id.is_empty());
        meta.idempotency_key = request_meta.idempotency_key.filter(|key| !key.is_empty());
        meta.caller = origin.caller;
        let mut call = Self {
            runnable: Arc::clone(runnable),
            inputs: inputs.to_vec(),
            meta,
            rounds: None,
            reporter: None,
        };
        let mut wanted = Wanted {
            progress: request_meta.progress_token,
            log: None,
        };
        let level = request_meta.log_level.filter(|_| server.0.notices);
        if origin.revision.has_initialize {
            let session = origin.session.filter(|_| server.0.notices);
            wanted.log = session.map(|session| session.threshold.clone());
        } else {
            call.set_rounds(server, params, request_meta.capabilities.unwrap_or_default())?;
            if level.is_some() {
                let threshold = Threshold::default();
                threshold.set(level, LOG_LEVEL)?;
                wanted.log = Some(threshold);
            }
        }
        if let Some(outgoing) = origin.outgoing {
            if let Some(session) = origin.session.filter(|_| origin.revision.has_initialize) {
                let (peer, outgoing) = (Arc::clone(&session.peer), outgoing.clone());
                call.meta.input = Some(Arc::new(AskingPeer { peer, outgoing }));
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
        capabilities: Capabilities,
    ) -> Result<(), RpcError> {
        let (state, responses) = (params.request_state, params.input_responses);
        if !capabilities.any() && state.is_none() && responses.is_none() {
            return Ok(());
        }
        let reference = self.runnable.skill().reference();
        let bound_to = (reference, self.inputs.as_slice(), self.meta.caller.as_deref());
        let (rounds, cost) = Rounds::new(&server.0.state_key, capabilities, bound_to, state, responses)
            .map_err(RpcError::params)?;
        let rounds = Arc::new(rounds);
        self.meta.cost = Arc::new(Mutex::new(cost));
        self.meta.input = Some(Arc::clone(&rounds) as Arc<dyn InputChannel>);
        self.rounds = Some(rounds);
        Ok(())
    }

    fn set_reporter(&mut self, wanted: Wanted, outgoing: Outgoing) {
        let reporter = Arc::new(Reporter::new(self.runnable.skill().name(), wanted, outgoing));
        if reporter.wanted.progress.is_some() {
            self.meta.progress = Some(Arc::clone(&reporter) as Arc<dyn ProgressSink>);
        }
        if reporter.wanted.log.is_some() {
            self.meta.notices = Some(Arc::clone(&reporter) as Arc<dyn NoticeSink>);
        }
        self.reporter = Some(CloseOnDrop(reporter));
    }

    /// Runs the call once `service` admits it. Dropping the future cancels it. The permit is to be dropped once the response is
    /// written.
    pub(super) async fn run(self, service: &Service, admission: Admission) -> (Outcome, Option<Permit>) {
        let Self {
            runnable,
            inputs,
            meta,
            rounds,
            reporter,
        } = self;
        let cost = Arc::clone(&meta.cost);
        let mut permit = None;
        let completed = {
            let running = pin!(run(&runnable, inputs, meta, service, admission, &mut permit));
            // It is dropped before the call, so that a call that is cancelled sends nothing more.
            let _reporter = reporter;
            match &rounds {
                None => Some(running.await),
                Some(rounds) => rounds.watch(running).await,
            }
        };
        let outcome = match (completed, rounds) {
            (Some(Ok(completed)), _) => Outcome::new(completed),
            (Some(Err(rejected)), _) => Outcome::Failed(rejected),
            (None, rounds) => asked(rounds.as_deref(), &cost),
        };
        (outcome, permit)
    }
}

async fn run(
    runnable: &Runnable,
    inputs: Vec<u8>,
    mut meta: Meta,
    service: &Service,
    admission: Admission,
    permit: &mut Option<Permit>,
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
    let permit = permit.insert(admitted.map_err(Overloaded::error)?);
    let completed = service.call(Call::json(inputs, meta), permit).await;
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
            let message = "the questions of the call cannot be sent";
            Outcome::Failed(SkillError::terminal("skill_error", message))
        }
    }
}

fn not_hosted(server: &McpServer, name: &str) -> SkillError {
    let names: Vec<&str> = server.0.tools.names().into_iter().take(20).collect();
    let known = if names.is_empty() {
        "none".to_owned()
    } else {
        names.join(", ")
    };
    let message = format!("there is no tool {name}; the tools are: {known}");
    SkillError::terminal("skill_not_hosted", message)
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

/// The result of a call that ended.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CallResult<'a> {
    content: Vec<Attachment>,
    #[serde(skip_serializing_if = "Option::is_none")]
    structured_content: Option<&'a RawValue>,
    is_error: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    result_type: Option<&'static str>,
    #[serde(rename = "_meta", skip_serializing_if = "Map::is_empty")]
    meta: Map<String, Value>,
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

    /// The failure of a call that comes during the shutdown.
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

    /// The response, as one line.
    pub(super) fn response(self, id: &Id, revision: &Revision, server: &McpServer) -> Vec<u8> {
        if let Some(capability) = self.missing_capability(revision) {
            let message = format!(
                "this call needs the capability `{capability}` of the client, which it does not declare"
            );
            let mut missing = RpcError::new(MISSING_CAPABILITY, message);
            missing.data = Some(json!({"requiredCapabilities": {capability: {}}}));
            return error(Some(id), &missing);
        }
        let is_stateless = !revision.has_initialize;
        let result_type = is_stateless.then_some("complete");
        let mut meta = Map::new();
        if let Self::Completed { cost: Some(cost), .. } = &self {
            meta.insert("skill/cost".to_owned(), cost.clone());
        }
        if is_stateless {
            meta.extend(server.about());
        }
        match self {
            Self::Completed {
                outputs, attachments, ..
            } => {
                // The outputs of the pipeline are JSON.
                let structured: &RawValue = serde_json::from_slice(&outputs).unwrap_or(RawValue::NULL);
                let mut content = vec![Attachment::text(structured.get())];
                content.extend(attachments);
                let result = CallResult {
                    content,
                    structured_content: Some(structured),
                    is_error: false,
                    result_type,
                    meta,
                };
                response(id, &result)
            }
            Self::Failed(error) => {
                let result = CallResult {
                    content: vec![Attachment::text(json!({"error": error}).to_string())],
                    structured_content: None,
                    is_error: true,
                    result_type,
                    meta,
                };
                response(id, &result)
            }
            Self::Asked(Asked { requests, state }) => {
                let result = json!({
                    "inputRequests": requests, "requestState": state,
                    "resultType": "input_required", "_meta": meta,
                });
                response(id, &result)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::Environment;
    use crate::pipeline::SkillSet;
    use crate::registry::Registry;

    fn message(outcome: Outcome, revision: &str) -> String {
        let skills = SkillSet::new(&Registry::from_skills([]).unwrap()).unwrap();
        let server = McpServer::with_environment(skills, Environment::from_vars([])).unwrap();
        let revision = Revision::find(revision).unwrap();
        let message = outcome.response(&Id::String("a".to_owned()), revision, &server);
        assert!(message.iter().position(|byte| *byte == b'\n') == Some(message.len() - 1));
        String::from_utf8(message).unwrap()
    }

    fn parsed(outcome: Outcome, revision: &str) -> Value {
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
        let outputs = "{\"big\": 1180591620717411303424,\n\"t\": \"Ё\\n🙂\"}";
        let outcome = || completed(outputs, Vec::new());
        let text = message(outcome(), "2025-11-25");
        assert!(text.contains(
            r#""structuredContent":{"big": 1180591620717411303424, "t": "Ё\n🙂"},"isError":false"#
        ));
        let result = parsed(outcome(), "2025-11-25")["result"].clone();
        let block: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(block["t"], "Ё\n🙂");
        assert_eq!(result["_meta"], json!({"skill/cost": {"units": {"ops": 1.0}}}));
        assert!(result.get("resultType").is_none());
        let result = parsed(outcome(), "2026-07-28")["result"].clone();
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
            parsed(completed("{}", attachments), "2025-11-25")["result"]["content"],
            json!([
                {"type": "text", "text": "{}"},
                {"type": "text", "text": "a\nb"},
                {"type": "image", "data": "AQ==", "mimeType": "image/png"},
            ])
        );
    }

    #[test]
    fn questions_are_a_result_of_their_own() {
        let outcome = || {
            Outcome::Asked(Asked {
                requests: [("a".to_owned(), json!({"method": "roots/list", "params": {}}))].into(),
                state: "s".to_owned(),
            })
        };
        let result = parsed(outcome(), "2026-07-28")["result"].clone();
        assert_eq!(result["resultType"], "input_required");
        assert_eq!(result["inputRequests"]["a"]["method"], "roots/list");
        assert_eq!(result["requestState"], "s");
        assert!(result.get("content").is_none());
    }

    #[test]
    fn a_missing_capability_is_an_error_in_a_stateless_revision() {
        let outcome = || {
            let error = SkillError::terminal("input_not_supported", "no");
            Outcome::Failed(error.with_details(json!({"requires": "sampling"})))
        };
        let response = parsed(outcome(), "2026-07-28");
        assert_eq!(response["error"]["code"], MISSING_CAPABILITY);
        assert_eq!(
            response["error"]["data"],
            json!({"requiredCapabilities": {"sampling": {}}})
        );
        let result = parsed(outcome(), "2025-11-25")["result"].clone();
        assert_eq!(result["isError"], true);
        assert!(result.get("_meta").is_none() && result.get("structuredContent").is_none());
    }
}
