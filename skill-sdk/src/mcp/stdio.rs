//! One client over a pair of streams: newline-delimited JSON.

use std::future::pending;
use std::io;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};

use super::call::{Admission, Origin, Outcome, ToolCall};
use super::elicitation::Capabilities;
use super::protocol::{
    self, Message, PARSE_ERROR, Params, REQUIRED_META, Request, RequestMeta, Revision, RpcError,
};
use super::session::Session;
use super::{McpServer, methods};
use crate::pipe::{Ended, Line, Pipe, PipeLimits, Protocol, serve_pipe};
use crate::serve::Service;

/// How many bytes calls may take before no more messages are read.
const MAX_MEMORY: usize = 16 * 1024 * 1024;

/// What a call takes in memory beside its message, roughly.
const COST_OF_CALL: usize = 4 * 1024;

/// How to serve one client over a pipe.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct StdioOptions {
    /// How long running calls may take to finish once the client closed its end, or the server is told to stop. The
    /// default is 30 s.
    pub drain: Duration,
    /// The longest message that is read, in bytes. A longer one gets an error as response. The default is 4 MiB.
    pub message_limit: usize,
}

impl Default for StdioOptions {
    /// A drain timeout of 30 s, and messages of at most 4 MiB.
    fn default() -> Self {
        Self {
            drain: Duration::from_secs(30),
            message_limit: 4 * 1024 * 1024,
        }
    }
}

/// Serves the client at the other end of two streams, until it closes its end or `stop` resolves.
///
/// For the standard input and output of the process take them with [`host::stdio::take`](crate::host::stdio::take), so
/// that nothing that skills print gets between the messages.
///
/// Calls that were accepted get their response within the drain time; those that are not done then fail with the retryable
/// code `overloaded`. End the process afterwards: a thread may still wait for input.
///
/// It needs the runtime of tokio, with its clock and more than one thread.
///
/// ```no_run
/// use skill_sdk::host::stdio;
/// use skill_sdk::mcp::{McpServer, StdioOptions, serve_stdio};
/// use skill_sdk::pipeline::SkillSet;
/// use tokio::fs::File;
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let protocol = stdio::take()?;
/// let (input, output) = (File::from_std(protocol.input), File::from_std(protocol.output));
/// let server = McpServer::new(SkillSet::collect()?)?;
/// serve_stdio(server, input, output, StdioOptions::default(), std::future::pending()).await?;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// `input` cannot be read. An `output` that cannot be written counts as a client that disconnected.
pub async fn serve_stdio(
    server: McpServer,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
    options: StdioOptions,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    serve_until_gone(server, input, output, options, stop, pending()).await
}

/// [`serve_stdio`] for a client whose end can be seen: once the input ended or `stop` resolved, `gone` resolves when no one
/// reads the output any more.
pub(crate) async fn serve_until_gone(
    server: McpServer,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
    options: StdioOptions,
    stop: impl Future<Output = ()>,
    gone: impl Future<Output = ()>,
) -> io::Result<()> {
    let StdioOptions { drain, message_limit } = options;
    let (skills, environment) = (server.0.skills.clone(), server.0.environment.clone());
    let connection = |pipe| Connection {
        service: Service::of_pipes(skills, server.0.concurrency, environment),
        server,
        pipe,
        message_limit,
        negotiated: None,
        session: Session::new(Capabilities::default()),
    };
    let limits = PipeLimits {
        drain,
        max_line: message_limit,
        max_memory: MAX_MEMORY,
    };
    serve_pipe(connection, limits, input, output, stop, gone).await
}

/// What the task that reads messages knows of the client.
struct Connection {
    server: McpServer,
    service: Service,
    pipe: Pipe,
    message_limit: usize,
    /// The revision that `initialize` agreed on.
    negotiated: Option<&'static Revision>,
    session: Session,
}

impl Protocol for Connection {
    async fn line(&mut self, line: Line) -> Option<Vec<u8>> {
        match line {
            Line::Text(line) => {
                let has_batches = self.negotiated.is_some_and(|revision| revision.has_batches);
                let Some(messages) = protocol::batch(line.as_bytes()).filter(|_| has_batches) else {
                    return self.accept(line.as_bytes()).await;
                };
                // Each is answered on a line of its own, which is what clients over a pipe read.
                let mut responses = Vec::new();
                for message in messages {
                    responses.extend(self.accept(message).await.unwrap_or_default());
                }
                (!responses.is_empty()).then_some(responses)
            }
            Line::TooLong(beginning) => self.reject_long(&beginning),
            Line::NotUtf8 => {
                let error = RpcError::new(PARSE_ERROR, "parse error: the message is not UTF-8");
                Some(protocol::error(None, &error))
            }
        }
    }
}

