//! From the header of a request to the caller.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::cache::{Fingerprint, Known, TokenCache};
use super::claims;
use super::clock::{Clock, SystemClock};
use super::jwks::Key;
use super::keys::{JWKS_MIN_REFRESH_INTERVAL, Keys};
use super::refusal::{Reason, Refusal};
use super::settings::{AuthSettings, SettingsError};
use super::source::{HttpKeys, KeySource};
use super::token::{Unverified, bearer};
use crate::context::{Caller, Environment};

/// Longer tokens are checked each time: remembering them would cost more memory than it saves time.
const CACHED_TOKEN_BYTES: usize = 4096;

/// Checks bearer tokens. It is cheap to clone; all clones share their keys and what they remember of tokens.
///
/// Keys are fetched with the first token, or by [`is_ready`](Self::is_ready) and [`warm_up`](Self::warm_up). It must be used
/// in a tokio runtime.
#[derive(Clone)]
pub struct Verifier(Arc<Inner>);

struct Inner {
    settings: AuthSettings,
    keys: Keys,
    tokens: Arc<TokenCache>,
    clock: Arc<dyn Clock>,
    /// [`is_signed`]. By this pointer alone the code of signatures belongs to a program: one whose hosts take no tokens has
    /// no verifier, and the linker leaves it out.
    is_signed: fn(&Unverified<'_>, &Key) -> bool,
}

impl Verifier {
    /// Checks tokens of this issuer, for this audience, with the keys at this URL.
    ///
    /// # Errors
    ///
    /// Keys cannot be fetched from the URL: see [`HttpKeys::new`].
    pub fn new(settings: AuthSettings) -> Result<Self, SettingsError> {
        let keys = HttpKeys::new(&settings.jwks_url)?;
        Ok(Self::with_keys(settings, keys, SystemClock::default()))
    }

    /// Checks tokens by the three variables of [`AuthSettings::from_environment`].
    ///
    /// # Errors
    ///
    /// A variable is missing, or keys cannot be fetched from the URL.
    pub fn from_environment(environment: &Environment) -> Result<Self, SettingsError> {
        Self::new(AuthSettings::from_environment(environment)?)
    }

    /// Checks tokens with keys from a source of your own, by clocks of your own. The URL of the settings is not used.
    pub fn with_keys(settings: AuthSettings, keys: impl KeySource, clock: impl Clock) -> Self {
        provide_cryptography();
        let clock: Arc<dyn Clock> = Arc::new(clock);
        let tokens = Arc::new(TokenCache::new());
        Self(Arc::new(Inner {
            settings,
            keys: Keys::new(Box::new(keys), Arc::clone(&clock), Arc::clone(&tokens)),
            tokens,
            clock,
            is_signed,
        }))
    }

    /// Whose tokens count.
    pub fn settings(&self) -> &AuthSettings {
        &self.0.settings
    }

    /// Whether keys were fetched, now or long ago. As long as they were not, asking begins to fetch them, at most once in
    /// [`JWKS_MIN_REFRESH_INTERVAL`], without waiting for the answer.
    pub fn is_ready(&self) -> bool {
        let ready = self.0.keys.were_fetched();
        if !ready {
            self.0.keys.begin();
        }
        ready
    }

    /// Fetches keys, again and again until there are some.
    pub async fn warm_up(&self) {
        while !self.0.keys.were_fetched() {
            if !self.0.keys.settle().await {
                // A little more than the pause, which began before this.
                tokio::time::sleep(JWKS_MIN_REFRESH_INTERVAL + Duration::from_millis(1)).await;
            }
        }
    }

    /// The caller whose bearer token is in the value of the header `Authorization`; `None`: there is no such header.
    ///
    /// What is wrong with a token is logged, at the level `info` and without the token.
    ///
    /// # Errors
    ///
    /// There is no token or it does not pass, or there are no keys to check it with.
    pub async fn authenticate(&self, authorization: Option<&[u8]>) -> Result<Arc<Caller>, Refusal> {
        let result = match authorization {
            Some(authorization) => self.check(authorization).await,
            None => Err(Reason::NoHeader),
        };
        result.map_err(refused)
    }

