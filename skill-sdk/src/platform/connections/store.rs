//! Logging in to the secret store and reading from it.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use tokio::sync::OnceCell;

use super::super::cached::Cached;
use super::super::core::{AudienceToken, CoreClient, IamSettings, seconds};
use super::super::dates;
use super::super::web::{Answer, Method, Request, WebError};
use super::StoreSettings;
use crate::environment::Secret;
use crate::error::SkillError;

/// How long one request may take.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The most bytes of an answer.
const MAX_ANSWER: usize = 1024 * 1024;

/// How long a login is good for when the store does not say.
const DEFAULT_LEASE: Duration = Duration::from_mins(1);

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
    Failed(SkillError),
}

impl From<SkillError> for Refused {
    fn from(failure: SkillError) -> Self {
        Self::Failed(failure)
    }
}

/// A secret store.
pub(super) struct Store {
    /// Its address, without a slash at its end.
    url: String,
    core: Arc<CoreClient>,
    identity: AudienceToken,
    /// The role to log in with: that of the settings, else `agent-` and the principal that the core knows.
    role: OnceCell<String>,
    /// The token of the login.
    login: Cached<Secret, Refused>,
}

impl Store {
    /// The store that the settings name, if they name one.
    pub(super) fn new(core: &Arc<CoreClient>, settings: &StoreSettings) -> Result<Self, SkillError> {
        let Some(url) = settings.url.clone() else {
            return Err(unavailable(
                "not_configured",
                "the host has no SKILL_SDK_SECRET_STORE_URL, so connections have no tokens",
            ));
        };
        let iam = IamSettings {
            audience: settings.audience.clone(),
            scopes: settings.scopes.clone(),
            ..core.settings.iam.clone().ok_or_else(iam_missing)?
        };
        Ok(Self {
            url,
            role: OnceCell::new_with(settings.role.clone()),
            core: Arc::clone(core),
            identity: AudienceToken::new(iam, &core.transport, &core.clock),
            login: Cached::new(&core.clock),
        })
    }

    /// The token at `path`, which has the form of a path of connections.
    pub(super) async fn read(&self, path: &str) -> Result<AccessToken, Refused> {
        let url = format!("{}/v1/{path}", self.url);
        let login = self.log_in().await?;
        let mut answer = self.send(Method::GET, &url, Some(&login), None).await?;
        if answer.status == 403 {
            // The login may have lost its rights, or got them just now.
            self.login.clear_if(|known| *known == login);
            let login = self.log_in().await?;
            answer = self.send(Method::GET, &url, Some(&login), None).await?;
        }
        match answer.status {
            200..300 => Ok(material(&answer, path.starts_with("kv/"))?),
            status @ (400 | 403 | 404) => Err(Refused::Read(status)),
            status => Err(unavailable_status(status).into()),
        }
    }

    /// The token of a login that is good for a while.
    async fn log_in(&self) -> Result<Secret, Refused> {
        let renew = || async {
            let (token, lease) = self.new_login().await?;
            let keep = lease.saturating_sub(MARGIN.min(lease / 2));
            self.login.set(token.clone(), keep);
            Ok(token)
        };
        self.login.get_or_renew(false, renew).await
    }

    async fn new_login(&self) -> Result<(Secret, Duration), Refused> {
        let role = self.role.get_or_try_init(|| self.own_role()).await?;
        let jwt = self.identity.get().await.map_err(of_iam)?;
        let body = json!({"role": role, "jwt": jwt.expose()});
        let url = format!("{}/v1/auth/jwt/login", self.url);
        let answer = self.send(Method::POST, &url, None, Some(&body)).await?;
        match answer.status {
            200..300 => {}
            400 | 403 => {
                self.identity.forget(&jwt);
                return Err(Refused::Login);
            }
            status => return Err(unavailable_status(status).into()),
        }
        let document = answer.json().unwrap_or_default();
        let auth = &document["auth"];
        let token = auth["client_token"].as_str().filter(|token| !token.is_empty());
        let token = token
            .ok_or_else(|| unavailable("login_malformed", "the secret store gave no token for the login"))?;
        let lease = seconds(&auth["lease_duration"]).filter(|lease| !lease.is_zero());
        Ok((Secret::new(token), lease.unwrap_or(DEFAULT_LEASE)))
    }

