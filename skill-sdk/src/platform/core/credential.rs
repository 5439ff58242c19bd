//! What a request carries.

use std::sync::Arc;
use std::time::Duration;

use super::super::cached::Cached;
use super::super::clock::Clock;
use super::super::web::Transport;
use super::exchange::exchange;
use super::settings::{CoreSettings, IamSettings};
use crate::environment::Secret;
use crate::error::SkillError;

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
            (Some(iam), _) => Self::Iam(Box::new(AudienceToken::new(iam.clone(), transport, clock))),
            (None, Some(key)) => Self::Key(Secret::new(key)),
            (None, None) => Self::None,
        }
    }

    pub(super) async fn token(&self) -> Result<Secret, SkillError> {
        match self {
            Self::Key(key) => Ok(key.clone()),
            Self::Iam(tokens) => tokens.get().await,
            Self::None => Err(SkillError::retryable(
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
    transport: Arc<dyn Transport>,
    token: Cached<Secret, SkillError>,
}

impl AudienceToken {
    pub(crate) fn new(settings: IamSettings, transport: &Arc<dyn Transport>, clock: &Clock) -> Self {
        Self {
            settings,
            transport: Arc::clone(transport),
            token: Cached::new(clock),
        }
    }

    /// A token that is good for a while.
    pub(crate) async fn get(&self) -> Result<Secret, SkillError> {
        let renew = || async {
            let (token, expires_in) = exchange(&*self.transport, &self.settings).await?;
            self.token.set(token.clone(), expires_in.saturating_sub(MARGIN));
            Ok(token)
        };
        self.token.get_or_renew(false, renew).await
    }

    /// Does not hand out `token` again.
    pub(crate) fn forget(&self, token: &Secret) {
        self.token.clear_if(|known| known == token);
    }
}
