//! Progress and log messages for the caller.

use super::SkillContext;

/// The level of a log message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum NoticeLevel {
    /// Details for debugging.
    Debug,
    /// Normal operation.
    Info,
    /// Unusual, but not a problem.
    Notice,
    /// A possible problem.
    Warning,
    /// An error that does not fail the call.
    Error,
}

impl NoticeLevel {
    /// All levels, the least severe first.
    #[cfg(feature = "runtime")]
    pub(crate) const ALL: [Self; 5] = [Self::Debug, Self::Info, Self::Notice, Self::Warning, Self::Error];

    /// The name on the wire: `debug`, `info`, `notice`, `warning`, `error`.
    #[cfg(feature = "runtime")]
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Notice => "notice",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// The sink for progress and log messages of a call. Servers implement it.
pub trait ReportSink: Send + Sync {
    /// Reports progress: how much is done, the total if it is known, and a message, which may be empty. Must not block.
    fn progress(&self, done: f64, total: Option<f64>, message: &str);

    /// Sends a log message. Must not block.
    fn notice(&self, level: NoticeLevel, message: &str);
}

impl SkillContext {
    /// Reports progress to the caller, if the protocol supports it.
    pub fn progress(&self, done: f64, total: Option<f64>, message: impl Into<String>) {
        if self.is_cancelled() {
            return;
        }
        let message = message.into();
        if let Some(sink) = &self.0.meta.reports {
            sink.progress(done, total, &message);
        } else {
            #[cfg(feature = "runtime")]
            tracing::debug!(done, total, message, "progress");
        }
    }

    /// Sends a log message to the caller, if the protocol supports it and the caller accepts it.
    ///
    /// The message leaves the process, so it must not contain anything that the caller may not know. Messages for the operator
    /// belong into the log, with `tracing`; callers never see them. The outputs do not depend on log messages.
    ///
    /// ```
    /// use skill_sdk::context::NoticeLevel;
    /// use skill_sdk::{SkillContext, skill};
    ///
    /// /// How many of the amounts are numbers.
    /// #[skill("amounts.count", version = "1", side_effects = "none", risk = "low")]
    /// fn count(amounts: Vec<String>, ctx: &SkillContext) -> usize {
    ///     let good = amounts.iter().filter(|amount| amount.parse::<f64>().is_ok()).count();
    ///     if good < amounts.len() {
    ///         let left_out = amounts.len() - good;
    ///         ctx.notify(NoticeLevel::Warning, format!("{left_out} amounts are not numbers"));
    ///     }
    ///     good
    /// }
    /// ```
    pub fn notify(&self, level: NoticeLevel, message: impl Into<String>) {
        if self.is_cancelled() {
            return;
        }
        let message = message.into();
        if let Some(sink) = &self.0.meta.reports {
            sink.notice(level, &message);
        } else {
            #[cfg(feature = "runtime")]
            tracing::debug!(severity = level.name(), text = message, "notice");
        }
    }
}
