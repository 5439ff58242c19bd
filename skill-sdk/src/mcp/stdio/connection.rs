//! The task that owns the connection: it takes messages, starts calls, and sends their responses.

use std::collections::HashMap;
use std::io;
use std::pin::pin;
use std::sync::Arc;

use tokio::sync::mpsc::Receiver;
use tokio::task::{AbortHandle, JoinSet};

use super::outgoing::{MAX_WAITING, Outgoing};
use super::{Incoming, LOOK_OFTEN, LOOK_RARELY, StdioOptions, gone};
use crate::mcp::call::{Admission, Origin, Outcome, ToolCall};
use crate::mcp::elicitation::Capabilities;
use crate::mcp::notify::Reporter;
use crate::mcp::protocol::{self, Id, Message, Params, Request, RequestMeta, Revision, RpcError};
use crate::mcp::session::Session;
use crate::mcp::{McpServer, methods};
use crate::serve::Service;

/// What a call in flight costs in memory beside its message, roughly.
const COST_OF_CALL: usize = 4 * 1024;

pub(super) struct Connection {
    server: McpServer,
    service: Service,
    outgoing: Outgoing,
    options: StdioOptions,
    /// The revision that `initialize` agreed on.
    negotiated: Option<&'static Revision>,
    session: Session,
    /// The tasks of calls give the id and the response.
    tasks: JoinSet<(Id, Vec<u8>)>,
    in_flight: HashMap<Id, InFlight>,
    /// The bytes that the calls in flight cost.
    held: usize,
    /// No new requests are accepted.
    stopping: bool,
}

/// A call whose response the client waits for.
struct InFlight {
    task: AbortHandle,
    revision: &'static Revision,
    reporter: Option<Arc<Reporter>>,
    bytes: usize,
}

impl InFlight {
    /// Ends the call: it sends nothing more.
    fn abort(&self) {
        if let Some(reporter) = &self.reporter {
            reporter.close();
        }
        self.task.abort();
    }
}

impl Connection {
    pub(super) fn new(server: McpServer, outgoing: Outgoing, options: StdioOptions) -> Self {
        Self {
            service: server.service(),
            server,
            outgoing,
            options,
            negotiated: None,
            session: Session::new(Capabilities::default()),
            tasks: JoinSet::new(),
            in_flight: HashMap::new(),
            held: 0,
            stopping: false,
        }
    }

    /// Serves until the client closed its end or `stop` resolved, and the calls in flight are done or the drain time is up.
    pub(super) async fn serve(
        mut self,
        mut incoming: Receiver<Incoming>,
        abandoned: &impl Fn() -> bool,
        stop: impl Future<Output = ()>,
    ) -> io::Result<()> {
        let mut stop = pin!(stop);
        let mut drained = pin!(tokio::time::sleep(self.options.drain));
        let mut ended = false;
        while !self.stopping || !self.in_flight.is_empty() {
            let has_room = self.outgoing.waiting() + self.held <= MAX_WAITING;
            let look = if self.stopping { LOOK_OFTEN } else { LOOK_RARELY };
            tokio::select! {
                message = incoming.recv(), if has_room && !ended => match message {
                    Some(Incoming::Line(line)) => self.accept(&line),
                    Some(Incoming::TooLong { id, bytes }) => self.reject_long(id, bytes),
                    Some(Incoming::End) => {
                        tracing::debug!("the client closed its end");
                        ended = true;
                        self.session.peer.close();
                        self.stop(drained.as_mut());
                    }
                    None => return Err(io::Error::other("the thread that reads the input ended unexpectedly")),
                },
                Some(done) = self.tasks.join_next_with_id() => {
                    if let Ok((task, (id, response))) = done {
                        self.finish(&id, task, response);
                    }
                }
                () = stop.as_mut(), if !self.stopping => {
                    tracing::info!(seconds = self.options.drain.as_secs(), "stopping: running calls may finish");
                    self.stop(drained.as_mut());
                }
                () = self.outgoing.written(), if !has_room => {}
                () = drained.as_mut(), if self.stopping => {
                    tracing::warn!("the drain time is up, calls in flight are cancelled");
                    break;
                }
                () = self.outgoing.closed() => {
                    tracing::info!("the client does not read any more");
                    return Ok(());
                }
                () = gone(abandoned, look) => {
                    tracing::info!("the client is gone");
                    return Ok(());
                }
            }
        }
        for (id, call) in self.in_flight {
            call.abort();
            let response = Outcome::shutting_down().response(&id, call.revision, &self.server);
            self.outgoing.send(response);
        }
        Ok(())
    }

    /// Begins the graceful shutdown.
    fn stop(&mut self, drained: std::pin::Pin<&mut tokio::time::Sleep>) {
        if !self.stopping {
            self.stopping = true;
            drained.reset(tokio::time::Instant::now() + self.options.drain);
        }
    }

