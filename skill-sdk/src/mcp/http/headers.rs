//! What the headers of a request say about its body.

use axum::http::{HeaderMap, StatusCode};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use rmcp::model::{ErrorCode, ProtocolVersion};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::contract::json;
use crate::mcp::McpServer;
use crate::mcp::message::{
    HEADER_MISMATCH, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, Request, Wrong,
};
use crate::mcp::params::{Era, Params, RequestMeta, is_known, text};

const VERSION: &str = "mcp-protocol-version";
const METHOD: &str = "mcp-method";
const NAME: &str = "mcp-name";

/// A refusal: the status and the error.
pub(super) type Refusal = (StatusCode, Wrong);

/// The revision that a request is to be understood by.
#[derive(Debug)]
pub(super) struct Understood {
    pub(super) version: String,
    pub(super) era: Era,
    /// Whether the request names its revision itself, so that errors have a status of their own.
    pub(super) by_itself: bool,
}

impl Understood {
    /// The status of an answer with this code.
    pub(super) fn status(&self, code: Option<i32>) -> StatusCode {
        if !self.by_itself {
            return StatusCode::OK;
        }
        match code.map(ErrorCode) {
            Some(
                ErrorCode::UNSUPPORTED_PROTOCOL_VERSION
                | ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY
                | ErrorCode::HEADER_MISMATCH,
            ) => StatusCode::BAD_REQUEST,
            Some(ErrorCode(METHOD_NOT_FOUND)) => StatusCode::NOT_FOUND,
            _ => StatusCode::OK,
        }
    }
}

/// Compares the headers of a request with its body.
pub(super) fn understand(
    host: &McpServer,
    headers: &HeaderMap,
    request: &Request<'_>,
    params: &Params<'_>,
    meta: &RequestMeta<'_>,
) -> Result<Understood, Refusal> {
    let bad = |wrong: Wrong| (StatusCode::BAD_REQUEST, wrong);
    let mismatch = |message: String| bad(Wrong::new(Some(request.id.clone()), HEADER_MISMATCH, message));
    let header = one(headers, VERSION).map_err(mismatch)?;
    let named = meta.version();
    // In the new era it is no method any more.
    if request.method == "initialize"
        && !named
            .as_deref()
            .is_some_and(|named| Era::of(named) == Era::Modern)
    {
        return initialize(headers, header, request, params);
    }
    if let (None, Some(header)) = (&named, header)
        && (!is_known(header) || Era::of(header) == Era::Modern)
    {
        let message = format!(
            "a request of protocol version {header} needs in `params._meta`: {}",
            meta.missing().join(", ")
        );
        return Err(bad(Wrong::new(Some(request.id.clone()), INVALID_PARAMS, message)));
    }
    if request.method == "server/discover" {
        meta.require(request).map_err(bad)?;
    }
    if header.is_some_and(|header| Era::of(header) == Era::Modern) {
        standard(headers, request, params).map_err(mismatch)?;
        if request.method == "tools/call" {
            mirrored(host, headers, params).map_err(mismatch)?;
        }
    }
    let Some(named) = named else {
        let version = header.unwrap_or(ProtocolVersion::V_2025_03_26.as_str());
        return Ok(Understood {
            version: version.to_owned(),
            era: Era::Legacy,
            by_itself: false,
        });
    };
    match header {
        None => {
            let message = format!("the header MCP-Protocol-Version is missing: the body says {named}");
            return Err(mismatch(message));
        }
        Some(header) if header != named => {
            let message = format!("the header MCP-Protocol-Version says {header}, and the body says {named}");
            return Err(mismatch(message));
        }
        Some(_) => {}
    }
    let era = meta.era(request).map_err(bad)?.unwrap_or(Era::Legacy);
    Ok(Understood {
        version: named.into_owned(),
        era,
        by_itself: true,
    })
}

fn initialize(
    headers: &HeaderMap,
    header: Option<&str>,
    request: &Request<'_>,
    params: &Params<'_>,
) -> Result<Understood, Refusal> {
    let requested = params.requested_version();
    let refused = |code: i32, message: String| {
        (
            StatusCode::BAD_REQUEST,
            Wrong::new(Some(request.id.clone()), code, message),
        )
    };
    if let (Some(header), Some(requested)) = (header, &requested)
        && header != requested
    {
        let message = format!("the header MCP-Protocol-Version says {header}, and the body says {requested}");
        return Err(refused(INVALID_REQUEST, message));
    }
    // Whoever routes by the header must not be told something else than who reads the body.
    let method = one(headers, METHOD).map_err(|message| refused(HEADER_MISMATCH, message))?;
    if let Some(method) = method.filter(|method| *method != "initialize") {
        let message = format!("the header Mcp-Method says {method}, and the body says initialize");
        return Err(refused(HEADER_MISMATCH, message));
    }
    Ok(Understood {
        // What is asked for is in the body; agreed on is one that has this method.
        version: ProtocolVersion::LATEST_WITH_INITIALIZE.to_string(),
        era: Era::Legacy,
        by_itself: false,
    })
}

