//! Everything of the protocol beside the calls, answered by `rmcp`.

use rmcp::model::{
    CacheScope, ClientCapabilities, ClientJsonRpcMessage, CustomRequest, CustomResult, DiscoverResult,
    ErrorCode, ErrorData, Implementation, InitializeRequestParams, ListToolsResult, MetaObject,
    PaginatedRequestParams, ProtocolVersion, ServerCapabilities, ServerConfig, ServerJsonRpcMessage,
    ServerResult, Tool,
};
use rmcp::service::{RequestContext, serve_directly};
use rmcp::transport::OneshotTransport;
use rmcp::{RoleServer, ServerHandler};
use serde_json::Value;

use super::McpServer;
use super::message::{INVALID_PARAMS, METHOD_NOT_FOUND, Request, Wrong};
use super::params::Era;
use crate::contract::json;

/// How long a list may be taken for fresh, in milliseconds: it changes with the program only.
const FRESH: u64 = 300_000;

/// Methods that are known here, so that one that is not understood has wrong parameters.
const METHODS: [&str; 6] = [
    "initialize",
    "ping",
    "server/discover",
    "tools/list",
    "tools/call",
    "logging/setLevel",
];

/// Methods that revision 2026-07-28 took away.
const REMOVED: [&str; 5] = [
    "initialize",
    "ping",
    "logging/setLevel",
    "resources/subscribe",
    "resources/unsubscribe",
];

/// The answer of `rmcp` to a request.
pub(super) struct Answered {
    /// The message, as JSON text.
    pub(super) json: Vec<u8>,
    /// The code, when it is an error.
    pub(super) code: Option<i32>,
    /// The revision that `initialize` agreed on.
    pub(super) negotiated: Option<String>,
}

impl From<Wrong> for Answered {
    fn from(wrong: Wrong) -> Self {
        Self {
            json: super::answer::error(&wrong),
            code: Some(wrong.code),
            negotiated: None,
        }
    }
}

/// Answers a request other than a call. `text` is the whole message, `version` the revision that the peers speak;
/// `remembers` says whether the host knows at the next request of a client of the old era what it said in this one.
pub(super) async fn answer(
    host: &McpServer,
    request: &Request<'_>,
    text: &[u8],
    version: &str,
    remembers: bool,
) -> Answered {
    if Era::of(version) == Era::Modern && REMOVED.contains(&&*request.method) {
        let message = format!("{} is no method of protocol version {version}", request.method);
        return Wrong::new(Some(request.id.clone()), METHOD_NOT_FOUND, message).into();
    }
    let unreadable = |error: &dyn std::fmt::Display| {
        let message = format!("the message is not understood: {error}");
        Answered::from(Wrong::new(
            Some(request.id.clone()),
            super::message::INVALID_REQUEST,
            message,
        ))
    };
    let value = match json::parse(text) {
        Ok(value) => value,
        Err(error) => return unreadable(&error),
    };
    let message: ClientJsonRpcMessage = match serde_json::from_value(value) {
        Ok(message @ ClientJsonRpcMessage::Request(_)) => message,
        Ok(_) => return unreadable(&"it is no request"),
        Err(error) => return unreadable(&error),
    };
    let peer = serde_json::from_value::<ProtocolVersion>(version.into()).unwrap_or_default();
    let peer = InitializeRequestParams::new(ClientCapabilities::default(), Implementation::new("", ""))
        .with_protocol_version(peer);
    let handler = Handler {
        host: host.clone(),
        logging: host.sends_notices() && (remembers || request.method == "server/discover"),
    };
    let (transport, mut answers) = OneshotTransport::<RoleServer>::new(message);
    let service = serve_directly(handler, transport, Some(peer));
    let answer = loop {
        match answers.recv().await {
            Some(answer @ (ServerJsonRpcMessage::Response(_) | ServerJsonRpcMessage::Error(_))) => {
                break answer;
            }
            Some(_) => {}
            None => return unreadable(&"nothing answers it"),
        }
    };
    drop(service);
    let (code, negotiated) = match &answer {
        ServerJsonRpcMessage::Error(error) => (Some(error.error.code.0), None),
        ServerJsonRpcMessage::Response(response) => match &response.result {
            ServerResult::InitializeResult(result) => (None, Some(result.protocol_version.to_string())),
            _ => (None, None),
        },
        _ => (None, None),
    };
    match serde_json::to_vec(&answer) {
        Ok(json) => Answered {
            json,
            code,
            negotiated,
        },
        Err(error) => unreadable(&error),
    }
}

/// The host as `rmcp` sees it.
struct Handler {
    host: McpServer,
    /// Whether clients can ask for notices.
    logging: bool,
}

impl Handler {
    fn implementation(&self) -> Implementation {
        let (name, version) = self.host.identity();
        Implementation::new(name, version)
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let mut capabilities = ServerCapabilities::builder().enable_tools().build();
        capabilities.logging = self.logging.then(Default::default);
        let mut config = ServerConfig::new(capabilities).with_server_info(self.implementation());
        config.instructions = self.host.instructions_text().map(str::to_owned);
        config
    }

    async fn discover(&self, _: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let mut result =
            DiscoverResult::from_server_info(ProtocolVersion::KNOWN_VERSIONS.to_vec(), self.get_info());
        result.ttl_ms = FRESH;
        result.cache_scope = scope(&self.host);
        Ok(result)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        let page = self
            .host
            .tools()
            .page(cursor.as_deref(), self.host.tools_per_page());
        let Some((tools, next)) = page else {
            let message = "the cursor is none of this list: start again without one";
            return Err(ErrorData::invalid_params(message, None));
        };
        let mut result = ListToolsResult::with_all_items(tools);
        result.next_cursor = next;
        let modern = context
            .protocol_version()
            .is_some_and(|version| !version.has_initialize());
        if modern {
            result.ttl_ms = Some(FRESH);
            result.cache_scope = Some(scope(&self.host));
            let server = serde_json::to_value(self.implementation()).unwrap_or(Value::Null);
            let mut meta = MetaObject::default();
            meta.0
                .insert("io.modelcontextprotocol/serverInfo".to_owned(), server);
            result.meta = Some(meta);
        }
        Ok(result)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.host.tools().get(name).cloned()
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let CustomRequest { method, params, .. } = request;
        if METHODS.contains(&method.as_str()) {
            let reason = reason(&method, params);
            let message = format!("the parameters of {method} are not understood{reason}");
            return Err(ErrorData::new(ErrorCode(INVALID_PARAMS), message, None));
        }
        let data = Some(Value::String(method));
        Err(ErrorData::new(
            ErrorCode(METHOD_NOT_FOUND),
            "method not found",
            data,
        ))
    }
}

/// Whoever may see the list may keep it; with tokens nobody else may.
fn scope(host: &McpServer) -> CacheScope {
    if host.is_private() {
        CacheScope::Private
    } else {
        CacheScope::Public
    }
}

fn reason(method: &str, params: Option<Value>) -> String {
    let Some(params) = params else {
        return ": there are none".to_owned();
    };
    let error = match method {
        "initialize" => serde_json::from_value::<InitializeRequestParams>(params).err(),
        "tools/list" => serde_json::from_value::<PaginatedRequestParams>(params).err(),
        _ => None,
    };
    error.map_or_else(String::new, |error| format!(": {error}"))
}
