//! A transport that answers by a script and remembers what it was asked.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::platform::web::{Answer, Method, Request, Sent, Transport, WebError};

/// One request as it was sent.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) method: Method,
    pub(crate) url: String,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Value,
}

impl Seen {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| value.as_str())
    }
}

/// A response.
#[derive(Clone)]
pub(crate) enum Reply {
    /// A status and a JSON document.
    Json(u16, Value),
    /// A status and a text.
    Text(u16, &'static str),
    /// No connection.
    Refused,
    /// An answer over the limit.
    Large,
    /// Nothing, ever.
    Nothing,
    /// What a permit of the gate lets through.
    Gated(Box<Reply>),
}

/// Answers in order, by a part of the address; then `{}` for good.
pub(crate) struct Script {
    replies: Mutex<Vec<(&'static str, VecDeque<Reply>)>>,
    seen: Mutex<Vec<Seen>>,
    pub(crate) gate: Semaphore,
    /// A permit for each request that waits at the gate.
    pub(crate) waiting: Semaphore,
}

impl Script {
    pub(crate) fn new<const N: usize>(
        replies: impl IntoIterator<Item = (&'static str, [Reply; N])>,
    ) -> Arc<Self> {
        let replies = replies
            .into_iter()
            .map(|(part, replies)| (part, replies.into()))
            .collect();
        Arc::new(Self {
            replies: Mutex::new(replies),
            seen: Mutex::default(),
            gate: Semaphore::new(0),
            waiting: Semaphore::new(0),
        })
    }

    /// Answers to all addresses alike.
    pub(crate) fn of<const N: usize>(replies: [Reply; N]) -> Arc<Self> {
        Self::new([("", replies)])
    }

    /// Adds answers for addresses with `part` in them.
    pub(crate) fn then<const N: usize>(
        self: &Arc<Self>,
        part: &'static str,
        replies: [Reply; N],
    ) -> Arc<Self> {
        self.replies.lock().unwrap().push((part, replies.into()));
        Arc::clone(self)
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    /// The requests to addresses with `part` in them.
    pub(crate) fn seen_at(&self, part: &str) -> Vec<Seen> {
        let seen = self.seen().into_iter();
        seen.filter(|request| request.url.contains(part)).collect()
    }
}

impl Transport for Script {
    fn send<'a>(&'a self, request: Request<'a>) -> Sent<'a> {
        let headers = request.headers.iter();
        self.seen.lock().unwrap().push(Seen {
            method: request.method,
            url: request.url.to_owned(),
            headers: headers.map(|(name, value)| (*name, value.to_string())).collect(),
            body: request.body.cloned().unwrap_or_default(),
        });
        let mut replies = self.replies.lock().unwrap();
        let queue = replies
            .iter_mut()
            .find(|(part, queue)| request.url.contains(part) && !queue.is_empty());
        let reply = queue
            .and_then(|(_, queue)| queue.pop_front())
            .unwrap_or(Reply::Json(200, json!({})));
        Box::pin(self.answer(reply))
    }
}

impl Script {
    async fn answer(&self, reply: Reply) -> Result<Answer, WebError> {
        match reply {
            Reply::Json(status, document) => Ok(answer(status, &document.to_string())),
            Reply::Text(status, text) => Ok(answer(status, text)),
            Reply::Refused => Err(WebError::Unreachable("connection refused".to_owned())),
            Reply::Large => Err(WebError::TooLarge),
            Reply::Nothing => std::future::pending().await,
            Reply::Gated(reply) => {
                self.waiting.add_permits(1);
                self.gate.acquire().await.unwrap().forget();
                Box::pin(self.answer(*reply)).await
            }
        }
    }
}

fn answer(status: u16, body: &str) -> Answer {
    Answer {
        status,
        media_type: None,
        etag: None,
        body: body.as_bytes().to_vec(),
    }
}
