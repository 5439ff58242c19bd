//! A mock helpdesk in memory, behind a real socket: for trying the skills out, and for their tests.
//!
//! It handles idempotency keys as a real helpdesk does: a request with the same key and the same message returns the
//! first response, and one with another message is rejected. The tickets are `HD-1`, `HD-2` and `HD-3`; `HD-3` is closed.

use std::collections::HashMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::routing::post;
use axum::{Json, Router};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::AbortHandle;

use crate::Visibility;

/// The tickets, and whether each is open.
const TICKETS: &[(&str, bool)] = &[("HD-1", true), ("HD-2", true), ("HD-3", false)];

/// A helpdesk that runs until the last clone is dropped.
#[derive(Debug, Clone)]
pub struct MockHelpdesk(Arc<Running>);

#[derive(Debug)]
struct Running {
    address: SocketAddr,
    desk: Arc<Mutex<Desk>>,
    server: AbortHandle,
}

/// A message on a ticket.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Message {
    /// The ticket.
    pub ticket: String,
    /// The text.
    pub text: String,
    /// Who can see it.
    pub visibility: Visibility,
}

#[derive(Debug, Default)]
struct Desk {
    messages: Vec<Message>,
    /// For each idempotency key the index of its message.
    keys: HashMap<String, usize>,
}

/// The body of a request.
#[derive(Debug, Deserialize)]
struct Draft {
    text: String,
    visibility: Visibility,
}

type Answer = (StatusCode, Json<Value>);

impl MockHelpdesk {
    /// The token that it expects. It is not a secret: it protects nothing.
    pub const TOKEN: &str = "stand-in";

    /// Starts a mock helpdesk on a free port of the loopback address. It must be called in a tokio runtime, and stops
    /// with it.
    pub async fn start() -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let desk = Arc::default();
        let router = Router::new()
            .route("/tickets/{ticket}/messages", post(answer))
            .with_state(Arc::clone(&desk));
        let server = tokio::spawn(async move { axum::serve(listener, router).await });
        Ok(Self(Arc::new(Running {
            address,
            desk,
            server: server.abort_handle(),
        })))
    }

    /// Its URL, for `HELPDESK_URL`.
    pub fn url(&self) -> String {
        format!("http://{}", self.0.address)
    }

    /// All messages so far, oldest first.
    pub fn messages(&self) -> Vec<Message> {
        lock(&self.0.desk).messages.clone()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn answer(
    State(desk): State<Arc<Mutex<Desk>>>,
    Path(ticket): Path<String>,
    headers: HeaderMap,
    Json(draft): Json<Draft>,
) -> Answer {
    let token = header_text(&headers, header::AUTHORIZATION.as_str());
    if token != Some(&format!("Bearer {}", MockHelpdesk::TOKEN)) {
        return refuse(StatusCode::UNAUTHORIZED, "token_refused");
    }
    let Some(key) = header_text(&headers, "idempotency-key") else {
        return refuse(StatusCode::BAD_REQUEST, "idempotency_key_missing");
    };
    let message = Message {
        ticket,
        text: draft.text,
        visibility: draft.visibility,
    };
    lock(&desk).post(key, message)
}

impl Desk {
    /// Looks the key up and stores the message under one lock, so that concurrent requests with one key have one effect.
    fn post(&mut self, key: &str, message: Message) -> Answer {
        if let Some(place) = self.keys.get(key) {
            return if self.messages.get(*place) == Some(&message) {
                created(*place)
            } else {
                refuse(StatusCode::UNPROCESSABLE_ENTITY, "idempotency_key_reused")
            };
        }
        match TICKETS.iter().find(|(ticket, _)| *ticket == message.ticket) {
            None => refuse(StatusCode::NOT_FOUND, "unknown_ticket"),
            Some((_, false)) => refuse(StatusCode::CONFLICT, "ticket_closed"),
            Some((_, true)) => {
                let place = self.messages.len();
                self.messages.push(message);
                self.keys.insert(key.to_owned(), place);
                created(place)
            }
        }
    }
}

fn created(place: usize) -> Answer {
    (
        StatusCode::CREATED,
        Json(json!({"id": format!("m-{}", place + 1)})),
    )
}

fn refuse(status: StatusCode, error: &str) -> Answer {
    (status, Json(json!({"error": error})))
}

fn header_text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

fn lock(desk: &Mutex<Desk>) -> MutexGuard<'_, Desk> {
    // Every change is complete before a panic can happen, so a poisoned lock is still usable.
    desk.lock().unwrap_or_else(PoisonError::into_inner)
}