    /// Refuses a request with more than one header `Authorization`: which one counts is not for us to choose.
    #[cfg(feature = "http")]
    pub(crate) fn refuse_several() -> Refusal {
        refused(Reason::SeveralHeaders)
    }

    async fn check(&self, authorization: &[u8]) -> Result<Arc<Caller>, Reason> {
        let Inner {
            settings,
            keys,
            tokens,
            clock,
            ..
        } = &*self.0;
        let token = bearer(authorization)?;
        // Of a token that is no token, or too long to be remembered, there is none.
        let fingerprint = Some(token)
            .filter(|token| token.len() <= CACHED_TOKEN_BYTES)
            .and_then(Fingerprint::of);
        if let Some(fingerprint) = &fingerprint
            && keys.are_settled()
        {
            match tokens.get(fingerprint, clock.unix_seconds()) {
                Known::Good(caller) => return Ok(caller),
                Known::Expired => return Err(Reason::Expired),
                Known::Nothing => {}
            }
        }

        let unverified = Unverified::read(token)?;
        if !keys.settle().await {
            return Err(Reason::NoKeys);
        }
        // After the keys: a fetch may have taken a while, and may have removed the key of the token.
        if let Some(fingerprint) = &fingerprint
            && let Known::Good(caller) = tokens.get(fingerprint, clock.unix_seconds())
        {
            return Ok(caller);
        }
        let (key, generation) = self.key(&unverified.key_id).await?;
        if !(self.0.is_signed)(&unverified, &key) {
            return Err(Reason::Signature);
        }
        let now = clock.unix_seconds();
        let caller = Arc::new(claims::caller(unverified.claims, settings, now)?);
        if let Some(fingerprint) = &fingerprint {
            tokens.insert(fingerprint, key, Arc::clone(&caller), generation, now);
        }
        Ok(caller)
    }

    /// The key, and the generation of tokens to which those signed with it belong.
    async fn key(&self, id: &str) -> Result<(Arc<Key>, u64), Reason> {
        if let Some(found) = self.known_key(id)? {
            return Ok(found);
        }
        self.0.keys.look_again().await;
        self.known_key(id)?.ok_or(Reason::UnknownKey)
    }

    fn known_key(&self, id: &str) -> Result<Option<(Arc<Key>, u64)>, Reason> {
        // Before the keys: a token that is checked with keys which are replaced meanwhile is not remembered.
        let generation = self.0.tokens.generation();
        let keys = self.0.keys.current().ok_or(Reason::NoKeys)?;
        Ok(keys.get(id).map(|key| (Arc::clone(key), generation)))
    }
}

fn refused(reason: Reason) -> Refusal {
    let refusal = reason.refusal();
    match refusal {
        Refusal::InvalidToken => tracing::info!(%reason, "a caller was refused"),
        Refusal::Unavailable => tracing::warn!(%reason, "a caller was refused"),
    }
    refusal
}

fn is_signed(token: &Unverified<'_>, key: &Key) -> bool {
    let message = token.message.as_bytes();
    jsonwebtoken::crypto::verify(token.signature, message, &key.decoding, token.algorithm)
        // A key or a signature of a wrong form is one that does not fit.
        .unwrap_or(false)
}

/// Another crate of the program may have turned on a second implementation; then one must be chosen, or the first check
/// panics.
fn provide_cryptography() {
    use jsonwebtoken::crypto::{CryptoProvider, aws_lc};

    if CryptoProvider::try_get_default().is_none() {
        // Somebody else was faster: then there is one as well.
        let _ = aws_lc::DEFAULT_PROVIDER.install_default();
    }
}

impl fmt::Debug for Verifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Verifier")
            .field("settings", &self.0.settings)
            .finish_non_exhaustive()
    }
}
