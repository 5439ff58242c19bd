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
use crate::mcp::call::Stop;
use crate::mcp::input::Peer;
use crate::mcp::message::Id;

/// The header that holds the id of a session.
pub(super) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

/// How many sessions there may be.
const MAX_SESSIONS: usize = 10_000;

/// How many of them one verified caller may have.
const MAX_OF_ONE: usize = 100;

/// How long a session lives without a request.
const IDLE: Duration = Duration::from_hours(1);

/// The sessions of a host.
#[derive(Default)]
pub(super) struct Sessions(Mutex<HashMap<String, Session>>);

struct Session {
    client: Arc<Client>,
    /// Tenant and principal of whoever opened it: nobody else gets in.
    owner: Option<(String, String)>,
    used: Instant,
}

impl Drop for Session {
    fn drop(&mut self) {
        self.client.peer.close();
    }
}

fn owner(caller: Option<&Caller>) -> Option<(String, String)> {
    caller.map(|caller| (caller.tenant_id().to_owned(), caller.principal_id().to_owned()))
}

impl Sessions {
    fn table(&self) -> MutexGuard<'_, HashMap<String, Session>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens a session. Where there are too many, of this caller or of all, the one that was not used for longest makes
    /// room; `None` when calls run in all of them, and the client is served without.
    pub(super) fn open(&self, peer: Peer, caller: Option<&Caller>) -> Option<String> {
        self.open_at(Instant::now(), peer, caller)
    }

    fn open_at(&self, now: Instant, peer: Peer, caller: Option<&Caller>) -> Option<String> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).ok()?;
        let id: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let owner = owner(caller);
        let mut table = self.table();
        let own = |session: &Session| session.owner == owner;
        if owner.is_some() && table.values().filter(|session| own(session)).count() >= MAX_OF_ONE {
            make_room(&mut table, own)?;
        }
        if table.len() >= MAX_SESSIONS {
            table.retain(|_, session| now.duration_since(session.used) < IDLE || session.client.is_busy());
        }
        if table.len() >= MAX_SESSIONS {
            make_room(&mut table, |_| true)?;
        }
        let session = Session {
            client: Arc::new(Client::new(peer)),
            owner,
            used: now,
        };
        table.insert(id.clone(), session);
        Some(id)
    }

    /// The client of a session that the headers name: `Ok(None)` when they name none, `Err` when it is gone.
    pub(super) fn find(
        &self,
        headers: &HeaderMap,
        caller: Option<&Caller>,
    ) -> Result<Option<Arc<Client>>, ()> {
        self.find_at(Instant::now(), headers, caller)
    }

    fn find_at(
        &self,
        now: Instant,
        headers: &HeaderMap,
        caller: Option<&Caller>,
    ) -> Result<Option<Arc<Client>>, ()> {
        let Some(id) = headers.get(&SESSION) else {
            return Ok(None);
        };
        let mut table = self.table();
        let id = id.to_str().map_err(|_| ())?;
        let session = table.get_mut(id).ok_or(())?;
        if now.duration_since(session.used) >= IDLE && !session.client.is_busy() {
            table.remove(id);
            return Err(());
        }
        if session.owner != owner(caller) {
            return Err(());
        }
        session.used = now;
        Ok(Some(Arc::clone(&session.client)))
    }

    /// Ends a session.
    pub(super) fn close(&self, headers: &HeaderMap, caller: Option<&Caller>) -> Result<(), ()> {
        self.find(headers, caller)?.ok_or(())?;
        let id = headers.get(&SESSION).and_then(|id| id.to_str().ok()).ok_or(())?;
        self.table().remove(id);
        Ok(())
    }
}

/// Ends the session that was not used for longest of those that are `meant` and in which no call runs.
fn make_room(table: &mut HashMap<String, Session>, meant: impl Fn(&Session) -> bool) -> Option<()> {
    let oldest = table
        .iter()
        .filter(|(_, session)| meant(session) && !session.client.is_busy())
        .min_by_key(|(_, session)| session.used)
        .map(|(id, _)| id.clone());
    if oldest.is_none() {
        tracing::warn!("there are too many sessions for one more, and calls run in all of them");
    }
    table.remove(&oldest?).map(drop)
}

/// The client of a session.
#[derive(Debug)]
pub(super) struct Client {
    peer: Arc<Peer>,
    calls: Mutex<Calls>,
}

