//! How many calls run at the same time, and how many bytes of calls wait.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The least number of bytes of calls that may wait for a slot.
const MIN_WAITING_BYTES: usize = 4 * 1024 * 1024;

/// The concurrency slots of a server.
pub(super) struct Slots {
    calls: Arc<Semaphore>,
    waiting_bytes: Arc<Semaphore>,
    max_waiting_bytes: u32,
}

impl Slots {
    /// So many slots for calls; calls of one longest line can always wait.
    pub(super) fn new(calls: usize, longest_line: usize) -> Self {
        let max_waiting_bytes = u32::try_from(longest_line.max(MIN_WAITING_BYTES)).unwrap_or(u32::MAX);
        let permits = usize::try_from(max_waiting_bytes).unwrap_or(usize::MAX);
        Self {
            calls: Arc::new(Semaphore::new(calls.min(Semaphore::MAX_PERMITS))),
            waiting_bytes: Arc::new(Semaphore::new(permits.min(Semaphore::MAX_PERMITS))),
            max_waiting_bytes,
        }
    }

    /// Makes room for a call that may have to wait for its slot. Waits while too many bytes of calls wait already, so that a
    /// caller cannot fill the memory. The semaphores are never closed, so there is always a permit.
    pub(super) async fn room(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        let bytes = u32::try_from(bytes)
            .unwrap_or(u32::MAX)
            .min(self.max_waiting_bytes);
        Arc::clone(&self.waiting_bytes)
            .acquire_many_owned(bytes)
            .await
            .ok()
    }

    /// A slot, if one is free.
    pub(super) fn free(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.calls).try_acquire_owned().ok()
    }

    /// Waits for a slot.
    pub(super) async fn next(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.calls).acquire_owned().await.ok()
    }
}
