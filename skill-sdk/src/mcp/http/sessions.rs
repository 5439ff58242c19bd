//! Sessions of clients of a revision with `initialize`.
//!
//! Off by default: a server without sessions may have any number of replicas behind any load balancer. With them a client gets
//! a session when it can be asked, or when it may set a level of log messages. Other clients are served without.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::http::{HeaderMap, HeaderName};
use tokio::time::Instant;

use crate::context::Caller;
use crate::mcp::session::Session;

/// The header that holds the id of a session.
pub(super) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

/// How many sessions there may be.
const MAX_SESSIONS: usize = 10_000;

/// How many sessions one verified caller may have.
const MAX_OF_ONE: usize = 100;

/// How long a session lives without a request.
const IDLE: Duration = Duration::from_hours(1);

/// The sessions of a server, by id.
#[derive(Default)]
pub(super) struct Sessions(Mutex<HashMap<String, Entry>>);

struct Entry {
    session: Arc<Session>,
    /// The tenant and the principal who opened the session: only they may use it.
    owner: Option<(String, String)>,
    /// When it was opened or used last.
    used: Instant,
    /// Whether a request came in the session.
    is_used: bool,
}

impl Drop for Entry {
    /// Calls that are in flight keep the session, but get no more answers.
    fn drop(&mut self) {
        self.session.peer.close();
    }
}

impl Entry {
    /// Whether a request of the session is in flight.
    fn is_busy(&self) -> bool {
        Arc::strong_count(&self.session) > 1
    }
}

fn owner(caller: Option<&Caller>) -> Option<(String, String)> {
    caller.map(|caller| (caller.tenant_id.clone(), caller.principal_id.clone()))
}

impl Sessions {
    fn table(&self) -> MutexGuard<'_, HashMap<String, Entry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens a session. When one caller has too many, the least recently used one of them without calls is closed. When there
    /// are too many in all, it is one that no request came in: who opens many takes no session that others use. `None` when
    /// none can be closed.
    pub(super) fn open(&self, client: Session, caller: Option<&Caller>) -> Option<String> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).ok()?;
        let id = format!("{:032x}", u128::from_ne_bytes(bytes));
        let owner = owner(caller);
        let mut table = self.table();
        let own = |entry: &Entry| entry.owner == owner;
        if owner.is_some() && table.values().filter(|entry| own(entry)).count() >= MAX_OF_ONE {
            make_room(&mut table, own)?;
        } else if table.len() >= MAX_SESSIONS {
            make_room(&mut table, |entry| !entry.is_used || entry.used.elapsed() >= IDLE)?;
        }
        let entry = Entry {
            session: Arc::new(client),
            owner,
            used: Instant::now(),
            is_used: false,
        };
        table.insert(id.clone(), entry);
        Some(id)
    }

    /// The session that the headers name: `Ok(None)` when they name none, an error when it does not exist.
    pub(super) fn find(
        &self,
        headers: &HeaderMap,
        caller: Option<&Caller>,
    ) -> Result<Option<Arc<Session>>, ()> {
        let Some(id) = headers.get(&SESSION) else {
            return Ok(None);
        };
        let mut table = self.table();
        let id = id.to_str().map_err(drop)?;
        let entry = table
            .get_mut(id)
            .filter(|entry| entry.owner == owner(caller))
            .ok_or(())?;
        if entry.used.elapsed() >= IDLE && !entry.is_busy() {
            table.remove(id);
            return Err(());
        }
        (entry.used, entry.is_used) = (Instant::now(), true);
        Ok(Some(Arc::clone(&entry.session)))
    }

    /// Closes the session that the headers name; false if it does not exist.
    pub(super) fn close(&self, headers: &HeaderMap, caller: Option<&Caller>) -> bool {
        let id = headers.get(&SESSION).and_then(|id| id.to_str().ok());
        match (self.find(headers, caller), id) {
            (Ok(Some(_)), Some(id)) => self.table().remove(id).is_some(),
            _ => false,
        }
    }
}

