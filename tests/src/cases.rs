//! The recorded cases of the reference implementation, and the report of a replay.
//!
//! `SKILL_SDK_CASES=DIR` names another directory with recordings of the same format.

use std::any::Any;
use std::fmt::Write as _;
use std::fs;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::task::Poll;

use serde_json::Value;

/// One recorded case.
#[derive(Debug)]
pub struct Case {
    /// The id, unique in its file.
    pub id: String,
    /// The input of the case.
    pub input: Value,
    /// The output of the reference implementation.
    pub expect: Value,
}

/// The directory of the recordings.
pub fn folder() -> PathBuf {
    match std::env::var_os("SKILL_SDK_CASES") {
        Some(folder) => folder.into(),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/cases"),
    }
}

/// The recordings in `file`. `None`, with a message, if the recordings are not installed.
pub fn document(file: &str) -> Option<Value> {
    let text = fs::read_to_string(folder().join(file));
    if let Err(error) = &text
        && error.kind() == std::io::ErrorKind::NotFound
    {
        eprintln!("skipped: the recorded cases are not installed ({file})");
        return None;
    }
    let text = text.expect("the recorded cases can be read");
    Some(serde_json::from_str(&text).expect("the cases are JSON"))
}

/// The cases of `file`. Empty, with a message, if the recordings are not installed.
pub fn load(file: &str) -> Vec<Case> {
    let Some(document) = document(file) else {
        return Vec::new();
    };
    let cases = document["cases"].as_array().expect("the file has cases");
    cases
        .iter()
        .map(|case| Case {
            id: case["id"].as_str().expect("a case has an id").to_owned(),
            input: case["input"].clone(),
            expect: case["expect"].clone(),
        })
        .collect()
}

/// The result of one case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The result is as recorded.
    Ok,
    /// The result differs from the recording.
    Differs(String),
    /// The result differs from the recording because the specification decides otherwise.
    Deliberate(String),
    /// This test does not replay the case.
    NotReplayed(String),
}

/// The verdicts of one test, printed one per line.
#[derive(Debug)]
pub struct Replay {
    /// The groups of cases that this test does not replay, each with the reason.
    left_out: &'static [(&'static str, &'static [&'static str])],
    failures: String,
}

impl Replay {
    /// `left_out` holds ids, or prefixes of ids that end with `-`, of cases that this test does not replay.
    pub fn new(left_out: &'static [(&'static str, &'static [&'static str])]) -> Self {
        Self {
            left_out,
            failures: String::new(),
        }
    }

    /// Why a case is not replayed.
    pub fn left_out(&self, id: &str) -> Option<&'static str> {
        let names = |entry: &str| entry == id || (entry.ends_with('-') && id.starts_with(entry));
        let mut groups = self.left_out.iter();
        let group = groups.find(|(_, entries)| entries.iter().any(|entry| names(entry)));
        group.map(|(reason, _)| *reason)
    }

    /// Prints the verdict of a case.
    pub fn report(&mut self, id: &str, verdict: &Verdict) {
        let line = match verdict {
            Verdict::Ok => format!("{id}: ok"),
            Verdict::Differs(how) => format!("{id}: differs: {how}"),
            Verdict::Deliberate(why) => format!("{id}: deliberate: {why}"),
            Verdict::NotReplayed(why) => format!("{id}: not replayed: {why}"),
        };
        println!("{line}");
        let fails = match verdict {
            Verdict::Ok | Verdict::Deliberate(_) => false,
            Verdict::Differs(_) => true,
            Verdict::NotReplayed(_) => self.left_out(id).is_none(),
        };
        if fails {
            writeln!(self.failures, "{line}").expect("a string takes all");
        }
    }

    /// Runs a case that asserts its result, unless the case is left out.
    pub async fn run(&mut self, case: &Case, replay: impl Future<Output = ()>) {
        let verdict = match self.left_out(&case.id) {
            Some(reason) => Verdict::NotReplayed(reason.to_owned()),
            None => attempt(replay).await,
        };
        self.report(&case.id, &verdict);
    }

    /// Like [`run`](Self::run), for a replay that is not asynchronous.
    pub fn run_blocking(&mut self, case: &Case, replay: impl FnOnce()) {
        let verdict = match self.left_out(&case.id) {
            Some(reason) => Verdict::NotReplayed(reason.to_owned()),
            None => match catch_unwind(AssertUnwindSafe(replay)) {
                Ok(()) => Verdict::Ok,
                Err(panic) => Verdict::Differs(text_of(panic.as_ref())),
            },
        };
        self.report(&case.id, &verdict);
    }

    /// Fails if a case differs, or is not replayed without a listed reason.
    pub fn finish(self) {
        assert!(self.failures.is_empty(), "\n{}", self.failures);
    }
}

/// A panic means that the case differs.
async fn attempt(replay: impl Future<Output = ()>) -> Verdict {
    let mut replay = pin!(replay);
    poll_fn(
        |context| match catch_unwind(AssertUnwindSafe(|| replay.as_mut().poll(context))) {
            Ok(poll) => poll.map(|()| Verdict::Ok),
            Err(panic) => Poll::Ready(Verdict::Differs(text_of(panic.as_ref()))),
        },
    )
    .await
}

/// The message of a panic.
fn text_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("a panic without a message").to_owned()
}
