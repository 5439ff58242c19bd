//! The parameters of requests.

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::message::{Id, Request, RpcError};
use super::revision::Revision;
use crate::context::{TraceContext, settings_values};
use crate::contract::json as checked_json;
use crate::mcp::elicitation::Capabilities;

/// The error of a revision that this server does not speak.
const UNSUPPORTED_VERSION: i32 = -32022;

/// The fields of `_meta` that a stateless revision requires.
pub(in crate::mcp) const REQUIRED_META: &str =
    "`io.modelcontextprotocol/protocolVersion` and `io.modelcontextprotocol/clientCapabilities`";

/// The parameters of a request, as far as this server reads them.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(in crate::mcp) struct Params<'a> {
    #[serde(borrow)]
    name: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(in crate::mcp) arguments: Option<&'a RawValue>,
    /// The answers to the questions of the previous round.
    #[serde(borrow)]
    pub(in crate::mcp) input_responses: Option<&'a RawValue>,
    /// The state that the previous round ended with.
    #[serde(borrow)]
    pub(in crate::mcp) request_state: Option<&'a RawValue>,
    /// The capabilities of the client, in `initialize`.
    #[serde(deserialize_with = "lenient")]
    pub(in crate::mcp) capabilities: Option<Capabilities>,
    #[serde(deserialize_with = "lenient")]
    pub(in crate::mcp) client_info: Option<ClientInfo>,
    /// The revision that `initialize` asks for.
    #[serde(deserialize_with = "lenient")]
    pub(in crate::mcp) protocol_version: Option<String>,
    /// The least severe level of log messages, in `logging/setLevel`.
    #[serde(borrow)]
    pub(in crate::mcp) level: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(in crate::mcp) cursor: Option<&'a RawValue>,
    #[serde(borrow, rename = "_meta")]
    meta: Option<&'a RawValue>,
}

/// What a client must say about itself.
#[derive(Deserialize)]
#[expect(dead_code, reason = "only their types count")]
pub(in crate::mcp) struct ClientInfo {
    name: String,
    version: String,
}

/// The field `_meta` of the parameters.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(in crate::mcp) struct RequestMeta<'a> {
    /// The revision that the request names.
    #[serde(
        rename = "io.modelcontextprotocol/protocolVersion",
        deserialize_with = "lenient"
    )]
    pub(in crate::mcp) version: Option<String>,
    #[serde(
        rename = "io.modelcontextprotocol/clientCapabilities",
        deserialize_with = "lenient"
    )]
    pub(in crate::mcp) capabilities: Option<Capabilities>,
    #[serde(borrow, rename = "io.modelcontextprotocol/logLevel")]
    pub(in crate::mcp) log_level: Option<&'a RawValue>,
    /// The token for progress notifications.
    #[serde(rename = "progressToken", deserialize_with = "lenient")]
    pub(in crate::mcp) progress_token: Option<Id>,
    #[serde(rename = "skill/invocationId", deserialize_with = "lenient")]
    pub(in crate::mcp) invocation_id: Option<String>,
    #[serde(rename = "skill/idempotencyKey", deserialize_with = "lenient")]
    pub(in crate::mcp) idempotency_key: Option<String>,
    #[serde(borrow, rename = "skill/settings")]
    settings: Option<&'a RawValue>,
    #[serde(deserialize_with = "lenient")]
    traceparent: Option<String>,
    #[serde(deserialize_with = "lenient")]
    tracestate: Option<String>,
}

/// A field with a value of another type is treated as absent.
pub(in crate::mcp) fn lenient<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    let json = <&RawValue>::deserialize(deserializer)?.get();
    // Serde would read the elements of an array as the fields of a struct.
    let is_array = json.starts_with('[');
    Ok(serde_json::from_str(json).ok().filter(|_| !is_array))
}

/// The string that is this JSON.
pub(in crate::mcp) fn text(json: &RawValue) -> Option<String> {
    serde_json::from_str(json.get()).ok()
}

