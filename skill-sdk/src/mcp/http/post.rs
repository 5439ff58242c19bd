//! `POST /mcp`: one message.

use std::future::ready;
use std::pin::Pin;
use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::http::header::{ACCEPT, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use futures_util::future::join_all;

use super::config::McpHttpServer;
use super::headers;
use super::routes::{rejected, rejection, reply};
use super::sessions::SESSION;
use super::stream::{self, Reply};
use crate::context::Caller;
use crate::http::request::{accepts, is_json, trace};
use crate::http::{answer, body};
use crate::mcp::call::{Admission, Origin, ToolCall};
use crate::mcp::methods;
use crate::mcp::notify::Threshold;
use crate::mcp::protocol::{self, METHOD_NOT_FOUND, Message, Params, RequestMeta, Revision, RpcError};
use crate::mcp::session::Session;
use crate::pipe::Outgoing;

const EVENT_STREAM: &str = "text/event-stream";
const JSON: &str = "application/json";

/// A response that may take long.
type Responding = Pin<Box<dyn Future<Output = Response> + Send>>;

fn immediate(response: Response) -> Responding {
    Box::pin(ready(response))
}

/// Responds to one message, or to a batch.
pub(super) async fn post(
    mcp: &McpHttpServer,
    caller: Option<Arc<Caller>>,
    headers: &HeaderMap,
    body: &mut Body,
) -> Result<Response, Response> {
    // Without `Accept` a client takes JSON.
    if headers.contains_key(ACCEPT) && !accepts(headers, &[JSON, "application/*", "*/*"]) {
        let message = format!(
            "responses are JSON, which the header Accept excludes: send `Accept: {JSON}, {EVENT_STREAM}`"
        );
        return Err(rejection(StatusCode::NOT_ACCEPTABLE, message));
    }
    if !headers.contains_key(CONTENT_TYPE) || !is_json(headers) {
        let message = format!("the body must be JSON: send `Content-Type: {JSON}`");
        return Err(rejection(StatusCode::UNSUPPORTED_MEDIA_TYPE, message));
    }
    let body = body::read(mcp.http.service(), body).await?;
    let has_batches = headers::revision(headers).is_some_and(|revision| revision.has_batches);
    let batch = protocol::batch(&body).filter(|_| has_batches);
    let exchange = Exchange {
        mcp,
        caller,
        headers,
        events: batch.is_none() && accepts(headers, &[EVENT_STREAM, "text/*"]),
    };
    let accept = |message| {
        let accepted = exchange.accept(message);
        accepted.unwrap_or_else(immediate)
    };
    // A call holds nothing of the body, and may take long.
    let Some(messages) = batch else {
        let responding = accept(&body);
        drop(body);
        return Ok(responding.await);
    };
    let responding: Vec<_> = messages.into_iter().map(accept).collect();
    drop(body);
    Ok(batched(join_all(responding).await).await)
}

/// The responses to the messages of a batch as one: an array, without those that have no body.
async fn batched(responses: Vec<Response>) -> Response {
    let mut array = Vec::new();
    for response in responses {
        // It is whole, in memory.
        let message = to_bytes(response.into_body(), usize::MAX)
            .await
            .unwrap_or_default();
        if !message.is_empty() {
            array.push(if array.is_empty() { b'[' } else { b',' });
            array.extend_from_slice(&message);
        }
    }
    if array.is_empty() {
        return StatusCode::ACCEPTED.into_response();
    }
    array.push(b']');
    answer::json(StatusCode::OK, array)
}

/// The request that a message came in.
struct Exchange<'a> {
    mcp: &'a McpHttpServer,
    caller: Option<Arc<Caller>>,
    headers: &'a HeaderMap,
    /// Whether the client takes a stream of events.
    events: bool,
}

