//! The queue of messages to a client while its calls run.

use tokio::sync::mpsc::{self, Receiver, Sender};

/// How many messages may wait for a client that is slow to read.
const QUEUE: usize = 128;

/// Messages, each as one line.
#[derive(Debug, Clone)]
pub(super) struct Outgoing(Sender<Vec<u8>>);

impl Outgoing {
    pub(super) fn channel() -> (Self, Receiver<Vec<u8>>) {
        let (sender, receiver) = mpsc::channel(QUEUE);
        (Self(sender), receiver)
    }

    /// Queues a message, once there is room; false when the client disconnected.
    pub(super) async fn send(&self, message: Vec<u8>) -> bool {
        self.0.send(message).await.is_ok()
    }

    /// Queues a notification, or drops it when the client is slow to read.
    pub(super) fn offer(&self, notification: Vec<u8>) {
        drop(self.0.try_send(notification));
    }

    /// Resolves when the client disconnected.
    pub(super) async fn closed(&self) {
        self.0.closed().await;
    }
}
