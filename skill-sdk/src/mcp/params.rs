//! Reading the parameters of requests: what `_meta` says, and what a call of a tool holds.

use std::borrow::Cow;

use rmcp::model::{ClientCapabilities, ProtocolVersion};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::input::Capabilities;
use super::message::{Kind, Request, Wrong};
use super::threshold::Threshold;
use crate::context::{TraceContext, settings_values};
use crate::contract::json;

/// `_meta` keys of the protocol.
const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// The same, as messages name it.
const LOG_LEVEL: &str = "params._meta.io.modelcontextprotocol/logLevel";

/// The error of a version that is not served here.
const UNSUPPORTED_VERSION: i32 = -32022;

/// How the two sides of a request understand each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Era {
    /// Up to 2025-11-25: `initialize` comes first.
    Legacy,
    /// From 2026-07-28: every request says all about itself.
    Modern,
}

impl Era {
    pub(super) fn of(version: &str) -> Self {
        // Revisions are dates, so they sort as text.
        if version >= ProtocolVersion::NO_INITIALIZE.as_str() {
            Self::Modern
        } else {
            Self::Legacy
        }
    }
}

/// Whether `version` is a revision that is served here.
pub(super) fn is_known(version: &str) -> bool {
    ProtocolVersion::KNOWN_VERSIONS
        .iter()
        .any(|known| known.as_str() == version)
}

/// The parameters of a request, as far as hosts look at them.
#[derive(Default, Deserialize)]
pub(super) struct Params<'a> {
    #[serde(borrow, default)]
    pub(super) name: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) uri: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "taskId")]
    pub(super) task_id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) arguments: Option<&'a RawValue>,
    /// The answers to the questions of the round before.
    #[serde(borrow, default, rename = "inputResponses")]
    pub(super) input_responses: Option<&'a RawValue>,
    /// What the round before gave the client to send back.
    #[serde(borrow, default, rename = "requestState")]
    pub(super) request_state: Option<&'a RawValue>,
    /// What a client says in `initialize` that it can do.
    #[serde(borrow, default)]
    capabilities: Option<&'a RawValue>,
    /// From which level on a client wants to hear notices, in `logging/setLevel`.
    #[serde(borrow, default)]
    pub(super) level: Option<&'a RawValue>,
    #[serde(borrow, default)]
    cursor: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "protocolVersion")]
    protocol_version: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "_meta")]
    meta: Option<&'a RawValue>,
}

/// What `_meta` of a request says.
#[derive(Default, Deserialize)]
pub(super) struct RequestMeta<'a> {
    #[serde(borrow, default, rename = "io.modelcontextprotocol/protocolVersion")]
    version: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "io.modelcontextprotocol/clientCapabilities")]
    capabilities: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "io.modelcontextprotocol/logLevel")]
    log_level: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "progressToken")]
    progress_token: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "skill/invocationId")]
    invocation_id: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "skill/idempotencyKey")]
    idempotency_key: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "skill/settings")]
    settings: Option<&'a RawValue>,
    #[serde(borrow, default)]
    traceparent: Option<&'a RawValue>,
    #[serde(borrow, default)]
    tracestate: Option<&'a RawValue>,
}

impl<'a> Params<'a> {
    /// The parameters of a request, which are an object or absent, and its `_meta`.
    pub(super) fn read(request: &Request<'a>) -> Result<(Self, RequestMeta<'a>), Wrong> {
        let wrong = |message: String| Wrong::params(&request.id, message);
        let Some(params) = request.params else {
            return Ok((Self::default(), RequestMeta::default()));
        };
        if !params.get().starts_with('{') {
            return Err(wrong(format!(
                "`params` must be an object, it is {}",
                Kind(params)
            )));
        }
        let read: Self =
            serde_json::from_str(params.get()).map_err(|error| wrong(format!("`params`: {error}")))?;
        if let Some(cursor) = read.cursor.filter(|cursor| !cursor.get().starts_with('"')) {
            return Err(wrong(format!(
                "`params.cursor` must be a cursor that was sent before, it is {}",
                Kind(cursor)
            )));
        }
        let meta = match read.meta {
            None => RequestMeta::default(),
            Some(meta) if meta.get().starts_with('{') => {
                serde_json::from_str(meta.get()).map_err(|error| wrong(format!("`params._meta`: {error}")))?
            }
            Some(meta) => {
                return Err(wrong(format!(
                    "`params._meta` must be an object, it is {}",
                    Kind(meta)
                )));
            }
        };
        Ok((read, meta))
    }

    /// The name of the tool that a call is about.
    pub(super) fn tool(&self, request: &Request<'_>) -> Result<String, Wrong> {
        let Some(name) = self.name else {
            return Err(Wrong::params(
                &request.id,
                "`params.name` is missing: it must be the name of a tool",
            ));
        };
        text(name).map(Cow::into_owned).ok_or_else(|| {
            Wrong::params(
                &request.id,
                format!("`params.name` must be the name of a tool, it is {}", Kind(name)),
            )
        })
    }

