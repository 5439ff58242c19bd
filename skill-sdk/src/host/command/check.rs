//! `check`: all publication rules over all skills.

use serde::Serialize;

use super::{Failure, exit, output, problems, select};
use crate::contract::check::{Severity, check_spec};
use crate::host::args::{CheckArgs, Format};
use crate::host::protocol::{Envelope, Problem, SkillEntry};

/// One violation of one skill.
#[derive(Debug, Serialize)]
struct Found {
    severity: Severity,
    #[serde(flatten)]
    problem: Problem,
}

#[derive(Debug, Serialize)]
struct Report<'a> {
    ok: bool,
    skills: usize,
    violations: &'a [Found],
}

/// Prints every violation of the skills that `names` mean; the exit code says whether one of them stops publication.
pub fn check(envelope: &Envelope, names: &[String], args: &CheckArgs) -> Result<u8, Failure> {
    // While there are problems nothing is known of single skills, so names cannot be resolved.
    let skills = if envelope.problems.is_empty() {
        select::select(&envelope.skills, names)?
    } else {
        Vec::new()
    };
    let mut found: Vec<Found> = envelope
        .problems
        .iter()
        .map(|problem| Found {
            severity: Severity::Error,
            problem: problem.clone(),
        })
        .collect();
    found.extend(skills.iter().flat_map(|skill| violations(skill)));
    let ok = found.iter().all(|found| found.severity != Severity::Error);
    output::print(&match args.format {
        Format::Json => output::json(&Report {
            ok,
            skills: skills.len(),
            violations: &found,
        })?,
        Format::Text => text(&found, ok),
    })?;
    Ok(if ok { exit::GOOD } else { exit::NO })
}

fn text(found: &[Found], ok: bool) -> String {
    let mut text = String::new();
    for Found { severity, problem } in found {
        let label = if *severity == Severity::Error {
            "error"
        } else {
            "warning"
        };
        text.push_str(&format!("{label}: {}\n", problems::line(problem)));
    }
    if ok {
        text.push_str("ok\n");
    }
    text
}

fn violations(skill: &SkillEntry) -> Vec<Found> {
    let at = |code: &str, pointer: Option<String>, message: String| Problem {
        code: code.to_owned(),
        reference: Some(skill.reference.clone()),
        pointer,
        origin: Some(format!(
            "{} {}, {}:{}",
            skill.package, skill.package_version, skill.file, skill.line
        )),
        message,
    };
    let mut found: Vec<_> = check_spec(&skill.spec)
        .into_iter()
        .map(|violation| Found {
            severity: violation.severity,
            problem: at(violation.code, Some(violation.pointer), violation.message),
        })
        .collect();
    if found.iter().any(|found| found.severity == Severity::Error) {
        return found;
    }
    // The rules do not read regular expressions; a validator does.
    for side in ["inputs", "outputs"] {
        let pointer = format!("/contract/{side}");
        let Some(schema) = skill.spec.pointer(&pointer) else {
            continue;
        };
        if let Err(why) = crate::pipeline::check_schema_compiles(schema) {
            let message = format!("the schema cannot be used: {why}");
            found.push(Found {
                severity: Severity::Error,
                problem: at("invalid_json_schema", Some(pointer), message),
            });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::select::tests::skill;
    use super::*;

    #[test]
    fn every_violation_is_found() {
        let mut skill = skill("a.a@1", "x::a");
        skill.spec = json!({
            "version": "1", "description": "", "sideEffects": "none", "riskLevel": "low",
            "contract": {
                "inputs": {"type": "object", "properties": {"a": {"pattern": "[b-a]"}}},
                "outputs": {"type": "object"},
                "idempotency": "none", "timeoutSeconds": 60,
                "retryPolicy": {"maxAttempts": 1, "backoffSeconds": 0},
                "implementation": {"protocol": "local", "entrypoint": "x:a"},
            },
        });
        let found = violations(&skill);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].problem.code, "invalid_json_schema");
        skill.spec["contract"]["timeoutSeconds"] = json!(0);
        skill.spec["contract"]["idempotency"] = json!("maybe");
        let codes: Vec<_> = violations(&skill)
            .into_iter()
            .map(|found| found.problem.pointer.unwrap())
            .collect();
        assert_eq!(codes, ["/contract/timeoutSeconds", "/contract/idempotency"]);
    }
}
