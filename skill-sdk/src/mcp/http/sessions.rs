//! Sessions of clients that can be asked, or that can ask for notices, up to revision 2025-11-25.
//!
//! Off by default: a host without sessions may have any number of replicas behind any balancer. With them a client whose
//! `initialize` says that it can be asked gets a session, and its calls may ask it; on a host that sends notices every client
//! gets one, which remembers the level that it sets. All others are served as before.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::http::{HeaderMap, HeaderName};

use crate::context::Caller;
use crate::mcp::input::Peer;

/// The header that holds the id of a session.
pub(super) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

/// How many sessions there may be.
const MAX_SESSIONS: usize = 10_000;

/// How long a session lives without a request.
const IDLE: Duration = Duration::from_hours(1);

/// The sessions of a host.
#[derive(Default)]
pub(super) struct Sessions(Mutex<HashMap<String, Session>>);

struct Session {
    peer: Arc<Peer>,
    /// Tenant and principal of whoever opened it: nobody else gets in.
    owner: Option<(String, String)>,
    used: Instant,
}

fn owner(caller: Option<&Caller>) -> Option<(String, String)> {
    caller.map(|caller| (caller.tenant_id().to_owned(), caller.principal_id().to_owned()))
}

impl Sessions {
    fn table(&self) -> MutexGuard<'_, HashMap<String, Session>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens a session; `None` when there are too many, and the client is served without.
    pub(super) fn open(&self, peer: Peer, caller: Option<&Caller>) -> Option<String> {
        self.open_at(Instant::now(), peer, caller)
    }

    fn open_at(&self, now: Instant, peer: Peer, caller: Option<&Caller>) -> Option<String> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).ok()?;
        let id: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let mut table = self.table();
        if table.len() >= MAX_SESSIONS {
            table.retain(|_, session| now.duration_since(session.used) < IDLE);
            if table.len() >= MAX_SESSIONS {
                tracing::warn!(limit = MAX_SESSIONS, "there are too many sessions for one more");
                return None;
            }
        }
        let session = Session {
            peer: Arc::new(peer),
            owner: owner(caller),
            used: now,
        };
        table.insert(id.clone(), session);
        Some(id)
    }

    /// The client of a session that the headers name: `Ok(None)` when they name none, `Err` when it is gone.
    pub(super) fn find(&self, headers: &HeaderMap, caller: Option<&Caller>) -> Result<Option<Arc<Peer>>, ()> {
        self.find_at(Instant::now(), headers, caller)
    }

    fn find_at(
        &self,
        now: Instant,
        headers: &HeaderMap,
        caller: Option<&Caller>,
    ) -> Result<Option<Arc<Peer>>, ()> {
        let Some(id) = headers.get(&SESSION) else {
            return Ok(None);
        };
        let mut table = self.table();
        let id = id.to_str().map_err(|_| ())?;
        let session = table.get_mut(id).ok_or(())?;
        if now.duration_since(session.used) >= IDLE {
            table.remove(id);
            return Err(());
        }
        if session.owner != owner(caller) {
            return Err(());
        }
        session.used = now;
        Ok(Some(Arc::clone(&session.peer)))
    }

    /// Ends a session.
    pub(super) fn close(&self, headers: &HeaderMap, caller: Option<&Caller>) -> Result<(), ()> {
        self.find(headers, caller)?.ok_or(())?;
        let id = headers.get(&SESSION).and_then(|id| id.to_str().ok()).ok_or(())?;
        self.table().remove(id);
        Ok(())
    }
}

impl fmt::Debug for Sessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sessions")
            .field("open", &self.table().len())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;
    use crate::mcp::input::Capabilities;

    fn headers(id: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(SESSION, HeaderValue::from_str(id).unwrap());
        headers
    }

    #[test]
    fn a_session_is_there_until_it_is_closed() {
        let sessions = Sessions::default();
        let id = sessions.open(Peer::new(Capabilities::default()), None).unwrap();
        assert_eq!(id.len(), 32);
        assert!(matches!(sessions.find(&HeaderMap::new(), None), Ok(None)));
        assert!(matches!(sessions.find(&headers(&id), None), Ok(Some(_))));
        assert!(sessions.find(&headers("other"), None).is_err());
        assert!(sessions.close(&HeaderMap::new(), None).is_err());
        assert!(sessions.close(&headers(&id), None).is_ok());
        assert!(sessions.find(&headers(&id), None).is_err());
        assert!(sessions.close(&headers(&id), None).is_err());
    }

    #[test]
    fn a_session_that_nobody_uses_ends() {
        let (sessions, start) = (Sessions::default(), Instant::now());
        let open = |now| sessions.open_at(now, Peer::new(Capabilities::default()), None);
        let id = open(start).unwrap();
        let nearly = IDLE.checked_sub(Duration::from_secs(1)).unwrap();
        for hours in 1..4 {
            let now = start + nearly * hours;
            assert!(
                sessions.find_at(now, &headers(&id), None).is_ok(),
                "each use counts"
            );
        }
        assert!(
            sessions
                .find_at(start + nearly * 3 + IDLE, &headers(&id), None)
                .is_err()
        );

        // Abandoned ones make room for new ones, and do not pile up.
        let ids: Vec<_> = (0..MAX_SESSIONS).map_while(|_| open(start)).collect();
        assert_eq!(ids.len(), MAX_SESSIONS);
        assert!(open(start + nearly).is_none());
        assert!(open(start + IDLE).is_some());
        assert_eq!(sessions.table().len(), 1);
    }
}
