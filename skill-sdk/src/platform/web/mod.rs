//! HTTP clients of the services: how they are made, and answers that are read within a limit.
//!
//! - `client`: the client, without redirects and proxies
//! - `transport`: one request and its answer as plain data, so that a test can stand in for the network

mod client;
#[cfg(feature = "core")]
mod transport;

pub(crate) use self::client::{BodyError, builder, read_body};
#[cfg(all(feature = "core", any(test, feature = "testing")))]
pub(crate) use self::transport::Sent;
#[cfg(feature = "core")]
pub(crate) use self::transport::{
    Answer, ChatError, Http, Method, Request, Transport, is_tls, is_web_address,
};
