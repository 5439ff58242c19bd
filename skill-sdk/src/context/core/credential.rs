//! What a request carries.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::super::clock::Clock;
use super::super::flight::Flight;
use super::super::web::Transport;
use super::Failure;
use super::exchange::{Exchanged, exchange};
use super::settings::{CoreSettings, IamSettings};
use crate::context::Secret;

/// How long before its expiry a token is renewed.
const MARGIN: Duration = Duration::from_secs(30);

/// What the core knows this host by.
pub(super) enum Credential {
    /// The key of `CONTROL_PLANE_API_KEY`.
    Key(Secret),
    /// A token of the IAM.
    Iam(Box<AudienceToken>),
    /// Nothing is configured.
    None,
}

impl Credential {
    pub(super) fn new(settings: &CoreSettings, transport: &Arc<dyn Transport>, clock: &Clock) -> Self {
        match (&settings.iam, &settings.api_key) {
            (Some(iam), _) => Self::Iam(Box::new(AudienceToken::new(
                iam.clone(),
                iam.audience.clone(),
                iam.scopes.clone(),
                Arc::clone(transport),
                clock.clone(),
            ))),
            (None, Some(key)) => Self::Key(Secret::new(key)),
            (None, None) => Self::None,
        }
    }

    pub(super) async fn token(&self) -> Result<Secret, Failure> {
        match self {
            Self::Key(key) => Ok(key.clone()),
            Self::Iam(tokens) => tokens.get().await,
            Self::None => Err(Failure::retryable(
                "config_missing",
                "the host has no credential for the core: set CONTROL_PLANE_IAM_URL or CONTROL_PLANE_API_KEY",
            )
            .with_details(serde_json::json!({"config": "CONTROL_PLANE_IAM_URL"}))),
        }
    }

    /// The core refused `token`. Says whether there can be another one.
    pub(super) fn refused(&self, token: &Secret) -> bool {
        match self {
            Self::Iam(tokens) => {
                tokens.forget(token);
                true
            }
            Self::Key(_) | Self::None => false,
        }
    }
}

/// The token of one audience, renewed 30 seconds before its expiry by one caller at a time.
pub(crate) struct AudienceToken {
    settings: IamSettings,
    audience: String,
    scopes: Vec<String>,
    transport: Arc<dyn Transport>,
    clock: Clock,
    /// The token, and until when it is used.
    cached: Mutex<Option<(Secret, Duration)>>,
    flight: Flight<Result<Secret, Failure>>,
}

impl AudienceToken {
    pub(crate) fn new(
        settings: IamSettings,
        audience: String,
        scopes: Vec<String>,
        transport: Arc<dyn Transport>,
        clock: Clock,
    ) -> Self {
        Self {
            settings,
            audience,
            scopes,
            transport,
            clock,
            cached: Mutex::default(),
            flight: Flight::default(),
        }
    }

    /// A token that is good for a while.
    pub(crate) async fn get(&self) -> Result<Secret, Failure> {
        if let Some(token) = self.current() {
            return Ok(token);
        }
        let renew = || async {
            // Somebody else may have been quicker.
            if let Some(token) = self.current() {
                return Ok(token);
            }
            let Exchanged { token, expires_in } =
                exchange(&*self.transport, &self.settings, &self.audience, &self.scopes).await?;
            let until = self.clock.now().saturating_add(expires_in.saturating_sub(MARGIN));
            *self.cached() = Some((token.clone(), until));
            Ok(token)
        };
        self.flight.run(false, renew).await
    }

    /// Does not hand out `token` again.
    pub(crate) fn forget(&self, token: &Secret) {
        let mut cached = self.cached();
        if cached
            .as_ref()
            .is_some_and(|(known, _)| known.expose() == token.expose())
        {
            *cached = None;
        }
    }

    fn current(&self) -> Option<Secret> {
        let cached = self.cached();
        let (token, until) = cached.as_ref()?;
        (self.clock.now() < *until).then(|| token.clone())
    }

    fn cached(&self) -> MutexGuard<'_, Option<(Secret, Duration)>> {
        self.cached.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