    /// Takes one line.
    fn accept(&mut self, line: &[u8]) {
        let line = line.trim_ascii();
        if line.is_empty() {
            return;
        }
        match protocol::parse(line) {
            Ok(Message::Request(request)) => {
                if let Err(error) = self.request(&request, line.len()) {
                    self.outgoing.send(protocol::error(Some(&request.id), &error));
                }
            }
            Ok(Message::Notification { method, params }) => {
                if method == "notifications/cancelled"
                    && let Some(id) = protocol::cancelled(params)
                    && let Some(call) = self.remove(&id)
                {
                    call.abort();
                }
            }
            Ok(Message::Response { id, result }) => {
                if let Some(id) = id {
                    self.session.peer.respond(&id, result);
                }
            }
            Err((id, error)) => {
                tracing::warn!(bytes = line.len(), code = error.code, "a line is not a message");
                self.outgoing.send(protocol::error(id.as_ref(), &error));
            }
        }
    }

    /// Rejects a line that is too long; `id` is the JSON text of its id.
    fn reject_long(&self, id: Option<String>, bytes: u64) {
        let limit = self.options.message_limit;
        tracing::warn!(bytes, limit, "a message is too long");
        let id = id.and_then(Id::parse);
        let message = format!("the message has {bytes} bytes, and the limit is {limit}");
        // It may be the answer to a question.
        let is_answer = id
            .as_ref()
            .is_some_and(|id| self.session.peer.fail(id, message.clone()));
        if !is_answer {
            self.outgoing
                .send(protocol::error(id.as_ref(), &RpcError::request(message)));
        }
    }

    fn request(&mut self, request: &Request<'_>, bytes: usize) -> Result<(), RpcError> {
        let (params, meta) = Params::parse(request)?;
        let revision = self.revision(request, &meta)?;
        if self.stopping {
            let response = Outcome::shutting_down().response(&request.id, revision, &self.server);
            self.outgoing.send(response);
            return Ok(());
        }
        if self.in_flight.contains_key(&request.id) {
            return Err(RpcError::request("another request with this id is in flight"));
        }
        if request.method == "tools/call" {
            return self.call(request, &params, &meta, revision, bytes);
        }
        let threshold = Some(&self.session.threshold);
        let response = methods::respond(&self.server, request, &params, revision, threshold)?;
        if request.method == "initialize" {
            self.negotiated = Some(Revision::negotiate(params.requested_version().as_deref()));
            self.session = Session::new(Capabilities::read(params.capabilities));
        }
        self.outgoing.send(response);
        Ok(())
    }

    /// The revision of a request: the one that it names, or the one of the session.
    fn revision(&self, request: &Request<'_>, meta: &RequestMeta<'_>) -> Result<&'static Revision, RpcError> {
        let method: &str = &request.method;
        if method == "initialize" {
            return Ok(Revision::negotiate(None));
        }
        if let Some(revision) = meta.revision(method)? {
            return Ok(revision);
        }
        match (method, self.negotiated) {
            ("server/discover", _) => meta.require().map(|()| Revision::negotiate(None)),
            (_, Some(negotiated)) => Ok(negotiated),
            ("ping", None) => Ok(Revision::negotiate(None)),
            (_, None) => {
                let missing = meta.missing();
                let message = format!(
                    "the session has not begun: send `initialize` first, or put into `params._meta` of every request: {missing}"
                );
                Err(RpcError::params(message))
            }
        }
    }

    fn call(
        &mut self,
        request: &Request<'_>,
        params: &Params<'_>,
        meta: &RequestMeta<'_>,
        revision: &'static Revision,
        bytes: usize,
    ) -> Result<(), RpcError> {
        let origin = Origin {
            revision,
            caller: None,
            trace: None,
            session: Some(&self.session),
            outgoing: Some(self.outgoing.clone()),
        };
        let id = request.id.clone();
        let call = match ToolCall::parse(&self.server, params, meta, origin)? {
            Ok(call) => call,
            Err(outcome) => {
                self.outgoing.send(outcome.response(&id, revision, &self.server));
                return Ok(());
            }
        };
        let reporter = call.reporter();
        let (server, service) = (self.server.clone(), self.service.clone());
        let task = self.tasks.spawn(async move {
            let outcome = call.run(&service, Admission::InTurn).await;
            let response = outcome.response(&id, revision, &server);
            (id, response)
        });
        let bytes = bytes + COST_OF_CALL;
        self.held += bytes;
        let in_flight = InFlight {
            task,
            revision,
            reporter,
            bytes,
        };
        self.in_flight.insert(request.id.clone(), in_flight);
        Ok(())
    }

    /// Sends the response of a call, unless it was cancelled.
    fn finish(&mut self, id: &Id, task: tokio::task::Id, response: Vec<u8>) {
        // Another call may have the same id by now.
        if self.in_flight.get(id).is_some_and(|call| call.task.id() == task) {
            self.remove(id);
            self.outgoing.send(response);
        }
    }

    fn remove(&mut self, id: &Id) -> Option<InFlight> {
        let call = self.in_flight.remove(id)?;
        self.held -= call.bytes;
        Some(call)
    }
}
