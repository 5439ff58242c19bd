//! State that clones share.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// State that clones share. A panic does not poison it: each change is a single step.
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
