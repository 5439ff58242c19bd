//! Logging in to the secret store and reading from it.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Deserialize;
use serde_json::{Value, json};

use super::super::cached::Cached;
use super::super::core::{Ask, AudienceToken, CoreClient, Failure};
use super::super::dates;
use super::super::web::{Answer, ChatError, Method, Request, Transport};
use super::{AccessToken, StoreSettings, failure};
use crate::environment::Secret;

/// How long one request may take.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The most bytes of an answer.
const MAX_ANSWER: usize = 1024 * 1024;

/// How long a login is good for when the store does not say.
const DEFAULT_LEASE: f64 = 60.0;

/// How long before its end a login is renewed: this, or half of its time.
const MARGIN: Duration = Duration::from_secs(30);

/// Why nothing was read.
#[derive(Debug, Clone)]
pub(super) enum Refused {
    /// The store refused the login of this agent.
    Login,
    /// The store refused this path, with 400, 403 or 404.
    Read(u16),
    /// Anything else.
    Failed(Failure),
}

impl From<Failure> for Refused {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// A secret store.
pub(super) struct Store {
    /// Its address, without a slash at its end.
    url: String,
    role: Option<String>,
    core: Arc<CoreClient>,
    identity: AudienceToken,
    /// The role from the core.
    own_role: Mutex<Option<String>>,
    /// The token of the login.
    login: Cached<Secret, Refused>,
}

/// The core's answer about this agent.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
struct Me {
    principal_id: Option<String>,
}

impl Store {
    /// The store that the settings name, if they name one.
    pub(super) fn new(core: &Arc<CoreClient>, settings: &StoreSettings) -> Result<Self, Failure> {
        let Some(url) = settings.url.clone() else {
            return Err(failure::store(
                "not_configured",
                "the host has no SKILL_SDK_SECRET_STORE_URL, so connections have no tokens",
            ));
        };
        let iam = core.settings().iam.clone().ok_or_else(failure::iam_missing)?;
        let identity = AudienceToken::new(
            iam,
            settings.audience.clone(),
            settings.scopes.clone(),
            Arc::clone(core.transport()),
            core.clock(),
        );
        Ok(Self {
            url,
            role: settings.role.clone(),
            core: Arc::clone(core),
            identity,
            own_role: Mutex::default(),
            login: Cached::new(core.clock()),
        })
    }

    /// The token at `path`, which has the form of a path of connections.
    pub(super) async fn read(&self, path: &str) -> Result<AccessToken, Refused> {
        let url = format!("{}/v1/{path}", self.url);
        let mut again = false;
        let answer = loop {
            let login = self.log_in().await?;
            let answer = self.send(Method::Get, &url, Some(&login), None).await?;
            if answer.status == 403 && !again {
                // The login may have lost its rights, or got them just now.
                self.login.clear_if(|known| known.expose() == login.expose());
                again = true;
                continue;
            }
            break answer;
        };
        match answer.status {
            200..300 => material(&answer, path.starts_with("kv/")).map_err(Refused::Failed),
            status @ (400 | 403 | 404) => Err(Refused::Read(status)),
            status => Err(failure::store_status(status).into()),
        }
    }

    /// The token of a login that is good for a while.
    async fn log_in(&self) -> Result<Secret, Refused> {
        let renew = || async {
            let (token, lease) = self.new_login().await?;
            let used = lease.saturating_sub(MARGIN.min(lease / 2));
            self.login.set(token.clone(), used);
            Ok(token)
        };
        self.login.get_or_renew(false, |_| true, renew).await
    }

