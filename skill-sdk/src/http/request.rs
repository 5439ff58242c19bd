//! Reading a request: content type and envelope.

use axum::http::header::{ACCEPT, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderValue};

use crate::context::TraceContext;
use crate::pipeline::Members;

/// Whether the content is JSON by its type; a type that is missing is tolerated.
pub(crate) fn is_json(headers: &HeaderMap) -> bool {
    let mut types = headers.get_all(CONTENT_TYPE).iter();
    match (types.next(), types.next()) {
        (None, _) => true,
        (Some(content_type), None) => is_json_type(content_type),
        (Some(_), Some(_)) => false,
    }
}

/// Whether `Accept` names one of these media types.
pub(crate) fn accepts(headers: &HeaderMap, kinds: &[&str]) -> bool {
    let values = headers.get_all(ACCEPT).iter();
    let mut ranges = values
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','));
    ranges.any(|range| {
        let mut parts = range.split(';').map(|part| part.trim().to_ascii_lowercase());
        let kind = parts.next().unwrap_or_default();
        let is_excluded = |part: String| {
            let weight = part.strip_prefix("q=").and_then(|weight| weight.parse().ok());
            weight == Some(0.0_f32)
        };
        kinds.contains(&kind.as_str()) && !parts.any(is_excluded)
    })
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
pub(super) struct Envelope<'a> {
    pub(super) members: Members<'a>,
    /// A JSON object.
    pub(super) inputs: &'a str,
}

impl<'a> Envelope<'a> {
    /// Reads a body, or says why it is not one.
    pub(super) fn read(body: &'a [u8]) -> Result<Self, String> {
        let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
        let members: Members<'a> = serde_json::from_slice(body).map_err(|error| {
            format!(
                "the body must be a JSON object {{\"invocationId\", \"idempotencyKey\", \"settings\", \"inputs\"}}: {error}"
            )
        })?;
        match members.raw("inputs") {
            Some(inputs) if inputs.starts_with('{') => Ok(Self { members, inputs }),
            Some(_) => Err("the member \"inputs\" of the body must be a JSON object".to_owned()),
            None => Err("the body must have a field \"inputs\"".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inputs(body: &str) -> Result<String, String> {
        Envelope::read(body.as_bytes()).map(|envelope| envelope.inputs.to_owned())
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
            "{'inputs':{}}",
        ] {
            assert!(inputs(body).is_err(), "{body}");
        }
        assert!(Envelope::read(b"{\"inputs\":{\"a\":\"\xff\"}}").is_err());
        let many = |count: usize| inputs(&format!("{{{}\"inputs\":{{}}}}", "\"a\":1,".repeat(count)));
        assert!(many(999).is_ok() && many(1000).unwrap_err().contains("1000 members"));
    }

    #[test]
    fn ids_may_be_of_any_type() {
        let body = r#"{"invocationId":7,"idempotencyKey":null,"settings":{"values":{"a":1}},"inputs":{}}"#;
        let envelope = Envelope::read(body.as_bytes()).unwrap();
        assert_eq!(envelope.members.text("invocationId").as_deref(), Some("7"));
        assert_eq!(envelope.members.text("idempotencyKey"), None);
        assert!(envelope.members.settings("settings").contains_key("a"));
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

    #[test]
    fn what_clients_accept() {
        for (sent, json, events) in [
            (&[][..], false, false),
            (&["application/json, text/event-stream"], true, true),
            (&["Application/JSON;q=0.5", "text/event-stream;q=0.1"], true, true),
            (&["application/json"], true, false),
            (&["*/*"], true, false),
            (&["text/html"], false, false),
            (&["text/event-stream"], false, true),
            (&["application/json;q=0, text/event-stream"], false, true),
            (&["application/*"], true, false),
            (&["application/jsonx"], false, false),
        ] {
            let mut headers = HeaderMap::new();
            for value in sent {
                headers.append(ACCEPT, HeaderValue::from_static(value));
            }
            let found = accepts(&headers, &["application/json", "application/*", "*/*"]);
            assert_eq!(found, json, "{sent:?}");
            let found = accepts(&headers, &["text/event-stream", "text/*"]);
            assert_eq!(found, events, "{sent:?}");
        }
    }
}
