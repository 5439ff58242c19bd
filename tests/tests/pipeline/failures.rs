//! Failures as callers and the log see them.

use std::error::Error;
use std::fmt;
use std::io;

use serde_json::{Value, json};
use skill_sdk::pipeline::CallOutcome;
use skill_sdk::{FailureExt, Skill, SkillError, SkillFailure, skill};
use skill_sdk_tests::log::{self, Logged};

use super::{call, crash, meta, wire};

/// A text that no caller may see.
const MARKER: &str = "hunter2";

/// Fails with an error of the library.
#[skill("failures.own", version = "1", side_effects = "none", risk = "low")]
fn own(kind: String) -> Result<(), SkillError> {
    Err(match kind.as_str() {
        "retryable" => SkillError::retryable("git_unavailable", "remote unavailable").with_source(MARKER),
        "terminal" => SkillError::terminal("branch_missing", "no such branch")
            .with_details(json!({"z": 1, "a": [null]}))
            .with_source(io::Error::other(MARKER)),
        "empty" => SkillError::terminal("branch_missing", ""),
        "unusable" => SkillError::retryable(format!("Bad {MARKER}"), "a message"),
        "long" => SkillError::terminal("long", "я".repeat(4001)),
        "chain" => SkillError::terminal("chain", "the outermost")
            .with_source(Chain(MARKER, io::Error::other("the cause"))),
        _ => SkillError::terminal("exact", "я".repeat(4000)),
    })
}

/// An error with a source.
#[derive(Debug)]
struct Chain(&'static str, io::Error);

impl fmt::Display for Chain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl Error for Chain {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.1)
    }
}

/// Fails with errors that have no classification.
#[skill("failures.anyhow", version = "1", side_effects = "none", risk = "low")]
async fn any_error() -> anyhow::Result<()> {
    Err(anyhow::Error::from(io::Error::other("the cause")).context(MARKER))
}

/// Fails with an error of the standard library.
#[skill("failures.io", version = "1", side_effects = "none", risk = "low")]
fn io_error() -> Result<u8, io::Error> {
    Err(io::Error::other(MARKER))
}

/// Fails with an error type of the author.
#[skill("failures.chain", version = "1", side_effects = "none", risk = "low")]
fn chain() -> Result<(), Chain> {
    Err(Chain(MARKER, io::Error::other("the cause")))
}

/// Fails with a boxed error.
#[skill("failures.boxed", version = "1", side_effects = "none", risk = "low")]
fn boxed() -> Result<(), Box<dyn Error + Send + Sync>> {
    Err(MARKER.into())
}

/// The failures of an author's program.
#[derive(Debug, SkillFailure)]
enum Failures {
    /// A failure of the environment.
    #[failure(code = "store_busy", retryable)]
    Busy,
    /// A failure that a retry does not fix.
    #[failure(code = "row.missing")]
    Missing { id: u32, cause: io::Error },
}

impl fmt::Display for Failures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Busy => f.write_str("the store is busy"),
            Self::Missing { id, .. } => write!(f, "no row {id}"),
        }
    }
}

impl Error for Failures {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Busy => None,
            Self::Missing { cause, .. } => Some(cause),
        }
    }
}

/// Fails with a derived `SkillFailure`.
#[skill("failures.derived", version = "1", side_effects = "none", risk = "low")]
fn derived(busy: bool) -> Result<(), Failures> {
    Err(if busy {
        Failures::Busy
    } else {
        Failures::Missing {
            id: 7,
            cause: io::Error::other(MARKER),
        }
    })
}

/// Classifies errors with extension methods.
#[skill("failures.classified", version = "1", side_effects = "none", risk = "low")]
async fn classified(kind: String) -> Result<u32, SkillError> {
    let number = match kind.as_str() {
        "retryable" => Err(io::Error::other(MARKER)).retryable("git_unavailable")?,
        "terminal" => MARKER.parse::<u32>().terminal("bad_reply")?,
        "anyhow" => Err(anyhow::anyhow!(MARKER)).terminal("any")?,
        "none" => None.terminal("nothing_there")?,
        _ => Some(1).retryable("never")?,
    };
    Ok(number)
}

