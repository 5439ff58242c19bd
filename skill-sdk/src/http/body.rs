//! Reading the body of a request: within a length, a time, and the memory of the host.

use std::future::poll_fn;
use std::pin::Pin;

use axum::body::{Body, Bytes, HttpBody};
use axum::http::StatusCode;
use axum::response::Response;
use tokio::time::timeout;

use super::answer;
use super::operation::{Operation, Refusal};
use crate::error::SkillError;

/// Reads a body whole, or says why not. One that says that it is too large is refused before it comes.
pub(crate) async fn read(operation: &Operation, body: Body) -> Result<Bytes, Response> {
    let limits = operation.limits();
    if body.size_hint().lower() > limits.body as u64 {
        return Err(too_large(operation));
    }
    tokio::select! {
        biased;
        read = timeout(limits.body_time, collect(operation, body)) => read.unwrap_or_else(|_| {
            let message = format!("the body did not come within {} seconds", limits.body_time.as_secs());
            Err(refusal(StatusCode::REQUEST_TIMEOUT, "request_timeout", operation, message))
        }),
        () = operation.lifecycle().cut() => Err(answer::refused(Refusal::Stopping)),
    }
}

async fn collect(operation: &Operation, mut body: Body) -> Result<Bytes, Response> {
    let limit = operation.limits().body;
    let mut first = Bytes::new();
    let mut whole = Vec::new();
    let mut memory = Memory { operation, bytes: 0 };
    loop {
        let part = match poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
            None => break,
            Some(Ok(frame)) => frame.into_data().unwrap_or_default(),
            Some(Err(_)) => {
                let message = "the body did not come whole";
                return Err(refusal(
                    StatusCode::BAD_REQUEST,
                    "bad_request",
                    operation,
                    message.to_owned(),
                ));
            }
        };
        if part.len() > limit - first.len().max(whole.len()) {
            return Err(too_large(operation));
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
    fn take(&mut self, bytes: usize) -> Result<(), Response> {
        let taken = self.operation.load().take_memory(bytes);
        taken.map_err(|refusal| {
            self.operation.refused(refusal.code());
            answer::refused(refusal)
        })?;
        self.bytes += bytes;
        Ok(())
    }
}

impl Drop for Memory<'_> {
    fn drop(&mut self) {
        self.operation.load().give_memory(self.bytes);
    }
}

fn too_large(operation: &Operation) -> Response {
    let message = format!("the body is larger than {} bytes", operation.limits().body);
    refusal(
        StatusCode::PAYLOAD_TOO_LARGE,
        "payload_too_large",
        operation,
        message,
    )
}

/// A refusal that is counted.
fn refusal(status: StatusCode, code: &'static str, operation: &Operation, message: String) -> Response {
    operation.refused(code);
    answer::with_status(status, &SkillError::terminal(code, message))
}
