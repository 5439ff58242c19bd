//! Telling the caller how far the work is.

/// How far the work of a call is.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// How much is done.
    pub done: f64,
    /// How much there is in all, when it is known.
    pub total: Option<f64>,
    /// What is being done. May be empty.
    pub message: String,
}

/// Where the progress of a call goes; hosts implement it.
pub trait ProgressSink: Send + Sync {
    /// Takes one report. Must not block.
    fn progress(&self, progress: Progress);
}
