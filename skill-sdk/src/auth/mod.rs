//! Who may call a host that listens on a port: bearer tokens and the keys that check them.
//!
//! A [`Verifier`] takes what stands in the header `Authorization` and gives the [`Caller`](crate::Caller), or says no. It
//! fails closed: without keys nobody gets in.
//!
//! - Only RS256, RS384 and RS512 count, and that is decided before any key is touched.
//! - The signature must be good; `iss` and `aud` must be ours, `aud` as a single text; `exp`, `nbf` and `iat` have
//!   [`LEEWAY_SECONDS`] of leeway; `iss`, `sub`, `aud`, `tenant_id`, `iat`, `nbf`, `exp` and `jti` must be there, and `sub` and
//!   `tenant_id` must be UUIDs.
//! - Keys come from a JWKS document that is fresh for [`JWKS_MAX_AGE`]. An old document or an unknown key asks for one
//!   refresh at a time, and at most one in [`JWKS_MIN_REFRESH_INTERVAL`]. A refresh that fails keeps the old keys until [`JWKS_MAX_STALE`]
//!   after the last good one.
//! - A token that was good is not checked again for its signature while its key is in the document; its expiry is.
//!
//! A refusal never says what was wrong with a token; the log does, without the token.
//!
//! ```no_run
//! use skill_sdk::Environment;
//! use skill_sdk::auth::Verifier;
//! use skill_sdk::http::HttpServer;
//! use skill_sdk::pipeline::SkillSet;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // SKILL_SDK_IAM_ISSUER, SKILL_SDK_AUDIENCE and SKILL_SDK_JWKS_URL.
//! let verifier = Verifier::from_environment(&Environment::process())?;
//! let http = HttpServer::new(SkillSet::collect()?, verifier);
//! # let _ = http;
//! # Ok(())
//! # }
//! ```

mod settings;

#[cfg(feature = "auth")]
mod cache;
#[cfg(feature = "auth")]
mod claims;
#[cfg(feature = "auth")]
mod clock;
#[cfg(feature = "auth")]
mod jwks;
#[cfg(feature = "auth")]
mod keys;
#[cfg(feature = "auth")]
mod refusal;
#[cfg(feature = "auth")]
mod source;
#[cfg(feature = "auth")]
mod token;
#[cfg(feature = "auth")]
mod uuid;
#[cfg(feature = "auth")]
mod verifier;

pub use self::settings::{AUDIENCE, AuthSettings, IAM_ISSUER, JWKS_URL, SettingsError};

#[cfg(feature = "auth")]
pub use self::{
    cache::CACHED_TOKENS,
    claims::LEEWAY_SECONDS,
    clock::{Clock, SystemClock},
    jwks::{MAX_JWKS_BYTES, MAX_KEYS},
    keys::{JWKS_MAX_AGE, JWKS_MAX_STALE, JWKS_MIN_REFRESH_INTERVAL, KEYS_TIMEOUT},
    refusal::Refusal,
    source::{Fetching, HttpKeys, KeySource, KeySourceError},
    token::MAX_TOKEN_BYTES,
    verifier::Verifier,
};
