//! Why a caller is rejected.

use std::borrow::Cow;
use std::error::Error;
use std::fmt;

use crate::error::SkillError;

/// Why a caller is rejected.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum AuthError {
    /// The token is missing or invalid. The text says why, for the log only: it holds nothing of the token.
    InvalidToken(Cow<'static, str>),
    /// The keys to verify tokens with are not available.
    VerificationUnavailable,
}

impl AuthError {
    pub(crate) fn invalid(reason: impl Into<Cow<'static, str>>) -> Self {
        Self::InvalidToken(reason.into())
    }

    /// The error code in a response.
    pub fn code(&self) -> &'static str {
        match self {
            Self::InvalidToken(_) => "invalid_token",
            Self::VerificationUnavailable => "verification_unavailable",
        }
    }

    /// The error for the response. It does not say what was wrong with the token.
    pub fn to_error(&self) -> SkillError {
        match self {
            Self::InvalidToken(_) => {
                SkillError::terminal(self.code(), "a bearer token that this server accepts is needed")
            }
            Self::VerificationUnavailable => SkillError::retryable(
                self.code(),
                "tokens cannot be verified at the moment, try again later",
            ),
        }
    }
}

/// The reason for the log; a response takes [`to_error`](AuthError::to_error).
impl fmt::Display for AuthError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::InvalidToken(reason) => reason,
            Self::VerificationUnavailable => "the keys of the issuer are not available",
        })
    }
}

impl Error for AuthError {}
