//! State that clones share.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// State that clones share, also with threads that panicked: what it holds is written in one step each.
#[derive(Default)]
pub(super) struct Shared<T>(Arc<Mutex<T>>);

impl<T> Shared<T> {
    pub(super) fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}
