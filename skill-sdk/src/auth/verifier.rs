//! From the header `Authorization` to the caller.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use jsonwebtoken::crypto::{CryptoProvider, aws_lc};
use quick_cache::sync::Cache;
use sha2::{Digest as _, Sha256};

use super::claims;
use super::error::AuthError;
use super::jwks::KeySet;
use super::keys::{JWKS_MIN_REFRESH_INTERVAL, JwksUrl, Keys};
use super::settings::AuthSettings;
use super::token;
use crate::context::{Caller, Environment};
use crate::error::ConfigError;
use crate::serve::LogLimit;

/// How many verified tokens are cached at most.
pub const CACHED_TOKENS: usize = 4096;

/// Longer tokens are verified each time, which bounds the memory of the cache.
const CACHED_TOKEN_BYTES: usize = 4096;

/// The time, so that tests can set it.
pub trait Clock: Send + Sync + 'static {
    /// Whole seconds since 1970 in UTC, which the claims of tokens are compared with.
    fn unix_seconds(&self) -> i64 {
        // A clock before 1970 makes every token one of the future.
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
    }

    /// The time that the age of keys is measured with.
    fn now(&self) -> Instant {
        Instant::now()
    }
}

/// The time of the system.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {}

/// Verifies bearer tokens. It is cheap to clone; all clones share their keys and their cache of tokens.
///
/// Keys are fetched with the first token, or by [`is_ready`](Self::is_ready) and [`warm_up`](Self::warm_up). It must be used
/// in a tokio runtime.
#[derive(Clone)]
pub struct Verifier(Arc<Inner>);

struct Inner {
    settings: AuthSettings,
    keys: Arc<Keys>,
    clock: Arc<dyn Clock>,
    /// Verified tokens by their SHA-256, so that no token stays in memory.
    tokens: Cache<[u8; 32], Verified>,
    log: LogLimit,
}

/// A verified token.
#[derive(Clone)]
struct Verified {
    caller: Arc<Caller>,
    /// The keys at that time: when they change, the token is verified again.
    keys: Arc<KeySet>,
}

impl Verifier {
    /// Verifies tokens of this issuer, for this audience, with the keys at this URL.
    ///
    /// # Errors
    ///
    /// The URL is not `https`, or not `http` on a loopback address; or it holds a user name or a password.
    pub fn new(settings: AuthSettings) -> Result<Self, ConfigError> {
        Self::with_clock(settings, SystemClock)
    }

    /// Verifies tokens by the environment variables of [`AuthSettings::from_environment`].
    ///
    /// # Errors
    ///
    /// A variable is missing, or keys cannot be fetched from the URL.
    pub fn from_environment(environment: &Environment) -> Result<Self, ConfigError> {
        Self::new(AuthSettings::from_environment(environment)?)
    }

    /// Verifies tokens by a clock of your own.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    #[doc(hidden)]
    pub fn with_clock(settings: AuthSettings, clock: impl Clock) -> Result<Self, ConfigError> {
        // Without a choice `jsonwebtoken` panics when another crate has turned on its second implementation. A choice that the
        // program has made already stays.
        let _ = CryptoProvider::install_default(&aws_lc::DEFAULT_PROVIDER);
        let clock: Arc<dyn Clock> = Arc::new(clock);
        let source = JwksUrl::parse(&settings.jwks_url)?;
        Ok(Self(Arc::new(Inner {
            settings,
            keys: Arc::new(Keys::new(source, Arc::clone(&clock))),
            clock,
            tokens: Cache::new(CACHED_TOKENS),
            log: LogLimit::default(),
        })))
    }

    /// The issuer and the audience of the accepted tokens.
    pub fn settings(&self) -> &AuthSettings {
        &self.0.settings
    }

    /// Whether keys were ever fetched. If not, this starts to fetch them, at most once each [`JWKS_MIN_REFRESH_INTERVAL`],
    /// without waiting for the response.
    pub fn is_ready(&self) -> bool {
        let ready = self.0.keys.were_fetched();
        if !ready {
            self.0.keys.start_refresh();
        }
        ready
    }

    /// Fetches keys, and retries until that succeeds.
    pub async fn warm_up(&self) {
        while self.0.keys.get().await.is_none() {
            // A little more than the interval, which began before this.
            tokio::time::sleep(JWKS_MIN_REFRESH_INTERVAL + Duration::from_millis(1)).await;
        }
    }

    /// The caller whose bearer token is in the header `Authorization`. Pass all values of that header: a request with several
    /// of them is rejected.
    ///
    /// The log says at the level `info` why a token is invalid, without the token, at most 10 times a second.
    ///
    /// # Errors
    ///
    /// The token is missing or invalid, or the keys to verify it with are not available.
    pub async fn authenticate<'a>(
        &self,
        authorization: impl IntoIterator<Item = &'a [u8]>,
    ) -> Result<Arc<Caller>, AuthError> {
        let values: Vec<&[u8]> = authorization.into_iter().take(2).collect();
        let result = match values[..] {
            [value] => self.verify(value).await,
            [] => Err(AuthError::invalid("the header Authorization is missing")),
            _ => Err(AuthError::invalid(
                "the header Authorization occurs more than once",
            )),
        };
        if let Err(reason) = &result
            && self.0.log.allows(self.0.clock.now())
        {
            match reason {
                AuthError::InvalidToken(_) => tracing::info!(%reason, "authentication failed"),
                AuthError::VerificationUnavailable => tracing::warn!(%reason, "authentication failed"),
            }
        }
        result
    }

    async fn verify(&self, authorization: &[u8]) -> Result<Arc<Caller>, AuthError> {
        let Inner {
            settings,
            keys,
            clock,
            tokens,
            ..
        } = &*self.0;
        let token = token::bearer(authorization)?;
        let hash: [u8; 32] = Sha256::digest(token).into();
        let cached = tokens.get(&hash);
        if cached.is_none() {
            // What can be rejected without keys is rejected before they are fetched.
            token::header(token)?;
        }
        let mut current = keys.get().await.ok_or(AuthError::VerificationUnavailable)?;
        if let Some(cached) = cached.filter(|cached| Arc::ptr_eq(&cached.keys, &current)) {
            let expired = claims::is_expired(cached.caller.expires_at, clock.unix_seconds());
            return if expired {
                Err(claims::expired())
            } else {
                Ok(cached.caller)
            };
        }
        let (algorithm, key_id) = token::header(token)?;
        if current.get(&key_id).is_none() {
            current = keys
                .get_refreshed()
                .await
                .ok_or(AuthError::VerificationUnavailable)?;
        }
        let unknown = || AuthError::invalid("the key is not among those of the issuer");
        let key = current.get(&key_id).ok_or_else(unknown)?;
        let claims = token::verify(token, algorithm, key)?;
        let caller = Arc::new(claims::caller(claims, settings, clock.unix_seconds())?);
        if token.len() <= CACHED_TOKEN_BYTES {
            let verified = Verified {
                caller: Arc::clone(&caller),
                keys: current,
            };
            tokens.insert(hash, verified);
        }
        Ok(caller)
    }
}

impl fmt::Debug for Verifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Verifier")
            .field("settings", &self.0.settings)
            .finish_non_exhaustive()
    }
}
