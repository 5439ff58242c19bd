//! Bearer token authentication for the servers that listen on a port.
//!
//! A [`Verifier`] takes the header `Authorization` and returns the [`Caller`](crate::Caller) or an [`AuthError`]. It fails
//! closed: without keys every caller is rejected.
//!
//! - Only RS256, RS384 and RS512 are accepted. Other algorithms are rejected before any key is looked up.
//! - The signature must be valid. `iss` and `aud` must equal the settings, `aud` as a single string. `exp`, `nbf` and `iat`
//!   have [`LEEWAY_SECONDS`] of leeway. `iss`, `sub`, `aud`, `tenant_id`, `iat`, `nbf`, `exp` and `jti` are required; `sub` and
//!   `tenant_id` must be UUIDs.
//! - Keys come from a JWKS document that is cached for [`JWKS_MAX_AGE`]. A stale document or an unknown key triggers one
//!   refresh at a time, at most one each [`JWKS_MIN_REFRESH_INTERVAL`]. If a refresh fails, the cached keys stay in use until
//!   [`JWKS_MAX_STALE`] after the last successful one.
//! - The signature of a token is verified once while the keys stay the same; its expiry is checked each time.
//!
//! A response never says what was wrong with a token. The log does, without the token, at most 10 times a second.
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
//!
//! Guide: `docs/guides/identity-providers.md`. Reference: `docs/reference/authentication.md`.

mod settings;

#[cfg(feature = "auth")]
mod claims;
#[cfg(feature = "auth")]
mod error;
#[cfg(feature = "auth")]
mod jwks;
#[cfg(feature = "auth")]
mod keys;
#[cfg(feature = "auth")]
mod token;
#[cfg(feature = "auth")]
mod verifier;

pub use self::settings::AuthSettings;
#[doc(hidden)]
pub use self::settings::{AUDIENCE, IAM_ISSUER, JWKS_URL};

#[cfg(feature = "auth")]
pub use self::{error::AuthError, verifier::Verifier};
// For the tests of the library: limits that a page of the documentation shows, and the clock.
#[cfg(feature = "auth")]
#[doc(hidden)]
pub use self::{
    claims::LEEWAY_SECONDS,
    jwks::MAX_JWKS_BYTES,
    keys::{JWKS_MAX_AGE, JWKS_MAX_STALE, JWKS_MIN_REFRESH_INTERVAL, JWKS_TIMEOUT},
    token::MAX_TOKEN_BYTES,
    verifier::{CACHED_TOKENS, Clock, SystemClock},
};
