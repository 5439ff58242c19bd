//! Reading a request: content type and envelope.

use std::borrow::Cow;
use std::fmt;

use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, HeaderValue};
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, de};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::context::TraceContext;
use crate::contract::json;

/// Whether the content is JSON by its type; a type that is missing is tolerated.
pub(crate) fn is_json(headers: &HeaderMap) -> bool {
    let mut types = headers.get_all(CONTENT_TYPE).iter();
    match (types.next(), types.next()) {
        (None, _) => true,
        (Some(content_type), None) => is_json_type(content_type),
        (Some(_), Some(_)) => false,
    }
}

/// The trace context of the caller. Two parents are as good as none.
pub(crate) fn trace(headers: &HeaderMap) -> Option<TraceContext> {
    let mut parents = headers.get_all("traceparent").iter();
    let parent = match (parents.next(), parents.next()) {
        (Some(parent), None) => parent.to_str().ok()?,
        _ => return None,
    };
    let states: Vec<&str> = headers
        .get_all("tracestate")
        .iter()
        .filter_map(|state| state.to_str().ok())
        .collect();
    TraceContext::parse(parent, Some(&states.join(",")))
}

fn is_json_type(content_type: &HeaderValue) -> bool {
    let Ok(text) = content_type.to_str() else {
        return false;
    };
    let mime = text.split(';').next().unwrap_or_default().trim();
    if mime.eq_ignore_ascii_case("application/json") {
        return true;
    }
    let mime = mime.to_ascii_lowercase();
    mime.starts_with("application/") && mime.ends_with("+json")
}

/// The body of a call: `{"invocationId", "idempotencyKey", "settings", "inputs"}`.
///
/// Unknown members are ignored; of several members of one name the last counts, also inside.
#[derive(Default)]
pub(super) struct Envelope<'a> {
    pub(super) invocation_id: Option<String>,
    pub(super) idempotency_key: Option<String>,
    pub(super) settings: Option<Value>,
    pub(super) inputs: Option<&'a str>,
}

impl<'a> Envelope<'a> {
    /// Reads a body, or says why it is not one.
    pub(super) fn read(body: &'a [u8]) -> Result<Self, String> {
        let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
        let envelope: Self = serde_json::from_slice(body).map_err(|error| {
            format!(
                "the body must be a JSON object {{\"invocationId\", \"idempotencyKey\", \"settings\", \"inputs\"}}: {error}"
            )
        })?;
        match envelope.inputs {
            Some(inputs) if inputs.starts_with('{') => check_depth(inputs)?,
            Some(_) => return Err("the member \"inputs\" of the body must be a JSON object".to_owned()),
            None => return Err("the body has no member \"inputs\"".to_owned()),
        }
        Ok(envelope)
    }
}

/// How deep inputs may be nested: what the parser of their values takes.
const MAX_DEPTH: usize = 127;

