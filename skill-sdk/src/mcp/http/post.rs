//! `POST /mcp`: one message.

use std::pin::Pin;
use std::sync::Arc;

use axum::body::Body;
use axum::http::header::{ACCEPT, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};

use super::config::McpHttpServer;
use super::headers;
use super::routes::{rejection, reply};
use super::sessions::SESSION;
use super::stream::{self, Reply};
use crate::context::Caller;
use crate::http::body;
use crate::http::request::{accepts, is_json, trace};
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

/// Responds to one message.
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
    let exchange = Exchange {
        mcp,
        caller,
        headers,
        events: accepts(headers, &[EVENT_STREAM, "text/*"]),
    };
    let error = |status, error: &RpcError| reply(status, protocol::error(None, error));
    let gone = |gone| error(StatusCode::NOT_FOUND, &gone);
    match protocol::parse(&body) {
        Err((id, error)) => Err(reply(
            StatusCode::BAD_REQUEST,
            protocol::error(id.as_ref(), &error),
        )),
        Ok(Message::Notification { method, params }) => {
            headers::validate_notification(headers, &method)
                .map_err(|mismatch| error(StatusCode::BAD_REQUEST, &mismatch))?;
            let session = exchange.session().map_err(gone)?;
            if method == "notifications/cancelled"
                && let Some(id) = protocol::cancelled(params)
            {
                let name = exchange.name(session.as_deref(), &id);
                mcp.http.service().in_flight().cancel(&name);
            }
            Ok(StatusCode::ACCEPTED.into_response())
        }
        Ok(Message::Response { id, result }) => {
            let Some(session) = exchange.session().map_err(gone)? else {
                let message = "this server asked this client for nothing, so it takes no responses from it";
                return Err(rejection(StatusCode::BAD_REQUEST, message));
            };
            id.map(|id| session.peer.respond(&id, result));
            Ok(StatusCode::ACCEPTED.into_response())
        }
        Ok(Message::Request(request)) => {
            let served = exchange.serve(&request);
            let responding = served
                .map_err(|(status, error)| reply(status, protocol::error(Some(&request.id), &error)))?;
            // A call holds nothing of the body, and may take long.
            drop(request);
            drop(body);
            Ok(responding.await)
        }
    }
}

/// What is known of a message beside its body.
struct Exchange<'a> {
    mcp: &'a McpHttpServer,
    caller: Option<Arc<Caller>>,
    headers: &'a HeaderMap,
    /// Whether the client takes a stream of events.
    events: bool,
}

impl Exchange<'_> {
    fn serve(self, request: &protocol::Request<'_>) -> Result<Responding, (StatusCode, RpcError)> {
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
        Ok(Box::pin(std::future::ready(response)))
    }

    fn call(
        self,
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
            RpcError::request("there is no such session, or no longer: send `initialize` again")
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
