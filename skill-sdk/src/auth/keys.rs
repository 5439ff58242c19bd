//! The keys of the issuer: fetched, cached and refreshed.

use std::error::Error;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use reqwest::redirect::Policy;
use reqwest::{Client, StatusCode, Url};
use tokio::runtime::Handle;
use tokio::sync::watch;

use super::jwks::{KeySet, MAX_JWKS_BYTES};
use super::settings::{JWKS_URL, SettingsError};
use super::verifier::Clock;

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
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    keys: Option<Arc<KeySet>>,
    /// When the fetch that brought the keys began.
    fetched: Option<Instant>,
    /// When the last fetch began.
    attempted: Option<Instant>,
    /// The fetch that runs or ran last. Its sender is dropped when it ends, however it ends.
    fetch: Option<watch::Receiver<()>>,
}

impl Keys {
    pub(super) fn new(source: JwksUrl, clock: Arc<dyn Clock>) -> Self {
        Self {
            source,
            clock,
            state: Mutex::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether there ever were keys.
    pub(super) fn were_fetched(&self) -> bool {
        self.state().keys.is_some()
    }

    /// The keys if they are at most that old.
    fn cached(&self, max_age: Duration) -> Option<Arc<KeySet>> {
        let state = self.state();
        let age = self.clock.now().duration_since(state.fetched?);
        state.keys.clone().filter(|_| age <= max_age)
    }

    /// The keys, fetched before when they are stale.
    ///
    /// The caller that starts the fetch waits for it; the others use the stale keys and wait only if there are none.
    pub(super) async fn get(self: &Arc<Self>) -> Option<Arc<KeySet>> {
        if let Some(keys) = self.cached(JWKS_MAX_AGE) {
            return Some(keys);
        }
        let join = self.cached(JWKS_MAX_STALE).is_none();
        self.refresh(join).await;
        self.cached(JWKS_MAX_STALE)
    }

    /// The keys, fetched again for a key that they do not have.
    pub(super) async fn get_again(self: &Arc<Self>) -> Option<Arc<KeySet>> {
        self.refresh(true).await;
        self.cached(JWKS_MAX_STALE)
    }

    /// Waits for the fetch that it starts and, with `join`, for one that runs already.
    async fn refresh(self: &Arc<Self>, join: bool) {
        if let Some((started, mut fetch)) = self.start_fetch()
            && (started || join)
        {
            // Nothing is ever sent: this ends when the sender is dropped.
            let _ = fetch.changed().await;
        }
    }

    /// Starts a fetch if none runs and the last one began long enough ago. Gives the fetch that runs, and whether it is new.
    pub(super) fn start_fetch(self: &Arc<Self>) -> Option<(bool, watch::Receiver<()>)> {
        let now = self.clock.now();
        let mut state = self.state();
        if let Some(fetch) = state.fetch.as_ref().filter(|fetch| fetch.has_changed().is_ok()) {
            return Some((false, fetch.clone()));
        }
        let too_early = |last: Instant| now.duration_since(last) < JWKS_MIN_REFRESH_INTERVAL;
        if state.attempted.is_some_and(too_early) {
            return None;
        }
        let runtime = Handle::try_current().ok()?;
        let (done, fetch) = watch::channel(());
        state.attempted = Some(now);
        state.fetch = Some(fetch.clone());
        drop(state);
        let keys = Arc::clone(self);
        // A task of its own: it goes on when the request that started it is cancelled.
        runtime.spawn(async move {
            if let Err(error) = keys.fetch(now).await {
                tracing::warn!(%error, "the keys of the issuer could not be fetched");
            }
            drop(done);
        });
        Some((true, fetch))
    }

    async fn fetch(&self, began: Instant) -> Result<(), String> {
        let document = self.source.fetch().await?;
        let same = |keys: &Arc<KeySet>| keys.document == document;
        let cached = self.state().keys.clone().filter(same);
        let keys = match cached {
            // Tokens that were verified with these keys stay cached.
            Some(keys) => keys,
            None => Arc::new(KeySet::read(document)?),
        };
        tracing::debug!(?keys, "the keys of the issuer were fetched");
        let mut state = self.state();
        state.keys = Some(keys);
        state.fetched = Some(began);
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
    pub(super) fn parse(url: &str) -> Result<Self, SettingsError> {
        let invalid = |why: &str| SettingsError(format!("{JWKS_URL} {why}"));
        let url = Url::parse(url).map_err(|error| {
            invalid(&format!(
                "must be a URL such as https://iam.example/jwks: {error}"
            ))
        })?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(invalid("must not hold a user name or a password"));
        }
        let is_loopback = url.host_str().is_some_and(is_loopback);
        if url.scheme() != "https" && !(url.scheme() == "http" && is_loopback) {
            return Err(invalid(
                "must begin with https://; http:// is for loopback addresses only, since whoever can change keys on their \
                 way can sign tokens",
            ));
        }
        Ok(Self { url, is_loopback })
    }

    async fn fetch(&self) -> Result<Vec<u8>, String> {
        self.download()
            .await
            .map_err(|error| chain(&error.without_url()))?
    }

    async fn download(&self) -> Result<Result<Vec<u8>, String>, reqwest::Error> {
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
        let mut response = client.build()?.get(self.url.clone()).send().await?;
        if response.status() != StatusCode::OK {
            return Ok(Err(format!("the response is {}", response.status())));
        }
        let mut document = Vec::new();
        // A document over the limit is not read to its end: `KeySet::read` rejects it.
        while document.len() <= MAX_JWKS_BYTES
            && let Some(chunk) = response.chunk().await?
        {
            document.extend_from_slice(&chunk);
        }
        Ok(Ok(document))
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
