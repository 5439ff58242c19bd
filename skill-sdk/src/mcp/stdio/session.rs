//! What the client says, line by line.

use std::sync::Arc;

use rmcp::model::ProtocolVersion;
use tokio::runtime::Handle;

use super::outgoing::Outgoing;
use super::running::{Accepted, InFlight, Refused};
use crate::error::SkillError;
use crate::mcp::answer::{self, Outcome};
use crate::mcp::call::ToolCall;
use crate::mcp::input::Peer;
use crate::mcp::message::{self, INVALID_REQUEST, Id, Message, Request, Wrong};
use crate::mcp::params::{Era, Params, RequestMeta};
use crate::mcp::threshold::Threshold;
use crate::mcp::{McpServer, handler};

/// One client from the first line to the last.
#[derive(Debug)]
pub(super) struct Session {
    host: McpServer,
    server: Arc<str>,
    outgoing: Arc<Outgoing>,
    running: Arc<InFlight>,
    /// The revision that `initialize` agreed on.
    negotiated: Option<String>,
    /// The client, as `initialize` introduced it.
    peer: Option<Arc<Peer>>,
    /// Which notices the client wants to hear, also one that did not introduce itself.
    threshold: Threshold,
    /// How many requests were accepted.
    accepted: u64,
}

impl Session {
    pub(super) fn new(host: McpServer, outgoing: Arc<Outgoing>, running: Arc<InFlight>) -> Self {
        Self {
            server: host.identity_json().into(),
            host,
            outgoing,
            running,
            negotiated: None,
            peer: None,
            threshold: Threshold::default(),
            accepted: 0,
        }
    }

    /// Takes one line.
    pub(super) fn accept(&mut self, line: &[u8], runtime: &Handle) {
        let line = line.trim_ascii();
        if line.is_empty() {
            return;
        }
        let taken = match message::read(line) {
            Ok(Message::Request(request)) => self.request(&request, line, runtime),
            Ok(Message::Notification { method, params }) => {
                if method == "notifications/cancelled"
                    && let Some(id) = message::cancelled(params)
                {
                    self.running.cancel(&id);
                }
                Ok(())
            }
            Ok(Message::Response(response)) => {
                if let Some(peer) = &self.peer {
                    peer.respond(&response);
                }
                Ok(())
            }
            Err(wrong) => {
                tracing::warn!(bytes = line.len(), code = wrong.code, "a line is no message");
                Err(wrong)
            }
        };
        if let Err(wrong) = taken {
            self.outgoing.send(answer::error(&wrong));
        }
    }

    /// Answers a line that is too long; `id` is the JSON text of its id.
    pub(super) fn refuse_long(&self, id: Option<String>, bytes: u64, limit: usize) {
        tracing::warn!(bytes, limit, "a message is longer than is read");
        let id = id.and_then(Id::read);
        // It may be an answer of the client to a question of the host.
        if let (Some(peer), Some(id)) = (&self.peer, &id)
            && peer.give_up(
                id,
                &format!("its answer has {bytes} bytes, and at most {limit} are read"),
            )
        {
            return;
        }
        let message = format!("the message has {bytes} bytes, and at most {limit} are read");
        self.outgoing
            .send(answer::error(&Wrong::new(id, INVALID_REQUEST, message)));
    }

    fn request(&mut self, request: &Request<'_>, line: &[u8], runtime: &Handle) -> Result<(), Wrong> {
        self.accepted += 1;
        let (params, meta) = Params::read(request)?;
        let version = self.version(request, &meta)?;
        let era = Era::of(&version);
        match self.running.admits(&request.id) {
            Ok(()) => {}
            Err(Refused::Twice) => {
                let message = "another request with this id is not answered yet";
                return Err(Wrong::new(Some(request.id.clone()), INVALID_REQUEST, message));
            }
            Err(Refused::Closed) => {
                self.send_result(&request.id, era, stopping());
                return Ok(());
            }
        }
        match &*request.method {
            "tools/call" => self.call(request, &params, &meta, era, runtime),
            "logging/setLevel" if era == Era::Legacy && self.host.sends_notices() => {
                self.threshold.set(params.level, "params.level", request)?;
                self.outgoing.send(answer::done(&request.id));
                Ok(())
            }
            // What follows may depend on it.
            "initialize" => {
                let answered = runtime.block_on(handler::answer(&self.host, request, line, &version, true));
                if let Some(negotiated) = answered.negotiated {
                    self.negotiated = Some(negotiated);
                    let capabilities = params.capabilities();
                    let peer = match &self.peer {
                        None => Peer::new(capabilities),
                        Some(before) => before.succeeded(capabilities),
                    };
                    self.peer = Some(Arc::new(peer));
                    // What it wants to hear it says anew.
                    self.threshold = Threshold::default();
                }
                self.outgoing.send(answered.json);
                Ok(())
            }
            _ => {
                self.forward(request, line, version, era, runtime);
                Ok(())
            }
        }
    }

    /// The revision that a request is to be understood by.
    fn version(&self, request: &Request<'_>, meta: &RequestMeta<'_>) -> Result<String, Wrong> {
        let handshake = || ProtocolVersion::LATEST_WITH_INITIALIZE.to_string();
        if request.method == "initialize" {
            return Ok(handshake());
        }
        if meta.era(request)?.is_some()
            && let Some(version) = meta.version()
        {
            return Ok(version.into_owned());
        }
        match (&self.negotiated, &*request.method) {
            (_, "server/discover") => meta.require(request).map(|()| handshake()),
            (Some(negotiated), _) => Ok(negotiated.clone()),
            (None, "ping") => Ok(handshake()),
            (None, _) => Err(Wrong::params(
                &request.id,
                format!(
                    "the session has not begun: send `initialize` first, or put into `params._meta` of every request: {}",
                    meta.missing().join(", ")
                ),
            )),
        }
    }

