//! Writing JSON-RPC: results of calls, errors, progress.

use serde::Serialize;
use serde_json::Value;

use super::input::{Asked, MISSING_CAPABILITY};
use super::message::{Id, Wrong};
use super::params::Era;
use crate::context::{Notice, Progress};
use crate::error::SkillError;
use crate::handler::Attachment;
use crate::lines::{unbroken, value};

/// What a call came to.
pub(super) enum Outcome {
    /// Outputs.
    Given {
        /// Their JSON text.
        outputs: Vec<u8>,
        /// What stands beside them.
        attachments: Vec<Attachment>,
        /// What the call consumed.
        cost: Option<Value>,
    },
    /// A failure.
    Failed(SkillError),
    /// Questions, with which the call begins anew once they are answered.
    Asked(Asked),
}

impl From<SkillError> for Outcome {
    fn from(error: SkillError) -> Self {
        Self::Failed(error)
    }
}

impl Outcome {
    /// What the client would have to be able to do for the call, which it does not say. In the new era that is an error of
    /// the protocol.
    pub(super) fn lacks(&self, era: Era) -> Option<&str> {
        match self {
            Self::Failed(error) if era == Era::Modern && error.code() == "input_not_supported" => {
                error.details()?.get("requires")?.as_str()
            }
            _ => None,
        }
    }
}

/// The answer to `tools/call`. `server` is the JSON text of what the host says about itself.
pub(super) fn result(id: &Id, era: Era, server: &str, outcome: Outcome) -> Vec<u8> {
    if let Some(capability) = outcome.lacks(era) {
        return missing_capability(id, capability);
    }
    let room = match &outcome {
        Outcome::Given { outputs, .. } => outputs.len() * 2 + outputs.len() / 4,
        _ => 256,
    };
    let mut out = Vec::with_capacity(room + 256);
    out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    out.extend_from_slice(id.json().as_bytes());
    out.extend_from_slice(b",\"result\":{");
    let (cost, kind) = match outcome {
        Outcome::Given {
            mut outputs,
            attachments,
            cost,
        } => {
            unbroken(&mut outputs);
            out.extend_from_slice(b"\"content\":[{\"type\":\"text\",\"text\":");
            // The pipeline gives JSON, which is UTF-8.
            string(&mut out, &String::from_utf8_lossy(&outputs));
            out.push(b'}');
            for attachment in &attachments {
                out.push(b',');
                value(&mut out, attachment);
            }
            out.extend_from_slice(b"],\"structuredContent\":");
            out.extend_from_slice(&outputs);
            out.extend_from_slice(b",\"isError\":false");
            (cost, "complete")
        }
        Outcome::Failed(error) => {
            out.extend_from_slice(b"\"content\":[{\"type\":\"text\",\"text\":");
            string(&mut out, &envelope(&error));
            out.extend_from_slice(b"}],\"isError\":true");
            (None, "complete")
        }
        Outcome::Asked(Asked { requests, state }) => {
            out.extend_from_slice(b"\"inputRequests\":");
            value(&mut out, &requests);
            out.extend_from_slice(b",\"requestState\":");
            string(&mut out, &state);
            (None, "input_required")
        }
    };
    if era == Era::Modern {
        out.extend_from_slice(b",\"resultType\":\"");
        out.extend_from_slice(kind.as_bytes());
        out.push(b'"');
    }
    meta(&mut out, era, server, cost.as_ref());
    out.extend_from_slice(b"}}");
    out
}

fn missing_capability(id: &Id, capability: &str) -> Vec<u8> {
    let message = format!("this call has to ask the client for `{capability}`, which it does not declare");
    let mut wrong = Wrong::new(Some(id.clone()), MISSING_CAPABILITY, message);
    let data = serde_json::json!({"requiredCapabilities": {capability: {}}});
    wrong.data = Some(data.to_string());
    error(&wrong)
}

