//! A token that does not print itself.

use std::time::SystemTime;

use crate::environment::Secret;

/// The token of a connection. It has no `Display` and no serialization, and its `Debug` shows nothing of it.
#[derive(Clone)]
pub struct AccessToken {
    value: Secret,
    expires_at: Option<SystemTime>,
}

impl AccessToken {
    pub(super) fn new(value: Secret, expires_at: Option<SystemTime>) -> Self {
        Self { value, expires_at }
    }

    /// The token itself: hand it to what needs it, and to nothing that logs.
    pub fn expose(&self) -> &str {
        self.value.expose()
    }

    /// The token as a secret of its own.
    pub fn into_secret(self) -> Secret {
        self.value
    }

    /// When it expires; `None` when the store does not say.
    pub fn expires_at(&self) -> Option<SystemTime> {
        self.expires_at
    }
}

debug_fields!(AccessToken { expires_at });
