//! The keys of the issuer: fetched, cached and refreshed.

use std::error::Error;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use reqwest::redirect::Policy;
use reqwest::{Client, StatusCode, Url};
use tokio::task::JoinHandle;

use super::jwks::{KeySet, MAX_JWKS_BYTES};
use super::settings::JWKS_URL;
use super::verifier::Clock;
use crate::error::ConfigError;

/// How old the keys may be before they are fetched again.
pub const JWKS_MAX_AGE: Duration = Duration::from_mins(5);

/// How old the keys may be while they cannot be fetched again.
pub const JWKS_MAX_STALE: Duration = Duration::from_hours(1);

/// The shortest time between two fetches.
pub const JWKS_MIN_REFRESH_INTERVAL: Duration = Duration::from_secs(10);

/// How long a fetch may take.
pub const JWKS_TIMEOUT: Duration = Duration::from_secs(3);

/// The keys of the issuer.
pub(super) struct Keys {
    source: JwksUrl,
    clock: Arc<dyn Clock>,
    cached: Mutex<Option<Cached>>,
    /// When the last fetch began. Locked while a fetch runs, so that there is one at a time.
    attempted: tokio::sync::Mutex<Option<Instant>>,
}

struct Cached {
    keys: Arc<KeySet>,
    /// When the fetch of these keys began.
    fetched: Instant,
}

