//! Graceful shutdown: from serving over draining to the cut.

use std::sync::atomic::{AtomicBool, Ordering};

use tokio_util::sync::CancellationToken;

/// Where a server is between its start and its end.
#[derive(Debug, Default)]
pub(crate) struct Shutdown {
    draining: AtomicBool,
    cut: CancellationToken,
}

impl Shutdown {
    /// New calls are rejected from now on.
    pub(crate) fn drain(&self) {
        self.draining.store(true, Ordering::SeqCst);
    }

    /// Whether new calls are rejected.
    pub(crate) fn is_draining(&self) -> bool {
        self.draining.load(Ordering::SeqCst)
    }

    /// Calls that still run are cut.
    pub(crate) fn cut_calls(&self) {
        self.cut.cancel();
    }

    /// Resolves once running calls are cut.
    pub(crate) async fn cut(&self) {
        self.cut.cancelled().await;
    }
}
