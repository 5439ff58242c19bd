//! Reading the body of a request: within a length, a time, and the memory of the host.

use std::future::poll_fn;
use std::pin::Pin;

use axum::body::{Body, Bytes, HttpBody};
use axum::http::StatusCode;
use axum::response::Response;

use super::answer;
use super::operation::{Operation, Refusal};
use crate::error::SkillError;
use crate::pipeline::timed;

/// Reads a body whole, or says why not. One that says that it is too large is refused before it comes.
pub(crate) async fn read(operation: &Operation, body: Body) -> Result<Bytes, Response> {
    let limits = operation.limits();
    let read = async {
        if body.size_hint().lower() > limits.body as u64 {
            return Err(Unread::TooLarge);
        }
        timed(|| Some(limits.body_time), collect(operation, body))
            .await
            .unwrap_or(Err(Unread::Slow))
    };
    let read = tokio::select! {
        biased;
        read = read => read,
        () = operation.lifecycle().cut() => Err(Unread::Refused(Refusal::Stopping)),
    };
    read.map_err(|unread| unread.answer(operation))
}

/// Why a body is not read.
#[derive(Debug, Clone, Copy)]
enum Unread {
    TooLarge,
    Slow,
    Broken,
    Refused(Refusal),
}

impl Unread {
    /// What the caller is told. It is counted.
    fn answer(self, operation: &Operation) -> Response {
        let limits = operation.limits();
        let refusal = |status, code: &'static str, message: String| {
            operation.refused(code);
            answer::with_status(status, &SkillError::terminal(code, message))
        };
        match self {
            Self::TooLarge => {
                let message = format!("the body is larger than {} bytes", limits.body);
                refusal(StatusCode::PAYLOAD_TOO_LARGE, "payload_too_large", message)
            }
            Self::Slow => {
                let seconds = limits.body_time.as_secs();
                let message = format!("the body did not come within {seconds} seconds");
                refusal(StatusCode::REQUEST_TIMEOUT, "request_timeout", message)
            }
            Self::Broken => {
                let message = "the body did not come whole".to_owned();
                refusal(StatusCode::BAD_REQUEST, "bad_request", message)
            }
            Self::Refused(refusal) => {
                operation.refused(refusal.code());
                answer::refused(refusal)
            }
        }
    }
}

async fn collect(operation: &Operation, mut body: Body) -> Result<Bytes, Unread> {
    let limit = operation.limits().body;
    let mut first = Bytes::new();
    let mut whole = Vec::new();
    let mut memory = Memory { operation, bytes: 0 };
    loop {
        let part = match poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
            None => break,
            Some(Ok(frame)) => frame.into_data().unwrap_or_default(),
            Some(Err(_)) => return Err(Unread::Broken),
        };
        if part.len() > limit - first.len().max(whole.len()) {
            return Err(Unread::TooLarge);
        }
        // Nearly all bodies come in one part, which is here already and is not copied.
        if first.is_empty() && whole.is_empty() {
            first = part;
            if body.is_end_stream() {
                break;
            }
            continue;
        }
        if whole.is_empty() {
            memory.take(first.len())?;
            whole.extend_from_slice(&first);
            first = Bytes::new();
        }
        memory.take(part.len())?;
        whole.extend_from_slice(&part);
    }
    Ok(if whole.is_empty() { first } else { whole.into() })
}

/// What one body takes of the memory for all.
struct Memory<'a> {
    operation: &'a Operation,
    bytes: usize,
}

impl Memory<'_> {
    fn take(&mut self, bytes: usize) -> Result<(), Unread> {
        let taken = self.operation.load().take_memory(bytes);
        taken.map_err(Unread::Refused)?;
        self.bytes += bytes;
        Ok(())
    }
}

impl Drop for Memory<'_> {
    fn drop(&mut self) {
        self.operation.load().give_memory(self.bytes);
    }
}