fn meta(out: &mut Vec<u8>, era: Era, server: &str, cost: Option<&Value>) {
    if cost.is_none() && era == Era::Legacy {
        return;
    }
    out.extend_from_slice(b",\"_meta\":{");
    if let Some(cost) = cost {
        out.extend_from_slice(b"\"skill/cost\":");
        out.extend_from_slice(cost.to_string().as_bytes());
    }
    if era == Era::Modern {
        if cost.is_some() {
            out.push(b',');
        }
        out.extend_from_slice(b"\"io.modelcontextprotocol/serverInfo\":");
        out.extend_from_slice(server.as_bytes());
    }
    out.push(b'}');
}

/// The error of JSON-RPC.
pub(super) fn error(wrong: &Wrong) -> Vec<u8> {
    let mut out = Vec::with_capacity(128 + wrong.message.len());
    out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    out.extend_from_slice(wrong.id.as_ref().map_or("null", Id::json).as_bytes());
    out.extend_from_slice(b",\"error\":{\"code\":");
    out.extend_from_slice(wrong.code.to_string().as_bytes());
    out.extend_from_slice(b",\"message\":");
    string(&mut out, &wrong.message);
    if let Some(data) = &wrong.data {
        out.extend_from_slice(b",\"data\":");
        out.extend_from_slice(data.as_bytes());
    }
    out.extend_from_slice(b"}}");
    out
}

/// One report of progress.
pub(super) fn progress(token: &str, progress: &Progress) -> Vec<u8> {
    let mut out = Vec::with_capacity(160 + progress.message.len());
    out.extend_from_slice(
        b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":",
    );
    out.extend_from_slice(token.as_bytes());
    out.extend_from_slice(b",\"progress\":");
    out.extend_from_slice(number(progress.done).as_bytes());
    if let Some(total) = progress.total.filter(|total| total.is_finite()) {
        out.extend_from_slice(b",\"total\":");
        out.extend_from_slice(number(total).as_bytes());
    }
    if !progress.message.is_empty() {
        out.extend_from_slice(b",\"message\":");
        string(&mut out, &progress.message);
    }
    out.extend_from_slice(b"}}");
    out
}

/// One notice of a skill.
pub(super) fn notice(skill: &str, notice: &Notice) -> Vec<u8> {
    let mut out = Vec::with_capacity(128 + notice.message.len());
    out.extend_from_slice(
        b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":",
    );
    string(&mut out, notice.level.name());
    out.extend_from_slice(b",\"logger\":");
    string(&mut out, skill);
    out.extend_from_slice(b",\"data\":");
    string(&mut out, &notice.message);
    out.extend_from_slice(b"}}");
    out
}

/// The answer to a request that has nothing to say but that it was done.
pub(super) fn done(id: &Id) -> Vec<u8> {
    [
        b"{\"jsonrpc\":\"2.0\",\"id\":".as_slice(),
        id.json().as_bytes(),
        b",\"result\":{}}",
    ]
    .concat()
}

/// A number without a fraction is written without one.
fn number(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 {
        format!("{value:.0}")
    } else {
        Value::from(value).to_string()
    }
}

/// The one document of failures.
pub(super) fn envelope(error: &SkillError) -> String {
    #[derive(Serialize)]
    struct Envelope<'a> {
        error: &'a SkillError,
    }
    // The details of a failure are JSON already, so writing them cannot fail.
    serde_json::to_string(&Envelope { error }).unwrap_or_else(|_| "{}".to_owned())
}

