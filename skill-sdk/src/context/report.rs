//! Telling the caller something while the work goes on.

use super::SkillContext;

/// How grave a notice is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum NoticeLevel {
    /// For whoever looks closely.
    Debug,
    /// What goes on.
    Info,
    /// What is out of the ordinary, and fine.
    Notice,
    /// What may not be as the caller wants it.
    Warning,
    /// What went wrong, although the call goes on.
    Error,
}

impl NoticeLevel {
    /// All levels, least grave first.
    #[cfg(feature = "runtime")]
    pub(crate) const ALL: [Self; 5] = [Self::Debug, Self::Info, Self::Notice, Self::Warning, Self::Error];

    /// The name, as protocols write it: `debug`, `info`, `notice`, `warning`, `error`.
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

/// Where the progress and the notices of a call go; servers implement it.
pub trait ReportSink: Send + Sync {
    /// Takes a report of progress: how much is done, of how much in all when that is known, and what is being done, which may be
    /// empty. Must not block.
    fn progress(&self, done: f64, total: Option<f64>, message: &str);

    /// Takes a notice. Must not block.
    fn notice(&self, level: NoticeLevel, message: &str);
}

impl SkillContext {
    /// Tells the caller how far the work is, where the protocol has a way.
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

    /// Tells the caller something while the work goes on, where the protocol has a way and the caller wants to hear it.
    ///
    /// It leaves the process: say nothing here that the caller may not know. What is for whoever runs the host belongs
    /// into the log, with `tracing`, which callers never see. Nothing depends on it: a caller that does not listen gets
    /// the same outputs.
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
    ///         ctx.notify(NoticeLevel::Warning, format!("{left_out} amounts are no numbers"));
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
