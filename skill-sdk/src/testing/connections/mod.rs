//! Connections in memory.

mod answers;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde_json::{Map, Value};

use super::shared::Shared;
use crate::platform::clock::Clock;
use crate::platform::connections::{ConnectionsClient, LONGEST_CACHE, StoreSettings};
use crate::platform::core::{CoreClient, CoreSettings, IamSettings};

/// The tenant of all connections in memory.
const TENANT: &str = "tenant-1";

/// Connections in memory, for [`Invoke::connections`](super::Invoke::connections): a core, an IAM and a secret store. The
/// client in front of them is the real one. Clones are the same connections.
///
/// Time stands still at 2026-01-01T00:00:00Z until [`advance`](Self::advance) moves it.
///
/// ```
/// use serde_json::json;
/// use skill_sdk::testing::{FakeConnections, invoke};
/// use skill_sdk::{SkillContext, SkillError, skill};
///
/// /// Whether the token is there.
/// #[skill("crm.check", version = "1", side_effects = "external_read", risk = "low")]
/// async fn check(ctx: &SkillContext) -> Result<bool, SkillError> {
///     let crm = ctx.connection("crm").await?;
///     Ok(crm.access_token().await?.expose() == "t-1")
/// }
///
/// let connections = FakeConnections::new();
/// connections.add("crm");
/// let result = invoke(check::SKILL, json!({})).connections(&connections).blocking().unwrap();
/// assert_eq!(result.outputs, json!({"result": true}));
///
/// connections.revoke("crm");
/// connections.advance(std::time::Duration::from_secs(60)); // until then the token is in the cache
/// let error = invoke(check::SKILL, json!({})).connections(&connections).blocking().unwrap_err();
/// assert_eq!(error.code(), "connection_revoked");
/// ```
#[derive(Clone)]
pub struct FakeConnections {
    /// The client's transport sees it as well.
    state: Shared<State>,
    clock: Clock,
    client: Arc<ConnectionsClient>,
}

#[derive(Default)]
struct State {
    connections: BTreeMap<String, Entry>,
    sealed: bool,
    core_down: bool,
    lookups: usize,
    reads: Vec<String>,
}

struct Entry {
    connection: FakeConnection,
    status: &'static str,
    /// Which of its tokens is the current one, from 1.
    generation: u64,
    /// When that token expires, by the clock.
    expires_at: Option<SystemTime>,
    /// What the store answers in place of the token.
    refuses: Option<u16>,
    /// The place that the core names, when it is not the one where the token is.
    secret_ref: Option<String>,
}

/// A connection for [`FakeConnections::add`].
#[derive(Clone, Default)]
#[must_use]
pub struct FakeConnection {
    key: String,
    kind: String,
    account: Option<String>,
    auth: String,
    settings: Map<String, Value>,
    token: Option<String>,
    expires_in: Option<Duration>,
}

impl FakeConnection {
    /// A connection whose type has the name of its key, with the auth `token`, without account and settings. Its tokens are
    /// `t-1`, `t-2`, … and do not expire.
    pub fn new(key: impl Into<String>) -> Self {
        let key = key.into();
        Self {
            kind: key.clone(),
            key,
            auth: "token".to_owned(),
            ..Self::default()
        }
    }

    /// Sets the type.
    pub fn connection_type(mut self, name: impl Into<String>) -> Self {
        self.kind = name.into();
        self
    }

    /// Sets the account.
    pub fn account(mut self, account: impl Into<String>) -> Self {
        self.account = Some(account.into());
        self
    }

    /// Sets how it authenticates. The token of `oauth2` is at another place of the store.
    pub fn auth(mut self, auth: impl Into<String>) -> Self {
        self.auth = auth.into();
        self
    }

    /// Sets the settings. What is not an object is none.
    pub fn settings(mut self, settings: Value) -> Self {
        self.settings = match settings {
            Value::Object(settings) => settings,
            _ => Map::new(),
        };
        self
    }

    /// Sets the first token. Those of later rotations have `-2`, `-3`, … behind it.
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.token = Some(token.into());
        self
    }

    /// Sets how long each token is good from when it is made.
    pub fn expires_in(mut self, time: Duration) -> Self {
        self.expires_in = Some(time);
        self
    }
}

impl From<&str> for FakeConnection {
    fn from(key: &str) -> Self {
        Self::new(key)
    }
}

debug_fields!(FakeConnection { key, kind, account });

impl Entry {
    fn token(&self) -> String {
        match (&self.connection.token, self.generation) {
            (None, generation) => format!("t-{generation}"),
            (Some(token), 1) => token.clone(),
            (Some(token), generation) => format!("{token}-{generation}"),
        }
    }

    /// The place where the token is.
    fn place(&self) -> String {
        let root = if self.connection.auth == "oauth2" {
            "oauth2/creds"
        } else {
            "kv/data"
        };
        format!("{root}/tenants/{TENANT}/connections/{}", self.connection.key)
    }
}