async fn failed(skill: &'static Skill, inputs: Value, id: &str) -> (CallOutcome, Logged) {
    let completed = call(skill, inputs, meta(id)).await;
    let log = log::of_call(id);
    let last = log.iter().rev().find(|event| event.fields.contains_key("code"));
    (
        completed,
        last.unwrap_or_else(|| panic!("{id} is not in the log: {log:?}"))
            .clone(),
    )
}

#[tokio::test]
async fn callers_see_code_and_message_and_the_log_has_the_source() {
    let wire_of = |code: &str, message: &str, retryable: bool| json!({"code": code, "message": message, "retryable": retryable, "details": null});
    let mut detailed = wire_of("branch_missing", "no such branch", false);
    detailed["details"] = json!({"z": 1, "a": [null]});
    let kind = |kind: &str| json!({"kind": kind});
    let table: Vec<(&'static Skill, Value, Value, &str)> = vec![
        (
            own::SKILL,
            kind("retryable"),
            wire_of("git_unavailable", "remote unavailable", true),
            MARKER,
        ),
        (own::SKILL, kind("terminal"), detailed, MARKER),
        (
            own::SKILL,
            kind("empty"),
            wire_of("branch_missing", "branch_missing", false),
            "",
        ),
        (
            own::SKILL,
            kind("chain"),
            wire_of("chain", "the outermost", false),
            "hunter2: the cause",
        ),
        (
            derived::SKILL,
            json!({"busy": true}),
            wire_of("store_busy", "the store is busy", true),
            "",
        ),
        (
            derived::SKILL,
            json!({"busy": false}),
            wire_of("row.missing", "no row 7", false),
            MARKER,
        ),
        (
            classified::SKILL,
            kind("retryable"),
            wire_of("git_unavailable", "git_unavailable", true),
            MARKER,
        ),
        (
            classified::SKILL,
            kind("terminal"),
            wire_of("bad_reply", "bad_reply", false),
            "invalid digit",
        ),
        (
            classified::SKILL,
            kind("anyhow"),
            wire_of("any", "any", false),
            MARKER,
        ),
        (
            classified::SKILL,
            kind("none"),
            wire_of("nothing_there", "nothing_there", false),
            "",
        ),
    ];
    for (index, (skill, inputs, expected, source)) in table.into_iter().enumerate() {
        let (completed, logged) = failed(skill, inputs, &format!("failure-{index}")).await;
        let error = completed.result().unwrap_err();
        // Compared as text: the order of the fields is part of the protocol.
        assert_eq!(serde_json::to_string(error).unwrap(), expected.to_string());
        assert!(!error.is_crash(), "{error:?}");
        assert!(logged.field("source").contains(source), "{logged:?}");
        assert_eq!(logged.field("code"), error.code());
        assert_eq!(logged.field("retryable"), error.is_retryable().to_string());
    }
}

/// A failure of the library, as an author receives it.
fn busy() -> Result<(), SkillError> {
    Err(SkillError::retryable("disk_busy", MARKER)
        .with_details(json!({"disk": 1}))
        .with_source("the cause"))
}

/// Fails with a classified failure that `?` converted into a box.
#[skill("failures.in_a_box", version = "1", side_effects = "none", risk = "low")]
fn in_a_box() -> Result<(), Box<dyn Error + Send + Sync>> {
    Ok(busy()?)
}

/// The same with `anyhow`, with and without context.
#[skill("failures.in_anyhow", version = "1", side_effects = "none", risk = "low")]
async fn in_anyhow(context: bool) -> anyhow::Result<()> {
    use anyhow::Context;
    if context {
        busy().context("while writing")?;
    }
    Ok(busy()?)
}