/// The calls that were accepted and not answered yet.
#[derive(Debug, Default)]
struct Calls {
    /// By their ids, with a number that tells them from others that had or will have the same id, and how to stop them
    /// once they run.
    open: HashMap<Id, (u64, Option<Stop>)>,
    begun: u64,
}

impl Client {
    fn new(peer: Peer) -> Self {
        Self {
            peer: Arc::new(peer),
            calls: Mutex::default(),
        }
    }

    fn calls(&self) -> MutexGuard<'_, Calls> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The client as somebody who can be asked.
    pub(super) fn peer(&self) -> &Arc<Peer> {
        &self.peer
    }

    fn is_busy(&self) -> bool {
        !self.calls().open.is_empty()
    }

    /// Notes a call; `None` when one with the same id is not answered yet.
    pub(super) fn begin(self: &Arc<Self>, id: &Id) -> Option<Noted> {
        let mut calls = self.calls();
        if calls.open.contains_key(id) {
            return None;
        }
        calls.begun += 1;
        let number = calls.begun;
        calls.open.insert(id.clone(), (number, None));
        Some(Noted {
            client: Arc::clone(self),
            id: id.clone(),
            number,
        })
    }

    /// Cancels a call: nothing more is sent for it.
    pub(super) fn cancel(&self, id: &Id) {
        let call = self.calls().open.remove(id);
        if let Some((_, Some(stop))) = call {
            stop.now();
        }
    }
}

/// A call of a session that was noted, until it is dropped.
#[derive(Debug)]
pub(super) struct Noted {
    client: Arc<Client>,
    id: Id,
    number: u64,
}

impl Noted {
    /// Whose call it is.
    pub(super) fn client(&self) -> &Arc<Client> {
        &self.client
    }

    /// Says how the call is stopped; stops it when it was cancelled meanwhile.
    pub(super) fn can_stop(&self, stop: Stop) {
        let mut calls = self.client.calls();
        match calls.open.get_mut(&self.id) {
            Some((number, place)) if *number == self.number => *place = Some(stop),
            _ => {
                drop(calls);
                stop.now();
            }
        }
    }

    /// Whether the client waits for the answer; false once it cancelled the call.
    pub(super) fn is_wanted(&self) -> bool {
        let calls = self.client.calls();
        calls
            .open
            .get(&self.id)
            .is_some_and(|(number, _)| *number == self.number)
    }
}

impl Drop for Noted {
    fn drop(&mut self) {
        let mut calls = self.client.calls();
        if let Some((number, _)) = calls.open.get(&self.id)
            && *number == self.number
        {
            calls.open.remove(&self.id);
        }
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
    use crate::context::CallerClaims;
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
        assert!(open(start + nearly).is_some());
        assert_eq!(sessions.table().len(), MAX_SESSIONS);
        assert!(open(start + IDLE).is_some());
        assert_eq!(sessions.table().len(), 2);
    }

    fn opened(sessions: &Sessions, caller: Option<&Caller>) -> Option<String> {
        sessions.open(Peer::new(Capabilities::default()), caller)
    }

    fn caller(name: &str) -> Caller {
        Caller::new(CallerClaims::new("tenant", name))
    }

    fn id() -> Id {
        Id::read("1".to_owned()).unwrap()
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
                let client = sessions.find(&headers(&session), Some(&one)).unwrap().unwrap();
                (session, client.begin(&id()).unwrap())
            })
            .collect();
        assert_eq!(opened(&sessions, Some(&one)), None);
        let (ended, noted) = running.swap_remove(7);
        drop(noted);
        assert!(opened(&sessions, Some(&one)).is_some());
        assert!(sessions.find(&headers(&ended), Some(&one)).is_err());
    }

    #[test]
    fn everybody_has_the_room_of_all() {
        let sessions = Sessions::default();
        let first = opened(&sessions, None).unwrap();
        for _ in 0..MAX_SESSIONS {
            assert!(opened(&sessions, None).is_some());
        }
        assert!(sessions.find(&headers(&first), None).is_err());
        assert_eq!(sessions.table().len(), MAX_SESSIONS);
    }

    #[test]
    fn an_id_is_free_once_its_call_is_over() {
        let client = Arc::new(Client::new(Peer::new(Capabilities::default())));
        let first = client.begin(&id()).unwrap();
        assert!(client.begin(&id()).is_none() && first.is_wanted());
        client.cancel(&id());
        assert!(!first.is_wanted());
        let second = client.begin(&id()).unwrap();
        drop(first);
        assert!(second.is_wanted() && client.is_busy());
        drop(second);
        assert!(!client.is_busy());
    }
}
