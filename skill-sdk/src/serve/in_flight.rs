//! Calls in flight that their clients can cancel.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

/// The scope in which a request id means one call (a connection, a session, a caller), and the request id.
type Key = (Arc<str>, Arc<str>);

/// The calls in flight by the ids of their requests. Cheap to clone; all clones are the same.
#[derive(Debug, Clone, Default)]
pub(crate) struct InFlight(Arc<Mutex<HashMap<Key, Vec<CancellationToken>>>>);

impl InFlight {
    /// Adds a call. Several calls may have one id, if the protocol allows it.
    pub(crate) fn insert(&self, scope: Arc<str>, id: Arc<str>) -> InFlightGuard {
        let (key, token) = ((scope, id), CancellationToken::new());
        self.lock().entry(key.clone()).or_default().push(token.clone());
        let table = self.clone();
        InFlightGuard { table, key, token }
    }

    /// Adds a call, unless there is one with its id.
    pub(crate) fn insert_unique(&self, scope: Arc<str>, id: Arc<str>) -> Option<InFlightGuard> {
        let (key, token) = ((scope, id), CancellationToken::new());
        let mut calls = self.lock();
        if calls.contains_key(&key) {
            return None;
        }
        calls.insert(key.clone(), vec![token.clone()]);
        drop(calls);
        let table = self.clone();
        Some(InFlightGuard { table, key, token })
    }

    /// Cancels the call with this id. `false` when there is none, or more than one.
    pub(crate) fn cancel(&self, scope: &Arc<str>, id: &Arc<str>) -> bool {
        let key = (Arc::clone(scope), Arc::clone(id));
        let mut calls = self.lock();
        if let Some([token]) = calls.get(&key).map(Vec::as_slice) {
            token.cancel();
            // Its id can be used again at once.
            calls.remove(&key);
            return true;
        }
        false
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Key, Vec<CancellationToken>>> {
        // No panic can leave the table half-written.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call in the table. It is removed when this is dropped.
#[derive(Debug)]
pub(crate) struct InFlightGuard {
    table: InFlight,
    key: Key,
    token: CancellationToken,
}

impl InFlightGuard {
    /// The output of `work`; `None`, and `work` is dropped, once the client cancelled the call.
    pub(crate) async fn unless_cancelled<F: Future>(&self, work: F) -> Option<F::Output> {
        tokio::select! {
            biased;
            () = self.token.cancelled() => None,
            output = work => Some(output),
        }
    }

    /// Whether the client cancelled the call.
    #[cfg(test)]
    pub(crate) fn is_cancelled(&self) -> bool {
        self.token.is_cancelled()
    }
}

impl Drop for InFlightGuard {
    fn drop(&mut self) {
        let mut calls = self.table.lock();
        if let Some(tokens) = calls.get_mut(&self.key) {
            tokens.retain(|token| *token != self.token);
            if tokens.is_empty() {
                calls.remove(&self.key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn one_call_is_cancelled_by_its_id() {
        let calls = InFlight::default();
        let text = |text: &str| Arc::<str>::from(text);
        let first = calls.insert_unique(text("a"), text("1")).unwrap();
        assert!(calls.insert_unique(text("a"), text("1")).is_none());
        let other = calls.insert_unique(text("b"), text("1")).unwrap();
        assert_eq!(first.unless_cancelled(async { 1 }).await, Some(1));
        assert!(calls.cancel(&text("a"), &text("1")));
        let never = std::future::pending::<()>();
        assert_eq!(first.unless_cancelled(never).await, None);
        assert!(first.is_cancelled() && !other.is_cancelled());
        drop(first);
        assert!(!calls.cancel(&text("a"), &text("1")));
        assert!(calls.insert_unique(text("a"), text("1")).is_some());
    }

    #[test]
    fn an_id_of_several_calls_cancels_none_of_them() {
        let calls = InFlight::default();
        let text = |text: &str| Arc::<str>::from(text);
        let guards = [
            calls.insert(text("a"), text("1")),
            calls.insert(text("a"), text("1")),
        ];
        assert!(!calls.cancel(&text("a"), &text("1")));
        let [first, second] = guards;
        drop(first);
        assert!(calls.cancel(&text("a"), &text("1")));
        assert!(second.is_cancelled());
    }
}