/// Closes the least recently used of the sessions that match and have no calls.
fn make_room(table: &mut HashMap<String, Entry>, matches: impl Fn(&Entry) -> bool) -> Option<()> {
    let oldest = table
        .iter()
        .filter(|(_, entry)| matches(entry) && !entry.is_busy())
        .min_by_key(|(_, entry)| entry.used)
        .map(|(id, _)| id.clone());
    if oldest.is_none() {
        tracing::warn!("there are too many sessions, and all of them are in use");
    }
    table.remove(&oldest?).map(drop)
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;
    use crate::mcp::elicitation::Capabilities;

    fn headers(id: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(SESSION, HeaderValue::from_str(id).unwrap());
        headers
    }

    #[test]
    fn a_session_is_there_until_it_is_closed() {
        let sessions = Sessions::default();
        let id = sessions
            .open(Session::new(Capabilities::default()), None)
            .unwrap();
        assert_eq!(id.len(), 32);
        assert!(matches!(sessions.find(&HeaderMap::new(), None), Ok(None)));
        assert!(matches!(sessions.find(&headers(&id), None), Ok(Some(_))));
        assert!(sessions.find(&headers("other"), None).is_err());
        assert!(!sessions.close(&HeaderMap::new(), None));
        assert!(sessions.close(&headers(&id), None));
        assert!(sessions.find(&headers(&id), None).is_err());
        assert!(!sessions.close(&headers(&id), None));
    }

    #[tokio::test(start_paused = true)]
    async fn a_session_that_nobody_uses_ends() {
        let sessions = Sessions::default();
        let id = opened(&sessions, None).unwrap();
        for _ in 1..4 {
            tokio::time::advance(IDLE.checked_sub(Duration::from_secs(1)).unwrap()).await;
            assert!(sessions.find(&headers(&id), None).is_ok(), "each use counts");
        }
        tokio::time::advance(IDLE).await;
        assert!(sessions.find(&headers(&id), None).is_err());
    }

    fn opened(sessions: &Sessions, caller: Option<&Caller>) -> Option<String> {
        sessions.open(Session::new(Capabilities::default()), caller)
    }

    fn caller(name: &str) -> Caller {
        Caller::new("tenant", name)
    }

    #[test]
    fn one_caller_takes_the_room_of_nobody_else() {
        let sessions = Sessions::default();
        let (one, other) = (caller("one"), caller("other"));
        let first = opened(&sessions, Some(&other)).unwrap();
        let own: Vec<_> = (0..=MAX_OF_ONE)
            .map(|_| opened(&sessions, Some(&one)).unwrap())
            .collect();
        assert!(sessions.find(&headers(&first), Some(&other)).is_ok());
        assert!(
            sessions.find(&headers(&own[0]), Some(&one)).is_err(),
            "it was used least"
        );
        assert!(sessions.find(&headers(&own[1]), Some(&one)).is_ok());
        assert!(opened(&sessions, Some(&one)).is_some());
        assert!(
            sessions.find(&headers(&own[1]), Some(&one)).is_ok(),
            "it was used since"
        );
        assert!(sessions.find(&headers(&own[2]), Some(&one)).is_err());
        assert!(sessions.find(&headers(&own[1]), Some(&other)).is_err());
    }

    #[test]
    fn a_session_with_a_call_is_kept() {
        let sessions = Sessions::default();
        let one = caller("one");
        let mut running: Vec<_> = (0..MAX_OF_ONE)
            .map(|_| {
                let session = opened(&sessions, Some(&one)).unwrap();
                let used = sessions.find(&headers(&session), Some(&one)).unwrap().unwrap();
                (session, used)
            })
            .collect();
        assert_eq!(opened(&sessions, Some(&one)), None);
        let (ended, noted) = running.swap_remove(7);
        drop(noted);
        assert!(opened(&sessions, Some(&one)).is_some());
        assert!(sessions.find(&headers(&ended), Some(&one)).is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn many_sessions_close_none_that_is_used() {
        let sessions = Sessions::default();
        let used = opened(&sessions, None).unwrap();
        assert!(sessions.find(&headers(&used), None).is_ok());
        let mut flood = Vec::new();
        for _ in 0..MAX_SESSIONS + 10 {
            flood.push(opened(&sessions, None).unwrap());
        }
        assert!(sessions.find(&headers(&used), None).is_ok());
        for id in &flood {
            drop(sessions.find(&headers(id), None));
        }
        assert_eq!(opened(&sessions, None), None, "all are used");
        tokio::time::advance(IDLE).await;
        assert!(opened(&sessions, None).is_some());
        assert_eq!(sessions.table().len(), MAX_SESSIONS);
    }

    #[test]
    fn everybody_has_the_room_of_all() {
        let sessions = Sessions::default();
        let first = opened(&sessions, None).unwrap();
        for _ in 0..MAX_SESSIONS {
            assert!(opened(&sessions, None).is_some());
        }
        assert!(sessions.find(&headers(&first), None).is_err());
        assert_eq!(
            sessions.table().len(),
            MAX_SESSIONS,
            "abandoned ones make room for new ones"
        );
    }
}