fn string(out: &mut Vec<u8>, text: &str) {
    // Writing a text into memory cannot fail.
    drop(serde_json::to_writer(out, text));
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::mcp::message;

    fn id() -> Id {
        match message::read(b"{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"x\"}") {
            Ok(message::Message::Request(request)) => request.id,
            other => panic!("{other:?}"),
        }
    }

    fn parsed(bytes: &[u8]) -> Value {
        assert!(!bytes.contains(&b'\n'));
        serde_json::from_slice(bytes).unwrap()
    }

    #[test]
    fn outputs_are_text_and_structure() {
        let outputs = "{\"big\": 1180591620717411303424,\n\"t\": \"Ё\\n🙂\"}"
            .as_bytes()
            .to_vec();
        let outcome = Outcome::Given {
            outputs,
            attachments: Vec::new(),
            cost: Some(json!({"units": {"ops": 1.0}})),
        };
        let bytes = result(&id(), Era::Legacy, "{}", outcome);
        assert_eq!(
            std::str::from_utf8(&bytes).unwrap(),
            "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"result\":{\"content\":[{\"type\":\"text\",\"text\":\
             \"{\\\"big\\\": 1180591620717411303424, \\\"t\\\": \\\"Ё\\\\n🙂\\\"}\"}],\"structuredContent\":\
             {\"big\": 1180591620717411303424, \"t\": \"Ё\\n🙂\"},\"isError\":false,\
             \"_meta\":{\"skill/cost\":{\"units\":{\"ops\":1.0}}}}}"
        );
    }

    #[test]
    fn a_failure_has_one_text_and_no_cost() {
        let outcome = Outcome::Failed(SkillError::retryable("busy", "later"));
        let answer = parsed(&result(&id(), Era::Legacy, "{}", outcome));
        let text =
            "{\"error\":{\"code\":\"busy\",\"message\":\"later\",\"retryable\":true,\"details\":null}}";
        assert_eq!(
            answer["result"],
            json!({"content": [{"type": "text", "text": text}], "isError": true})
        );
    }

    #[test]
    fn the_new_era_says_more() {
        for (cost, meta) in [
            (None, json!({"io.modelcontextprotocol/serverInfo": {"name": "n"}})),
            (
                Some(json!({})),
                json!({"skill/cost": {}, "io.modelcontextprotocol/serverInfo": {"name": "n"}}),
            ),
        ] {
            let outcome = Outcome::Given {
                outputs: b"{}".to_vec(),
                attachments: Vec::new(),
                cost,
            };
            let answer = parsed(&result(&id(), Era::Modern, "{\"name\":\"n\"}", outcome));
            assert_eq!(answer["result"]["resultType"], "complete");
            assert_eq!(answer["result"]["_meta"], meta);
        }
    }

    #[test]
    fn attachments_stand_after_the_outputs() {
        let outcome = Outcome::Given {
            outputs: b"{}".to_vec(),
            attachments: vec![Attachment::text("a\nb"), Attachment::image([1], "image/png")],
            cost: None,
        };
        let answer = parsed(&result(&id(), Era::Legacy, "{}", outcome));
        assert_eq!(
            answer["result"]["content"],
            json!([
                {"type": "text", "text": "{}"},
                {"type": "text", "text": "a\nb"},
                {"type": "image", "data": "AQ==", "mimeType": "image/png"},
            ])
        );
    }

    #[test]
    fn questions_are_a_result_of_their_own() {
        let asked = Asked {
            requests: json!({"a": {"method": "roots/list", "params": {}}}),
            state: "s".to_owned(),
        };
        let answer = parsed(&result(&id(), Era::Modern, "{}", Outcome::Asked(asked)));
        let result = &answer["result"];
        assert_eq!(result["resultType"], "input_required");
        assert_eq!(result["inputRequests"]["a"]["method"], "roots/list");
        assert_eq!(result["requestState"], "s");
        assert!(result.get("content").is_none());
    }

    #[test]
    fn what_a_client_cannot_do_is_an_error_in_the_new_era() {
        let failed = || {
            let details = json!({"requires": "sampling"});
            Outcome::Failed(SkillError::terminal("input_not_supported", "no").with_details(details))
        };
        let answer = parsed(&result(&id(), Era::Modern, "{}", failed()));
        assert_eq!(answer["error"]["code"], -32021);
        assert_eq!(
            answer["error"]["data"],
            json!({"requiredCapabilities": {"sampling": {}}})
        );
        let answer = parsed(&result(&id(), Era::Legacy, "{}", failed()));
        assert_eq!(answer["result"]["isError"], true);
    }

    #[test]
    fn numbers_of_progress() {
        for (value, expected) in [(50.0, "50"), (0.5, "0.5"), (-0.0, "-0")] {
            assert_eq!(number(value), expected);
        }
        for value in [1e300, 1e-7, 123_456.789, 1e15, -0.0, f64::MIN_POSITIVE] {
            assert_eq!(
                serde_json::from_str::<f64>(&number(value)).unwrap().to_bits(),
                value.to_bits()
            );
        }
    }
}