    async fn new_login(&self) -> Result<(Secret, Duration), Refused> {
        let role = self.role().await?;
        let jwt = self.identity.get().await.map_err(of_iam)?;
        let body = json!({"role": role, "jwt": jwt.expose()}).to_string();
        let url = format!("{}/v1/auth/jwt/login", self.url);
        let answer = self.send(Method::Post, &url, None, Some(body.as_bytes())).await?;
        match answer.status {
            200..300 => {}
            400 | 403 => {
                self.identity.forget(&jwt);
                return Err(Refused::Login);
            }
            status => return Err(failure::store_status(status).into()),
        }
        let document = answer.json().unwrap_or_default();
        let auth = &document["auth"];
        let token = auth["client_token"].as_str().filter(|token| !token.is_empty());
        let Some(token) = token else {
            return Err(
                failure::store("login_malformed", "the secret store gave no token for the login").into(),
            );
        };
        let lease = auth["lease_duration"]
            .as_f64()
            .filter(|lease| *lease > 0.0)
            .unwrap_or(DEFAULT_LEASE);
        let lease = Duration::try_from_secs_f64(lease).unwrap_or(Duration::from_secs(u64::from(u32::MAX)));
        Ok((Secret::new(token), lease))
    }

    /// The role to log in with.
    async fn role(&self) -> Result<String, Failure> {
        if let Some(role) = &self.role {
            return Ok(role.clone());
        }
        if let Some(role) = self.own_role().clone() {
            return Ok(role);
        }
        let me: Me = self.core.json(Ask::get("/agents/me")).await?;
        let principal = me.principal_id.filter(|principal| !principal.is_empty());
        let role = format!("agent-{}", principal.ok_or_else(failure::agent_identity_missing)?);
        *self.own_role() = Some(role.clone());
        Ok(role)
    }

    fn own_role(&self) -> MutexGuard<'_, Option<String>> {
        self.own_role.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn send(
        &self,
        method: Method,
        url: &str,
        login: Option<&Secret>,
        body: Option<&[u8]>,
    ) -> Result<Answer, Failure> {
        let request = Request {
            method,
            url,
            headers: login
                .map(|login| ("x-vault-token", Cow::Borrowed(login.expose())))
                .into_iter()
                .collect(),
            body,
            limit: MAX_ANSWER,
            timeout: TIMEOUT,
        };
        self.transport().send(request).await.map_err(|error| match error {
            ChatError::Unreachable(source) => {
                failure::store("unreachable", "the secret store cannot be reached").with_source(source)
            }
            ChatError::TooLarge => {
                failure::store("unreachable", "the answer of the secret store has over 1 MiB")
            }
            ChatError::Unsendable(why) => failure::store("unreachable", why),
        })
    }

    fn transport(&self) -> &dyn Transport {
        &**self.core.transport()
    }
}

/// A failure of the IAM on the way to the store. One that may pass makes the store unavailable.
fn of_iam(failure: Failure) -> Failure {
    if !failure.is_retryable() {
        return failure;
    }
    let status = failure.details().and_then(|details| details["status"].as_u64());
    let reason = match status {
        Some(status) => format!("status_{status}"),
        None => "unreachable".to_owned(),
    };
    failure::store(&reason, "the IAM gives no token for the secret store").with_source(failure.message())
}

/// The token in a document of the store.
fn material(answer: &Answer, is_kv: bool) -> Result<AccessToken, Failure> {
    let document = answer.json().unwrap_or_default();
    let data = if is_kv {
        &document["data"]["data"]
    } else {
        &document["data"]
    };
    let token = data["access_token"]
        .as_str()
        .filter(|token| !token.is_empty())
        .ok_or_else(failure::material_malformed)?;
    let expires_at = [&data["expires_at"], &data["expire_time"]]
        .into_iter()
        .find_map(moment_of);
    Ok(AccessToken::new(Secret::new(token), expires_at))
}

/// The moment that a member names, if it names one.
pub(super) fn moment_of(value: &Value) -> Option<SystemTime> {
    let micros = dates::parse(value.as_str()?)?;
    let since = Duration::from_micros(micros.unsigned_abs());
    if micros < 0 {
        UNIX_EPOCH.checked_sub(since)
    } else {
        UNIX_EPOCH.checked_add(since)
    }
}