    fn call(
        &self,
        request: &Request<'_>,
        params: &Params<'_>,
        meta: &RequestMeta<'_>,
        era: Era,
        runtime: &Handle,
    ) -> Result<(), Wrong> {
        let mut call = match ToolCall::read(&self.host, request, params, meta)? {
            Ok(call) => call,
            Err(outcome) => {
                self.send_result(&request.id, era, outcome);
                return Ok(());
            }
        };
        match (era, &self.peer) {
            (Era::Modern, _) => call.set_rounds(&self.host, request, params, meta)?,
            (Era::Legacy, Some(peer)) => {
                let outgoing = Arc::clone(&self.outgoing);
                call.set_peer(peer, move |message| outgoing.ask(message));
            }
            (Era::Legacy, None) => {}
        }
        let notices = match era {
            _ if !self.host.sends_notices() => None,
            Era::Modern => meta.threshold(request)?,
            Era::Legacy => Some(self.threshold.clone()),
        };
        let outgoing = Arc::clone(&self.outgoing);
        let reporter = call.set_reporter(meta.progress_token(), notices, move |report| {
            outgoing.offer(report);
        });
        let (id, number) = (request.id.clone(), self.accepted);
        // Noted before it begins: a host that is told to stop must know of it.
        let accepted = Accepted {
            number,
            era,
            stop: None,
            reporter,
            server: Arc::clone(&self.server),
        };
        if !self.running.insert(id.clone(), accepted) {
            self.send_result(&id, era, stopping());
            return Ok(());
        }
        let running = match call.start(&self.host, None) {
            Ok(running) => running,
            Err(outcome) => {
                self.running
                    .finish(&id, number, || self.send_result(&id, era, outcome));
                return Ok(());
            }
        };
        if !self.running.can_stop(&id, running.stopper()) {
            // It was given up meanwhile; dropping it stops it.
            return Ok(());
        }
        let (outgoing, table, server) = (
            Arc::clone(&self.outgoing),
            Arc::clone(&self.running),
            Arc::clone(&self.server),
        );
        runtime.spawn(async move {
            let outcome = running.outcome().await;
            let message = answer::result(&id, era, &server, outcome);
            table.finish(&id, number, || outgoing.send(message));
        });
        Ok(())
    }

    fn forward(&self, request: &Request<'_>, line: &[u8], version: String, era: Era, runtime: &Handle) {
        let number = self.accepted;
        let accepted = Accepted {
            number,
            era,
            stop: None,
            reporter: None,
            server: Arc::clone(&self.server),
        };
        let id = request.id.clone();
        if !self.running.insert(id.clone(), accepted) {
            self.send_result(&id, era, stopping());
            return;
        }
        let (host, outgoing, table) = (
            self.host.clone(),
            Arc::clone(&self.outgoing),
            Arc::clone(&self.running),
        );
        let line = line.to_vec();
        let held = self.outgoing.hold(line.len());
        runtime.spawn(async move {
            let _held = held;
            let answered = match message::read(&line) {
                Ok(Message::Request(request)) => {
                    handler::answer(&host, &request, &line, &version, true).await.json
                }
                Ok(_) => return,
                Err(wrong) => answer::error(&wrong),
            };
            table.finish(&id, number, || outgoing.send(answered));
        });
    }

    fn send_result(&self, id: &Id, era: Era, outcome: Outcome) {
        self.outgoing.send(answer::result(id, era, &self.server, outcome));
    }
}

impl Drop for Session {
    /// Who does not speak any more does not answer.
    fn drop(&mut self) {
        if let Some(peer) = &self.peer {
            peer.close();
        }
    }
}

fn stopping() -> Outcome {
    SkillError::retryable("overloaded", "the host is shutting down").into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::Environment;
    use crate::pipeline::SkillSet;
    use crate::registry::Registry;

    #[test]
    fn requests_that_are_being_answered_are_bounded() {
        let host = SkillSet::new(&Registry::from_skills([]).unwrap()).unwrap();
        let host = McpServer::with_environment(host, Environment::from_vars([])).unwrap();
        // Its tasks do not run before somebody waits on it.
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        for padding in [0, 1_000_000] {
            let outgoing = Arc::new(Outgoing::new(std::io::sink()).unwrap());
            let running = Arc::new(InFlight::default());
            let mut session = Session::new(host.clone(), Arc::clone(&outgoing), Arc::clone(&running));
            let mut accepted = 0_usize;
            while outgoing.has_room() {
                let padding = " ".repeat(padding);
                let line = format!(r#"{{"jsonrpc":"2.0","id":{accepted},"method":{padding}"ping"}}"#);
                session.accept(line.as_bytes(), runtime.handle());
                accepted += 1;
                assert!(accepted * (padding.len() + 1000) < 20_000_000, "{accepted}");
            }
            assert!(accepted > 10);
            runtime.block_on(running.idle());
            runtime.block_on(outgoing.finish());
            assert!(outgoing.has_room());
        }
    }
}
