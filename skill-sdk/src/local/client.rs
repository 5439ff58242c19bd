//! One client: what its lines ask for.

use std::sync::{Arc, Mutex, PoisonError};

use super::LocalServer;
use super::message::{self, CallRequest, ParseError, Request};
use crate::context::{NoticeLevel, ReportSink};
use crate::error::SkillError;
use crate::pipe::Id;
use crate::pipe::{Ended, Line, Outgoing, Pipe, Protocol};
use crate::pipeline::Call;
use crate::serve::{Overloaded, Service};

/// One client of a server.
pub(super) struct Client {
    pub(super) server: LocalServer,
    pub(super) service: Service,
    pub(super) pipe: Pipe,
}

impl Protocol for Client {
    async fn line(&mut self, line: Line) -> Option<Vec<u8>> {
        let rejected = match line {
            Line::Text(line) => match Request::parse(&line) {
                Ok(Request::Call(request)) => self.accept(request).await.err()?,
                Ok(Request::Cancel(id)) => {
                    // Its task responds.
                    self.pipe.in_flight.cancel(&id.to_string());
                    return None;
                }
                Ok(Request::List(Some(id))) if self.is_in_flight(&id) => id_in_use(&id),
                Ok(Request::List(id)) => return Some(message::list(id.as_ref(), self.service.skills())),
                Err(ParseError { id, message }) => (id, SkillError::terminal("bad_request", message)),
            },
            Line::TooLong(_) => {
                let limit = self.server.line_limit;
                let message = format!("the line is longer than {limit} bytes (--line-limit)");
                (None, SkillError::terminal("bad_request", message))
            }
            Line::NotUtf8 => (None, SkillError::terminal("bad_request", "the line is not UTF-8")),
        };
        let (id, error) = rejected;
        // The client would take an error with the id of a running call for the response of that call.
        let id = id.filter(|id| !self.is_in_flight(id));
        Some(message::failure(id.as_ref(), &error))
    }
}

impl Client {
    /// Starts a call, or tells why not.
    async fn accept(&self, request: CallRequest<'_>) -> Result<(), (Option<Id>, SkillError)> {
        let CallRequest {
            id,
            skill,
            inputs,
            mut meta,
            notices,
        } = request;
        let Some(hosted) = self.service.get(&skill).cloned() else {
            return Err((Some(id), self.service.skills().not_hosted(&skill)));
        };
        let Some(token) = self.pipe.begin() else {
            return Err((Some(id), Overloaded::Stopping.error()));
        };
        let Some(in_flight) = self.pipe.in_flight.insert(id.to_string(), true) else {
            return Err(id_in_use(&id));
        };
        let memory = self.pipe.memory(inputs.len()).await;
        let reporter = Arc::new(Reporter {
            id: id.clone(),
            level: notices,
            outgoing: Mutex::new(Some(self.pipe.outgoing.clone())),
        });
        meta.environment = self.service.environment().clone();
        meta.reports = Some(Arc::clone(&reporter) as _);
        let (service, pipe, inputs) = (self.service.clone(), self.pipe.clone(), inputs.to_owned());
        tokio::spawn(async move {
            let running = async {
                let mut permit = service.admit_in_turn(&hosted, &mut meta).await?;
                // A call that runs keeps no text of its inputs.
                drop(memory);
                let outcome = service.call(Call::json(inputs, meta), &mut permit).await;
                outcome
                    .map(|outcome| (outcome, permit))
                    .map_err(Overloaded::error)
            };
            let outcome = pipe.run(in_flight, running).await;
            reporter.close();
            let response = match &outcome {
                Ok(Ok((outcome, _permit))) => message::response(&id, outcome),
                Ok(Err(error)) => message::failure(Some(&id), error),
                Err(ended) => {
                    let why = match ended {
                        Ended::Cancelled => "the caller cancelled the call",
                        Ended::Cut => "the server stopped before the call ended",
                    };
                    message::failure(Some(&id), &SkillError::retryable("cancelled", why))
                }
            };
            pipe.outgoing.send(response).await;
            // The call keeps its slot until its response is queued.
            drop((outcome, token));
        });
        Ok(())
    }

    fn is_in_flight(&self, id: &Id) -> bool {
        self.pipe.in_flight.contains(&id.to_string())
    }
}

fn id_in_use(id: &Id) -> (Option<Id>, SkillError) {
    let message = format!("a call with the id {id} is running already");
    (None, SkillError::terminal("bad_request", message))
}

/// Sends the progress and the log messages of a call, until it is closed.
struct Reporter {
    id: Id,
    level: Option<NoticeLevel>,
    outgoing: Mutex<Option<Outgoing>>,
}

impl Reporter {
    /// Queues a line, unless the client reads too slowly.
    fn report(&self, line: Vec<u8>) {
        let outgoing = self.outgoing.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(outgoing) = &*outgoing {
            outgoing.offer(line);
        }
    }

    /// Nothing comes after the response, although the skill may still hold this.
    fn close(&self) {
        *self.outgoing.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

impl ReportSink for Reporter {
    fn progress(&self, done: f64, total: Option<f64>, message: &str) {
        self.report(message::progress(&self.id, done, total, message));
    }

    fn notice(&self, level: NoticeLevel, message: &str) {
        if self.level.is_some_and(|least| level >= least) {
            self.report(message::notice(&self.id, level, message));
        }
    }
}
