//! Reading JSON-RPC: one message, as text that is not taken apart further than needed.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// The message is no JSON.
pub(super) const PARSE_ERROR: i32 = -32700;
/// The JSON is no message.
pub(super) const INVALID_REQUEST: i32 = -32600;
/// There is no such method here.
pub(super) const METHOD_NOT_FOUND: i32 = -32601;
/// The parameters of the method are wrong.
pub(super) const INVALID_PARAMS: i32 = -32602;
/// The headers contradict the message.
pub(super) const HEADER_MISMATCH: i32 = -32020;

/// The id of a request, as the JSON text that the answer repeats.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Id(Box<str>);

impl Id {
    /// The JSON text.
    pub(super) fn json(&self) -> &str {
        &self.0
    }

    /// The id of this JSON text.
    pub(super) fn read(json: String) -> Option<Self> {
        Self::of(&RawValue::from_string(json).ok()?)
    }

    /// An id is a text or a number. Texts that are written differently and are the same become one.
    pub(super) fn of(json: &RawValue) -> Option<Self> {
        let text = json.get();
        match text.as_bytes().first()? {
            b'"' if text.contains('\\') => {
                let plain: String = serde_json::from_str(text).ok()?;
                serde_json::to_string(&plain).ok().map(|text| Self(text.into()))
            }
            b'"' | b'-' | b'0'..=b'9' => Some(Self(text.into())),
            _ => None,
        }
    }
}

/// One message of a client.
pub(super) enum Message<'a> {
    Request(Request<'a>),
    Notification {
        method: Cow<'a, str>,
        params: Option<&'a RawValue>,
    },
    /// The answer to a request that the host sent.
    Response(Response<'a>),
}

/// What it is, and nothing of what it holds.
impl fmt::Debug for Message<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Request(request) => write!(f, "Request({})", request.method),
            Self::Notification { method, .. } => write!(f, "Notification({method})"),
            Self::Response(_) => f.write_str("Response"),
        }
    }
}

/// What a client asks for.
pub(super) struct Request<'a> {
    pub(super) id: Id,
    pub(super) method: Cow<'a, str>,
    pub(super) params: Option<&'a RawValue>,
}

/// The answer to a request that the host sent.
pub(super) struct Response<'a> {
    pub(super) id: Option<Id>,
    pub(super) result: Option<&'a RawValue>,
    pub(super) error: Option<&'a RawValue>,
}

/// The request that `notifications/cancelled` with these parameters is about.
pub(super) fn cancelled(params: Option<&RawValue>) -> Option<Id> {
    #[derive(Deserialize)]
    struct Cancelled<'a> {
        #[serde(borrow, rename = "requestId")]
        request_id: &'a RawValue,
    }
    let params = params.filter(|params| params.get().starts_with('{'))?;
    let cancelled: Cancelled<'_> = serde_json::from_str(params.get()).ok()?;
    Id::of(cancelled.request_id)
}

/// Why something cannot be served: the error of JSON-RPC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wrong {
    /// The request it belongs to, when that can be told.
    pub(super) id: Option<Id>,
    pub(super) code: i32,
    pub(super) message: String,
    /// More for programs, as JSON text.
    pub(super) data: Option<String>,
}

impl Wrong {
    pub(super) fn new(id: Option<Id>, code: i32, message: impl Into<String>) -> Self {
        Self {
            id,
            code,
            message: message.into(),
            data: None,
        }
    }

    pub(super) fn params(id: &Id, message: impl Into<String>) -> Self {
        Self::new(Some(id.clone()), INVALID_PARAMS, message)
    }
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default)]
    jsonrpc: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
    #[serde(borrow, default)]
    result: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

/// A member that is null is there, and is no id.
fn present<'de: 'a, 'a, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'a RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// Reads one message.
pub(super) fn read(text: &[u8]) -> Result<Message<'_>, Wrong> {
    // An array would be read as the members of the envelope in their order.
    if text.trim_ascii_start().first() != Some(&b'{') {
        return Err(unreadable(text, &"it is no object"));
    }
    let envelope: Envelope<'_> = match serde_json::from_slice(text) {
        Ok(envelope) => envelope,
        Err(error) => return Err(unreadable(text, &error)),
    };
    let id = envelope.id.and_then(Id::of);
    if envelope.jsonrpc.as_deref() != Some("2.0") {
        let message = "invalid request: `jsonrpc` must be \"2.0\"";
        return Err(Wrong::new(id, INVALID_REQUEST, message));
    }
    match (envelope.method, envelope.id) {
        (Some(method), None) => Ok(Message::Notification {
            method,
            params: envelope.params,
        }),
        (Some(method), Some(_)) => match id {
            Some(id) => Ok(Message::Request(Request {
                id,
                method,
                params: envelope.params,
            })),
            None => Err(Wrong::new(
                None,
                INVALID_REQUEST,
                "invalid request: `id` must be a text or a number",
            )),
        },
        (None, _) if envelope.result.is_some() || envelope.error.is_some() => {
            Ok(Message::Response(Response {
                id,
                result: envelope.result,
                error: envelope.error,
            }))
        }
        (None, _) => Err(Wrong::new(
            id,
            INVALID_REQUEST,
            "invalid request: there is no `method`",
        )),
    }
}

fn unreadable(text: &[u8], error: &dyn fmt::Display) -> Wrong {
    if let Err(error) = serde_json::from_slice::<&RawValue>(text) {
        return Wrong::new(
            None,
            PARSE_ERROR,
            format!("parse error: the message is not JSON: {error}"),
        );
    }
    match text.trim_ascii_start().first() {
        // The code that hosts of other SDKs give for it.
        Some(b'[') => Wrong::new(
            None,
            INVALID_PARAMS,
            "batches are not part of the protocol any more: send one message at a time",
        ),
        Some(b'{') => Wrong::new(None, INVALID_REQUEST, format!("invalid request: {error}")),
        _ => Wrong::new(
            None,
            INVALID_REQUEST,
            "invalid request: the message must be a JSON object",
        ),
    }
}

/// What kind of value a JSON text is, for people.
pub(super) struct Kind<'a>(pub(super) &'a RawValue);

impl fmt::Display for Kind<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0.get().as_bytes().first() {
            Some(b'{') => "an object",
            Some(b'[') => "an array",
            Some(b'"') => "a string",
            Some(b't' | b'f') => "a boolean",
            Some(b'n') => "null",
            _ => "a number",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(text: &str) -> (i32, Option<String>) {
        let wrong = read(text.as_bytes()).expect_err(text);
        assert!(!wrong.message.is_empty());
        (wrong.code, wrong.id.map(|id| id.json().to_owned()))
    }

    #[test]
    fn what_is_no_message_has_a_code() {
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
                wrong(text),
                (code, id.map(str::to_owned).or(none.clone())),
                "{text}"
            );
        }
        assert_eq!(
            read(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}")
                .unwrap_err()
                .code,
            PARSE_ERROR
        );
    }

    #[test]
    fn messages_are_told_apart() {
        let request = |text: &str| match read(text.as_bytes()) {
            Ok(Message::Request(request)) => (request.id.json().to_owned(), request.method.into_owned()),
            other => panic!("{text}: {other:?}"),
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
            read(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}"),
            Ok(Message::Notification { params: None, .. })
        ));
        for response in [
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}",
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":1,\"message\":\"\"}}",
        ] {
            assert!(matches!(read(response.as_bytes()), Ok(Message::Response(_))));
        }
    }
}
