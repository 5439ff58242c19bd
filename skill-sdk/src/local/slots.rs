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

/// A call that was admitted: it has its slot, or room to wait for one.
pub(super) enum Admitted {
    /// The call may run.
    Running(Option<OwnedSemaphorePermit>),
    /// The call waits, and these are its bytes.
    Waiting(Option<OwnedSemaphorePermit>),
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

    /// Admits a call. Waits only while too many bytes of calls wait already, so that a caller cannot fill the memory.
    pub(super) async fn admit(&self, bytes: usize) -> Admitted {
        if let Ok(slot) = Arc::clone(&self.calls).try_acquire_owned() {
            return Admitted::Running(Some(slot));
        }
        let bytes = u32::try_from(bytes)
            .unwrap_or(u32::MAX)
            .min(self.max_waiting_bytes);
        // The semaphores are never closed, so acquiring does not fail.
        let waiting = Arc::clone(&self.waiting_bytes).acquire_many_owned(bytes).await;
        Admitted::Waiting(waiting.ok())
    }

    /// Waits for the slot of a call that was admitted.
    pub(super) async fn slot(&self, admitted: Admitted) -> Option<OwnedSemaphorePermit> {
        match admitted {
            Admitted::Running(slot) => slot,
            Admitted::Waiting(bytes) => {
                let slot = Arc::clone(&self.calls).acquire_owned().await.ok();
                drop(bytes);
                slot
            }
        }
    }
}
