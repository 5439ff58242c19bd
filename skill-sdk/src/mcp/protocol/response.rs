//! Messages of this server: responses, notifications and requests.

use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::message::{Id, RpcError};
use super::revision::Revision;
use crate::handler::Attachment;

const VERSION: &str = "2.0";

/// The result of a call that ended.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::mcp) struct CallResult<'a> {
    pub(in crate::mcp) content: Vec<Content<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::mcp) structured_content: Option<&'a RawValue>,
    pub(in crate::mcp) is_error: bool,
    #[serde(flatten)]
    pub(in crate::mcp) common: CommonFields<'a>,
}

/// A block of content.
#[derive(Serialize)]
#[serde(untagged)]
pub(in crate::mcp) enum Content<'a> {
    Text {
        #[serde(rename = "type")]
        kind: &'static str,
        text: &'a str,
    },
    Attachment(&'a Attachment),
}

impl<'a> Content<'a> {
    pub(in crate::mcp) fn text(text: &'a str) -> Self {
        Self::Text { kind: "text", text }
    }
}

/// The result of a call that needs input first.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::mcp) struct AskedResult<'a> {
    pub(in crate::mcp) input_requests: &'a Value,
    pub(in crate::mcp) request_state: &'a str,
    #[serde(flatten)]
    pub(in crate::mcp) common: CommonFields<'a>,
}

/// The name and the version of this server.
#[derive(Debug, Clone, Serialize)]
pub(in crate::mcp) struct Implementation {
    pub(in crate::mcp) name: String,
    pub(in crate::mcp) version: String,
}

/// The fields that results of all kinds may have.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::mcp) struct CommonFields<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    result_type: Option<&'static str>,
    #[serde(rename = "_meta", skip_serializing_if = "ResultMeta::is_empty")]
    meta: ResultMeta<'a>,
}

#[derive(Serialize)]
struct ResultMeta<'a> {
    #[serde(rename = "skill/cost", skip_serializing_if = "Option::is_none")]
    cost: Option<&'a Value>,
    #[serde(
        rename = "io.modelcontextprotocol/serverInfo",
        skip_serializing_if = "Option::is_none"
    )]
    server: Option<&'a Implementation>,
}

impl ResultMeta<'_> {
    fn is_empty(&self) -> bool {
        self.cost.is_none() && self.server.is_none()
    }
}

impl<'a> CommonFields<'a> {
    /// The fields of a result in `revision` by `server`.
    pub(in crate::mcp) fn new(revision: &Revision, server: &'a Implementation) -> Self {
        let stateless = !revision.has_initialize;
        Self {
            result_type: stateless.then_some("complete"),
            meta: ResultMeta {
                cost: None,
                server: stateless.then_some(server),
            },
        }
    }

    /// The same for a result that is not the last one.
    pub(in crate::mcp) fn input_required(mut self) -> Self {
        self.result_type = self.result_type.map(|_| "input_required");
        self
    }

    /// Adds what the call cost.
    pub(in crate::mcp) fn cost(mut self, cost: Option<&'a Value>) -> Self {
        self.meta.cost = cost;
        self
    }
}

/// The response to a request.
pub(in crate::mcp) fn response(id: &Id, result: &impl Serialize) -> Vec<u8> {
    #[derive(Serialize)]
    struct Response<'a, R> {
        jsonrpc: &'static str,
        id: &'a Id,
        result: R,
    }
    json(&Response {
        jsonrpc: VERSION,
        id,
        result,
    })
}

/// The response to a request that failed, or to something that is not a request.
pub(in crate::mcp) fn error(id: Option<&Id>, error: &RpcError) -> Vec<u8> {
    #[derive(Serialize)]
    struct Response<'a> {
        jsonrpc: &'static str,
        id: Option<&'a Id>,
        error: &'a RpcError,
    }
    json(&Response {
        jsonrpc: VERSION,
        id,
        error,
    })
}

/// A notification of this server.
pub(in crate::mcp) fn notification(method: &str, params: &impl Serialize) -> Vec<u8> {
    outgoing_request(None, method, params)
}

/// A request of this server.
pub(in crate::mcp) fn outgoing_request(id: Option<&Id>, method: &str, params: &impl Serialize) -> Vec<u8> {
    #[derive(Serialize)]
    struct Outgoing<'a, P> {
        jsonrpc: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<&'a Id>,
        method: &'a str,
        params: P,
    }
    json(&Outgoing {
        jsonrpc: VERSION,
        id,
        method,
        params,
    })
}

/// A message on one line. The JSON of a skill may have line breaks between its tokens.
fn json(message: &impl Serialize) -> Vec<u8> {
    // The messages have string keys only, and the writer is memory.
    let mut json = serde_json::to_vec(message).unwrap_or_default();
    for byte in &mut json {
        if matches!(byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
    json
}