impl Default for FakeConnections {
    fn default() -> Self {
        Self::new()
    }
}

impl FakeConnections {
    /// No connections.
    pub fn new() -> Self {
        Self::with_cache(LONGEST_CACHE)
    }

    /// No connections, in front of a client that keeps what it knows for `cache`, at most for 60 seconds.
    fn with_cache(cache: Duration) -> Self {
        let clock = Clock::manual();
        let state = Shared::<State>::default();
        let mut core = CoreClient::new(&core_settings(), Arc::new(state.clone()), &clock);
        core.retry_window = Duration::ZERO;
        let store = StoreSettings {
            url: Some("http://store.fake".to_owned()),
            audience: "openbao".to_owned(),
            scopes: vec!["secrets:read".to_owned()],
            role: None,
        };
        let client = ConnectionsClient::new(Arc::new(core), &store, cache);
        Self {
            state,
            clock,
            client: Arc::new(client),
        }
    }

    /// Adds a connection that can be used, or puts it in place of the one with the same key. A key alone is enough.
    pub fn add(&self, connection: impl Into<FakeConnection>) {
        self.insert(connection.into(), "active");
    }

    /// Adds a connection that nobody has connected yet.
    pub fn pending(&self, connection: impl Into<FakeConnection>) {
        self.insert(connection.into(), "pending");
    }

    fn insert(&self, connection: FakeConnection, status: &'static str) {
        let entry = Entry {
            status,
            generation: 1,
            expires_at: connection.expires_in.map(|time| self.clock.now() + time),
            refuses: None,
            secret_ref: None,
            connection,
        };
        let mut state = self.state.lock();
        state.connections.insert(entry.connection.key.clone(), entry);
    }

    /// Makes a new token, in place of the one that there is.
    ///
    /// # Panics
    ///
    /// When there is no such connection.
    #[track_caller]
    pub fn rotate(&self, key: &str) {
        self.change(key, |entry| {
            entry.generation += 1;
            entry.expires_at = entry.connection.expires_in.map(|time| self.clock.now() + time);
        });
    }

    /// Takes the access back: the core says so, and the token is gone from the store.
    ///
    /// # Panics
    ///
    /// When there is no such connection.
    #[track_caller]
    pub fn revoke(&self, key: &str) {
        self.change(key, |entry| entry.status = "revoked");
    }

    /// Lets the access be lost: the core says so, and the token is gone from the store.
    ///
    /// # Panics
    ///
    /// When there is no such connection.
    #[track_caller]
    pub fn expire(&self, key: &str) {
        self.change(key, |entry| entry.status = "expired");
    }

    /// Lets the store answer with `status` in place of the token of `key`, while the core says that all is well.
    ///
    /// # Panics
    ///
    /// When there is no such connection.
    #[track_caller]
    pub fn refuse(&self, key: &str, status: u16) {
        self.change(key, |entry| entry.refuses = Some(status));
    }

    #[track_caller]
    fn change(&self, key: &str, change: impl FnOnce(&mut Entry)) {
        let known = {
            let mut state = self.state.lock();
            if let Some(entry) = state.connections.get_mut(key) {
                return change(entry);
            }
            let keys: Vec<_> = state.connections.keys().map(String::as_str).collect();
            keys.join(", ")
        };
        super::fail(&format!("there is no connection `{key}`; there are: {known}"))
    }

    /// Seals the store: nothing is read any more.
    pub fn seal(&self) {
        self.state.lock().sealed = true;
    }

    /// Opens the store again.
    pub fn unseal(&self) {
        self.state.lock().sealed = false;
    }

    /// Makes the core unreachable, or reachable again.
    pub fn set_core_down(&self, down: bool) {
        self.state.lock().core_down = down;
    }

    /// Moves the clock of the client forward.
    pub fn advance(&self, by: Duration) {
        self.clock.advance(by);
    }

    /// The current token of `key`, for comparing.
    pub fn token(&self, key: &str) -> Option<String> {
        self.state.lock().connections.get(key).map(Entry::token)
    }

    /// The places of the store that were read, in order.
    pub fn reads(&self) -> Vec<String> {
        self.state.lock().reads.clone()
    }

    pub(super) fn client(&self) -> Arc<ConnectionsClient> {
        Arc::clone(&self.client)
    }
}

fn core_settings() -> CoreSettings {
    CoreSettings {
        url: "http://core.fake".to_owned(),
        api_key: None,
        iam: Some(IamSettings {
            url: "http://iam.fake".to_owned(),
            tenant: Some(TENANT.to_owned()),
            audience: "control-plane".to_owned(),
            token: Some("fake-platform-token".to_owned()),
            mode: Some("environment".to_owned()),
            ..IamSettings::default()
        }),
    }
}

debug_fields!(FakeConnections {});
