//! Reading a line: a call, a cancellation, or the question what is hosted.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde::de::{Deserializer as _, Error, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::context::{NoticeLevel, TraceContext, settings_values};
use crate::contract::json;
use crate::lines::MAX_ID;

/// What a line may look like, for messages.
const FORMS: &str = "{\"id\", \"skill\", \"inputs\", \"meta\"}, {\"cancel\": id} or {\"list\": true} with a line break at its end";

/// The JSON text of the id of a call: a number, or a string in the one way in which it is written here.
pub(super) type Id = Arc<str>;

/// What a line asks for.
pub(super) enum Request<'a> {
    /// To call a skill.
    Call(CallRequest<'a>),
    /// To stop a call.
    Cancel(Id),
    /// To say what is hosted.
    List(Option<Id>),
}

/// What it is, and nothing of what it holds.
impl fmt::Debug for Request<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Call(call) => write!(f, "Call({})", call.skill),
            Self::Cancel(id) => write!(f, "Cancel({id})"),
            Self::List(_) => f.write_str("List"),
        }
    }
}

/// A call of a skill.
pub(super) struct CallRequest<'a> {
    pub(super) id: Id,
    pub(super) skill: Cow<'a, str>,
    pub(super) inputs: &'a str,
    pub(super) meta: MetaFields,
}

/// What stands beside the inputs.
#[derive(Default)]
pub(super) struct MetaFields {
    pub(super) invocation_id: Option<String>,
    pub(super) idempotency_key: Option<String>,
    pub(super) timeout: Option<Duration>,
    pub(super) settings: Map<String, Value>,
    /// The notices that the caller wants to hear: of this level and above.
    pub(super) notices: Option<NoticeLevel>,
    /// The trace that the caller is part of.
    pub(super) trace: Option<Box<TraceContext>>,
}

/// Why a line is no request, and the id that it names. What is not JSON names none.
#[derive(Debug)]
pub(super) struct Refused {
    pub(super) id: Option<Id>,
    pub(super) message: String,
}

/// Reads a line, without its line break.
pub(super) fn read(line: &[u8]) -> Result<Request<'_>, Refused> {
    let refused = |id: Option<Id>, message: String| Refused { id, message };
    let text = std::str::from_utf8(line).map_err(|error| {
        refused(
            None,
            format!("the line is not UTF-8: byte {} is wrong", error.valid_up_to() + 1),
        )
    })?;
    let mut fields = Fields::default();
    if let Err(error) = members(text, |name, value| fields.set(name, value)) {
        return Err(refused(None, format!("the line must be one of {FORMS}: {error}")));
    }
    if let Some(cancelled) = fields.cancel {
        return id_of(cancelled.get())
            .map(Request::Cancel)
            .map_err(|message| refused(None, format!("\"cancel\" {message}")));
    }
    let id = match fields.id.map(|id| id_of(id.get())) {
        None => None,
        Some(Ok(id)) => Some(id),
        Some(Err(message)) => return Err(refused(None, format!("\"id\" {message}"))),
    };
    if fields.list.is_some_and(|list| list.get() == "true") {
        return Ok(Request::List(id));
    }
    let Some(id) = id else {
        return Err(refused(
            None,
            format!("there is no \"id\"; the line must be one of {FORMS}"),
        ));
    };
    match call(&id, &fields) {
        Ok(call) => Ok(Request::Call(call)),
        Err(message) => Err(refused(Some(id), message)),
    }
}

fn call<'a>(id: &Id, fields: &Fields<'a>) -> Result<CallRequest<'a>, String> {
    let skill = match fields.skill {
        Some(skill) => serde_json::from_str::<Name<'a>>(skill.get())
            .map_err(|_| "\"skill\" must be a string, name@version".to_owned())?,
        None => return Err("there is no \"skill\": the ref of the skill to call, name@version".to_owned()),
    };
    let inputs = match fields.inputs.map(RawValue::get) {
        Some(inputs) if inputs.starts_with('{') => inputs,
        Some(_) => return Err("\"inputs\" must be a JSON object".to_owned()),
        None => return Err("there are no \"inputs\": the input object of the skill".to_owned()),
    };
    Ok(CallRequest {
        id: Arc::clone(id),
        skill: skill.0,
        inputs,
        meta: fields.meta.map_or_else(|| Ok(MetaFields::default()), meta)?,
    })
}

