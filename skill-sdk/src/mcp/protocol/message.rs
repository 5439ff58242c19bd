//! JSON-RPC messages: what a client sends, parsed no further than needed, and what this server sends.

use std::borrow::Cow;
use std::fmt;

use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};

pub(in crate::mcp) use crate::pipe::Id;
use crate::pipe::Tagged;
use crate::pipe::to_line;

/// The message is not JSON.
pub(in crate::mcp) const PARSE_ERROR: i32 = -32700;
/// The JSON is not a message.
pub(in crate::mcp) const INVALID_REQUEST: i32 = -32600;
/// The server does not have the method.
pub(in crate::mcp) const METHOD_NOT_FOUND: i32 = -32601;
/// The parameters of the method are invalid.
pub(in crate::mcp) const INVALID_PARAMS: i32 = -32602;
/// The headers contradict the message.
#[cfg(feature = "mcp-http")]
pub(in crate::mcp) const HEADER_MISMATCH: i32 = -32020;

/// Why a message cannot be served: the error object of JSON-RPC.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(in crate::mcp) struct RpcError {
    pub(in crate::mcp) code: i32,
    pub(in crate::mcp) message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::mcp) data: Option<Value>,
}

impl RpcError {
    pub(in crate::mcp) fn new(code: i32, message: impl Into<String>) -> Self {
        let message = message.into();
        Self {
            code,
            message,
            data: None,
        }
    }

    /// Invalid parameters.
    pub(in crate::mcp) fn params(message: impl Into<String>) -> Self {
        Self::new(INVALID_PARAMS, message)
    }

    /// JSON that is not a message.
    pub(in crate::mcp) fn request(message: impl Into<String>) -> Self {
        Self::new(INVALID_REQUEST, message)
    }
}

/// The id of a message of which only the beginning is known.
pub(in crate::mcp) fn id_of_beginning(text: &str) -> Option<Id> {
    struct Fields<'a>(&'a mut Option<Id>);
    impl<'de> Visitor<'de> for Fields<'_> {
        type Value = ();

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a message")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
            while let Some(name) = fields.next_key::<Cow<'de, str>>()? {
                match &*name {
                    "id" => *self.0 = fields.next_value()?,
                    _ => drop(fields.next_value::<IgnoredAny>()?),
                }
            }
            Ok(())
        }
    }
    let mut id = None;
    // The last number may go on behind the beginning.
    let text = text.trim_end_matches(|c: char| c.is_ascii_digit() || "+-.eE".contains(c));
    // It fails where the beginning ends.
    drop(serde_json::Deserializer::from_str(text).deserialize_map(Fields(&mut id)));
    id
}

/// One message of a client.
pub(in crate::mcp) enum Message<'a> {
    Request(Request<'a>),
    Notification {
        method: Cow<'a, str>,
        params: Option<&'a RawValue>,
    },
    /// The response to a request of this server. Without a result it is an error.
    Response {
        id: Option<Id>,
        result: Option<&'a RawValue>,
    },
}

/// A request of a client.
pub(in crate::mcp) struct Request<'a> {
    pub(in crate::mcp) id: Id,
    pub(in crate::mcp) method: Cow<'a, str>,
    pub(in crate::mcp) params: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    jsonrpc: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    error: Option<IgnoredAny>,
}

/// An `id` that is null makes a message a request with an invalid id, not a notification.
fn present<'de: 'a, 'a, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'a RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// The messages of a batch; `None` for a single message.
pub(in crate::mcp) fn batch(text: &[u8]) -> Option<Vec<&[u8]>> {
    let messages: Vec<&RawValue> = serde_json::from_slice(text).ok()?;
    let messages: Vec<_> = messages
        .into_iter()
        .map(|message| message.get().as_bytes())
        .collect();
    (!messages.is_empty()).then_some(messages)
}

/// Parses one message. An error comes with the id of the request, if it is known.
pub(in crate::mcp) fn parse(text: &[u8]) -> Result<Message<'_>, (Option<Id>, RpcError)> {
    // Some clients begin with a byte order mark.
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    // Serde would not look into fields that it ignores.
    let text = str::from_utf8(text).map_err(|error| (None, not_json(&error)))?;
    let invalid = |id, reason: &str| (id, RpcError::request(format!("invalid request: {reason}")));
    // Serde would read the elements of an array as the fields of the envelope.
    let envelope: Envelope<'_> = match text.trim_ascii_start().as_bytes().first() {
        Some(b'{') => {
            serde_json::from_str(text).map_err(|error| (None, not_a_message(text, &error.to_string())))?
        }
        _ => return Err((None, not_a_message(text, "the message must be a JSON object"))),
    };
    let id = envelope.id.and_then(|id| serde_json::from_str(id.get()).ok());
    if envelope.jsonrpc.as_deref() != Some("2.0") {
        return Err(invalid(id, "`jsonrpc` must be \"2.0\""));
    }
    let (params, has_error) = (envelope.params, envelope.error.is_some());
    match (envelope.method, envelope.id, id) {
        (Some(method), None, _) => Ok(Message::Notification { method, params }),
        (Some(method), Some(_), Some(id)) => Ok(Message::Request(Request { id, method, params })),
        (Some(_), Some(_), None) => Err(invalid(None, "`id` must be a string or a number")),
        (None, _, id) if envelope.result.is_some() || has_error => {
            let result = envelope.result.filter(|_| !has_error);
            Ok(Message::Response { id, result })
        }
        (None, _, id) => Err(invalid(id, "`method` is missing")),
    }
}

fn not_json(error: &dyn fmt::Display) -> RpcError {
    RpcError::new(
        PARSE_ERROR,
        format!("parse error: the message is not JSON: {error}"),
    )
}