    async fn own_role(&self) -> Result<String, SkillError> {
        let me: Value = self.core.get("/agents/me").await?;
        match me["principalId"].as_str() {
            Some(principal) if !principal.is_empty() => Ok(format!("agent-{principal}")),
            _ => Err(SkillError::terminal(
                "agent_identity_missing",
                "the core does not say which principal this agent is, so there is no role for the secret store; set SKILL_SDK_SECRET_STORE_ROLE",
            )),
        }
    }

    async fn send(
        &self,
        method: Method,
        url: &str,
        login: Option<&Secret>,
        body: Option<&Value>,
    ) -> Result<Answer, SkillError> {
        let login = login.map(|login| ("x-vault-token", Cow::Borrowed(login.expose())));
        let request = Request {
            method,
            url,
            headers: login.into_iter().collect(),
            body,
            limit: MAX_ANSWER,
            timeout: TIMEOUT,
        };
        self.core.transport.send(request).await.map_err(|error| {
            let why = match error {
                WebError::Unreachable(why) | WebError::Unsendable(why) => why,
                WebError::TooLarge => "its answer has over 1 MiB".to_owned(),
            };
            unavailable("unreachable", "the secret store cannot be reached").with_source(why)
        })
    }
}

/// A failure of the IAM on the way to the store. One that may pass makes the store unavailable.
fn of_iam(failure: SkillError) -> SkillError {
    if !failure.is_retryable() {
        return failure;
    }
    let status = failure.details().and_then(|details| details["status"].as_u64());
    let reason = status.map_or("unreachable".to_owned(), |status| format!("status_{status}"));
    unavailable(&reason, "the IAM gives no token for the secret store").with_source(failure)
}

/// The token in a document of the store.
fn material(answer: &Answer, is_kv: bool) -> Result<AccessToken, SkillError> {
    let document = answer.json().unwrap_or_default();
    let data = &document["data"];
    let data = if is_kv { &data["data"] } else { data };
    let token = data["access_token"].as_str().filter(|token| !token.is_empty());
    let token = token.ok_or_else(|| {
        SkillError::terminal(
            "secret_material_malformed",
            "the document in the secret store has no `access_token`",
        )
    })?;
    let expiries = [&data["expires_at"], &data["expire_time"]];
    let expires_at = expiries.into_iter().find_map(|text| dates::parse(text.as_str()?));
    Ok(AccessToken {
        value: Secret::new(token),
        expires_at,
    })
}

/// The failure of a store that gives nothing, for `reason`.
pub(super) fn unavailable(reason: &str, message: impl Into<String>) -> SkillError {
    SkillError::retryable("secret_store_unavailable", message).with_details(json!({"reason": reason}))
}

/// The store answered with the status `status`, which says nothing about one connection.
fn unavailable_status(status: u16) -> SkillError {
    if status == 503 {
        return unavailable("sealed_or_standby", "the secret store is sealed or not ready");
    }
    let message = format!("the secret store answered {status}");
    unavailable(&format!("status_{status}"), message)
}

fn iam_missing() -> SkillError {
    SkillError::retryable(
        "config_missing",
        "the host has no identity for the secret store: set CONTROL_PLANE_IAM_URL; a key of the core is not enough",
    )
    .with_details(json!({"config": "CONTROL_PLANE_IAM_URL"}))
}

/// The token of a connection. It has no `Display` and no serialization, and its `Debug` shows nothing of it.
#[derive(Clone)]
pub struct AccessToken {
    value: Secret,
    expires_at: Option<SystemTime>,
}

impl AccessToken {
    /// The token itself: hand it to what needs it, and to nothing that logs.
    pub fn expose(&self) -> &str {
        self.value.expose()
    }

    /// When it expires; `None` when the store does not say.
    pub fn expires_at(&self) -> Option<SystemTime> {
        self.expires_at
    }
}

debug_fields!(AccessToken { expires_at });
