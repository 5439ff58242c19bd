//! An issuer of tokens for tests.

mod key;
mod server;
mod token;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use self::key::SigningKey;
pub use self::server::KeysAnswer;
use self::server::Server;
pub use self::token::TestToken;
use super::shared::Shared;
use crate::auth::{AUDIENCE, AuthSettings, IAM_ISSUER, JWKS_URL, Verifier};
use crate::context::Environment;

/// Issues tokens and serves its keys on a free port of the loopback address, like an identity provider.
///
/// It does not need a runtime: the server has a thread of its own, which ends with the issuer. Tokens are valid by default. A test
/// changes what it is about.
///
/// ```
/// use skill_sdk::testing::{KeysAnswer, TestIssuer};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let issuer = TestIssuer::start();
/// let verifier = issuer.verifier();
///
/// let token = issuer.token().scopes(["claims:read"]).authorization();
/// let caller = verifier.authenticate(Some(token.as_bytes())).await.unwrap();
/// assert!(caller.has_scope("claims:read"));
///
/// let late = issuer.token().expires_in(-60).authorization();
/// assert!(verifier.authenticate(Some(late.as_bytes())).await.is_err());
///
/// // Cached keys are used during an outage.
/// issuer.answer_with(KeysAnswer::Closed);
/// assert!(verifier.authenticate(Some(token.as_bytes())).await.is_ok());
/// assert_eq!(issuer.fetches(), 1);
/// # });
/// ```
///
/// [`environment`](Self::environment) has the three variables for a server in a process of its own.
pub struct TestIssuer {
    issuer: String,
    audience: String,
    keys: Shared<Keys>,
    server: Server,
}

/// The keys of an issuer.
#[derive(Default)]
struct Keys {
    /// All keys, by id.
    all: BTreeMap<String, Arc<SigningKey>>,
    /// The ids of the served keys, in order.
    served: Vec<String>,
    /// The id of the key that signs.
    current: String,
}

impl TestIssuer {
    /// An issuer `https://issuer.test` of tokens for the audience `skills`, with one key `k1`.
    ///
    /// # Panics
    ///
    /// If the loopback address has no free port.
    pub fn start() -> Self {
        Self::start_as("https://issuer.test", "skills")
    }

    /// An issuer of that name, of tokens for that audience.
    ///
    /// # Panics
    ///
    /// If the loopback address has no free port.
    pub fn start_as(issuer: impl Into<String>, audience: impl Into<String>) -> Self {
        let keys = Shared::<Keys>::default();
        let served = keys.clone();
        let issuer = Self {
            issuer: issuer.into(),
            audience: audience.into(),
            keys,
            server: Server::start(move || served.lock().document().to_string()),
        };
        issuer.rotate();
        issuer
    }

    /// The name of the issuer: the claim `iss` of its tokens.
    pub fn issuer(&self) -> &str {
        &self.issuer
    }

    /// The audience of its tokens.
    pub fn audience(&self) -> &str {
        &self.audience
    }

    /// The URL of its keys.
    pub fn jwks_url(&self) -> String {
        format!("http://{}/jwks", self.server.address)
    }

    /// The document that is served under [`jwks_url`](Self::jwks_url).
    pub fn jwks(&self) -> Value {
        self.keys.lock().document()
    }

    /// The three environment variables that make a server accept its tokens.
    pub fn variables(&self) -> [(String, String); 3] {
        [
            (IAM_ISSUER.to_owned(), self.issuer.clone()),
            (AUDIENCE.to_owned(), self.audience.clone()),
            (JWKS_URL.to_owned(), self.jwks_url()),
        ]
    }

    /// An environment with these variables alone.
    pub fn environment(&self) -> Environment {
        Environment::from_vars(self.variables())
    }

    /// The settings that make a [`Verifier`] accept its tokens.
    ///
    /// # Panics
    ///
    /// If the name or the audience of the issuer is blank.
    #[expect(clippy::expect_used, reason = "a test that names a blank issuer should stop")]
    pub fn settings(&self) -> AuthSettings {
        AuthSettings::new(&self.issuer, &self.audience, self.jwks_url()).expect("an issuer has a name")
    }

    /// A verifier that accepts its tokens. Each verifier has a cache of its own.
    ///
    /// # Panics
    ///
    /// If the name or the audience of the issuer is blank.
    #[expect(clippy::expect_used, reason = "a test without a client for HTTP should stop")]
    pub fn verifier(&self) -> Verifier {
        Verifier::new(self.settings()).expect("keys of a loopback address can be fetched")
    }

    /// A valid token: signed with the current key, for a new principal of a new tenant, for 5 minutes.
    pub fn token(&self) -> TestToken<'_> {
        TestToken::good(self)
    }

    /// Creates a key, signs with it from now on, and serves it in addition. Returns its id: `k2`, `k3`, ….
    pub fn rotate(&self) -> String {
        let id = self.add_key();
        let mut keys = self.keys.lock();
        keys.served.push(id.clone());
        keys.current.clone_from(&id);
        id
    }

    /// Creates a key that is neither served nor used by default. Returns its id.
    pub fn add_key(&self) -> String {
        let key = Arc::new(SigningKey::generate());
        let mut keys = self.keys.lock();
        let id = format!("k{}", keys.all.len() + 1);
        keys.all.insert(id.clone(), key);
        id
    }

    /// Serves these keys from now on, in this order.
    ///
    /// # Panics
    ///
    /// If a key does not exist.
    pub fn serve_keys<'a>(&self, ids: impl IntoIterator<Item = &'a str>) {
        let ids: Vec<String> = ids.into_iter().map(str::to_owned).collect();
        let mut keys = self.keys.lock();
        for id in &ids {
            assert!(keys.all.contains_key(id), "the issuer has no key {id}");
        }
        keys.served = ids;
    }

    /// Sets the response to requests for the keys. Held requests get it too.
    pub fn answer_with(&self, answer: KeysAnswer) {
        self.server.state.send_modify(|state| state.answer = answer);
    }

    /// The number of requests for the keys.
    pub fn fetches(&self) -> usize {
        self.server.state.borrow().fetches
    }

    /// Waits for this number of requests for the keys, held requests included.
    pub async fn fetched(&self, times: usize) {
        let mut state = self.server.state.subscribe();
        // The sender lives as long as the issuer.
        drop(state.wait_for(|state| state.fetches >= times).await);
    }

    /// The key with that id, or the current one.
    fn key(&self, id: Option<&str>) -> (String, Arc<SigningKey>) {
        let keys = self.keys.lock();
        let id = id.unwrap_or(&keys.current);
        assert!(keys.all.contains_key(id), "the issuer has no key {id}");
        (id.to_owned(), Arc::clone(&keys.all[id]))
    }
}

debug_fields!(TestIssuer { issuer, audience });

impl Keys {
    fn document(&self) -> Value {
        let served = self.served.iter();
        let keys = served.filter_map(|id| Some(self.all.get(id)?.jwk(id)));
        json!({"keys": keys.collect::<Vec<_>>()})
    }
}