/// The headers that every message of the new era carries.
pub(super) fn of_notification(headers: &HeaderMap, method: &str) -> Result<(), Refusal> {
    let mismatch = |message: String| {
        (
            StatusCode::BAD_REQUEST,
            Wrong::new(None, HEADER_MISMATCH, message),
        )
    };
    let header = one(headers, VERSION).map_err(mismatch)?;
    match header {
        Some(header) if !is_known(header) => {
            let message = format!("protocol version {header} is not known here");
            Err((StatusCode::BAD_REQUEST, Wrong::new(None, INVALID_PARAMS, message)))
        }
        Some(header) if Era::of(header) == Era::Modern => same_method(headers, method).map_err(mismatch),
        _ => Ok(()),
    }
}

fn same_method(headers: &HeaderMap, method: &str) -> Result<(), String> {
    match one(headers, METHOD)? {
        None => Err("the header Mcp-Method is missing".to_owned()),
        Some(header) if header != method => Err(format!(
            "the header Mcp-Method says {header}, and the body says {method}"
        )),
        Some(_) => Ok(()),
    }
}

fn standard(headers: &HeaderMap, request: &Request<'_>, params: &Params<'_>) -> Result<(), String> {
    same_method(headers, &request.method)?;
    let source = match &*request.method {
        "tools/call" | "prompts/get" => params.name,
        "resources/read" | "resources/subscribe" | "resources/unsubscribe" => params.uri,
        "tasks/get" | "tasks/update" | "tasks/cancel" => params.task_id,
        _ => None,
    };
    let Some(expected) = source.and_then(text) else {
        return Ok(());
    };
    match one(headers, NAME)? {
        None => Err(format!(
            "the header Mcp-Name is missing: {} has one",
            request.method
        )),
        Some(raw) => match decoded(raw) {
            Some(name) if name == expected => Ok(()),
            Some(name) => Err(format!(
                "the header Mcp-Name says {name}, and the body says {expected}"
            )),
            None => Err("the header Mcp-Name is no base64".to_owned()),
        },
    }
}

/// Arguments that the schema wants to see in headers as well.
fn mirrored(host: &McpServer, headers: &HeaderMap, params: &Params<'_>) -> Result<(), String> {
    let Some(mirrors) = params
        .name
        .and_then(text)
        .map(|name| host.tools().mirrors(&name))
        .filter(|mirrors| !mirrors.is_empty())
    else {
        return Ok(());
    };
    let arguments = params
        .arguments
        .map(RawValue::get)
        .and_then(|arguments| json::parse(arguments.as_bytes()).ok())
        .unwrap_or(Value::Null);
    for mirror in mirrors {
        let place = mirror.path.join(".");
        let value = mirror
            .path
            .iter()
            .try_fold(&arguments, |value, name| value.get(name));
        let expected = match value {
            Some(Value::String(text)) => Some(text.clone()),
            Some(value @ (Value::Bool(_) | Value::Number(_))) => Some(value.to_string()),
            _ => None,
        };
        let name = &mirror.header;
        match (one(headers, name)?, expected) {
            (None, None) => {}
            (Some(_), None) => return Err(format!("the header {name} is there, and `{place}` is not")),
            (None, Some(_)) => return Err(format!("the header {name} is missing: it repeats `{place}`")),
            (Some(raw), Some(expected)) => match decoded(raw) {
                Some(sent) if sent == expected => {}
                Some(sent) if value.is_some_and(Value::is_number) && same_number(&sent, &expected) => {}
                Some(_) => return Err(format!("the header {name} differs from `{place}`")),
                None => return Err(format!("the header {name} is no base64")),
            },
        }
    }
    Ok(())
}

/// Whether two texts are the same integer, which may be written as `42` and as `42.0`. Beyond what a script holds exactly
/// they must be the same text.
fn same_number(one: &str, other: &str) -> bool {
    let (one, other) = (integer(one), integer(other));
    one.is_some() && one == other
}

/// An integer that a script holds exactly, as digits and perhaps zeros behind a point.
fn integer(text: &str) -> Option<i64> {
    const EXACT: u64 = 9_007_199_254_740_991;
    let (digits, zeros) = text.split_once('.').unwrap_or((text, "0"));
    let without_sign = digits.strip_prefix('-').unwrap_or(digits);
    // As JSON writes it: others could read zeros before a number as something else.
    let is_json = without_sign == "0" || without_sign.starts_with(|first: char| matches!(first, '1'..='9'));
    let is_plain = is_json && !zeros.is_empty() && zeros.bytes().all(|byte| byte == b'0');
    let number: i64 = is_plain.then(|| digits.parse().ok())??;
    (number.unsigned_abs() <= EXACT).then_some(number)
}

/// The only value of a header. Two would let others see another one than this host.
fn one<'a>(headers: &'a HeaderMap, name: &str) -> Result<Option<&'a str>, String> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    if values.next().is_some() {
        return Err(format!("the header {name} is there twice"));
    }
    value
        .to_str()
        .map(|value| Some(value.trim_matches([' ', '\t'])))
        .map_err(|_| format!("the header {name} has characters that no header may have"))
}

/// A value that may be wrapped as `=?base64?…?=`.
fn decoded(value: &str) -> Option<String> {
    match value
        .strip_prefix("=?base64?")
        .and_then(|rest| rest.strip_suffix("?="))
    {
        Some(inner) => String::from_utf8(BASE64_STANDARD.decode(inner).ok()?).ok(),
        None => Some(value.to_owned()),
    }
}
