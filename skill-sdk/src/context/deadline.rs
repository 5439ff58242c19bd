//! Work that never outlives its call.

use std::future::Future;

use super::SkillContext;
use crate::error::SkillError;

impl SkillContext {
    /// The result of `work`, or the failure of a call whose time is up or whose caller went away.
    pub(crate) async fn bounded<T, E: Into<SkillError>>(
        &self,
        work: impl Future<Output = Result<T, E>>,
    ) -> Result<T, SkillError> {
        self.check_deadline()?;
        let given_up = async {
            match self.remaining() {
                Some(remaining) => {
                    tokio::select! {
                        () = tokio::time::sleep(remaining) => self.timeout(),
                        () = self.cancelled() => self.check_deadline().err().unwrap_or_else(|| self.timeout()),
                    }
                }
                None => {
                    self.cancelled().await;
                    self.check_deadline().err().unwrap_or_else(|| self.timeout())
                }
            }
        };
        tokio::select! {
            biased;
            result = work => result.map_err(Into::into),
            error = given_up => Err(error),
        }
    }
}
