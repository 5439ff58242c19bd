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

/// The timeout of one request.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The largest response, in bytes.
const MAX_ANSWER: usize = 1024 * 1024;

/// The lease of a login if the store does not return one.
const DEFAULT_LEASE: Duration = Duration::from_mins(1);

/// How long before its end a login is renewed: this, or half of its lease.
const MARGIN: Duration = Duration::from_secs(30);

/// Why nothing was read.
#[derive(Debug, Clone)]
pub(super) enum Refused {
    /// The store rejected the login of this agent.
    Login,
    /// The store rejected the read, with 400, 403 or 404.
    Read(u16),
    /// Another failure.
    Failed(SkillError),
}

impl From<SkillError> for Refused {
    fn from(failure: SkillError) -> Self {
        Self::Failed(failure)
    }
}

/// A secret store.
pub(super) struct Store {
    /// Its address, without a trailing slash.
    url: String,
    core: Arc<CoreClient>,
    identity: AudienceToken,
    /// The role for the login: from the settings, or `agent-` and the principal that the core returns.
    role: OnceCell<String>,
    /// The token of the login.
    login: Cached<Secret, Refused>,
}

impl Store {
    /// The store of the settings.
    pub(super) fn new(core: &Arc<CoreClient>, settings: &StoreSettings) -> Result<Self, SkillError> {
        let Some(url) = settings.url.clone() else {
            return Err(unavailable(
                "not_configured",
                "SKILL_SDK_SECRET_STORE_URL is not set, so connections have no tokens",
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

    /// The token at `path`, which must be a path of connections.
    pub(super) async fn read(&self, path: &str) -> Result<AccessToken, Refused> {
        let url = format!("{}/v1/{path}", self.url);
        let login = self.log_in().await?;
        let mut answer = self.send(Method::GET, &url, Some(&login), None).await?;
        if answer.status == 403 {
            // The rights of the login may have changed.
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

    /// The token of a login.
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
        let token = token.ok_or_else(|| {
            unavailable(
                "login_malformed",
                "the response of the secret store to the login has no token",
            )
        })?;
        let lease = seconds(&auth["lease_duration"]).filter(|lease| !lease.is_zero());
        Ok((Secret::new(token), lease.unwrap_or(DEFAULT_LEASE)))
    }

    async fn own_role(&self) -> Result<String, SkillError> {
        let me: Value = self.core.get("/agents/me").await?;
        match me["principalId"].as_str() {
            Some(principal) if !principal.is_empty() => Ok(format!("agent-{principal}")),
            _ => Err(SkillError::terminal(
                "agent_identity_missing",
                "the core does not return the principal of this agent, which the role for the secret store needs; set SKILL_SDK_SECRET_STORE_ROLE",
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
                WebError::TooLarge => "its response is larger than 1 MiB".to_owned(),
            };
            unavailable("unreachable", "the secret store cannot be reached").with_source(why)
        })
    }
}

/// A failure of the IAM before the login. A retryable one makes the store unavailable.
fn of_iam(failure: SkillError) -> SkillError {
    if !failure.is_retryable() {
        return failure;
    }
    let status = failure.details().and_then(|details| details["status"].as_u64());
    let reason = status.map_or("unreachable".to_owned(), |status| format!("status_{status}"));
    unavailable(&reason, "the IAM does not issue a token for the secret store").with_source(failure)
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

/// The failure of a store that is unavailable for `reason`.
pub(super) fn unavailable(reason: &str, message: impl Into<String>) -> SkillError {
    SkillError::retryable("secret_store_unavailable", message).with_details(json!({"reason": reason}))
}

/// The failure of a store that returned a status that does not concern one connection.
fn unavailable_status(status: u16) -> SkillError {
    if status == 503 {
        return unavailable("sealed_or_standby", "the secret store is sealed or not ready");
    }
    let message = format!("the secret store returned status {status}");
    unavailable(&format!("status_{status}"), message)
}

fn iam_missing() -> SkillError {
    SkillError::retryable(
        "config_missing",
        "the server has no identity for the secret store: set CONTROL_PLANE_IAM_URL; a key of the core is not enough",
    )
    .with_details(json!({"config": "CONTROL_PLANE_IAM_URL"}))
}

/// The token of a connection. It implements neither `Display` nor serialization, and `Debug` does not show the token.
#[derive(Clone)]
pub struct AccessToken {
    value: Secret,
    expires_at: Option<SystemTime>,
}

impl AccessToken {
    /// The token itself. Do not log it.
    pub fn expose(&self) -> &str {
        self.value.expose()
    }

    /// When it expires, if the store returns that.
    pub fn expires_at(&self) -> Option<SystemTime> {
        self.expires_at
    }
}

debug_fields!(AccessToken { expires_at });
