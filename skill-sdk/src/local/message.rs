//! The lines of the protocol, as serde types.

use std::time::Duration;

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::context::{NoticeLevel, TraceContext};
use crate::error::SkillError;
use crate::handler::Attachment;
use crate::pipe::to_line;
use crate::pipe::{Id, Tagged};
use crate::pipeline::Members;
use crate::pipeline::{CallOutcome, Meta, SkillSet};

/// The forms of a line, for messages.
const FORMS: &str = "{\"id\", \"skill\", \"inputs\", \"meta\"}, {\"cancel\": id} or {\"list\": true}";

/// What a line asks for.
#[expect(clippy::large_enum_variant, reason = "nearly all lines are calls")]
pub(super) enum Request<'a> {
    /// To call a skill.
    Call(CallRequest<'a>),
    /// To cancel a call.
    Cancel(Id),
    /// To list the skills.
    List(Option<Id>),
}

/// A call of a skill.
pub(super) struct CallRequest<'a> {
    pub(super) id: Id,
    /// The ref, `name@version`.
    pub(super) skill: String,
    /// The JSON object of the inputs.
    pub(super) inputs: &'a str,
    /// What else the caller says about the call; without an environment and sinks.
    pub(super) meta: Meta,
    /// Send log messages of this level and above.
    pub(super) notices: Option<NoticeLevel>,
}

/// Why a line is not a request.
#[derive(Debug)]
pub(super) struct ParseError {
    /// The id of the line, when it has a valid one.
    pub(super) id: Option<Id>,
    pub(super) message: String,
}

impl<'a> Request<'a> {
    /// Parses a line.
    pub(super) fn parse(line: &'a str) -> Result<Self, ParseError> {
        let failed = |id, message| ParseError { id, message };
        let members: Members<'a> = serde_json::from_str(line)
            .map_err(|error| failed(None, format!("the line must be one of {FORMS}: {error}")))?;
        let id = |name: &str| match members.raw(name) {
            None | Some("null") => Ok(None),
            Some(json) => serde_json::from_str(json)
                .map_err(|_| failed(None, format!("\"{name}\" must be a string or a number"))),
        };
        if let Some(cancelled) = id("cancel")? {
            return Ok(Self::Cancel(cancelled));
        }
        let id = id("id")?;
        if members.raw("list") == Some("true") {
            return Ok(Self::List(id));
        }
        let Some(id) = id else {
            let message = format!("\"id\" is missing; the line must be one of {FORMS}");
            return Err(failed(None, message));
        };
        CallRequest::parse(id.clone(), &members)
            .map(Self::Call)
            .map_err(|message| failed(Some(id), message))
    }
}

impl<'a> CallRequest<'a> {
    fn parse(id: Id, members: &Members<'a>) -> Result<Self, String> {
        let skill = members.get("skill");
        let skill = skill.ok_or("\"skill\" must be a string, name@version")?;
        let inputs = members.raw("inputs").filter(|inputs| inputs.starts_with('{'));
        let inputs = inputs.ok_or("\"inputs\" must be a JSON object")?;
        let said: Members<'a> = match members.raw("meta") {
            None | Some("null") => Members::default(),
            Some(json) => serde_json::from_str(json)
                .map_err(|error| format!("\"meta\" must be a JSON object: {error}"))?,
        };
        let mut meta = Meta::new("local");
        meta.invocation_id = said.text("invocationId");
        meta.idempotency_key = said.text("idempotencyKey");
        meta.settings = said.settings("settings");
        meta.timeout = timeout(&said)?;
        let parent: Option<String> = said.get("traceparent");
        let state: Option<String> = said.get("tracestate");
        meta.trace = parent.and_then(|parent| TraceContext::parse(&parent, state.as_deref()));
        Ok(Self {
            id,
            skill,
            inputs,
            meta,
            notices: notices(&said)?,
        })
    }
}

/// Zero means the timeout of the contract.
fn timeout(meta: &Members<'_>) -> Result<Option<Duration>, String> {
    match meta.raw("timeoutSeconds") {
        None | Some("null") => Ok(None),
        Some(_) => meta
            .get("timeoutSeconds")
            .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
            .map(|timeout| Some(timeout).filter(|timeout| !timeout.is_zero()))
            .ok_or_else(|| "\"timeoutSeconds\" must be a number of seconds that is not negative".to_owned()),
    }
}

