//! Saying no: one word to the caller, the reason to the log.

use std::error::Error;
use std::fmt;

use crate::error::SkillError;

/// Why a caller does not get in, as far as the caller may know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// There is no token, or it did not pass. The code on the wire is `invalid_token`.
    InvalidToken,
    /// There are no keys to check tokens with. The code on the wire is `verification_unavailable`, which is retryable.
    Unavailable,
}

impl Refusal {
    /// The code on the wire.
    pub fn code(self) -> &'static str {
        match self {
            Self::InvalidToken => "invalid_token",
            Self::Unavailable => "verification_unavailable",
        }
    }

    /// The failure that tells the caller.
    pub fn to_error(self) -> SkillError {
        match self {
            Self::InvalidToken => SkillError::terminal("invalid_token", self.text()),
            Self::Unavailable => SkillError::retryable("verification_unavailable", self.text()),
        }
    }

    fn text(self) -> &'static str {
        match self {
            Self::InvalidToken => "a bearer token that this host accepts is needed",
            Self::Unavailable => "tokens cannot be checked at the moment, try again later",
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl Error for Refusal {}

/// What is wrong with a token, for the log. It holds nothing that came with the token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reason {
    NoHeader,
    #[cfg(feature = "http")]
    SeveralHeaders,
    NotBearer,
    TooLong,
    NotThreeParts,
    Header,
    Algorithm,
    Critical,
    NoKeyId,
    UnknownKey,
    Signature,
    Claims,
    Missing(&'static str),
    Form(&'static str),
    Issuer,
    Audience,
    Expired,
    NotYet(&'static str),
    NoKeys,
}

impl Reason {
    /// What the caller is told.
    pub(super) fn refusal(self) -> Refusal {
        match self {
            Self::NoKeys => Refusal::Unavailable,
            _ => Refusal::InvalidToken,
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::NoHeader => "there is no header Authorization",
            #[cfg(feature = "http")]
            Self::SeveralHeaders => "there are several headers Authorization",
            Self::NotBearer => "the header Authorization holds no bearer token",
            Self::TooLong => "the token is too long",
            Self::NotThreeParts => "the token does not have three parts",
            Self::Header => "the header of the token is not readable",
            Self::Algorithm => "the algorithm is none of RS256, RS384, RS512",
            Self::Critical => "the header of the token has critical extensions, and none is known here",
            Self::NoKeyId => "the header of the token names no key",
            Self::UnknownKey => "the key is not among those of the issuer",
            Self::Signature => "the signature is not good",
            Self::Claims => "the claims are not a JSON object",
            Self::Missing(claim) => return write!(f, "the claim {claim} is missing"),
            Self::Form(claim) => return write!(f, "the claim {claim} has a wrong form"),
            Self::Issuer => "the issuer is another one",
            Self::Audience => "the audience is another one, or a list",
            Self::Expired => "the token has expired",
            Self::NotYet(claim) => return write!(f, "the claim {claim} lies in the future"),
            Self::NoKeys => "there are no keys to check with",
        };
        f.write_str(text)
    }
}
