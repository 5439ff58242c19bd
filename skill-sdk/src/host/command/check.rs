//! `check`: all publication rules over all skills.

use serde::Serialize;
use serde_json::Value;

use super::{Failure, exit, output, problems, select};
use crate::contract::{Severity, Stage, validate_spec};
use crate::host::args::{Format, FormatArgs};
use crate::host::protocol::{Envelope, Problem, SkillEntry};
use crate::validation::{Schema, check_defaults, check_examples, hidden_defaults};

/// A problem and how severe it is.
#[derive(Debug, Serialize)]
pub struct Found {
    /// An error fails the check.
    pub severity: Severity,
    /// What it is.
    #[serde(flatten)]
    pub problem: Problem,
}

/// What was checked, and what was found.
#[derive(Debug)]
pub struct Report<'a> {
    /// The skills that were checked.
    pub skills: Vec<&'a SkillEntry>,
    /// Their violations of the publication rules, and the problems of their program.
    pub violations: Vec<Found>,
}

#[derive(Debug, Serialize)]
struct Document<'a> {
    ok: bool,
    skills: usize,
    violations: &'a [Found],
}

/// Prints every violation of the skills that `names` mean; the exit code says whether one of them stops publication.
pub fn check(envelope: &Envelope, names: &[String], args: &FormatArgs) -> Result<u8, Failure> {
    let Report { skills, violations } = report(envelope, names)?;
    let ok = violations.iter().all(|found| found.severity != Severity::Error);
    output::print(&match args.format {
        Format::Json => output::json(&Document {
            ok,
            skills: skills.len(),
            violations: &violations,
        })?,
        Format::Text => text(&violations, ok),
    })?;
    Ok(if ok { exit::GOOD } else { exit::NO })
}

/// Checks the skills that `names` mean.
pub fn report<'a>(envelope: &'a Envelope, names: &[String]) -> Result<Report<'a>, Failure> {
    // While there are problems a name may belong to a skill that is not described, so all are checked that are.
    let skills = if envelope.problems.is_empty() {
        select::select(&envelope.skills, names)?
    } else {
        envelope.skills.iter().collect()
    };
    let problems = envelope.problems.iter().map(|problem| Found {
        severity: Severity::Error,
        problem: problem.clone(),
    });
    let violations = problems
        .chain(skills.iter().flat_map(|skill| violations(skill)))
        .collect();
    Ok(Report { skills, violations })
}

