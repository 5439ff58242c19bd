//! The parameters of requests.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::message::{Request, RpcError};
use super::revision::Revision;
use crate::context::{TraceContext, settings_values};
use crate::contract::json as checked_json;

/// The error of a revision that this server does not speak.
const UNSUPPORTED_VERSION: i32 = -32022;

/// The fields of `_meta` that a stateless revision requires.
const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// The parameters of a request, as far as this server reads them.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(in crate::mcp) struct Params<'a> {
    #[serde(borrow)]
    pub(in crate::mcp) name: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(in crate::mcp) arguments: Option<&'a RawValue>,
    /// The answers to the questions of the previous round.
    #[serde(borrow)]
    pub(in crate::mcp) input_responses: Option<&'a RawValue>,
    /// The state that the previous round ended with.
    #[serde(borrow)]
    pub(in crate::mcp) request_state: Option<&'a RawValue>,
    /// The capabilities of the client, in `initialize`.
    #[serde(borrow)]
    pub(in crate::mcp) capabilities: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(in crate::mcp) client_info: Option<&'a RawValue>,
    #[serde(borrow)]
    protocol_version: Option<&'a RawValue>,
    /// The least severe level of log messages, in `logging/setLevel`.
    #[serde(borrow)]
    pub(in crate::mcp) level: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(in crate::mcp) cursor: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(in crate::mcp) uri: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(in crate::mcp) task_id: Option<&'a RawValue>,
    #[serde(borrow, rename = "_meta")]
    meta: Option<&'a RawValue>,
}

/// The field `_meta` of the parameters.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(in crate::mcp) struct RequestMeta<'a> {
    #[serde(borrow, rename = "io.modelcontextprotocol/protocolVersion")]
    version: Option<&'a RawValue>,
    #[serde(borrow, rename = "io.modelcontextprotocol/clientCapabilities")]
    pub(in crate::mcp) capabilities: Option<&'a RawValue>,
    #[serde(borrow, rename = "io.modelcontextprotocol/logLevel")]
    pub(in crate::mcp) log_level: Option<&'a RawValue>,
    #[serde(borrow, rename = "progressToken")]
    progress_token: Option<&'a RawValue>,
    #[serde(borrow, rename = "skill/invocationId")]
    invocation_id: Option<&'a RawValue>,
    #[serde(borrow, rename = "skill/idempotencyKey")]
    idempotency_key: Option<&'a RawValue>,
    #[serde(borrow, rename = "skill/settings")]
    settings: Option<&'a RawValue>,
    #[serde(borrow)]
    traceparent: Option<&'a RawValue>,
    #[serde(borrow)]
    tracestate: Option<&'a RawValue>,
}

/// An object from outside, or an error that names it `place`.
fn object<'a, T: Default + Deserialize<'a>>(raw: Option<&'a RawValue>, place: &str) -> Result<T, RpcError> {
    match raw {
        None => Ok(T::default()),
        Some(raw) if raw.get().starts_with('{') => {
            serde_json::from_str(raw.get()).map_err(|error| RpcError::params(format!("`{place}`: {error}")))
        }
        Some(raw) => {
            let message = format!("`{place}` must be an object, it is {}", Kind(raw));
            Err(RpcError::params(message))
        }
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
    pub(in crate::mcp) fn tool(&self) -> Result<Cow<'a, str>, RpcError> {
        let Some(name) = self.name else {
            return Err(RpcError::params(
                "`params.name` is missing: it must be the name of a tool",
            ));
        };
        text(name).ok_or_else(|| {
            let message = format!("`params.name` must be the name of a tool, it is {}", Kind(name));
            RpcError::params(message)
        })
    }

    /// The arguments of a call as JSON text.
    pub(in crate::mcp) fn inputs(&self) -> Result<&'a str, RpcError> {
        let Some(arguments) = self.arguments else {
            return Ok("{}");
        };
        if arguments.get().starts_with('{') {
            return Ok(arguments.get());
        }
        let hint = if arguments.get().starts_with('"') {
            "; send the object itself, not a string that holds it"
        } else {
            ""
        };
        let message = format!(
            "`params.arguments` must be an object, it is {}{hint}",
            Kind(arguments)
        );
        Err(RpcError::params(message))
    }

    /// The revision that `initialize` asks for.
    pub(in crate::mcp) fn requested_version(&self) -> Option<Cow<'a, str>> {
        self.protocol_version.and_then(text)
    }
}

