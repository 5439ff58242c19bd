//! Writing lines.

use serde::Serialize;
use serde_json::Value;

use crate::context::{Notice, Progress};
use crate::error::SkillError;
use crate::lines::{unbroken, value};
use crate::pipeline::{CallOutcome, SkillSet};

/// Adds the answer of a call.
pub(super) fn completed(buffer: &mut Vec<u8>, id: &str, completed: &CallOutcome) {
    match completed.result() {
        Ok(outputs) => {
            buffer.reserve(id.len() + outputs.len() + 64);
            head(buffer, Some(id));
            buffer.extend_from_slice(b",\"outputs\":");
            one_line(buffer, outputs);
            buffer.extend_from_slice(b",\"cost\":");
            match completed.cost() {
                None => buffer.extend_from_slice(b"null"),
                Some(cost) => value(buffer, cost),
            }
            if !completed.attachments().is_empty() {
                buffer.extend_from_slice(b",\"attachments\":");
                value(buffer, &completed.attachments());
            }
            buffer.extend_from_slice(b"}\n");
        }
        Err(error) => failure(buffer, Some(id), error),
    }
}

/// Adds a failure. Without an id it belongs to no call.
pub(super) fn failure(buffer: &mut Vec<u8>, id: Option<&str>, error: &SkillError) {
    head(buffer, id);
    buffer.extend_from_slice(b",\"error\":");
    value(buffer, error);
    buffer.extend_from_slice(b"}\n");
}

/// Adds a report of a call about its progress.
pub(super) fn progress(buffer: &mut Vec<u8>, id: &str, progress: &Progress) {
    #[derive(Serialize)]
    struct Report<'a> {
        done: f64,
        total: Option<f64>,
        message: &'a str,
    }
    head(buffer, Some(id));
    buffer.extend_from_slice(b",\"progress\":");
    let report = Report {
        done: progress.done,
        total: progress.total,
        message: &progress.message,
    };
    value(buffer, &report);
    buffer.extend_from_slice(b"}\n");
}

/// Adds a notice of a call.
pub(super) fn notice(buffer: &mut Vec<u8>, id: &str, notice: &Notice) {
    #[derive(Serialize)]
    struct Told<'a> {
        level: &'a str,
        message: &'a str,
    }
    head(buffer, Some(id));
    buffer.extend_from_slice(b",\"notice\":");
    let told = Told {
        level: notice.level.name(),
        message: &notice.message,
    };
    value(buffer, &told);
    buffer.extend_from_slice(b"}\n");
}

/// Adds the answer to the question what is hosted.
pub(super) fn list(buffer: &mut Vec<u8>, id: Option<&str>, skills: &[u8]) {
    head(buffer, id);
    buffer.extend_from_slice(b",\"skills\":");
    buffer.extend_from_slice(skills);
    buffer.extend_from_slice(b"}\n");
}

/// What is hosted, as JSON: `[{ref, name, version, description, sideEffects, riskLevel, contract}]`.
pub(super) fn skills(host: &SkillSet) -> Vec<u8> {
    #[derive(Serialize)]
    struct Listed<'a> {
        r#ref: &'a str,
        name: &'a str,
        // Begins with the version.
        #[serde(flatten)]
        spec: &'a Value,
    }
    let skills: Vec<Listed<'_>> = host
        .iter()
        .map(|runnable| Listed {
            r#ref: runnable.skill().reference(),
            name: runnable.skill().name(),
            spec: runnable.described().document(),
        })
        .collect();
    let mut json = Vec::new();
    value(&mut json, &skills);
    json
}

fn head(buffer: &mut Vec<u8>, id: Option<&str>) {
    buffer.extend_from_slice(b"{\"id\":");
    buffer.extend_from_slice(id.unwrap_or("null").as_bytes());
}

/// Adds JSON that somebody else wrote.
fn one_line(buffer: &mut Vec<u8>, json: &[u8]) {
    let start = buffer.len();
    buffer.extend_from_slice(json);
    unbroken(buffer.get_mut(start..).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn failures_and_progress() {
        let mut buffer = Vec::new();
        let error = SkillError::retryable("busy", "later\n").with_details(json!({"a": 1}));
        failure(&mut buffer, Some("\"x\""), &error);
        failure(&mut buffer, None, &SkillError::terminal("denied", "no"));
        list(&mut buffer, None, b"[]");
        let text = String::from_utf8(buffer).unwrap();
        assert_eq!(
            text,
            "{\"id\":\"x\",\"error\":{\"code\":\"busy\",\"message\":\"later\\n\",\"retryable\":true,\"details\":{\"a\":1}}}\n\
             {\"id\":null,\"error\":{\"code\":\"denied\",\"message\":\"no\",\"retryable\":false,\"details\":null}}\n\
             {\"id\":null,\"skills\":[]}\n"
        );
    }
}