fn check_depth(json: &str) -> Result<(), String> {
    let mut depth = 0_usize;
    let mut bytes = json.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'[' | b'{' => {
                depth += 1;
                if depth > MAX_DEPTH {
                    return Err(format!("the inputs are nested more than {MAX_DEPTH} levels deep"));
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            b'"' => {
                while let Some(byte) = bytes.next() {
                    match byte {
                        b'"' => break,
                        b'\\' => drop(bytes.next()),
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    Ok(())
}

impl<'de> Deserialize<'de> for Envelope<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EnvelopeVisitor)
    }
}

struct EnvelopeVisitor;

impl<'de> Visitor<'de> for EnvelopeVisitor {
    type Value = Envelope<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut envelope = Envelope::default();
        while let Some(name) = map.next_key::<Cow<'de, str>>()? {
            match name.as_ref() {
                "invocationId" => envelope.invocation_id = map.next_value::<Id>()?.0,
                "idempotencyKey" => envelope.idempotency_key = map.next_value::<Id>()?.0,
                "settings" => envelope.settings = Some(settings(map.next_value()?)),
                "inputs" => envelope.inputs = Some(map.next_value::<&RawValue>()?.get()),
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(envelope)
    }
}

/// Settings that are not usable are empty settings.
fn settings(settings: &RawValue) -> Value {
    json::parse(settings.get().as_bytes()).unwrap_or(Value::Null)
}

/// An id: a string, or the JSON text of anything else but null.
struct Id(Option<String>);

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = <&RawValue>::deserialize(deserializer)?.get();
        if json.starts_with('"') {
            return serde_json::from_str(json)
                .map(|id| Self(Some(id)))
                .map_err(de::Error::custom);
        }
        Ok(Self((json != "null").then(|| json.to_owned())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inputs(body: &str) -> Result<String, String> {
        Envelope::read(body.as_bytes()).map(|envelope| envelope.inputs.unwrap().to_owned())
    }

    #[test]
    fn only_inputs_are_needed() {
        assert_eq!(inputs(r#"{"inputs":{}}"#).unwrap(), "{}");
        assert_eq!(
            inputs("\u{feff} {\"inputs\": {\"a\": 1} , \"zzz\": [1]} ").unwrap(),
            "{\"a\": 1}"
        );
        assert_eq!(inputs(r#"{"inputs":1,"inputs":{"b":2}}"#).unwrap(), r#"{"b":2}"#);
        assert_eq!(inputs(r#"{"\u0069nputs":{}}"#).unwrap(), "{}");
    }

    #[test]
    fn bodies_that_are_none() {
        for body in [
            "",
            "1",
            "[1]",
            "{",
            "null",
            r#"{"inputs":{}} x"#,
            r#"{"inputs":{},}"#,
            r#"{"inputs":[1]}"#,
            r#"{"inputs":null}"#,
            r#"{"invocationId":"i"}"#,
            r#"{"invocationId":"\ud800","inputs":{}}"#,
            "{'inputs':{}}",
        ] {
            assert!(inputs(body).is_err(), "{body}");
        }
        assert!(Envelope::read(b"{\"inputs\":{\"a\":\"\xff\"}}").is_err());
        let deep = |levels: usize| {
            format!(
                "{{\"inputs\":{{\"a\":{}{}}}}}",
                "[".repeat(levels),
                "]".repeat(levels)
            )
        };
        assert!(inputs(&deep(126)).is_ok());
        assert!(inputs(&deep(127)).unwrap_err().contains("127 levels"));
        assert!(inputs(&deep(100_000)).unwrap_err().contains("127 levels"));
        assert!(inputs(&format!("{{\"inputs\":{{\"a\":\"{}\\\"[\"}}}}", "[".repeat(500))).is_ok());
    }

    #[test]
    fn ids_may_be_of_any_type() {
        let body = r#"{"invocationId":7,"idempotencyKey":null,"settings":{"values":{}},"inputs":{}}"#;
        let envelope = Envelope::read(body.as_bytes()).unwrap();
        assert_eq!(envelope.invocation_id.as_deref(), Some("7"));
        assert_eq!(envelope.idempotency_key, None);
        assert!(envelope.settings.is_some());
    }

    #[test]
    fn content_types() {
        let types = |types: &[&'static str]| {
            let mut headers = HeaderMap::new();
            for content_type in types {
                headers.append(CONTENT_TYPE, HeaderValue::from_static(content_type));
            }
            is_json(&headers)
        };
        assert!(types(&[]));
        for good in [
            "application/json",
            "Application/JSON; charset=utf-8",
            "application/vnd.skill+json",
        ] {
            assert!(types(&[good]), "{good}");
        }
        for bad in [
            "text/plain",
            "application/jsonx",
            "",
            "text/x+json",
            "application/xml",
        ] {
            assert!(!types(&[bad]), "{bad}");
        }
        assert!(!types(&["application/json", "application/json"]));
    }
}
