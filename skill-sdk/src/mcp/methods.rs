//! The methods beside `tools/call`.

use serde_json::{Value, json};

use super::McpServer;
use super::notify::Threshold;
use super::protocol::{METHOD_NOT_FOUND, Params, Request, Revision, RpcError, response, text};

/// How long clients may cache a list, in milliseconds. It changes with the program only.
const MAX_AGE: u64 = 300_000;

/// Responds to a request other than a call. `threshold` is the level of log messages that the session of the client remembers,
/// if it has one.
pub(super) fn respond(
    server: &McpServer,
    request: &Request<'_>,
    params: &Params<'_>,
    revision: &Revision,
    threshold: Option<&Threshold>,
) -> Result<Vec<u8>, RpcError> {
    let logging = threshold.filter(|_| server.0.notices);
    let method = &*request.method;
    let missing = || {
        let message = format!("protocol version {} has no method {method} here", revision.name);
        RpcError::new(METHOD_NOT_FOUND, message)
    };
    let result = match method {
        _ if !revision.methods.contains(&method) => return Err(missing()),
        "initialize" => initialize(server, params, logging.is_some())?,
        "ping" => json!({}),
        "server/discover" => discover(server, revision),
        "tools/list" => list(server, params, revision)?,
        "logging/setLevel" => {
            let threshold = logging.ok_or_else(missing)?;
            threshold.set(params.level, "params.level")?;
            json!({})
        }
        _ => return Err(missing()),
    };
    Ok(response(&request.id, &result))
}

/// Adds what a server says of itself to a result.
fn describe(result: &mut Value, server: &McpServer, logging: bool) {
    result["capabilities"] = json!({"tools": {}});
    if logging {
        result["capabilities"]["logging"] = json!({});
    }
    if let Some(text) = &server.0.instructions {
        result["instructions"] = text.as_str().into();
    }
}

/// `initialize`, in which both sides agree on [`Revision::negotiate`].
fn initialize(server: &McpServer, params: &Params<'_>, logging: bool) -> Result<Value, RpcError> {
    let (Some(requested), Some(_), Some(_)) =
        (&params.protocol_version, params.capabilities, &params.client_info)
    else {
        let message = "`params` must have `protocolVersion`, `capabilities`, and `clientInfo` with `name` and `version`";
        return Err(RpcError::params(message));
    };
    let mut result = json!({
        "protocolVersion": Revision::negotiate(Some(requested)).name,
        "serverInfo": server.0.implementation,
    });
    describe(&mut result, server, logging);
    Ok(result)
}

fn discover(server: &McpServer, revision: &Revision) -> Value {
    let mut result = json!({"supportedVersions": Revision::names()});
    // A request of the stateless revision names its level itself.
    describe(&mut result, server, server.0.notices);
    set_cache(&mut result, server);
    set_stateless_fields(&mut result, server, revision);
    result
}

fn list(server: &McpServer, params: &Params<'_>, revision: &Revision) -> Result<Value, RpcError> {
    let unknown =
        || RpcError::params("`params.cursor` is not a cursor of this list: start again without one");
    let cursor = params.cursor.map(|json| text(json).ok_or_else(unknown));
    let cursor = cursor.transpose()?;
    let tools = &server.0.tools;
    let (tools, next) = tools
        .page(cursor.as_deref(), server.0.page_size)
        .ok_or_else(unknown)?;
    let mut result = json!({"tools": tools});
    if let Some(next) = next {
        result["nextCursor"] = next.into();
    }
    if !revision.has_initialize {
        set_cache(&mut result, server);
    }
    set_stateless_fields(&mut result, server, revision);
    Ok(result)
}

/// Says how long a result is fresh. One that callers need a token for is not for shared caches.
fn set_cache(result: &mut Value, server: &McpServer) {
    result["ttlMs"] = MAX_AGE.into();
    result["cacheScope"] = if server.0.private { "private" } else { "public" }.into();
}

/// Adds what the results of a stateless revision have.
fn set_stateless_fields(result: &mut Value, server: &McpServer, revision: &Revision) {
    if !revision.has_initialize {
        result["resultType"] = "complete".into();
        result["_meta"] = server.about().into();
    }
}