    /// The arguments of a call as JSON text; none is the empty object.
    pub(super) fn inputs(&self, request: &Request<'_>) -> Result<&'a str, Wrong> {
        match self.arguments.map(RawValue::get) {
            None => Ok("{}"),
            Some(arguments) if arguments.starts_with('{') => Ok(arguments),
            Some(arguments) => {
                let kind = self
                    .arguments
                    .map_or_else(String::new, |raw| Kind(raw).to_string());
                let hint = if arguments.starts_with('"') {
                    "; send the object itself, not a string that holds it"
                } else {
                    ""
                };
                Err(Wrong::params(
                    &request.id,
                    format!("`params.arguments` must be an object, it is {kind}{hint}"),
                ))
            }
        }
    }

    /// What a client says in `initialize` that it can do.
    pub(super) fn capabilities(&self) -> Capabilities {
        Capabilities::read(self.capabilities)
    }

    /// The revision that `initialize` asks for.
    pub(super) fn requested_version(&self) -> Option<Cow<'a, str>> {
        self.protocol_version.and_then(text)
    }
}

impl<'a> RequestMeta<'a> {
    /// The revision that the request names for itself.
    pub(super) fn version(&self) -> Option<Cow<'a, str>> {
        self.version.and_then(text)
    }

    /// What the client says in this request that it can do.
    pub(super) fn capabilities(&self) -> Capabilities {
        Capabilities::read(self.capabilities)
    }

    /// What a request that says all about itself does not say.
    pub(super) fn missing(&self) -> Vec<&'static str> {
        let mut missing = Vec::new();
        if self.version().is_none() {
            missing.push(PROTOCOL_VERSION);
        }
        let readable = |raw: &&RawValue| serde_json::from_str::<ClientCapabilities>(raw.get()).is_ok();
        if !self.capabilities.as_ref().is_some_and(readable) {
            missing.push(CLIENT_CAPABILITIES);
        }
        missing
    }

    /// The era of a request that names a revision; `None` for one that names none.
    pub(super) fn era(&self, request: &Request<'_>) -> Result<Option<Era>, Wrong> {
        let Some(version) = self.version() else {
            return Ok(None);
        };
        if !is_known(&version) {
            return Err(unsupported(request, &version));
        }
        let era = Era::of(&version);
        if era == Era::Modern || request.method == "server/discover" {
            self.require(request)?;
        }
        Ok(Some(era))
    }

    /// Refuses a request that does not say all about itself.
    pub(super) fn require(&self, request: &Request<'_>) -> Result<(), Wrong> {
        let missing = self.missing();
        if missing.is_empty() {
            return Ok(());
        }
        Err(Wrong::params(
            &request.id,
            format!("`params._meta` lacks or has unreadable: {}", missing.join(", ")),
        ))
    }

    /// The token under which the caller wants to hear of progress, as JSON text.
    pub(super) fn progress_token(&self) -> Option<&'a str> {
        let token = self.progress_token?.get();
        let usable = matches!(token.as_bytes().first(), Some(b'"' | b'-' | b'0'..=b'9'));
        usable.then_some(token)
    }

    /// The notices that the caller of the new era wants to hear during this request.
    pub(super) fn threshold(&self, request: &Request<'_>) -> Result<Option<Threshold>, Wrong> {
        self.log_level
            .map(|level| Threshold::read(level, LOG_LEVEL, request))
            .transpose()
    }

    pub(super) fn invocation_id(&self) -> Option<String> {
        named(self.invocation_id)
    }

    pub(super) fn idempotency_key(&self) -> Option<String> {
        named(self.idempotency_key)
    }

    /// The values of the package settings. Settings that are not usable are empty settings.
    pub(super) fn settings(&self) -> Map<String, Value> {
        settings_values(
            self.settings
                .and_then(|raw| json::parse(raw.get().as_bytes()).ok()),
        )
    }

    /// The W3C trace context: `traceparent` and `tracestate`.
    pub(super) fn trace(&self) -> Option<TraceContext> {
        let parent = self.traceparent.and_then(text)?;
        let state = self.tracestate.and_then(text);
        TraceContext::parse(&parent, state.as_deref())
    }
}

/// A text that is not empty; anything else is ignored.
fn named(raw: Option<&RawValue>) -> Option<String> {
    text(raw?).filter(|text| !text.is_empty()).map(Cow::into_owned)
}

/// A JSON string as the text it stands for.
pub(super) fn text(raw: &RawValue) -> Option<Cow<'_, str>> {
    let json = raw.get();
    let inner = json.strip_prefix('"')?.strip_suffix('"')?;
    if inner.contains('\\') {
        serde_json::from_str(json).ok().map(Cow::Owned)
    } else {
        Some(Cow::Borrowed(inner))
    }
}

fn unsupported(request: &Request<'_>, version: &str) -> Wrong {
    let known: Vec<&str> = ProtocolVersion::KNOWN_VERSIONS
        .iter()
        .map(ProtocolVersion::as_str)
        .collect();
    let mut wrong = Wrong::new(
        Some(request.id.clone()),
        UNSUPPORTED_VERSION,
        format!(
            "protocol version {version} is not supported, use one of: {}",
            known.join(", ")
        ),
    );
    let data = serde_json::json!({"requested": version, "supported": known});
    wrong.data = Some(data.to_string());
    wrong
}
