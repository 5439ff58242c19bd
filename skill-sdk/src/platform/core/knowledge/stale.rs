//! A plan that was made for another state.

use std::error::Error;
use std::fmt;

use serde_json::json;

use crate::error::SkillError;

/// What is known has changed since the plan was made: make it again with [`preview`](crate::knowledge::Knowledge::preview).
///
/// As a [`SkillError`] it has the code `snapshot_stale`, is not retryable, and has `{"stateToken": …}` as details when the
/// core says which state there is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotStale {
    state_token: Option<String>,
}

impl SnapshotStale {
    /// The code on the wire.
    pub const CODE: &str = "snapshot_stale";

    pub(super) fn new(state_token: Option<&str>) -> Self {
        Self {
            state_token: state_token.map(str::to_owned),
        }
    }

    /// The token of the state that there is now, if the core says it.
    pub fn state_token(&self) -> Option<&str> {
        self.state_token.as_deref()
    }
}

impl fmt::Display for SnapshotStale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("what is known has changed since the plan was made: make the plan again")
    }
}

impl Error for SnapshotStale {}

impl From<SnapshotStale> for SkillError {
    fn from(stale: SnapshotStale) -> Self {
        let error = Self::terminal("snapshot_stale", stale.to_string());
        match stale.state_token {
            Some(token) => error.with_details(json!({"stateToken": token})),
            None => error,
        }
    }
}

/// Why a snapshot was not applied. `?` in a skill makes a [`SkillError`] of it.
#[derive(Debug)]
#[non_exhaustive]
pub enum ApplyError {
    /// Something has changed since the plan was made.
    Stale(SnapshotStale),
    /// Any other failure.
    Failed(SkillError),
}

impl fmt::Display for ApplyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stale(stale) => stale.fmt(f),
            Self::Failed(error) => error.fmt(f),
        }
    }
}

impl Error for ApplyError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Stale(_) => None,
            Self::Failed(error) => error.source(),
        }
    }
}

impl From<SkillError> for ApplyError {
    fn from(error: SkillError) -> Self {
        Self::Failed(error)
    }
}

impl From<ApplyError> for SkillError {
    fn from(error: ApplyError) -> Self {
        match error {
            ApplyError::Stale(stale) => stale.into(),
            ApplyError::Failed(error) => error,
        }
    }
}