impl Connection {
    /// Takes one message. Gives the response; `None` for a notification, and for a call, which responds later.
    async fn accept(&mut self, line: &[u8]) -> Option<Vec<u8>> {
        match protocol::parse(line) {
            Ok(Message::Request(request)) => match self.request(&request, line.len()).await {
                Ok(response) => response,
                Err(error) => Some(protocol::error(Some(&request.id), &error)),
            },
            Ok(Message::Notification { method, params }) => {
                if let Some(id) = protocol::cancelled(&method, params) {
                    self.pipe.in_flight.cancel(&id.to_string());
                }
                None
            }
            Ok(Message::Response { id, result }) => {
                id.map(|id| self.session.peer.respond(&id, result));
                None
            }
            Err((id, error)) => {
                tracing::warn!(bytes = line.len(), code = error.code, "a line is not a message");
                Some(protocol::error(id.as_ref(), &error))
            }
        }
    }

    /// Rejects a message that is too long.
    fn reject_long(&self, beginning: &str) -> Option<Vec<u8>> {
        let limit = self.message_limit;
        tracing::warn!(limit, "a message is too long");
        let id = protocol::id_of_beginning(beginning);
        let message = format!("the message is too long, the limit is {limit} bytes");
        // It may answer a question.
        let is_answer = id
            .as_ref()
            .is_some_and(|id| self.session.peer.answer(id, Err(message.clone())));
        (!is_answer).then(|| protocol::error(id.as_ref(), &RpcError::request(message)))
    }

    async fn request(&mut self, request: &Request<'_>, bytes: usize) -> Result<Option<Vec<u8>>, RpcError> {
        let (params, meta) = Params::parse(request)?;
        let revision = self.revision(request, &meta)?;
        let Some(token) = self.pipe.begin() else {
            let outcome = Outcome::shutting_down();
            return Ok(Some(outcome.response(&request.id, revision, &self.server)));
        };
        if request.method != "tools/call" {
            let threshold = Some(&self.session.threshold);
            let response = methods::respond(&self.server, request, &params, revision, threshold)?;
            if request.method == "initialize" {
                self.negotiated = Some(Revision::negotiate(params.protocol_version.as_deref()));
                self.session = Session::new(params.capabilities.unwrap_or_default());
            }
            return Ok(Some(response));
        }
        let origin = Origin {
            revision,
            caller: None,
            trace: None,
            session: Some(&self.session),
            outgoing: Some(self.pipe.outgoing.clone()),
        };
        let id = request.id.clone();
        let call = ToolCall::parse(&self.server, &params, meta, origin)?;
        let in_flight = self
            .pipe
            .in_flight
            .insert(id.to_string(), true)
            .ok_or_else(|| RpcError::request("another request with this id is in flight"))?;
        let memory = self.pipe.memory(bytes + COST_OF_CALL).await;
        let (server, service, pipe) = (self.server.clone(), self.service.clone(), self.pipe.clone());
        tokio::spawn(async move {
            let running = Box::pin(call.run(&service, Admission::InTurn));
            let (outcome, permit) = match pipe.run(in_flight, running).await {
                Ok(ended) => ended,
                Err(Ended::Cancelled) => return,
                Err(Ended::Cut) => (Outcome::shutting_down(), None),
            };
            pipe.outgoing.send(outcome.response(&id, revision, &server)).await;
            drop((permit, memory, token));
        });
        Ok(None)
    }

    /// The revision of a request: the one that it names, or the one of the session.
    fn revision(&self, request: &Request<'_>, meta: &RequestMeta<'_>) -> Result<&'static Revision, RpcError> {
        let newest = Revision::newest_with_initialize();
        let method = &*request.method;
        if method == "initialize" {
            return Ok(newest);
        }
        if method == "server/discover" {
            meta.require()?;
        }
        match (meta.revision()?.or(self.negotiated), method) {
            (Some(revision), _) => Ok(revision),
            (None, "ping") => Ok(newest),
            (None, _) => Err(RpcError::params(format!(
                "the session has not begun: send `initialize` first, or put {REQUIRED_META} into `params._meta` of every request"
            ))),
        }
    }
}
