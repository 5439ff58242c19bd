//! Running under the deadline of a call.

use std::future::Future;

use tokio::time::timeout;

use crate::context::SkillContext;
use crate::error::SkillError;

/// The result of `work`, or the retryable failure `timeout` once the time of the call is up.
pub(super) async fn within<F: Future>(context: &SkillContext, work: F) -> Result<F::Output, SkillError> {
    match context.remaining() {
        // The timer starts only if the work has to wait.
        Some(remaining) => timeout(remaining, work).await.map_err(|_| context.timeout()),
        None => Ok(work.await),
    }
}