fn meta(json: &RawValue) -> Result<MetaFields, String> {
    let mut meta = MetaFields::default();
    let mut refused = None;
    let (mut parent, mut state) = (None, None);
    members(json.get(), |name, value| match name {
        "invocationId" => meta.invocation_id = Some(text(value)),
        "idempotencyKey" => meta.idempotency_key = Some(text(value)),
        "timeoutSeconds" => match timeout(value) {
            Ok(timeout) => meta.timeout = timeout,
            Err(message) => refused = Some(message),
        },
        "notices" => match level(value) {
            Ok(level) => meta.notices = Some(level),
            Err(message) => refused = Some(message),
        },
        "traceparent" => parent = serde_json::from_str::<String>(value.get()).ok(),
        "tracestate" => state = serde_json::from_str::<String>(value.get()).ok(),
        "settings" => {
            // Settings that are not usable are empty settings.
            meta.settings = settings_values(json::parse(value.get().as_bytes()).ok());
        }
        _ => {}
    })
    .map_err(|error| format!("\"meta\" must be a JSON object: {error}"))?;
    meta.trace = parent
        .and_then(|parent| TraceContext::parse(&parent, state.as_deref()))
        .map(Box::new);
    refused.map_or(Ok(meta), Err)
}

/// A string, or the JSON text of anything else.
fn text(value: &RawValue) -> String {
    let json = value.get();
    serde_json::from_str(json).unwrap_or_else(|_| json.to_owned())
}

/// The least grave notices that are wanted.
fn level(value: &RawValue) -> Result<NoticeLevel, String> {
    let name: Option<String> = serde_json::from_str(value.get()).ok();
    NoticeLevel::ALL
        .into_iter()
        .find(|level| name.as_deref() == Some(level.name()))
        .ok_or_else(|| {
            let names = NoticeLevel::ALL.map(NoticeLevel::name).join(", ");
            format!("\"notices\" must be one of {names}")
        })
}

/// Seconds; none and zero mean those of the contract.
fn timeout(value: &RawValue) -> Result<Option<Duration>, String> {
    const WRONG: &str = "\"timeoutSeconds\" must be a number of seconds that is not negative";
    let seconds: f64 = serde_json::from_str(value.get()).map_err(|_| WRONG.to_owned())?;
    if seconds == 0.0 {
        return Ok(None);
    }
    Duration::try_from_secs_f64(seconds)
        .map(Some)
        .map_err(|_| WRONG.to_owned())
}

/// The one way to write an id.
pub(super) fn id_of(json: &str) -> Result<Id, String> {
    if json.len() > MAX_ID {
        return Err(format!("must not be longer than {MAX_ID} bytes"));
    }
    match json.as_bytes() {
        [b'"', ..] if !json.contains('\\') => Ok(json.into()),
        [b'"', ..] => serde_json::from_str::<String>(json)
            .map(|text| Value::from(text).to_string().into())
            .map_err(|error| format!("must be a string: {error}")),
        [b'-' | b'0'..=b'9', ..] => Ok(json.into()),
        _ => Err("must be a string or a number".to_owned()),
    }
}

/// The members of a line that mean something. Null is absent; of several of one name the last counts.
#[derive(Default)]
struct Fields<'a> {
    id: Option<&'a RawValue>,
    skill: Option<&'a RawValue>,
    inputs: Option<&'a RawValue>,
    meta: Option<&'a RawValue>,
    cancel: Option<&'a RawValue>,
    list: Option<&'a RawValue>,
}

impl<'a> Fields<'a> {
    fn set(&mut self, name: &str, value: &'a RawValue) {
        let field = match name {
            "id" => &mut self.id,
            "skill" => &mut self.skill,
            "inputs" => &mut self.inputs,
            "meta" => &mut self.meta,
            "cancel" => &mut self.cancel,
            "list" => &mut self.list,
            _ => return,
        };
        *field = Some(value);
    }
}

/// Calls `each` with the members of a JSON object that are not null, in their order.
fn members<'a>(json: &'a str, mut each: impl FnMut(&str, &'a RawValue)) -> Result<(), serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_str(json);
    deserializer.deserialize_map(Members(&mut each))?;
    deserializer.end()
}

struct Members<'f, F>(&'f mut F);

impl<'a, F: FnMut(&str, &'a RawValue)> Visitor<'a> for Members<'_, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(Name(name)) = map.next_key()? {
            let value: &RawValue = map.next_value()?;
            if value.get() != "null" {
                (self.0)(&name, value);
            }
        }
        Ok(())
    }
}

/// A string that is borrowed where it can be.
struct Name<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Name<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(NameVisitor).map(Self)
    }
}

struct NameVisitor;

