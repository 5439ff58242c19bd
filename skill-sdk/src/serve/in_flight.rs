//! Calls in flight that their clients can cancel.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

/// The calls in flight by what their clients name them: the id of the request, and the scope in which it means one call (a
/// session, a caller). Cheap to clone; all clones are the same.
#[derive(Debug, Clone, Default)]
pub(crate) struct InFlight(Arc<Mutex<HashMap<String, Vec<CancellationToken>>>>);

impl InFlight {
    /// Adds a call. Several calls may have one name, unless it must be `unique`: then it is `None` for the second.
    pub(crate) fn insert(&self, name: String, unique: bool) -> Option<InFlightGuard> {
        let mut calls = self.lock();
        let named = calls.entry(name.clone()).or_default();
        if unique && !named.is_empty() {
            return None;
        }
        let token = CancellationToken::new();
        named.push(token.clone());
        drop(calls);
        let table = self.clone();
        Some(InFlightGuard { table, name, token })
    }

    /// Cancels the call with this name. `false` when no call or several calls have this name.
    pub(crate) fn cancel(&self, name: &str) -> bool {
        let mut calls = self.lock();
        if let Some([token]) = calls.get(name).map(Vec::as_slice) {
            token.cancel();
            // The name can be used again at once.
            calls.remove(name);
            return true;
        }
        false
    }

    /// Whether there is a call with this name.
    pub(crate) fn contains(&self, name: &str) -> bool {
        self.lock().contains_key(name)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Vec<CancellationToken>>> {
        // No panic can leave the table half-written.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call in the table. It is removed when this is dropped.
#[derive(Debug)]
pub(crate) struct InFlightGuard {
    table: InFlight,
    name: String,
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
        if let Some(tokens) = calls.get_mut(&self.name) {
            tokens.retain(|token| *token != self.token);
            if tokens.is_empty() {
                calls.remove(&self.name);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn one_call_is_cancelled_by_its_name() {
        let calls = InFlight::default();
        let first = calls.insert("a".to_owned(), true).unwrap();
        assert!(calls.insert("a".to_owned(), true).is_none());
        let other = calls.insert("b".to_owned(), true).unwrap();
        assert_eq!(first.unless_cancelled(async { 1 }).await, Some(1));
        assert!(calls.cancel("a"));
        let never = std::future::pending::<()>();
        assert_eq!(first.unless_cancelled(never).await, None);
        assert!(first.is_cancelled() && !other.is_cancelled());
        // The end of the call before ends no other one with its name.
        let second = calls.insert("a".to_owned(), true).unwrap();
        drop(first);
        assert!(calls.cancel("a") && second.is_cancelled());
        assert!(!calls.cancel("a"));
    }

    #[test]
    fn a_name_of_several_calls_cancels_none_of_them() {
        let calls = InFlight::default();
        let [first, second] = [false, false].map(|unique| calls.insert("a".to_owned(), unique).unwrap());
        assert!(!calls.cancel("a"));
        drop(first);
        assert!(calls.cancel("a"));
        assert!(second.is_cancelled());
    }
}
