//! `tools/call`: one call of a skill.

use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::McpServer;
use super::elicitation::{AskingPeer, Rounds};
use super::notify::{CloseOnDrop, Reporter, Threshold};
use super::protocol::{Id, Params, RequestMeta, Revision, RpcError, error, response};
use super::session::Session;
use crate::context::{Caller, TraceContext};
use crate::error::SkillError;
use crate::handler::Attachment;
use crate::pipe::Outgoing;
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
    /// An unknown tool is a failure of the call, not an error of the protocol.
    runnable: Result<Arc<Runnable>, SkillError>,
    inputs: Vec<u8>,
    meta: Meta,
    rounds: Option<Arc<Rounds>>,
    reporter: Option<CloseOnDrop>,
}

impl ToolCall {
    /// Parses the parameters of a call.
    pub(super) fn parse(
        server: &McpServer,
        params: &Params<'_>,
        request_meta: RequestMeta<'_>,
        origin: Origin<'_>,
    ) -> Result<Self, RpcError> {
        let name = params.tool()?;
        let inputs = params.inputs()?.as_bytes().to_vec();
        let runnable = server.0.tools.skill(&name).cloned();
        let mut meta = Meta::new("mcp");
        meta.environment = server.0.environment.clone();
        meta.settings = request_meta.settings();
        meta.trace = request_meta.trace().or(origin.trace);
        meta.invocation_id = request_meta.invocation_id.filter(|id| !id.is_empty());
        meta.idempotency_key = request_meta.idempotency_key.filter(|key| !key.is_empty());
        meta.caller = origin.caller;
        let has_initialize = origin.revision.has_initialize;
        let session = origin.session.filter(|_| has_initialize);

        let mut rounds = None;
        let capabilities = request_meta.capabilities.unwrap_or_default();
        let (state, responses) = (params.request_state, params.input_responses);
        if let Ok(runnable) = &runnable
            && !has_initialize
            && (capabilities.any() || state.is_some() || responses.is_some())
        {
            let bound_to = (runnable.skill().reference(), &*inputs, meta.caller.as_deref());
            let new = Rounds::new(&server.0.state_key, capabilities, bound_to, state, responses);
            let (new, cost) = new.map_err(RpcError::params)?;
            let new = rounds.insert(Arc::new(new));
            meta.cost = Some(Arc::new(Mutex::new(cost)));
            meta.input = Some(Arc::<Rounds>::clone(new));
        }

        let notices = server.0.notices;
        let mut log = session
            .filter(|_| notices)
            .map(|session| session.threshold.clone());
        if !has_initialize && request_meta.log_level.is_some() && notices {
            let threshold = log.insert(Threshold::default());
            threshold.set(request_meta.log_level, LOG_LEVEL)?;
        }
        let mut reporter = None;
        if let Some(outgoing) = origin.outgoing {
            if let Some(session) = session {
                let (peer, outgoing) = (Arc::clone(&session.peer), outgoing.clone());
                meta.input = Some(Arc::new(AskingPeer { peer, outgoing }));
            }
            let new = Arc::new(Reporter {
                skill: runnable.as_ref().map_or("", |runnable| runnable.skill().name()),
                progress: request_meta.progress_token,
                log,
                outgoing,
                last: Mutex::new(Some(f64::NEG_INFINITY)),
            });
            meta.reports = Some(Arc::clone(&new) as _);
            reporter = Some(CloseOnDrop(new));
        }
        Ok(Self {
            runnable,
            inputs,
            meta,
            rounds,
            reporter,
        })
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
        let cost = meta.cost.clone();
        let mut permit = None;
        let completed = {
            let running = pin!(run(runnable, inputs, meta, service, admission, &mut permit));
            // It is dropped before the call, so that a call that is cancelled sends nothing more.
            let _reporter = reporter;
            match &rounds {
                None => Ok(running.await),
                Some(rounds) => rounds.watch(running).await.ok_or(rounds),
            }
        };
        let outcome = match completed {
            Ok(completed) => completed.map_or_else(Outcome::Failed, Outcome::new),
            Err(rounds) => {
                let cost = cost.map(|cost| cost.lock().unwrap_or_else(PoisonError::into_inner).clone());
                let cost = cost.unwrap_or_default();
                Outcome::Asked(rounds.asked(cost))
            }
        };
        (outcome, permit)
    }
}