/// Fails with an error of the library through `anyhow`.
#[skill("failures.secret", version = "1", side_effects = "none", risk = "low")]
async fn secret(ctx: &skill_sdk::SkillContext) -> anyhow::Result<()> {
    ctx.secret("not-there")?;
    Ok(())
}

#[tokio::test]
async fn a_boxed_failure_keeps_its_classification() {
    let expected = json!({"code": "disk_busy", "message": MARKER, "retryable": true, "details": {"disk": 1}});
    let table = [
        (in_a_box::SKILL, json!({}), "the cause"),
        (in_anyhow::SKILL, json!({"context": false}), "the cause"),
        (
            in_anyhow::SKILL,
            json!({"context": true}),
            "while writing: disk_busy: the cause",
        ),
    ];
    for (index, (skill, inputs, source)) in table.into_iter().enumerate() {
        let (completed, logged) = failed(skill, inputs, &format!("boxed-{index}")).await;
        let error = completed.result().unwrap_err();
        assert_eq!(wire(error), expected);
        assert!(!error.is_crash());
        assert!(!format!("{logged:?}").contains(MARKER), "{logged:?}");
        assert_eq!(logged.field("source"), source);
    }
    let (completed, _) = failed(secret::SKILL, json!({}), "boxed-secret").await;
    let error = completed.result().unwrap_err();
    assert_eq!((error.code(), error.is_retryable()), ("config_missing", true));
}

#[tokio::test]
async fn unclassified_errors_show_a_generic_message() {
    let table: [(&'static Skill, &str); 4] = [
        (any_error::SKILL, "hunter2: the cause"),
        (io_error::SKILL, MARKER),
        (chain::SKILL, "hunter2: the cause"),
        (boxed::SKILL, MARKER),
    ];
    for (skill, source) in table {
        let (completed, logged) = failed(skill, json!({}), skill.reference()).await;
        let error = completed.result().unwrap_err();
        assert_eq!(
            wire(error),
            crash("the skill failed; the log of the server has the reason")
        );
        assert!(error.is_crash());
        assert_eq!(logged.level, tracing::Level::ERROR);
        assert_eq!(logged.field("source"), source);
    }
}

#[tokio::test]
async fn an_invalid_code_becomes_skill_error_and_is_logged() {
    let (completed, _) = failed(own::SKILL, json!({"kind": "unusable"}), "unusable").await;
    let error = wire(completed.result().unwrap_err());
    assert_eq!(
        (&error["code"], &error["message"]),
        (&json!("skill_error"), &json!("a message"))
    );
    let codes: Vec<_> = log::of_call("unusable")
        .iter()
        .map(|event| event.field("code").to_owned())
        .collect();
    assert!(codes.contains(&format!("Bad {MARKER}")), "{codes:?}");
}

#[tokio::test]
async fn messages_are_truncated_at_4000_characters() {
    for (kind, cut) in [("long", true), ("exact", false)] {
        let id = format!("message-{kind}");
        let (completed, _) = failed(own::SKILL, json!({"kind": kind}), &id).await;
        assert_eq!(completed.result().unwrap_err().message(), "я".repeat(4000));
        let warned = log::of_call(&id)
            .iter()
            .any(|event| event.field("limit") == "4000");
        assert_eq!(warned, cut);
    }
}

/// Creating an error never panics, whatever its texts are.
#[test]
fn errors_accept_any_text() {
    for code in ["", " ", "A", "a\n", "\u{0}", "🙂", &"a".repeat(1000)] {
        let error = SkillError::retryable(code.to_owned(), "");
        assert_eq!(
            (error.code(), error.message()),
            ("skill_error", "skill_error"),
            "{code:?}"
        );
        // The mistake is in the code, so a retry does not help.
        assert!(!error.is_retryable() && error.is_crash());
    }
    let error: Box<dyn Error> = Box::new(SkillError::terminal("a", "b"));
    assert_eq!(error.to_string(), "a: b");
}
