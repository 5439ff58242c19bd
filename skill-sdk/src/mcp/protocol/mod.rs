//! The protocol: its revisions, and its messages as types.

mod message;
mod params;
mod response;
mod revision;

#[cfg(feature = "mcp-http")]
pub(super) use self::message::HEADER_MISMATCH;
pub(super) use self::message::{Id, METHOD_NOT_FOUND, Message, Request, RpcError, cancelled, parse};
pub(super) use self::params::{Params, RequestMeta, text};
pub(super) use self::response::{
    AskedResult, CallResult, CommonFields, Content, Implementation, error, notification, outgoing_request,
    response,
};
pub(super) use self::revision::Revision;
