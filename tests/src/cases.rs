//! The recorded cases of the reference implementation, and the report of a replay.
//!
//! `SKILL_SDK_CASES=DIR` names another folder with recordings of the same shape.

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
    /// What goes in.
    pub input: Value,
    /// What comes out of the reference.
    pub expect: Value,
}

/// The folder of the recordings.
pub fn folder() -> PathBuf {
    match std::env::var_os("SKILL_SDK_CASES") {
        Some(folder) => folder.into(),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/cases"),
    }
}

/// The recordings in `file`; nothing, with a message, where they are not at hand.
pub fn document(file: &str) -> Option<Value> {
    let text = fs::read_to_string(folder().join(file));
    if let Err(error) = &text
        && error.kind() == std::io::ErrorKind::NotFound
    {
        eprintln!("skipped: the recorded cases are not at hand ({file})");
        return None;
    }
    let text = text.expect("the recorded cases are there and can be read");
    Some(serde_json::from_str(&text).expect("the cases are JSON"))
}

/// The cases of `file`; none, with a message, where the recordings are not at hand.
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

/// What became of one case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It comes out as recorded.
    Ok,
    /// It comes out differently.
    Differs(String),
    /// It comes out as the specification wants, which differs from the recording.
    Deliberate(String),
    /// This test does not replay it.
    NotReplayed(String),
}

/// The verdicts of one test, a line each.
#[derive(Debug)]
pub struct Replay {
    /// The cases that need not be replayed, with the reason for each group.
    left_out: &'static [(&'static str, &'static [&'static str])],
    failures: String,
}

impl Replay {
    /// `left_out` holds ids, or beginnings of ids that end with `-`, of the cases that this test does not replay.
    pub fn new(left_out: &'static [(&'static str, &'static [&'static str])]) -> Self {
        Self {
            left_out,
            failures: String::new(),
        }
    }

    /// Why a case is left out.
    pub fn left_out(&self, id: &str) -> Option<&'static str> {
        let names = |entry: &str| entry == id || (entry.ends_with('-') && id.starts_with(entry));
        let mut groups = self.left_out.iter();
        let group = groups.find(|(_, entries)| entries.iter().any(|entry| names(entry)));
        group.map(|(reason, _)| *reason)
    }

    /// Prints the line of a case.
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

    /// Replays a case that asserts what it finds, unless it is left out.
    pub async fn run(&mut self, case: &Case, replay: impl Future<Output = ()>) {
        let verdict = match self.left_out(&case.id) {
            Some(reason) => Verdict::NotReplayed(reason.to_owned()),
            None => attempt(replay).await,
        };
        self.report(&case.id, &verdict);
    }

    /// The same for a replay that is not asynchronous.
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

    /// Fails when a case differs, or is not replayed and not left out for a reason.
    pub fn finish(self) {
        assert!(self.failures.is_empty(), "\n{}", self.failures);
    }
}

/// A panic is a case that differs.
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

/// What a panic says.
fn text_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("a panic without a text").to_owned()
}