/// An object from outside, or an error that names it `place`.
fn object<'a, T: Default + Deserialize<'a>>(raw: Option<&'a RawValue>, place: &str) -> Result<T, RpcError> {
    match raw {
        None => Ok(T::default()),
        Some(raw) if raw.get().starts_with('{') => {
            serde_json::from_str(raw.get()).map_err(|error| RpcError::params(format!("`{place}`: {error}")))
        }
        Some(raw) => Err(RpcError::params(format!(
            "`{place}` must be an object, it is {}",
            kind(raw)
        ))),
    }
}

impl<'a> Params<'a> {
    /// The parameters of a request, and their `_meta`.
    pub(in crate::mcp) fn parse(request: &Request<'a>) -> Result<(Self, RequestMeta<'a>), RpcError> {
        let params: Self = object(request.params, "params")?;
        let meta = object(params.meta, "params._meta")?;
        Ok((params, meta))
    }

    /// The name of the tool that a call is for.
    pub(in crate::mcp) fn tool(&self) -> Result<String, RpcError> {
        let Some(name) = self.name else {
            let message = "`params.name` is missing: it must be the name of a tool";
            return Err(RpcError::params(message));
        };
        text(name).ok_or_else(|| {
            let message = format!("`params.name` must be the name of a tool, it is {}", kind(name));
            RpcError::params(message)
        })
    }

    /// The arguments of a call as JSON text.
    pub(in crate::mcp) fn inputs(&self) -> Result<&'a str, RpcError> {
        let arguments = self.arguments.map_or("{}", RawValue::get);
        if arguments.starts_with('{') {
            return Ok(arguments);
        }
        let hint = if arguments.starts_with('"') {
            "; send the object itself, not a string that holds it"
        } else {
            ""
        };
        let kind = self.arguments.map_or("missing", kind);
        let message = format!("`params.arguments` must be an object, it is {kind}{hint}");
        Err(RpcError::params(message))
    }
}

impl RequestMeta<'_> {
    /// Rejects a request without the fields that a stateless revision requires.
    pub(in crate::mcp) fn require(&self) -> Result<(), RpcError> {
        if self.version.is_some() && self.capabilities.is_some() {
            return Ok(());
        }
        let message = format!("`params._meta` must have the fields {REQUIRED_META}");
        Err(RpcError::params(message))
    }

    /// The revision that the request names; `None` when it names none.
    pub(in crate::mcp) fn revision(&self) -> Result<Option<&'static Revision>, RpcError> {
        let Some(version) = &self.version else {
            return Ok(None);
        };
        let Some(revision) = Revision::find(version) else {
            let supported = Revision::names();
            let message = format!(
                "protocol version {version} is not supported, use one of: {}",
                supported.join(", ")
            );
            let mut error = RpcError::new(UNSUPPORTED_VERSION, message);
            error.data = Some(json!({"requested": version, "supported": supported}));
            return Err(error);
        };
        if !revision.has_initialize {
            self.require()?;
        }
        Ok(Some(revision))
    }

    /// The values of the package settings; unusable settings are empty settings.
    pub(in crate::mcp) fn settings(&self) -> Map<String, Value> {
        let settings = self.settings.map(RawValue::get);
        settings_values(settings.and_then(|json| checked_json::parse(json.as_bytes()).ok()))
    }

    /// The W3C trace context.
    pub(in crate::mcp) fn trace(&self) -> Option<TraceContext> {
        TraceContext::parse(self.traceparent.as_deref()?, self.tracestate.as_deref())
    }
}

/// The kind of a JSON value, in words.
fn kind(json: &RawValue) -> &'static str {
    match json.get().as_bytes().first() {
        Some(b'{') => "an object",
        Some(b'[') => "an array",
        Some(b'"') => "a string",
        Some(b't' | b'f') => "a boolean",
        Some(b'n') => "null",
        _ => "a number",
    }
}
