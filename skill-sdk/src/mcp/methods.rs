//! The methods beside `tools/call`.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::McpServer;
use super::notify::Threshold;
use super::protocol::{
    CommonFields, Implementation, METHOD_NOT_FOUND, Params, Request, Revision, RpcError, response, text,
};

/// How long clients may cache a list, in milliseconds. It changes with the program only.
const MAX_AGE: u64 = 300_000;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct InitializeResult<'a> {
    protocol_version: &'static str,
    capabilities: Capabilities,
    server_info: &'a Implementation,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DiscoverResult<'a> {
    supported_versions: &'a [&'static str],
    capabilities: Capabilities,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<&'a str>,
    #[serde(flatten)]
    cache: Cache,
    #[serde(flatten)]
    common: CommonFields<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ListResult<'a> {
    tools: &'a [Box<RawValue>],
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    #[serde(flatten)]
    cache: Option<Cache>,
    #[serde(flatten)]
    common: CommonFields<'a>,
}

#[derive(Serialize)]
struct Capabilities {
    tools: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    logging: Option<Map<String, Value>>,
}

/// How long a result is fresh, and for whom.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Cache {
    ttl_ms: u64,
    cache_scope: &'static str,
}

/// Responds to a request other than a call. `threshold` is the level of log messages that the session of the client remembers,
/// if it has one.
pub(super) fn respond(
    server: &McpServer,
    request: &Request<'_>,
    params: &Params<'_>,
    revision: &Revision,
    threshold: Option<&Threshold>,
) -> Result<Vec<u8>, RpcError> {
    let logging = threshold.filter(|_| server.sends_notices());
    let method = request.method.as_ref();
    match method {
        _ if !revision.methods.contains(&method) => {}
        "initialize" => return initialize(server, request, params, logging.is_some()),
        "ping" => return Ok(response(&request.id, &Map::new())),
        "server/discover" => return Ok(discover(server, request, revision)),
        "tools/list" => return list(server, request, params, revision),
        "logging/setLevel" if let Some(threshold) = logging => {
            threshold.set(params.level, "params.level")?;
            return Ok(response(&request.id, &Map::new()));
        }
        _ => {}
    }
    let message = format!("protocol version {} has no method {method} here", revision.name);
    Err(RpcError::new(METHOD_NOT_FOUND, message))
}

fn capabilities(logging: bool) -> Capabilities {
    Capabilities {
        tools: Map::new(),
        logging: logging.then(Map::new),
    }
}

/// `initialize`, in which both sides agree on [`Revision::negotiate`].
fn initialize(
    server: &McpServer,
    request: &Request<'_>,
    params: &Params<'_>,
    logging: bool,
) -> Result<Vec<u8>, RpcError> {
    #[derive(Deserialize)]
    struct ClientInfo<'a> {
        #[serde(borrow)]
        name: &'a RawValue,
        version: &'a RawValue,
    }
    let requested = params.requested_version();
    let client = params
        .client_info
        .and_then(|raw| serde_json::from_str::<ClientInfo<'_>>(raw.get()).ok());
    let is_complete = requested.is_some()
        && params.capabilities.is_some_and(|raw| raw.get().starts_with('{'))
        && client.is_some_and(|client| text(client.name).is_some() && text(client.version).is_some());
    if !is_complete {
        return Err(RpcError::params(
            "`params` must have `protocolVersion`, `capabilities`, and `clientInfo` with `name` and `version`",
        ));
    }
    let result = InitializeResult {
        protocol_version: Revision::negotiate(requested.as_deref()).name,
        capabilities: capabilities(logging),
        server_info: server.implementation(),
        instructions: server.instructions_text(),
    };
    Ok(response(&request.id, &result))
}

fn discover(server: &McpServer, request: &Request<'_>, revision: &Revision) -> Vec<u8> {
    let result = DiscoverResult {
        supported_versions: &Revision::names(),
        // A request of the stateless revision names its level itself.
        capabilities: capabilities(server.sends_notices()),
        instructions: server.instructions_text(),
        cache: cache(server),
        common: CommonFields::new(revision, server.implementation()),
    };
    response(&request.id, &result)
}

fn list(
    server: &McpServer,
    request: &Request<'_>,
    params: &Params<'_>,
    revision: &Revision,
) -> Result<Vec<u8>, RpcError> {
    let unknown =
        || RpcError::params("`params.cursor` is not a cursor of this list: start again without one");
    let cursor = params
        .cursor
        .map(|raw| text(raw).ok_or_else(unknown))
        .transpose()?;
    let (tools, next_cursor) = server
        .tools()
        .page(cursor.as_deref(), server.page_size())
        .ok_or_else(unknown)?;
    let result = ListResult {
        tools,
        next_cursor,
        cache: (!revision.has_initialize).then(|| cache(server)),
        common: CommonFields::new(revision, server.implementation()),
    };
    Ok(response(&request.id, &result))
}

/// A list that callers need a token for is not for shared caches.
fn cache(server: &McpServer) -> Cache {
    Cache {
        ttl_ms: MAX_AGE,
        cache_scope: if server.is_private() { "private" } else { "public" },
    }
}