async fn run(
    runnable: Result<Arc<Runnable>, SkillError>,
    inputs: Vec<u8>,
    mut meta: Meta,
    service: &Service,
    admission: Admission,
    permit: &mut Option<Permit>,
) -> Result<CallOutcome, SkillError> {
    let runnable = runnable?;
    let reference = runnable.skill().reference();
    let hosted = service
        .get(reference)
        .ok_or_else(|| service.skills().not_hosted(reference))?;
    let admitted = match admission {
        #[cfg(feature = "mcp-http")]
        Admission::Immediate => service.admit(hosted).map_err(Overloaded::error)?,
        Admission::InTurn => service.admit_in_turn(hosted, &mut meta).await?,
    };
    let permit = permit.insert(admitted);
    let completed = service.call(Call::json(inputs, meta), permit).await;
    completed.map_err(Overloaded::error)
}

/// How a call ended.
pub(super) enum Outcome {
    Completed {
        outputs: Vec<u8>,
        attachments: Vec<Attachment>,
        cost: Option<Value>,
    },
    Failed(SkillError),
    /// The client has to answer these questions and call again.
    Asked(Value),
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
    pub(super) fn response(&self, id: &Id, revision: &Revision, server: &McpServer) -> Vec<u8> {
        if let Some(capability) = self.missing_capability(revision) {
            let message = format!(
                "this call needs the capability `{capability}` of the client, which it does not declare"
            );
            let mut missing = RpcError::new(MISSING_CAPABILITY, message);
            missing.data = Some(json!({"requiredCapabilities": {capability: {}}}));
            return error(Some(id), &missing);
        }
        let is_stateless = !revision.has_initialize;
        let mut meta = Map::new();
        if let Self::Completed { cost: Some(cost), .. } = &self {
            meta.insert("skill/cost".to_owned(), cost.clone());
        }
        if is_stateless {
            meta.extend(server.about());
        }
        let (outputs, text, attachments) = match &self {
            Self::Completed {
                outputs, attachments, ..
            } => {
                // The outputs of the pipeline are JSON.
                let outputs: &RawValue = serde_json::from_slice(outputs).unwrap_or(RawValue::NULL);
                (Some(outputs), outputs.get().to_owned(), &attachments[..])
            }
            Self::Failed(error) => (None, json!({"error": error}).to_string(), &[][..]),
            Self::Asked(asked) => {
                let mut result = asked.clone();
                result["resultType"] = "input_required".into();
                result["_meta"] = meta.into();
                return response(id, &result);
            }
        };
        let result = CallResult {
            content: [&[Attachment::text(text)], attachments].concat(),
            structured_content: outputs,
            is_error: outputs.is_none(),
            result_type: is_stateless.then_some("complete"),
            meta,
        };
        response(id, &result)
    }
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
        let server = server.named("skills", "1");
        let revision = Revision::find(revision).unwrap();
        let message = outcome.response(&Id::text("a"), revision, &server);
        assert!(message.iter().position(|byte| *byte == b'\n') == Some(message.len() - 1));
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
        let outputs = "{\"big\": 1180591620717411303424,\n\"t\": \"Ё\\n🙂\"}";
        let outcome = || completed(outputs, Vec::new());
        let text = message(&outcome(), "2025-11-25");
        assert!(text.contains(
            r#""structuredContent":{"big": 1180591620717411303424, "t": "Ё\n🙂"},"isError":false"#
        ));
        let result = parsed(&outcome(), "2025-11-25")["result"].clone();
        let block: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(block["t"], "Ё\n🙂");
        assert_eq!(result["_meta"], json!({"skill/cost": {"units": {"ops": 1.0}}}));
        assert!(result.get("resultType").is_none());
        let result = parsed(&outcome(), "2026-07-28")["result"].clone();
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
        let outcome = || {
            let requests = json!({"a": {"method": "roots/list", "params": {}}});
            Outcome::Asked(json!({"inputRequests": requests, "requestState": "s"}))
        };
        let result = parsed(&outcome(), "2026-07-28")["result"].clone();
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
        let response = parsed(&outcome(), "2026-07-28");
        assert_eq!(response["error"]["code"], MISSING_CAPABILITY);
        assert_eq!(
            response["error"]["data"],
            json!({"requiredCapabilities": {"sampling": {}}})
        );
        let result = parsed(&outcome(), "2025-11-25")["result"].clone();
        assert_eq!(result["isError"], true);
        assert!(result.get("_meta").is_none() && result.get("structuredContent").is_none());
    }
}
