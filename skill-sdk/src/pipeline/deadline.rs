//! Running under the deadline of a call.

use std::future::Future;

use tokio::time::{Instant, timeout_at};

use crate::context::SkillContext;
use crate::error::SkillError;

/// The result of `work`, or the retryable failure `timeout` once the time of the call is up.
pub(super) async fn within<F: Future>(context: &SkillContext, work: F) -> Result<F::Output, SkillError> {
    match context.remaining() {
        None => Ok(work.await),
        Some(remaining) => timeout_at(Instant::now() + remaining, work)
            .await
            .map_err(|_| context.timeout()),
    }
}
