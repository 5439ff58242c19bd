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

/// The tenant of all connections.
const TENANT: &str = "tenant-1";

/// Connections in memory, for [`Invoke::connections`](super::Invoke::connections): a core, an IAM and a secret store, behind the
/// real client. Clones share the connections.
///
/// The clock shows 2026-01-01T00:00:00Z until [`advance`](Self::advance) changes it.
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
    /// The transport of the client uses it too.
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
    /// The number of the current token, from 1.
    generation: u64,
    /// When that token expires.
    expires_at: Option<SystemTime>,
    /// The status that the store returns instead of the token.
    rejects: Option<u16>,
    /// The path that the core returns, if it is not that of the token.
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
    /// A connection with the key `key` as its type, with auth `token`, without account and settings. Its tokens are `t-1`, `t-2`, …
    /// and do not expire.
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

    /// Sets how it authenticates. The token of `oauth2` has another path in the store.
    pub fn auth(mut self, auth: impl Into<String>) -> Self {
        self.auth = auth.into();
        self
    }

    /// Sets the settings. A value that is not an object gives empty settings.
    pub fn settings(mut self, settings: Value) -> Self {
        self.settings = match settings {
            Value::Object(settings) => settings,
            _ => Map::new(),
        };
        self
    }

    /// Sets the first token. Rotations append `-2`, `-3`, ….
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.token = Some(token.into());
        self
    }

    /// Sets the lifetime of each token.
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

    /// The path of the token.
    fn path(&self) -> String {
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

    /// No connections, with a client that caches for `cache`, at most for 60 s.
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

    /// Adds an active connection, or replaces the one with the same key. A key alone is enough.
    pub fn add(&self, connection: impl Into<FakeConnection>) {
        self.insert(connection.into(), "active");
    }

    /// Adds a pending connection.
    pub fn pending(&self, connection: impl Into<FakeConnection>) {
        self.insert(connection.into(), "pending");
    }

    fn insert(&self, connection: FakeConnection, status: &'static str) {
        let entry = Entry {
            status,
            generation: 1,
            expires_at: connection.expires_in.map(|time| self.clock.now() + time),
            rejects: None,
            secret_ref: None,
            connection,
        };
        let mut state = self.state.lock();
        state.connections.insert(entry.connection.key.clone(), entry);
    }

    /// Replaces the token with a new one.
    ///
    /// # Panics
    ///
    /// If the connection does not exist.
    #[track_caller]
    pub fn rotate(&self, key: &str) {
        self.change(key, |entry| {
            entry.generation += 1;
            entry.expires_at = entry.connection.expires_in.map(|time| self.clock.now() + time);
        });
    }

    /// Revokes the access: the core reports it, and the store has no token any more.
    ///
    /// # Panics
    ///
    /// If the connection does not exist.
    #[track_caller]
    pub fn revoke(&self, key: &str) {
        self.change(key, |entry| entry.status = "revoked");
    }

    /// Expires the access: the core reports it, and the store has no token any more.
    ///
    /// # Panics
    ///
    /// If the connection does not exist.
    #[track_caller]
    pub fn expire(&self, key: &str) {
        self.change(key, |entry| entry.status = "expired");
    }

    /// Makes the store return `status` instead of the token of `key`, while the connection stays active in the core.
    ///
    /// # Panics
    ///
    /// If the connection does not exist.
    #[track_caller]
    pub fn reject(&self, key: &str, status: u16) {
        self.change(key, |entry| entry.rejects = Some(status));
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
        super::fail(&format!("unknown connection `{key}`; known: {known}"))
    }

    /// Seals the store: every read fails.
    pub fn seal(&self) {
        self.state.lock().sealed = true;
    }

    /// Unseals the store.
    pub fn unseal(&self) {
        self.state.lock().sealed = false;
    }

    /// Makes the core unreachable, or reachable again.
    pub fn set_core_down(&self, down: bool) {
        self.state.lock().core_down = down;
    }

    /// Advances the clock of the client.
    pub fn advance(&self, by: Duration) {
        self.clock.advance(by);
    }

    /// The current token of `key`.
    pub fn token(&self, key: &str) -> Option<String> {
        self.state.lock().connections.get(key).map(Entry::token)
    }

    /// The paths of the store that were read, in order.
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
