//! Reading the body of a request: within a length, a time, and the memory of the host.

use std::future::poll_fn;
use std::pin::Pin;
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::http::header::EXPECT;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use tokio::sync::SemaphorePermit;
use tokio::time::timeout;

use super::answer;
use crate::error::SkillError;
use crate::serve::{Limits, Overloaded, Service};

/// How long an early response waits for the rest of a body.
const LINGER: Duration = Duration::from_secs(1);

/// Reads a body whole, or says why not. One that says that it is too large is rejected before it comes.
pub(crate) async fn read(service: &Service, body: &mut Body) -> Result<Bytes, Response> {
    let limits = service.limits();
    let read = async {
        if body.size_hint().lower() > limits.max_body_bytes as u64 {
            return Err(Unread::TooLarge);
        }
        // Nearly all bodies are here already, and need no timer.
        timeout(limits.body_read_timeout, collect(service, body))
            .await
            .unwrap_or(Err(Unread::Slow))
    };
    let read = tokio::select! {
        biased;
        read = read => read,
        () = service.cut().cancelled() => Err(Unread::Overloaded(Overloaded::Stopping)),
    };
    read.map_err(|unread| {
        if !matches!(unread, Unread::TooLarge | Unread::Overloaded(Overloaded::Memory)) {
            // What did not come in time is not waited for again.
            *body = Body::empty();
        }
        unread.response(service)
    })
}

/// Reads and drops the rest of a body, up to the limit of bodies or a second, unless its client waits for a `100 Continue`.
pub(crate) async fn discard(limits: &Limits, headers: &HeaderMap, mut body: Body) {
    if body.is_end_stream() || headers.contains_key(EXPECT) {
        return;
    }
    let mut left = limits.max_body_bytes;
    let rest = async {
        while let Some(Ok(frame)) = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
            let length = frame.data_ref().map_or(0, Bytes::len);
            match left.checked_sub(length) {
                Some(rest) => left = rest,
                None => break,
            }
        }
    };
    // Whether it came whole is the same to the response.
    drop(timeout(LINGER, rest).await);
}

/// Why a body is not read.
#[derive(Debug, Clone, Copy)]
enum Unread {
    TooLarge,
    Slow,
    Broken,
    Overloaded(Overloaded),
}

impl Unread {
    /// What the caller is told. It is counted.
    fn response(self, service: &Service) -> Response {
        let limits = service.limits();
        let refusal = |status, code: &'static str, message: String| {
            service.rejected(code);
            answer::with_status(status, &SkillError::terminal(code, message))
        };
        match self {
            Self::TooLarge => {
                let message = format!("the body is larger than {} bytes", limits.max_body_bytes);
                refusal(StatusCode::PAYLOAD_TOO_LARGE, "payload_too_large", message)
            }
            Self::Slow => {
                let seconds = limits.body_read_timeout.as_secs();
                let message = format!("the body did not come within {seconds} seconds");
                refusal(StatusCode::REQUEST_TIMEOUT, "request_timeout", message)
            }
            Self::Broken => {
                let message = "the body did not come whole".to_owned();
                refusal(StatusCode::BAD_REQUEST, "bad_request", message)
            }
            Self::Overloaded(overloaded) => {
                service.rejected(Overloaded::CODE);
                answer::overloaded(overloaded)
            }
        }
    }
}

async fn collect(service: &Service, body: &mut Body) -> Result<Bytes, Unread> {
    let limit = service.limits().max_body_bytes;
    let mut first = Bytes::new();
    let mut whole = Vec::new();
    let mut memory = Memory { service, taken: None };
    loop {
        let part = match poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx)).await {
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

/// What one body takes of the memory for all bodies. It is returned when this is dropped.
struct Memory<'a> {
    service: &'a Service,
    taken: Option<SemaphorePermit<'a>>,
}

impl Memory<'_> {
    fn take(&mut self, bytes: usize) -> Result<(), Unread> {
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        let full = |_| Unread::Overloaded(Overloaded::Memory);
        let more = self.service.body_memory().try_acquire_many(bytes).map_err(full)?;
        match &mut self.taken {
            Some(taken) => taken.merge(more),
            None => self.taken = Some(more),
        }
        Ok(())
    }
}