impl<'de> Visitor<'de> for NameVisitor {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(line: &str) -> CallRequest<'_> {
        match read(line.as_bytes()) {
            Ok(Request::Call(call)) => call,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn calls() {
        let full = call(
            r#"{"id":7,"skill":"a@1","inputs":{"x":1},"meta":{"invocationId":"i","idempotencyKey":"k",
               "timeoutSeconds":2.5,"settings":{"values":{"a":1}},"skill":"a@1","more":[]},"zzz":1}"#,
        );
        assert_eq!((&*full.id, &*full.skill, full.inputs), ("7", "a@1", r#"{"x":1}"#));
        assert_eq!(full.meta.invocation_id.as_deref(), Some("i"));
        assert_eq!(full.meta.idempotency_key.as_deref(), Some("k"));
        assert_eq!(full.meta.timeout, Some(Duration::from_millis(2500)));
        assert_eq!(full.meta.settings["a"], 1);

        let short = call(r#" {"id":"\u0061","skill":"a\u0040\u0031","inputs":{ }, "meta":null} "#);
        assert_eq!((&*short.id, &*short.skill, short.inputs), ("\"a\"", "a@1", "{ }"));
        assert!(short.meta.timeout.is_none() && short.meta.settings.is_empty());

        let odd = call(
            r#"{"inputs":{"a":1},"skill":"b","inputs":{},"id":"x","cancel":null,"list":false,
               "meta":{"timeoutSeconds":0,"settings":[1],"invocationId":5,"idempotencyKey":null}}"#,
        );
        assert_eq!((odd.inputs, odd.meta.timeout), ("{}", None));
        assert_eq!(odd.meta.invocation_id.as_deref(), Some("5"));
    }

    #[test]
    fn the_other_lines() {
        for (line, expected) in [
            (r#"{"cancel": 7}"#, "7"),
            (r#"{"id": 1, "cancel": "a\tb"}"#, r#""a\tb""#),
        ] {
            assert!(
                matches!(read(line.as_bytes()), Ok(Request::Cancel(id)) if &*id == expected),
                "{line}"
            );
        }
        assert!(matches!(read(br#"{"list":true}"#), Ok(Request::List(None))));
        assert!(matches!(read(br#"{"list":true,"id":-1}"#), Ok(Request::List(Some(id))) if &*id == "-1"));
    }

    #[test]
    fn lines_that_are_none() {
        for (line, id, expected) in [
            ("", None, "EOF"),
            ("x", None, "expected"),
            ("[1]", None, "an object"),
            ("null", None, "an object"),
            ("{}", None, "no \"id\""),
            (r#"{"id":1}"#, Some("1"), "no \"skill\""),
            (
                r#"{"id":true,"skill":"a@1","inputs":{}}"#,
                None,
                "a string or a number",
            ),
            (
                r#"{"id":{},"skill":"a@1","inputs":{}}"#,
                None,
                "a string or a number",
            ),
            (r#"{"id":1,"skill":2,"inputs":{}}"#, Some("1"), "must be a string"),
            (r#"{"id":1,"skill":"a@1"}"#, Some("1"), "no \"inputs\""),
            (
                r#"{"id":1,"skill":"a@1","inputs":[]}"#,
                Some("1"),
                "a JSON object",
            ),
            (
                r#"{"id":1,"skill":"a@1","inputs":{},"meta":3}"#,
                Some("1"),
                "\"meta\"",
            ),
            (
                r#"{"id":1,"skill":"a@1","inputs":{},"meta":{"timeoutSeconds":-1}}"#,
                Some("1"),
                "seconds",
            ),
            (
                r#"{"id":1,"skill":"a@1","inputs":{},"meta":{"timeoutSeconds":"1"}}"#,
                Some("1"),
                "seconds",
            ),
            (
                r#"{"id":1,"skill":"a@1","inputs":{},"meta":{"timeoutSeconds":1e300}}"#,
                Some("1"),
                "seconds",
            ),
            (r#"{"id":1,"skill":"a@1","inputs":{}} x"#, None, "trailing"),
            (r#"{"id":1,"skill":"a@1","inputs":{"#, None, "EOF"),
            (r#"{"cancel":{}}"#, None, "a string or a number"),
            (
                r#"{"id":"\ud800","skill":"a@1","inputs":{}}"#,
                None,
                "\"id\" must be a string",
            ),
        ] {
            let refused = read(line.as_bytes()).expect_err(line);
            assert_eq!(refused.id.as_deref(), id, "{line}");
            assert!(refused.message.contains(expected), "{line}: {}", refused.message);
        }
        assert!(read(b"{\"id\":\"\xff\"}").unwrap_err().message.contains("UTF-8"));
        let long = format!(r#"{{"id":"{}","list":true}}"#, "a".repeat(MAX_ID));
        assert!(read(long.as_bytes()).unwrap_err().message.contains("256 bytes"));
        // Deep lines cost no stack.
        let deep = format!(
            r#"{{"id":1,"skill":"a@1","inputs":{{"a":{}"#,
            "[".repeat(1_000_000)
        );
        assert!(read(deep.as_bytes()).unwrap_err().message.contains("EOF"));
    }
}