fn notices(meta: &Members<'_>) -> Result<Option<NoticeLevel>, String> {
    let Some(name) = meta.text("notices") else {
        return Ok(None);
    };
    let level = NoticeLevel::ALL.into_iter().find(|level| name == level.name());
    level.map(Some).ok_or_else(|| {
        let names = NoticeLevel::ALL.map(NoticeLevel::name).join(", ");
        format!("\"notices\" must be one of {names}")
    })
}

#[derive(Serialize)]
struct Success<'a> {
    id: &'a Id,
    outputs: &'a RawValue,
    cost: Option<&'a Value>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    attachments: &'a [Attachment],
}

/// The response to a call.
pub(super) fn response(id: &Id, outcome: &CallOutcome) -> Vec<u8> {
    match outcome.result() {
        Ok(outputs) => to_line(&Success {
            id,
            // The outputs of the pipeline are JSON.
            outputs: serde_json::from_slice(outputs).unwrap_or(RawValue::NULL),
            cost: outcome.cost(),
            attachments: outcome.attachments(),
        }),
        Err(error) => failure(Some(id), error),
    }
}

/// A failure. Without an id it belongs to no call.
pub(super) fn failure(id: Option<&Id>, error: &SkillError) -> Vec<u8> {
    to_line(&Tagged(None, id, "error", error))
}

/// A progress report of a call.
pub(super) fn progress(id: &Id, done: f64, total: Option<f64>, message: &str) -> Vec<u8> {
    let progress = json!({"done": done, "total": total, "message": message});
    to_line(&Tagged(None, Some(id), "progress", progress))
}

/// A log message of a call.
pub(super) fn notice(id: &Id, level: NoticeLevel, message: &str) -> Vec<u8> {
    let notice = json!({"level": level.name(), "message": message});
    to_line(&Tagged(None, Some(id), "notice", notice))
}

