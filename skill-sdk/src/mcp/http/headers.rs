//! The headers of a request, which must agree with its body.

use axum::http::HeaderMap;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::contract::json;
use crate::mcp::McpServer;
use crate::mcp::protocol::{
    HEADER_MISMATCH, Params, REQUIRED_META, Request, RequestMeta, Revision, RpcError,
};

const VERSION: &str = "MCP-Protocol-Version";
const METHOD: &str = "Mcp-Method";
const NAME: &str = "Mcp-Name";

/// Validates the headers of a request against its body, and gives its revision.
pub(super) fn validate(
    server: &McpServer,
    headers: &HeaderMap,
    request: &Request<'_>,
    params: &Params<'_>,
    meta: &RequestMeta<'_>,
) -> Result<&'static Revision, RpcError> {
    let header = single(headers, VERSION)?;
    let named = meta.version.as_deref();
    let is_stateless = |name: &str| Revision::find(name).is_none_or(|revision| !revision.has_initialize);
    if request.method == "initialize" && !named.is_some_and(is_stateless) {
        return initialize(headers, header, params);
    }
    if named.is_none()
        && let Some(header) = header.filter(|header| is_stateless(header))
    {
        let message =
            format!("a request of protocol version {header} must have {REQUIRED_META} in `params._meta`");
        return Err(RpcError::params(message));
    }
    if request.method == "server/discover" {
        meta.require()?;
    }
    let of_header = header.and_then(Revision::find);
    if of_header.is_some_and(|revision| !revision.has_initialize) {
        same(headers, METHOD, &request.method)?;
        if request.method == "tools/call"
            && let Ok(tool) = params.tool()
        {
            same(headers, NAME, &tool)?;
            mirrored(server, headers, &tool, params)?;
        }
    }
    match named {
        Some(named) if header != Some(named) => {
            let header = header.unwrap_or("nothing");
            let message = format!("MCP-Protocol-Version says {header}, and the body says {named}");
            Err(mismatch(message))
        }
        Some(_) => Ok(meta.revision()?.unwrap_or(Revision::without_header())),
        None => Ok(of_header.unwrap_or(Revision::without_header())),
    }
}

/// The revision that the headers name.
pub(super) fn revision(headers: &HeaderMap) -> Option<&'static Revision> {
    single(headers, VERSION)
        .ok()?
        .map_or(Some(Revision::without_header()), Revision::find)
}

fn mismatch(message: impl std::fmt::Display) -> RpcError {
    RpcError::new(HEADER_MISMATCH, format!("the header {message}"))
}

fn initialize(
    headers: &HeaderMap,
    header: Option<&str>,
    params: &Params<'_>,
) -> Result<&'static Revision, RpcError> {
    if let (Some(header), Some(requested)) = (header, params.protocol_version.as_deref())
        && header != requested
    {
        let message = format!("the header MCP-Protocol-Version says {header}, and the body says {requested}");
        return Err(RpcError::request(message));
    }
    if single(headers, METHOD)?.is_some() {
        same(headers, METHOD, "initialize")?;
    }
    Ok(Revision::newest_with_initialize())
}

/// Validates the headers of a notification.
pub(super) fn validate_notification(headers: &HeaderMap, method: &str) -> Result<(), RpcError> {
    let Some(version) = single(headers, VERSION)? else {
        return Ok(());
    };
    match Revision::find(version) {
        None => Err(RpcError::params(format!(
            "protocol version {version} is not supported"
        ))),
        Some(revision) if revision.has_initialize => Ok(()),
        Some(_) => same(headers, METHOD, method),
    }
}

/// A header that repeats a part of the body.
fn same(headers: &HeaderMap, name: &str, expected: &str) -> Result<(), RpcError> {
    let Some(raw) = single(headers, name)? else {
        return Err(mismatch(format!("{name} is missing")));
    };
    match decode(raw) {
        Some(sent) if sent == expected => Ok(()),
        Some(sent) => Err(mismatch(format!(
            "{name} says {sent}, and the body says {expected}"
        ))),
        None => Err(mismatch(format!("{name} is not valid base64"))),
    }
}

/// The headers that repeat arguments.
fn mirrored(
    server: &McpServer,
    headers: &HeaderMap,
    tool: &str,
    params: &Params<'_>,
) -> Result<(), RpcError> {
    let mirrors = server.0.tools.mirrors(tool);
    if mirrors.is_empty() {
        return Ok(());
    }
    let arguments = params.arguments.map(RawValue::get);
    let arguments = arguments.and_then(|arguments| json::parse(arguments.as_bytes()).ok());
    let arguments = arguments.unwrap_or(Value::Null);
    for mirror in mirrors {
        let path = mirror.path.join(".");
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
        let (raw, expected) = match (single(headers, name)?, expected) {
            (None, None) => continue,
            (Some(_), None) => return Err(mismatch(format!("{name} is there, and `{path}` is not"))),
            (None, Some(_)) => return Err(mismatch(format!("{name} is missing: it repeats `{path}`"))),
            (Some(raw), Some(expected)) => (raw, expected),
        };
        let Some(sent) = decode(raw) else {
            return Err(mismatch(format!("{name} is not valid base64")));
        };
        let is_number = value.is_some_and(Value::is_number);
        if sent != expected && !(is_number && is_same_integer(&sent, &expected)) {
            return Err(mismatch(format!("{name} differs from `{path}`")));
        }
    }
    Ok(())
}

/// Whether two texts are the same integer, which may be written as `42` and as `42.0`. Integers that JavaScript cannot
/// represent exactly must be the same text.
fn is_same_integer(one: &str, other: &str) -> bool {
    let (one, other) = (integer(one), integer(other));
    one.is_some() && one == other
}

fn integer(text: &str) -> Option<i64> {
    const MAX_EXACT: u64 = 9_007_199_254_740_991;
    let (digits, zeros) = text.split_once('.').unwrap_or((text, "0"));
    let is_whole = !zeros.is_empty() && zeros.bytes().all(|byte| byte == b'0');
    // As a JSON number, so that zeros in front and a plus are rejected.
    let number: i64 = is_whole.then(|| serde_json::from_str(digits).ok())??;
    (number.unsigned_abs() <= MAX_EXACT).then_some(number)
}

/// The value of a header that must not be repeated: proxies might read another one than this server.
fn single<'a>(headers: &'a HeaderMap, name: &str) -> Result<Option<&'a str>, RpcError> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    if values.next().is_some() {
        return Err(mismatch(format!("{name} is repeated")));
    }
    match value.to_str() {
        Ok(value) => Ok(Some(value.trim_matches([' ', '\t']))),
        Err(_) => Err(mismatch(format!(
            "{name} has characters that headers must not have"
        ))),
    }
}

/// A value that may be wrapped as `=?base64?…?=`.
fn decode(value: &str) -> Option<String> {
    let inner = value
        .strip_prefix("=?base64?")
        .and_then(|rest| rest.strip_suffix("?="));
    match inner {
        Some(inner) => String::from_utf8(BASE64_STANDARD.decode(inner).ok()?).ok(),
        None => Some(value.to_owned()),
    }
}