/// One problem a line, and `ok` at the end when there is no error.
pub fn text<'a>(found: impl IntoIterator<Item = &'a Found>, ok: bool) -> String {
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

/// The package and the place in the sources that declare a skill.
pub fn origin(skill: &SkillEntry) -> String {
    format!(
        "{} {}, {}:{}",
        skill.package, skill.package_version, skill.file, skill.line
    )
}

/// Everything that is wrong with a skill, or may be: `check` reports it, and `export` writes nothing that has an error.
pub(super) fn violations(skill: &SkillEntry) -> Vec<Found> {
    let at = |code: &str, pointer: Option<String>, message: String| Problem {
        code: code.to_owned(),
        reference: Some(skill.reference.clone()),
        pointer,
        origin: Some(origin(skill)),
        message,
    };
    let mut found: Vec<_> = validate_spec(&skill.spec, Stage::Source)
        .into_iter()
        .map(|violation| Found {
            severity: violation.severity,
            problem: at(violation.code, Some(violation.pointer), violation.message),
        })
        .collect();
    let description = skill.spec.get("description").and_then(Value::as_str);
    if description.is_none_or(|text| text.trim().is_empty()) {
        let message = "the skill has no description, by which models and people choose it; write a doc comment on the function";
        found.push(Found {
            severity: Severity::Warning,
            problem: at(
                "no_description",
                Some("/description".to_owned()),
                message.to_owned(),
            ),
        });
    }
    if found.iter().any(|found| found.severity == Severity::Error) {
        return found;
    }
    // The rules do not read regular expressions; a validator does.
    for side in ["inputs", "outputs"] {
        let pointer = format!("/contract/{side}");
        let Some(schema) = skill.spec.pointer(&pointer) else {
            continue;
        };
        if let Err(why) = Schema::compile(schema) {
            let message = format!("the schema cannot be used: {why}");
            found.push(Found {
                severity: Severity::Error,
                problem: at("invalid_json_schema", Some(pointer), message),
            });
            continue;
        }
        let broken = check_defaults(schema).into_iter().map(|(place, why)| {
            let message = format!("the value breaks the schema that it stands in: {why}");
            ("value_violates_schema", place, message)
        });
        let of_types = (side == "inputs" && !skill.inputs_given).then(|| hidden_defaults(schema));
        let hidden = of_types.into_iter().flatten().map(|place| {
            let message = "the field has a default that is not in the contract, so nobody sees it change: derive \
                           `serde::Serialize` for its type, without `skip_serializing_if`";
            ("hidden_default", place, message.to_owned())
        });
        for (code, place, message) in broken.chain(hidden) {
            found.push(Found {
                severity: Severity::Warning,
                problem: at(code, Some(format!("{pointer}{place}")), message),
            });
        }
    }
    if let (Some(examples), Some(inputs), Some(outputs)) = (
        skill.metadata.get("examples"),
        skill.spec.pointer("/contract/inputs"),
        skill.spec.pointer("/contract/outputs"),
    ) {
        for (pointer, message) in check_examples(inputs, outputs, examples) {
            found.push(Found {
                severity: Severity::Error,
                problem: at("invalid_example", Some(format!("/examples{pointer}")), message),
            });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::skill;
    use super::*;

    #[test]
    fn examples_keep_the_contract() {
        let mut skill = skill("a.a@1", "x::a");
        skill.spec = json!({
            "version": "1", "description": "It.", "sideEffects": "none", "riskLevel": "low",
            "contract": {
                "inputs": {"type": "object", "properties": {"a": {"minimum": 0}}}, "outputs": {"type": "object"},
                "idempotency": "none", "timeoutSeconds": 60,
                "retryPolicy": {"maxAttempts": 1, "backoffSeconds": 0},
                "implementation": {"protocol": "local", "entrypoint": "x:a"},
            },
        });
        skill.metadata.insert(
            "examples".into(),
            json!([{"inputs": {"a": 1}}, {"inputs": {"a": -1}}]),
        );
        let found = violations(&skill);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].problem.pointer.as_deref(), Some("/examples/1/inputs/a"));
    }

    #[test]
    fn a_default_that_breaks_its_schema_or_is_hidden_is_a_warning() {
        let mut skill = skill("a.a@1", "x::a");
        skill.spec = json!({
            "version": "1", "description": "It.", "sideEffects": "none", "riskLevel": "low",
            "contract": {
                "inputs": {"type": "object", "properties": {"a": {"type": "integer", "minimum": 1, "default": 0}}},
                "outputs": {"type": "object"},
                "idempotency": "none", "timeoutSeconds": 60,
                "retryPolicy": {"maxAttempts": 1, "backoffSeconds": 0},
                "implementation": {"protocol": "local", "entrypoint": "x:a"},
            },
        });
        let found = violations(&skill);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].severity, Severity::Warning);
        assert_eq!(
            problems::line(&found[0].problem).lines().next(),
            Some(
                "a.a@1: /contract/inputs/properties/a/default: the value breaks the schema that it stands in: 0 is less \
                 than the minimum of 1 [value_violates_schema]"
            )
        );
        skill.inputs_given = false;
        skill.spec["contract"]["inputs"]["properties"]["a"] = json!({"type": "integer"});
        let found = violations(&skill);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].severity, Severity::Warning);
        assert_eq!(found[0].problem.code, "hidden_default");
    }

    #[test]
    fn every_violation_is_found() {
        let mut skill = skill("a.a@1", "x::a");
        skill.spec = json!({
            "version": "1", "description": "It.", "sideEffects": "none", "riskLevel": "low",
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

    #[test]
    fn only_errors_fail_the_check() {
        let mut skill = skill("a.b@1", "x::a");
        skill.spec = json!({
            "version": "1", "description": " ", "sideEffects": "none", "riskLevel": "low",
            "contract": {
                "inputs": {"type": "object"}, "outputs": {"type": "object"},
                "idempotency": "none", "timeoutSeconds": 60,
                "retryPolicy": {"maxAttempts": 1, "backoffSeconds": 0},
                "implementation": {"protocol": "local", "entrypoint": "x:a"},
            },
        });
        let mut envelope = Envelope {
            protocol: crate::host::protocol::PROTOCOL,
            sdk: "1".to_owned(),
            skills: vec![skill],
            problems: Vec::new(),
            features: Vec::new(),
        };
        let args = FormatArgs::default();
        let found = report(&envelope, &[]).unwrap().violations;
        let text = text(&found, true);
        let warned = "warning: a.b@1: /description: the skill has no description";
        assert!(text.starts_with(warned) && text.ends_with("\nok\n"), "{text}");
        assert_eq!(check(&envelope, &[], &args).unwrap(), exit::GOOD);
        envelope.skills[0].spec["contract"]["timeoutSeconds"] = json!(0);
        assert_eq!(check(&envelope, &[], &args).unwrap(), exit::NO);
    }
}
