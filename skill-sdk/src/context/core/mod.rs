//! The platform's core: artifacts and knowledge.
//!
//! - `settings`: which variables of the environment say where the core is and who this host is there
//! - `identity`: the platform access token, from the environment or from a file
//! - `exchange`: from that token to a short-lived one for an audience
//! - `credential`: what a request carries
//! - `client`: one request with its repeats
//! - `failure`: what went wrong, as a value that several calls can share
//! - [`artifacts`], [`knowledge`]: what a skill calls

pub mod artifacts;
mod client;
mod credential;
mod exchange;
mod failure;
mod identity;
pub mod knowledge;
pub(super) mod settings;
#[cfg(test)]
pub(crate) mod tests;

use std::sync::Arc;

use self::artifacts::Artifacts;
#[cfg(feature = "connections")]
pub(crate) use self::client::Ask;
pub(crate) use self::client::CoreClient;
#[cfg(feature = "connections")]
pub(crate) use self::credential::AudienceToken;
pub(crate) use self::failure::Failure;
use self::knowledge::Knowledge;
pub(crate) use self::settings::CoreSettings;
#[cfg(all(feature = "connections", any(test, feature = "testing")))]
pub(crate) use self::settings::IamSettings;
use super::SkillContext;
use super::clock::Clock;
use super::installed::Installed;
use super::web::{Http, Transport};
use crate::error::SkillError;

static INSTALLED: Installed<CoreSettings, CoreClient> = Installed::new();

impl SkillContext {
    /// The artifacts of the platform. Needs feature `core`.
    ///
    /// ```
    /// use skill_sdk::{SkillContext, SkillError, skill};
    ///
    /// /// How many lines an artifact has.
    /// #[skill("artifact.lines", version = "1", side_effects = "external_read", risk = "low")]
    /// async fn lines(artifact: String, ctx: &SkillContext) -> Result<usize, SkillError> {
    ///     let artifact = ctx.artifacts().read(&artifact).await?;
    ///     Ok(artifact.text()?.lines().count())
    /// }
    /// ```
    pub fn artifacts(&self) -> Artifacts<'_> {
        Artifacts::new(self)
    }

    /// The knowledge of the platform. Needs feature `core`.
    pub fn knowledge(&self) -> Knowledge<'_> {
        Knowledge::new(self)
    }

    /// The client of the call: the one given in tests, else that of the installation.
    pub(crate) fn core(&self) -> Result<Arc<CoreClient>, SkillError> {
        if let Some(core) = self.0.start.services.core.as_ref().or(self.0.core.get()) {
            return Ok(Arc::clone(core));
        }
        let core = INSTALLED.get(CoreSettings::read(self.environment())?, |settings| {
            let http: Arc<dyn Transport> = Arc::new(Http::new(settings.uses_tls())?);
            Ok::<_, SkillError>(CoreClient::new(settings, http, &Clock::default()))
        })?;
        Ok(Arc::clone(self.0.core.get_or_init(|| core)))
    }
}