/// The skills of a server and their contracts.
pub(super) fn list(id: Option<&Id>, skills: &SkillSet) -> Vec<u8> {
    let skills = skills.iter().map(|runnable| {
        let mut listed = Map::new();
        listed.insert("ref".into(), runnable.skill().reference().into());
        listed.insert("name".into(), runnable.skill().name().into());
        // Begins with the version.
        if let Value::Object(spec) = runnable.described().document() {
            listed.extend(spec.clone());
        }
        Value::Object(listed)
    });
    to_line(&Tagged(None, id, "skills", skills.collect::<Vec<_>>()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(json: &str) -> Id {
        serde_json::from_str(json).unwrap()
    }

    fn call(line: &str) -> CallRequest<'_> {
        match Request::parse(line) {
            Ok(Request::Call(call)) => call,
            _ => panic!("{line} is a call"),
        }
    }

    #[test]
    fn calls() {
        let full = call(
            r#"{"id":7,"skill":"a@1","inputs":{"x":1},"meta":{"invocationId":"i","idempotencyKey":"k",
               "timeoutSeconds":2.5,"settings":{"values":{"a":1}},"skill":"a@1","more":[]},"zzz":1}"#,
        );
        assert_eq!((full.id, &*full.skill), (id("7"), "a@1"));
        assert_eq!(full.inputs, r#"{"x":1}"#);
        assert_eq!(full.meta.invocation_id.as_deref(), Some("i"));
        assert_eq!(full.meta.idempotency_key.as_deref(), Some("k"));
        assert_eq!(full.meta.timeout, Some(Duration::from_millis(2500)));
        assert_eq!(full.meta.settings["a"], 1);

        let short = call(r#" {"id":"\u0061","skill":"a\u0040\u0031","inputs":{ }, "meta":null} "#);
        assert_eq!(
            (short.id, &*short.skill, short.inputs),
            (Id::text("a"), "a@1", "{ }")
        );
        assert!(short.meta.timeout.is_none() && short.meta.settings.is_empty());

        let odd = call(
            r#"{"skill":"b","inputs":{},"id":"x","cancel":null,"list":false,
               "meta":{"timeoutSeconds":0,"settings":[1],"invocationId":5,"idempotencyKey":null}}"#,
        );
        assert_eq!(odd.meta.timeout, None);
        assert_eq!(odd.meta.invocation_id.as_deref(), Some("5"));
    }

    #[test]
    fn other_requests() {
        for (line, expected) in [
            (r#"{"cancel": 7}"#, id("7")),
            (r#"{"id": 1, "cancel": "a\tb"}"#, Id::text("a\tb")),
        ] {
            assert!(
                matches!(Request::parse(line), Ok(Request::Cancel(id)) if id == expected),
                "{line}"
            );
        }
        assert!(matches!(
            Request::parse(r#"{"list":true}"#),
            Ok(Request::List(None))
        ));
        assert!(matches!(
            Request::parse(r#"{"list":true,"id":-1}"#),
            Ok(Request::List(Some(listed))) if listed == id("-1")
        ));
    }

    #[test]
    fn lines_that_are_not_requests() {
        let one = || Some(id("1"));
        for (line, id, expected) in [
            ("", None, "EOF"),
            ("x", None, "expected"),
            ("[1]", None, "an object"),
            ("[1, \"a@1\", {}]", None, "an object"),
            ("null", None, "expected"),
            ("{}", None, "\"id\" is missing"),
            (r#"{"id":1}"#, one(), "\"skill\" must be a string"),
            (
                r#"{"id":true,"skill":"a@1","inputs":{}}"#,
                None,
                "a string or a number",
            ),
            (r#"{"id":1,"skill":2,"inputs":{}}"#, one(), "must be a string"),
            (r#"{"id":1,"skill":"a@1"}"#, one(), "a JSON object"),
            (r#"{"id":1,"skill":"a@1","inputs":[]}"#, one(), "a JSON object"),
            (
                r#"{"id":1,"skill":"a@1","inputs":{},"meta":3}"#,
                one(),
                "\"meta\"",
            ),
            (
                r#"{"id":1,"skill":"a@1","inputs":{},"meta":{"timeoutSeconds":-1}}"#,
                one(),
                "seconds",
            ),
            (
                r#"{"id":1,"skill":"a@1","inputs":{},"meta":{"timeoutSeconds":"1"}}"#,
                one(),
                "seconds",
            ),
            (
                r#"{"id":1,"skill":"a@1","inputs":{},"meta":{"timeoutSeconds":1e300}}"#,
                one(),
                "seconds",
            ),
            (r#"{"id":1,"skill":"a@1","inputs":{}} x"#, None, "trailing"),
            (r#"{"id":1,"skill":"a@1","inputs":{"#, None, "EOF"),
            (r#"{"cancel":{}}"#, None, "a string or a number"),
            (
                r#"{"id":"\ud800","skill":"a@1","inputs":{}}"#,
                None,
                "a string or a number",
            ),
        ] {
            let Err(error) = Request::parse(line) else {
                panic!("{line} is not a request");
            };
            assert_eq!(error.id, id, "{line}");
            assert!(error.message.contains(expected), "{line}: {}", error.message);
        }
        // Deep nesting needs no stack.
        let deep = format!(
            r#"{{"id":1,"skill":"a@1","inputs":{{"a":{}"#,
            "[".repeat(1_000_000)
        );
        assert!(matches!(Request::parse(&deep), Err(error) if error.message.contains("EOF")));
    }

    #[test]
    fn failures() {
        let error = SkillError::retryable("busy", "later\n").with_details(json!({"a": 1}));
        let id = Id::text("x");
        assert_eq!(
            failure(Some(&id), &error),
            b"{\"id\":\"x\",\"error\":{\"code\":\"busy\",\"message\":\"later\\n\",\"retryable\":true,\"details\":{\"a\":1}}}\n"
        );
        assert_eq!(
            failure(None, &SkillError::terminal("denied", "no")),
            b"{\"id\":null,\"error\":{\"code\":\"denied\",\"message\":\"no\",\"retryable\":false,\"details\":null}}\n"
        );
    }
}