impl Keys {
    pub(super) fn new(source: JwksUrl, clock: Arc<dyn Clock>) -> Self {
        Self {
            source,
            clock,
            cached: Mutex::default(),
            attempted: tokio::sync::Mutex::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Cached>> {
        self.cached.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether keys were ever fetched.
    pub(super) fn were_fetched(&self) -> bool {
        self.lock().is_some()
    }

    /// The cached keys if they are at most this old.
    fn cached(&self, max_age: Duration) -> Option<Arc<KeySet>> {
        let cached = self.lock();
        let Cached { keys, fetched } = cached.as_ref()?;
        (self.clock.now().duration_since(*fetched) <= max_age).then(|| Arc::clone(keys))
    }

    /// The keys, refreshed before if they are older than [`JWKS_MAX_AGE`]. While another caller refreshes them, keys that are
    /// not older than [`JWKS_MAX_STALE`] are used.
    pub(super) async fn get(self: &Arc<Self>) -> Option<Arc<KeySet>> {
        if let Some(keys) = self.cached(JWKS_MAX_AGE) {
            return Some(keys);
        }
        let stale = self.cached(JWKS_MAX_STALE);
        if stale.is_some() && self.attempted.try_lock().is_err() {
            return stale;
        }
        self.get_refreshed().await
    }

    /// The keys, after a refresh unless the last one is less than [`JWKS_MIN_REFRESH_INTERVAL`] ago.
    pub(super) async fn get_refreshed(self: &Arc<Self>) -> Option<Arc<KeySet>> {
        let _ = self.start_refresh().await;
        self.cached(JWKS_MAX_STALE)
    }

    /// Refreshes the keys in a task of its own, which goes on when the request that started it is cancelled.
    pub(super) fn start_refresh(self: &Arc<Self>) -> JoinHandle<()> {
        let keys = Arc::clone(self);
        tokio::spawn(async move { keys.refresh().await })
    }

    async fn refresh(&self) {
        // Waits for the fetch that runs, if one does.
        let mut attempted = self.attempted.lock().await;
        let now = self.clock.now();
        if attempted.is_some_and(|last| now.duration_since(last) < JWKS_MIN_REFRESH_INTERVAL) {
            return;
        }
        *attempted = Some(now);
        if let Err(error) = self.fetch(now).await {
            tracing::warn!(%error, "the keys of the issuer could not be fetched");
        }
    }

    async fn fetch(&self, fetched: Instant) -> Result<(), String> {
        let document = self.source.fetch().await?;
        let same = |cached: &Cached| (cached.keys.document == document).then(|| Arc::clone(&cached.keys));
        let unchanged = self.lock().as_ref().and_then(same);
        let keys = match unchanged {
            // Tokens that were verified with these keys stay cached.
            Some(keys) => keys,
            None => Arc::new(KeySet::read(document)?),
        };
        tracing::debug!(?keys, "the keys of the issuer were fetched");
        *self.lock() = Some(Cached { keys, fetched });
        Ok(())
    }
}

/// Where the JWKS document is fetched from. Redirects are not followed, and only a response with status 200 and at most
/// [`MAX_JWKS_BYTES`] is accepted.
pub(super) struct JwksUrl {
    url: Url,
    is_loopback: bool,
}

impl JwksUrl {
    /// The URL must be `https`, or `http` on a loopback address: who can change keys on their way can sign tokens.
    pub(super) fn parse(url: &str) -> Result<Self, ConfigError> {
        let invalid = |why: &str| ConfigError::new(format!("{JWKS_URL} must {why}"));
        let url = Url::parse(url)
            .map_err(|error| invalid(&format!("be a URL such as https://iam.example/jwks: {error}")))?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(invalid("not contain a user name or a password"));
        }
        let is_loopback = url.host_str().is_some_and(is_loopback);
        if url.scheme() != "https" && !(url.scheme() == "http" && is_loopback) {
            return Err(invalid(
                "begin with https://; http:// is accepted for loopback addresses only",
            ));
        }
        Ok(Self { url, is_loopback })
    }

    async fn fetch(&self) -> Result<Vec<u8>, String> {
        let failed = |error: reqwest::Error| chain(&error.without_url());
        // Fetches are minutes apart: there is nothing to keep between them, and a server starts faster without a client.
        let mut client = Client::builder()
            .redirect(Policy::none())
            .timeout(JWKS_TIMEOUT)
            .user_agent(concat!("skill-sdk/", env!("CARGO_PKG_VERSION")));
        if self.is_loopback {
            client = client.no_proxy();
        }
        if self.url.scheme() == "http" {
            // Without reading the certificates of the system.
            client = client.tls_certs_only([]);
        }
        let request = client.build().map_err(failed)?.get(self.url.clone());
        let mut response = request.send().await.map_err(failed)?;
        if response.status() != StatusCode::OK {
            return Err(format!("the response is {}", response.status()));
        }
        let mut document = Vec::new();
        // A document over the limit is not read to its end: `KeySet::read` rejects it.
        while document.len() <= MAX_JWKS_BYTES
            && let Some(chunk) = response.chunk().await.map_err(failed)?
        {
            document.extend_from_slice(&chunk);
        }
        Ok(document)
    }
}

fn is_loopback(host: &str) -> bool {
    let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.to_canonical().is_loopback())
}

/// An error with its causes, in one line.
fn chain(error: &dyn Error) -> String {
    let causes = std::iter::successors(Some(error), |&error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_over_https_or_from_this_machine() {
        for url in [
            "https://iam.example/jwks",
            "HTTPS://iam.example:8443/a?b=c",
            "http://127.0.0.1:1/jwks",
            "http://127.9.9.9/jwks",
            "http://[::1]:1/jwks",
            "http://localhost:1/jwks",
        ] {
            assert!(JwksUrl::parse(url).is_ok(), "{url}");
        }
        for (url, why) in [
            ("http://iam.example/jwks", "https://"),
            ("http://10.0.0.1/jwks", "https://"),
            ("http://127.0.0.1.example/jwks", "https://"),
            ("http://localhost.example/jwks", "https://"),
            ("file:///etc/passwd", "https://"),
            ("https://user:hunter2@iam.example/jwks", "user name"),
            ("https://user@iam.example/jwks", "user name"),
            ("iam.example/jwks", "a URL"),
            ("", "a URL"),
        ] {
            let error = JwksUrl::parse(url).err().unwrap().to_string();
            assert!(
                error.contains(why) && error.contains("SKILL_SDK_JWKS_URL"),
                "{url}: {error}"
            );
            assert!(!error.contains("hunter2") && !error.contains('\n'), "{error}");
        }
    }
}