fn not_a_message(text: &str, reason: &str) -> RpcError {
    if let Err(error) = serde_json::from_str::<&RawValue>(text) {
        return not_json(&error);
    }
    if text.trim_ascii_start().starts_with('[') {
        // The code that other SDKs respond with.
        return RpcError::params("this revision has no batches: send one message at a time");
    }
    RpcError::request(format!("invalid request: {reason}"))
}

/// The request that a notification cancels.
pub(in crate::mcp) fn cancelled(method: &str, params: Option<&RawValue>) -> Option<Id> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Cancelled {
        request_id: Id,
    }
    let is_object = |params: &&RawValue| params.get().starts_with('{');
    let params = params
        .filter(is_object)
        .filter(|_| method == "notifications/cancelled")?;
    let cancelled: Option<Cancelled> = serde_json::from_str(params.get()).ok();
    cancelled.map(|cancelled| cancelled.request_id)
}

/// The response to a request, as one line.
pub(in crate::mcp) fn response(id: &Id, result: &impl Serialize) -> Vec<u8> {
    to_line(&Tagged(Some("2.0"), Some(id), "result", result))
}

/// The response to a request that failed, or to something that is not a request.
pub(in crate::mcp) fn error(id: Option<&Id>, error: &RpcError) -> Vec<u8> {
    to_line(&Tagged(Some("2.0"), id, "error", error))
}

/// A notification of this server.
pub(in crate::mcp) fn notification(method: &str, params: &Value) -> Vec<u8> {
    to_line(&json!({"jsonrpc": "2.0", "method": method, "params": params}))
}

/// A request of this server.
pub(in crate::mcp) fn outgoing_request(id: &Id, method: &str, params: &Value) -> Vec<u8> {
    to_line(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> (i32, Option<String>) {
        let Err((id, error)) = parse(text.as_bytes()) else {
            panic!("{text} is a message");
        };
        assert!(!error.message.is_empty());
        (error.code, id.map(|id| serde_json::to_string(&id).unwrap()))
    }

    #[test]
    fn invalid_messages_have_a_code() {
        let none = None::<String>;
        for (text, code, id) in [
            ("", PARSE_ERROR, None),
            ("{not json", PARSE_ERROR, None),
            ("{\"jsonrpc\":\"2.0\",\"id\":1,", PARSE_ERROR, None),
            ("[]", INVALID_PARAMS, None),
            ("[\"2.0\",1,\"ping\"]", INVALID_PARAMS, None),
            (
                " [{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]",
                INVALID_PARAMS,
                None,
            ),
            ("1", INVALID_REQUEST, None),
            ("null", INVALID_REQUEST, None),
            ("{}", INVALID_REQUEST, None),
            ("{\"id\":7,\"method\":\"ping\"}", INVALID_REQUEST, Some("7")),
            (
                "{\"jsonrpc\":\"1.0\",\"id\":\"a\",\"method\":\"ping\"}",
                INVALID_REQUEST,
                Some("\"a\""),
            ),
            (
                "{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}",
                INVALID_REQUEST,
                None,
            ),
            (
                "{\"jsonrpc\":\"2.0\",\"id\":true,\"method\":\"ping\"}",
                INVALID_REQUEST,
                None,
            ),
            ("{\"jsonrpc\":\"2.0\",\"id\":1}", INVALID_REQUEST, Some("1")),
            (
                "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}",
                INVALID_REQUEST,
                None,
            ),
            (
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":5}",
                INVALID_REQUEST,
                None,
            ),
        ] {
            let id: Option<&str> = id;
            assert_eq!(
                error(text),
                (code, id.map(str::to_owned).or(none.clone())),
                "{text}"
            );
        }
        let Err((_, error)) = parse(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"more\":\"\xff\"}")
        else {
            panic!("it is not UTF-8");
        };
        assert_eq!(error.code, PARSE_ERROR);
    }

    #[test]
    fn messages_are_told_apart() {
        let request = |text: &str| match parse(text.as_bytes()) {
            Ok(Message::Request(request)) => (
                serde_json::to_string(&request.id).unwrap(),
                request.method.into_owned(),
            ),
            _ => panic!("{text} is not a request"),
        };
        assert_eq!(
            request("{\"method\":\"pi\\u006eg\",\"id\":\"\\u0061\",\"jsonrpc\":\"2.0\",\"more\":[1]}"),
            ("\"a\"".to_owned(), "ping".to_owned())
        );
        assert_eq!(
            request("{\"jsonrpc\":\"2.0\",\"id\":-1,\"method\":\"x\"}").0,
            "-1"
        );
        assert!(matches!(
            parse(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}"),
            Ok(Message::Notification { params: None, .. })
        ));
        for response in [
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}",
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":1,\"message\":\"\"}}",
        ] {
            assert!(matches!(parse(response.as_bytes()), Ok(Message::Response { .. })));
        }
    }

    #[test]
    fn the_id_of_a_message_that_is_too_long() {
        let id = |text: &str| id_of_beginning(text).map(|id| serde_json::to_string(&id).unwrap());
        for (text, expected) in [
            (r#"{"jsonrpc":"2.0","id":7,"method":"tools/ca"#, Some("7")),
            (r#"{"id":"a\"b","params":{"id":8,"x":["#, Some(r#""a\"b""#)),
            (r#"{"params":{"id":8},"id":-3,"z"#, Some("-3")),
            (r#"{"params":{"id":1}"#, None),
            (r#"{"id":{"id":1},"#, None),
            (r#"{"id":12"#, None),
            (r#"[{"id":1}"#, None),
            ("xxxx", None),
            ("", None),
        ] {
            assert_eq!(id(text).as_deref(), expected, "{text}");
        }
    }
}