impl<'a> RequestMeta<'a> {
    /// The name of the revision that the request names.
    pub(in crate::mcp) fn version(&self) -> Option<Cow<'a, str>> {
        self.version.and_then(text)
    }

    /// The required fields that are missing or unreadable.
    pub(in crate::mcp) fn missing(&self) -> String {
        let capabilities = self.capabilities.filter(|raw| raw.get().starts_with('{'));
        let missing = [
            (PROTOCOL_VERSION, self.version().is_none()),
            (CLIENT_CAPABILITIES, capabilities.is_none()),
        ];
        let missing: Vec<&str> = missing
            .iter()
            .filter(|(_, missing)| *missing)
            .map(|(name, _)| *name)
            .collect();
        missing.join(", ")
    }

    /// Rejects a request without the fields that a stateless revision requires.
    pub(in crate::mcp) fn require(&self) -> Result<(), RpcError> {
        let missing = self.missing();
        if missing.is_empty() {
            return Ok(());
        }
        let message = format!("`params._meta` has missing or unreadable fields: {missing}");
        Err(RpcError::params(message))
    }

    /// The revision that the request names; `None` when it names none.
    pub(in crate::mcp) fn revision(&self, method: &str) -> Result<Option<&'static Revision>, RpcError> {
        let Some(version) = self.version() else {
            return Ok(None);
        };
        let Some(revision) = Revision::find(&version) else {
            let supported = Revision::names();
            let message = format!(
                "protocol version {version} is not supported, use one of: {}",
                supported.join(", ")
            );
            let mut error = RpcError::new(UNSUPPORTED_VERSION, message);
            error.data = Some(json!({"requested": version, "supported": supported}));
            return Err(error);
        };
        if !revision.has_initialize || method == "server/discover" {
            self.require()?;
        }
        Ok(Some(revision))
    }

    /// The token for progress notifications: a string or a number.
    pub(in crate::mcp) fn progress_token(&self) -> Option<&'a RawValue> {
        let usable =
            |token: &&RawValue| matches!(token.get().as_bytes().first(), Some(b'"' | b'-' | b'0'..=b'9'));
        self.progress_token.filter(usable)
    }

    /// The invocation id; anything but a non-empty string is ignored.
    pub(in crate::mcp) fn invocation_id(&self) -> Option<String> {
        non_empty(self.invocation_id)
    }

    /// The idempotency key; anything but a non-empty string is ignored.
    pub(in crate::mcp) fn idempotency_key(&self) -> Option<String> {
        non_empty(self.idempotency_key)
    }

    /// The values of the package settings; unusable settings are empty settings.
    pub(in crate::mcp) fn settings(&self) -> Map<String, Value> {
        settings_values(
            self.settings
                .and_then(|raw| checked_json::parse(raw.get().as_bytes()).ok()),
        )
    }

    /// The W3C trace context.
    pub(in crate::mcp) fn trace(&self) -> Option<TraceContext> {
        let parent = self.traceparent.and_then(text)?;
        TraceContext::parse(&parent, self.tracestate.and_then(text).as_deref())
    }
}

fn non_empty(raw: Option<&RawValue>) -> Option<String> {
    text(raw?).filter(|text| !text.is_empty()).map(Cow::into_owned)
}

/// The string that a JSON text stands for.
pub(in crate::mcp) fn text(raw: &RawValue) -> Option<Cow<'_, str>> {
    let json = raw.get();
    let inner = json.strip_prefix('"')?.strip_suffix('"')?;
    if inner.contains('\\') {
        serde_json::from_str(json).ok().map(Cow::Owned)
    } else {
        Some(Cow::Borrowed(inner))
    }
}

/// The kind of a JSON value, in words.
struct Kind<'a>(&'a RawValue);

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
