//! `POST /mcp`: one message.

use std::sync::Arc;

use axum::extract::Request;
use axum::http::header::{ACCEPT, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::Response;
use tokio::sync::mpsc::Receiver;

use super::config::McpHttpServer;
use super::headers;
use super::routes::{empty, rejection};
use super::sessions::SESSION;
use super::stream::{self, Events};
use crate::context::Caller;
use crate::http::answer::json;
use crate::http::body;
use crate::http::request::trace;
use crate::mcp::call::{Admission, Origin, ToolCall};
use crate::mcp::elicitation::Capabilities;
use crate::mcp::methods;
use crate::mcp::notify::Threshold;
use crate::mcp::protocol::{self, Id, Message, Params, Revision, RpcError};
use crate::mcp::session::Session;
use crate::serve::InFlightGuard;

const EVENT_STREAM: &str = "text/event-stream";
const JSON: &str = "application/json";

/// Responds to one message.
pub(super) async fn post(mcp: &McpHttpServer, caller: Option<Arc<Caller>>, request: Request) -> Response {
    let accepts = Accepts::read(request.headers());
    if !accepts.json {
        let message = format!(
            "responses are JSON, which the header Accept excludes: send `Accept: {JSON}, {EVENT_STREAM}`"
        );
        return rejection(StatusCode::NOT_ACCEPTABLE, message);
    }
    if !is_json(request.headers()) {
        let message = format!("the body must be JSON: send `Content-Type: {JSON}`");
        return rejection(StatusCode::UNSUPPORTED_MEDIA_TYPE, message);
    }
    let (parts, mut body) = request.into_parts();
    let headers = parts.headers;
    let body = match body::read(mcp.service(), &mut body).await {
        Ok(body) => body,
        Err(response) => return response,
    };
    let error = |status, error: &RpcError| json(status, protocol::error(None, error));
    match protocol::parse(&body) {
        Err((id, error)) => json(StatusCode::BAD_REQUEST, protocol::error(id.as_ref(), &error)),
        Ok(Message::Notification { method, params }) => {
            if let Err(mismatch) = headers::validate_notification(&headers, &method) {
                return error(StatusCode::BAD_REQUEST, &mismatch);
            }
            match session(mcp, &headers, caller.as_deref()) {
                Ok(session) => {
                    if method == "notifications/cancelled"
                        && let Some(id) = protocol::cancelled(params)
                    {
                        let scope = scope(&headers, session.as_deref(), caller.as_deref());
                        mcp.service().in_flight().cancel(&scope, &id.json().into());
                    }
                    empty(StatusCode::ACCEPTED)
                }
                Err(gone) => error(StatusCode::NOT_FOUND, &gone),
            }
        }
        Ok(Message::Response { id, result }) => match session(mcp, &headers, caller.as_deref()) {
            Ok(Some(session)) => {
                if let Some(id) = id {
                    session.peer.respond(&id, result);
                }
                empty(StatusCode::ACCEPTED)
            }
            Ok(None) => {
                let message = "this server asked this client for nothing, so it takes no responses from it";
                rejection(StatusCode::BAD_REQUEST, message)
            }
            Err(gone) => error(StatusCode::NOT_FOUND, &gone),
        },
        Ok(Message::Request(request)) => {
            let id = request.id.clone();
            match serve(mcp, caller, &headers, &request, accepts.events) {
                Ok(Served::Response(response)) => response,
                Ok(Served::Call(call)) => {
                    // The call holds nothing of the body, and may take long.
                    drop(body);
                    call.respond().await
                }
                Err((status, error)) => json(status, protocol::error(Some(&id), &error)),
            }
        }
    }
}

/// What a request comes to.
enum Served {
    Response(Response),
    Call(Box<Running>),
}

fn serve(
    mcp: &McpHttpServer,
    caller: Option<Arc<Caller>>,
    headers: &HeaderMap,
    request: &protocol::Request<'_>,
    events: bool,
) -> Result<Served, (StatusCode, RpcError)> {
    let bad_request = |error| (StatusCode::BAD_REQUEST, error);
    let server = &mcp.0.server;
    let (params, meta) = Params::parse(request).map_err(bad_request)?;
    let negotiated = headers::validate(server, headers, request, &params, &meta).map_err(bad_request)?;
    let revision = negotiated.revision;
    let failed = |error: RpcError| (negotiated.status(&error), error);
    let is_initialize = request.method == "initialize" && revision.has_initialize;
    let session = if revision.has_initialize && !is_initialize {
        session(mcp, headers, caller.as_deref()).map_err(|gone| (StatusCode::NOT_FOUND, gone))?
    } else {
        None
    };
    if request.method != "tools/call" {
        // A server with sessions remembers what the client says in them.
        let coming = (is_initialize && mcp.0.sessions.is_some()).then(Threshold::default);
        let threshold = session
            .as_ref()
            .map(|session| &session.threshold)
            .or(coming.as_ref());
        let message = methods::respond(server, request, &params, revision, threshold).map_err(failed)?;
        let mut response = json(StatusCode::OK, message);
        if is_initialize
            && let Some(id) = open_session(mcp, Capabilities::read(params.capabilities), caller.as_deref())
        {
            response.headers_mut().insert(SESSION, id);
        }
        return Ok(Served::Response(response));
    }
    let (outgoing, messages) = events.then(Events::channel).unzip();
    let origin = Origin {
        revision,
        caller,
        trace: trace(headers),
        session: session.as_deref(),
        outgoing,
    };
    let call = match ToolCall::parse(server, &params, &meta, origin).map_err(failed)? {
        Ok(call) => call,
        Err(outcome) => {
            let message = outcome.response(&request.id, revision, server);
            return Ok(Served::Response(json(StatusCode::OK, message)));
        }
    };
    // A stateless call is cancelled by closing its stream.
    let in_flight = revision
        .has_initialize
        .then(|| track(mcp, headers, session.as_deref(), call.caller(), &request.id));
    Ok(Served::Call(Box::new(Running {
        mcp: mcp.clone(),
        call,
        id: request.id.clone(),
        revision,
        in_flight: in_flight.transpose().map_err(bad_request)?,
        kept: session,
        messages,
    })))
}

/// Makes a call one that `notifications/cancelled` cancels. In a session each id is used once at a time.
fn track(
    mcp: &McpHttpServer,
    headers: &HeaderMap,
    session: Option<&Session>,
    caller: Option<&Caller>,
    id: &Id,
) -> Result<InFlightGuard, RpcError> {
    let (table, scope) = (mcp.service().in_flight(), scope(headers, session, caller));
    match session {
        None => Ok(table.insert(scope, id.json().into())),
        Some(_) => table
            .insert_unique(scope, id.json().into())
            .ok_or_else(|| RpcError::request("another request with this id is in flight")),
    }
}

/// The scope in which ids of requests have a meaning: the session, or the caller.
fn scope(headers: &HeaderMap, session: Option<&Session>, caller: Option<&Caller>) -> Arc<str> {
    let session = session.and(headers.get(&SESSION)).and_then(|id| id.to_str().ok());
    match (session, caller) {
        (Some(id), _) => format!("session {id}").into(),
        (None, Some(caller)) => format!("caller {} {}", caller.tenant_id(), caller.principal_id()).into(),
        (None, None) => "anonymous".into(),
    }
}

/// A call that is about to run.
struct Running {
    mcp: McpHttpServer,
    call: ToolCall,
    id: Id,
    revision: &'static Revision,
    in_flight: Option<InFlightGuard>,
    /// A session with calls is kept.
    kept: Option<Arc<Session>>,
    /// What the call sends before its result, when the client takes it.
    messages: Option<Receiver<Vec<u8>>>,
}

impl Running {
    async fn respond(self) -> Response {
        let Self {
            mcp,
            call,
            id,
            revision,
            in_flight,
            kept,
            messages,
        } = self;
        let reply = async move {
            let running = call.run(mcp.service(), Admission::Immediate);
            let outcome = match &in_flight {
                Some(in_flight) => in_flight.unless_cancelled(running).await?,
                None => running.await,
            };
            let status = match outcome.missing_capability(revision) {
                Some(_) => StatusCode::BAD_REQUEST,
                None => StatusCode::OK,
            };
            drop(kept);
            Some((status, outcome.response(&id, revision, &mcp.0.server)))
        };
        match messages {
            None => stream::document(reply.await),
            Some(messages) => stream::respond(reply, messages).await,
        }
    }
}

/// The session that the headers name.
fn session(
    mcp: &McpHttpServer,
    headers: &HeaderMap,
    caller: Option<&Caller>,
) -> Result<Option<Arc<Session>>, RpcError> {
    let Some(sessions) = &mcp.0.sessions else {
        return Ok(None);
    };
    sessions
        .find(headers, caller)
        .map_err(|()| RpcError::request("there is no such session, or no longer: send `initialize` again"))
}

/// Opens a session for a client that can be asked, or that may set a level of log messages.
fn open_session(
    mcp: &McpHttpServer,
    capabilities: Capabilities,
    caller: Option<&Caller>,
) -> Option<HeaderValue> {
    let sessions = mcp.0.sessions.as_ref()?;
    if !capabilities.any() && !mcp.0.server.sends_notices() {
        return None;
    }
    let id = sessions.open(Session::new(capabilities), caller)?;
    HeaderValue::from_str(&id).ok()
}

/// What a client can read.
#[derive(Debug, Default)]
struct Accepts {
    json: bool,
    events: bool,
}

impl Accepts {
    fn read(headers: &HeaderMap) -> Self {
        let mut accepts = Self::default();
        if !headers.contains_key(ACCEPT) {
            accepts.json = true;
            return accepts;
        }
        let values = headers
            .get_all(ACCEPT)
            .iter()
            .filter_map(|value| value.to_str().ok());
        for range in values.flat_map(|value| value.split(',')) {
            let mut parts = range.split(';').map(str::trim);
            let kind = parts.next().unwrap_or_default().to_ascii_lowercase();
            let is_excluded = parts.any(|part| {
                part.split_once('=').is_some_and(|(name, weight)| {
                    name.trim().eq_ignore_ascii_case("q") && weight.trim().parse() == Ok(0.0_f32)
                })
            });
            if !is_excluded {
                accepts.json |= matches!(kind.as_str(), JSON | "application/*" | "*/*");
                accepts.events |= matches!(kind.as_str(), EVENT_STREAM | "text/*");
            }
        }
        accepts
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let mut types = headers.get_all(CONTENT_TYPE).iter();
    let (Some(kind), None) = (types.next(), types.next()) else {
        return false;
    };
    let essence = kind.to_str().ok().and_then(|kind| kind.split(';').next());
    essence.is_some_and(|essence| essence.trim().eq_ignore_ascii_case(JSON))
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn what_clients_accept() {
        for (sent, json, events) in [
            (&[][..], true, false),
            (&["application/json, text/event-stream"], true, true),
            (&["Application/JSON;q=0.5", "text/event-stream;q=0.1"], true, true),
            (&["application/json"], true, false),
            (&["*/*"], true, false),
            (&["text/html"], false, false),
            (&["text/event-stream"], false, true),
            (&["application/json;q=0, text/event-stream"], false, true),
            (&["application/*"], true, false),
            (&["application/jsonx"], false, false),
        ] {
            let mut headers = HeaderMap::new();
            for value in sent {
                headers.append(ACCEPT, HeaderValue::from_static(value));
            }
            let accepts = Accepts::read(&headers);
            assert_eq!((accepts.json, accepts.events), (json, events), "{sent:?}");
        }
    }
}