impl Exchange<'_> {
    /// Takes one message.
    fn accept(&self, message: &[u8]) -> Result<Responding, Response> {
        let gone = |gone| rejected(StatusCode::NOT_FOUND, &gone);
        match protocol::parse(message) {
            Err((id, error)) => Err(reply(
                StatusCode::BAD_REQUEST,
                protocol::error(id.as_ref(), &error),
            )),
            Ok(Message::Notification { method, params }) => {
                headers::validate_notification(self.headers, &method)
                    .map_err(|mismatch| rejected(StatusCode::BAD_REQUEST, &mismatch))?;
                let session = self.session().map_err(gone)?;
                if let Some(id) = protocol::cancelled(&method, params) {
                    let name = self.name(session.as_deref(), &id);
                    self.mcp.http.service().in_flight().cancel(&name);
                }
                Ok(immediate(StatusCode::ACCEPTED.into_response()))
            }
            Ok(Message::Response { id, result }) => {
                let Some(session) = self.session().map_err(gone)? else {
                    let message =
                        "this server asked this client for nothing, so it takes no responses from it";
                    return Err(rejection(StatusCode::BAD_REQUEST, message));
                };
                id.map(|id| session.peer.respond(&id, result));
                Ok(immediate(StatusCode::ACCEPTED.into_response()))
            }
            Ok(Message::Request(request)) => self
                .serve(&request)
                .map_err(|(status, error)| reply(status, protocol::error(Some(&request.id), &error))),
        }
    }

    fn serve(&self, request: &protocol::Request<'_>) -> Result<Responding, (StatusCode, RpcError)> {
        let bad_request = |error| (StatusCode::BAD_REQUEST, error);
        let server = &self.mcp.mcp;
        let (params, meta) = Params::parse(request).map_err(bad_request)?;
        let revision =
            headers::validate(server, self.headers, request, &params, &meta).map_err(bad_request)?;
        let failed = |error: RpcError| match error.code {
            METHOD_NOT_FOUND if !revision.has_initialize => (StatusCode::NOT_FOUND, error),
            _ => (StatusCode::OK, error),
        };
        let is_initialize = request.method == "initialize" && revision.has_initialize;
        let session = if revision.has_initialize && !is_initialize {
            self.session().map_err(|gone| (StatusCode::NOT_FOUND, gone))?
        } else {
            None
        };
        if request.method == "tools/call" {
            return self
                .call(request, &params, meta, revision, session)
                .map_err(failed);
        }
        // A server with sessions remembers what the client says in them.
        let coming = (is_initialize && self.mcp.sessions.is_some()).then(Threshold::default);
        let threshold = session.as_ref().map(|session| &session.threshold);
        let message = methods::respond(server, request, &params, revision, threshold.or(coming.as_ref()))
            .map_err(failed)?;
        let mut response = reply(StatusCode::OK, message);
        if is_initialize && let Some(id) = self.open_session(&params) {
            response.headers_mut().insert(SESSION, id);
        }
        Ok(immediate(response))
    }

    fn call(
        &self,
        request: &protocol::Request<'_>,
        params: &Params<'_>,
        meta: RequestMeta<'_>,
        revision: &'static Revision,
        session: Option<Arc<Session>>,
    ) -> Result<Responding, RpcError> {
        let (outgoing, messages) = self.events.then(Outgoing::channel).unzip();
        let origin = Origin {
            revision,
            caller: self.caller.clone(),
            trace: trace(self.headers),
            session: session.as_deref(),
            outgoing,
        };
        let (mcp, id) = (self.mcp.clone(), request.id.clone());
        let call = ToolCall::parse(&mcp.mcp, params, meta, origin)?;
        let mut in_flight = None;
        if revision.has_initialize {
            let (table, name) = (mcp.http.service().in_flight(), self.name(session.as_deref(), &id));
            // In a session each id is used once at a time.
            let guard = table.insert(name, session.is_some());
            let used = || RpcError::request("another request with this id is in flight");
            in_flight = Some(guard.ok_or_else(used)?);
        }
        let call = async move {
            let running = call.run(mcp.http.service(), Admission::Immediate);
            let (outcome, permit) = match &in_flight {
                Some(in_flight) => in_flight.unless_cancelled(running).await?,
                None => running.await,
            };
            // A session with calls is kept.
            drop(session);
            let status = match outcome.missing_capability(revision) {
                Some(_) => StatusCode::BAD_REQUEST,
                None => StatusCode::OK,
            };
            let message = outcome.response(&id, revision, &mcp.mcp);
            Some(Reply {
                status,
                message,
                permit,
            })
        };
        if !revision.has_initialize {
            return Ok(Box::pin(stream::respond(call, messages)));
        }
        // Only `notifications/cancelled` cancels it: it goes on when the client disconnects.
        let call = tokio::spawn(call);
        let ended = async move { call.await.ok().flatten() };
        Ok(Box::pin(stream::respond(ended, messages)))
    }

    /// What cancels a call: its id, in the session or for the caller.
    fn name(&self, session: Option<&Session>, id: &protocol::Id) -> String {
        let session = session.and(self.headers.get(&SESSION));
        match (session.and_then(|session| session.to_str().ok()), &self.caller) {
            (Some(session), _) => format!("session {session} {id}"),
            (None, Some(caller)) => format!("{} {} {id}", caller.tenant_id, caller.principal_id),
            (None, None) => id.to_string(),
        }
    }

    /// The session that the headers name.
    fn session(&self) -> Result<Option<Arc<Session>>, RpcError> {
        let Some(sessions) = &self.mcp.sessions else {
            return Ok(None);
        };
        let found = sessions.find(self.headers, self.caller.as_deref());
        found.map_err(|()| {
            RpcError::request("the session does not exist or has expired: send `initialize` again")
        })
    }

    /// Opens a session for a client that can be asked, or that may set a level of log messages.
    fn open_session(&self, params: &Params<'_>) -> Option<HeaderValue> {
        let sessions = self.mcp.sessions.as_ref()?;
        let capabilities = params.capabilities.unwrap_or_default();
        if !capabilities.any() && !self.mcp.mcp.0.notices {
            return None;
        }
        let id = sessions.open(Session::new(capabilities), self.caller.as_deref())?;
        HeaderValue::from_str(&id).ok()
    }
}
