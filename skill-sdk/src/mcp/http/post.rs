//! `POST /mcp`: one message.

use std::sync::Arc;

use axum::extract::Request;
use axum::http::header::{ACCEPT, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::Response;
use serde_json::value::RawValue;

use super::config::McpHttpServer;
use super::headers::{self, Refusal};
use super::sessions::{Client, Noted, SESSION};
use super::{reply, stream};
use crate::context::Caller;
use crate::http::answer::json;
use crate::http::body;
use crate::http::request::trace;
use crate::mcp::answer::{self, Outcome};
use crate::mcp::call::ToolCall;
use crate::mcp::handler;
use crate::mcp::input::{Capabilities, Peer};
use crate::mcp::message::{self, INVALID_PARAMS, INVALID_REQUEST, Id, Message, Wrong};
use crate::mcp::params::{Era, Params};
use crate::mcp::threshold::Threshold;

const EVENT_STREAM: &str = "text/event-stream";
const JSON: &str = "application/json";

/// Answers one message.
pub(super) async fn post(mcp: &McpHttpServer, caller: Option<Arc<Caller>>, request: Request) -> Response {
    let refused = |status, message: String| reply::error(status, &Wrong::new(None, INVALID_REQUEST, message));
    let accepts = Accepts::read(request.headers());
    if !accepts.json {
        let message = format!(
            "answers are JSON, which the header Accept leaves out: send `Accept: {JSON}, {EVENT_STREAM}`"
        );
        return refused(StatusCode::NOT_ACCEPTABLE, message);
    }
    if !is_json(request.headers()) {
        let message = format!("the body must be JSON: send `Content-Type: {JSON}`");
        return refused(StatusCode::UNSUPPORTED_MEDIA_TYPE, message);
    }
    let (parts, body) = request.into_parts();
    let headers = parts.headers;
    let body = match body::read(mcp.service(), body).await {
        Ok(body) => body,
        Err(refused) => return refused,
    };
    match message::read(&body) {
        Err(wrong) => reply::error(StatusCode::BAD_REQUEST, &wrong),
        Ok(Message::Notification { method, params }) => {
            match notified(mcp, caller.as_deref(), &headers, &method, params) {
                Ok(()) => reply::empty(StatusCode::ACCEPTED),
                Err((status, wrong)) => reply::error(status, &wrong),
            }
        }
        Ok(Message::Response(response)) => match session(mcp, &headers, caller.as_deref()) {
            Ok(Some(client)) => {
                client.peer().respond(&response);
                reply::empty(StatusCode::ACCEPTED)
            }
            Ok(None) => refused(
                StatusCode::BAD_REQUEST,
                "this host asked this client for nothing, so it takes no responses from it".to_owned(),
            ),
            Err((status, wrong)) => reply::error(status, &wrong),
        },
        Ok(Message::Request(request)) => {
            match step(mcp, caller, &headers, &request, &body).await {
                Ok(Step::Answered(response)) => response,
                Ok(Step::Call(pending)) => {
                    // What the skill needs of it is copied, and the call may take long.
                    drop(body);
                    pending.answer(mcp, &accepts).await
                }
                Err((status, wrong)) => reply::error(status, &wrong),
            }
        }
    }
}

/// What a request comes to.
enum Step {
    Answered(Response),
    Call(Box<Pending>),
}

/// A call that is to be run. It holds nothing of the body.
struct Pending {
    /// A tool that is not hosted has its outcome already.
    call: Result<ToolCall, Outcome>,
    id: Id,
    era: Era,
    wanted: Wanted,
}

/// Takes a notification. A call belongs to a session, or else to its connection alone.
fn notified(
    mcp: &McpHttpServer,
    caller: Option<&Caller>,
    headers: &HeaderMap,
    method: &str,
    params: Option<&RawValue>,
) -> Result<(), Refusal> {
    headers::of_notification(headers, method)?;
    if let Some(client) = session(mcp, headers, caller)?
        && method == "notifications/cancelled"
        && let Some(id) = message::cancelled(params)
    {
        client.cancel(&id);
    }
    Ok(())
}

async fn step(
    mcp: &McpHttpServer,
    caller: Option<Arc<Caller>>,
    headers: &HeaderMap,
    request: &message::Request<'_>,
    body: &[u8],
) -> Result<Step, Refusal> {
    let host = &mcp.0.host;
    let (params, meta) = Params::read(request).map_err(|wrong| (StatusCode::BAD_REQUEST, wrong))?;
    let understood = headers::understand(host, headers, request, &params, &meta)?;
    let client = match understood.era {
        Era::Legacy if request.method != "initialize" => session(mcp, headers, caller.as_deref())?,
        _ => None,
    };
    if request.method == "logging/setLevel"
        && understood.era == Era::Legacy
        && host.sends_notices()
        && let Some(client) = &client
    {
        let bad = |wrong| (understood.status(Some(INVALID_PARAMS)), wrong);
        let threshold = client.peer().threshold();
        threshold
            .set(params.level, "params.level", request)
            .map_err(bad)?;
        let done = json(StatusCode::OK, answer::done(&request.id));
        return Ok(Step::Answered(done));
    }
    if request.method != "tools/call" {
        let remembers = mcp.0.sessions.is_some();
        let answered = handler::answer(host, request, body, &understood.version, remembers).await;
        let mut response = json(understood.status(answered.code), answered.json);
        if answered.negotiated.is_some()
            && let Some(id) = open_session(mcp, params.capabilities(), caller.as_deref())
        {
            response.headers_mut().insert(SESSION, id);
        }
        return Ok(Step::Answered(response));
    }
    let bad = |wrong| (understood.status(Some(INVALID_PARAMS)), wrong);
    let mut call = ToolCall::read(host, request, &params, &meta).map_err(bad)?;
    let mut wanted = Wanted::default();
    if let Ok(call) = &mut call {
        call.set_caller(caller);
        call.set_trace(trace(headers));
        if understood.era == Era::Modern {
            call.set_rounds(host, request, &params, &meta).map_err(bad)?;
        }
        wanted.token = meta.progress_token().map(str::to_owned);
        wanted.notices = match (understood.era, &client) {
            _ if !host.sends_notices() => None,
            (Era::Modern, _) => meta.threshold(request).map_err(bad)?,
            (Era::Legacy, client) => client.as_ref().map(|client| client.peer().threshold().clone()),
        };
        if let Some(client) = &client {
            let Some(noted) = client.begin(&request.id) else {
                let message = "another request with this id is not answered yet";
                let wrong = Wrong::new(Some(request.id.clone()), INVALID_REQUEST, message);
                return Err((StatusCode::BAD_REQUEST, wrong));
            };
            wanted.noted = Some(noted);
        }
    }
    Ok(Step::Call(Box::new(Pending {
        call,
        id: request.id.clone(),
        era: understood.era,
        wanted,
    })))
}

impl Pending {
    async fn answer(self, mcp: &McpHttpServer, accepts: &Accepts) -> Response {
        let Self {
            call,
            id,
            era,
            wanted,
        } = self;
        let host = &mcp.0.host;
        let outcome = match call {
            Err(outcome) => outcome,
            Ok(call) if wanted.any() && accepts.events => match streamed(mcp, call, &id, era, wanted).await {
                Ok(response) => return response,
                Err(outcome) => outcome,
            },
            Ok(call) => match call.start(host, Some(mcp.service())) {
                Err(outcome) => outcome,
                // A client that goes away drops this future, and with it the call.
                Ok(running) => {
                    if let Some(noted) = &wanted.noted {
                        noted.can_stop(running.stopper());
                    }
                    let outcome = running.outcome().await;
                    if wanted.noted.is_some_and(|noted| !noted.is_wanted()) {
                        return reply::empty(StatusCode::ACCEPTED);
                    }
                    outcome
                }
            },
        };
        let status = status(&outcome, era);
        json(status, answer::result(&id, era, host.identity_json(), outcome))
    }
}

/// What a caller wants to hear before the result.
#[derive(Default)]
struct Wanted {
    /// Progress, under this token.
    token: Option<String>,
    notices: Option<Threshold>,
    /// Questions, in a session.
    noted: Option<Noted>,
}

impl Wanted {
    fn any(&self) -> bool {
        self.token.is_some() || self.notices.is_some() || self.noted.is_some()
    }
}

/// Runs a call that may have something to say before its result.
async fn streamed(
    mcp: &McpHttpServer,
    mut call: ToolCall,
    id: &Id,
    era: Era,
    wanted: Wanted,
) -> Result<Response, Outcome> {
    let host = &mcp.0.host;
    let (sender, receiver) = stream::channel();
    let reports = sender.clone();
    let reporter = call.set_reporter(wanted.token.as_deref(), wanted.notices, move |report| {
        reports.offer(report);
    });
    let noted = wanted.noted;
    if let Some(noted) = &noted {
        let questions = sender.clone();
        call.set_peer(noted.client().peer(), move |question| questions.ask(question));
    }
    let running = call.start(host, Some(mcp.service()))?;
    let stop = running.stopper();
    if let Some(noted) = &noted {
        noted.can_stop(stop.clone());
    }
    let (id, server) = (id.clone(), host.identity_json().to_owned());
    tokio::spawn(async move {
        let outcome = running.outcome().await;
        if let Some(reporter) = reporter {
            reporter.close();
        }
        let (status, message) = if noted.is_none_or(|noted| noted.is_wanted()) {
            let status = status(&outcome, era);
            (status, answer::result(&id, era, &server, outcome))
        } else {
            (StatusCode::ACCEPTED, Vec::new())
        };
        sender.end(status, message).await;
    });
    Ok(stream::response(receiver, stop).await)
}

/// The status of the answer to a call.
fn status(outcome: &Outcome, era: Era) -> StatusCode {
    if outcome.lacks(era).is_some() {
        StatusCode::BAD_REQUEST
    } else {
        StatusCode::OK
    }
}

/// The client of the session that the headers name.
fn session(
    mcp: &McpHttpServer,
    headers: &HeaderMap,
    caller: Option<&Caller>,
) -> Result<Option<Arc<Client>>, Refusal> {
    let Some(sessions) = &mcp.0.sessions else {
        return Ok(None);
    };
    sessions.find(headers, caller).map_err(|()| {
        let message = "there is no such session, or no longer: send `initialize` again";
        (StatusCode::NOT_FOUND, Wrong::new(None, INVALID_REQUEST, message))
    })
}

/// Opens a session for a client that can be asked, or whose wish for notices is to be remembered.
fn open_session(
    mcp: &McpHttpServer,
    capabilities: Capabilities,
    caller: Option<&Caller>,
) -> Option<HeaderValue> {
    let sessions = mcp
        .0
        .sessions
        .as_ref()
        .filter(|_| capabilities.any() || mcp.0.host.sends_notices())?;
    let id = sessions.open(Peer::new(capabilities), caller)?;
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
        if !headers.contains_key(ACCEPT) {
            return Self {
                json: true,
                events: false,
            };
        }
        let mut accepts = Self::default();
        let values = headers
            .get_all(ACCEPT)
            .iter()
            .filter_map(|value| value.to_str().ok());
        for range in values.flat_map(|value| value.split(',')) {
            let mut parts = range.split(';').map(str::trim);
            let kind = parts.next().unwrap_or_default().to_ascii_lowercase();
            let unwanted = parts.any(|part| {
                part.split_once('=').is_some_and(|(name, weight)| {
                    name.trim().eq_ignore_ascii_case("q") && weight.trim().parse() == Ok(0.0_f32)
                })
            });
            if !unwanted {
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
    let essence = kind
        .to_str()
        .unwrap_or_default()
        .split(';')
        .next()
        .unwrap_or_default();
    essence.trim().eq_ignore_ascii_case(JSON)
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
