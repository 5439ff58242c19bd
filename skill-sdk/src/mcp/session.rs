//! A client of a revision with `initialize`, as it introduced itself.

use std::sync::Arc;

use super::elicitation::{Capabilities, Peer};
use super::notify::Threshold;

#[derive(Debug)]
pub(super) struct Session {
    pub(super) peer: Arc<Peer>,
    /// The level of log messages that the client set.
    pub(super) threshold: Threshold,
}

impl Session {
    pub(super) fn new(capabilities: Capabilities) -> Self {
        Self {
            peer: Arc::new(Peer::new(capabilities)),
            threshold: Threshold::default(),
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.peer.close();
    }
}
