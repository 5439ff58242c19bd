//! The protocol: its revisions, and its messages as types.

mod message;
mod params;
mod revision;

#[cfg(feature = "mcp-http")]
pub(super) use self::message::HEADER_MISMATCH;
pub(super) use self::message::{
    Id, METHOD_NOT_FOUND, Message, PARSE_ERROR, Request, RpcError, batch, cancelled, error, id_of_beginning,
    notification, outgoing_request, parse, response,
};
pub(super) use self::params::{Params, REQUIRED_META, RequestMeta, lenient, text};
pub(super) use self::revision::Revision;
