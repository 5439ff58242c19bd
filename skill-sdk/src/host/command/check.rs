//! `check`: all publication rules over all skills.

use std::fmt;

use serde::Serialize;
use serde_json::json;

use super::{Failure, exit, output, select};
use crate::contract::{Severity, Stage, validate_spec};
use crate::host::args::Format;
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
    /// The model provider that rejects it, where the rule is one of a provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<&'static str>,
    /// What to do for that provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

impl Found {
    /// A problem of a skill.
    pub fn new(
        skill: &SkillEntry,
        severity: Severity,
        code: &str,
        pointer: Option<String>,
        message: String,
    ) -> Self {
        let origin = format!(
            "{} {}, {}:{}",
            skill.package, skill.package_version, skill.file, skill.line
        );
        let problem = Problem {
            code: code.to_owned(),
            reference: Some(skill.reference.clone()),
            pointer,
            origin: Some(origin),
            message,
        };
        Self::from((severity, problem))
    }
}

impl From<(Severity, Problem)> for Found {
    fn from((severity, problem): (Severity, Problem)) -> Self {
        Self {
            severity,
            problem,
            provider: None,
            remedy: None,
        }
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let label = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let mut problem = self.problem.clone();
        if let Some(remedy) = &self.remedy {
            problem.message = format!("{}; {remedy}", problem.message);
        }
        write!(f, "{label}: {problem}")
    }
}

/// The findings.
#[derive(Debug)]
pub struct Report {
    /// How many skills were checked.
    pub skills: usize,
    /// The violations of the publication rules, and the problems of the program.
    pub violations: Vec<Found>,
    /// What model providers reject, when that was asked.
    pub findings: Option<Vec<Found>>,
}

impl Report {
    /// Prints what was found; the exit code says whether there is an error.
    pub fn print(&self, format: Format) -> Result<u8, Failure> {
        output::print(&self.text(format)?)?;
        Ok(if self.is_ok() { exit::GOOD } else { exit::NO })
    }

    /// A JSON document; or one problem a line, and `ok` at the end without errors.
    pub fn text(&self, format: Format) -> Result<String, Failure> {
        if format == Format::Json {
            let mut document =
                json!({"ok": self.is_ok(), "skills": self.skills, "violations": self.violations});
            if let Some(findings) = &self.findings {
                document["findings"] = json!(findings);
            }
            return output::json(&document);
        }
        let lines: String = self.all().map(|found| format!("{found}\n")).collect();
        Ok(lines + if self.is_ok() { "ok\n" } else { "" })
    }

    /// Whether all findings are warnings.
    pub fn is_ok(&self) -> bool {
        self.all().all(|found| found.severity != Severity::Error)
    }

    fn all(&self) -> impl Iterator<Item = &Found> {
        self.violations.iter().chain(self.findings.iter().flatten())
    }
}

/// Checks the skills that `names` mean.
pub fn report(envelope: &Envelope, names: &[String]) -> Result<Report, Failure> {
    // While there are problems a name may belong to a skill that is not described, so all are checked that are.
    let skills = if envelope.problems.is_empty() {
        select::select(&envelope.skills, names)?
    } else {
        envelope.skills.iter().collect()
    };
    let problems = envelope.problems.iter().cloned();
    let problems = problems.map(|problem| Found::from((Severity::Error, problem)));
    Ok(Report {
        skills: skills.len(),
        violations: problems
            .chain(skills.iter().flat_map(|skill| violations(skill)))
            .collect(),
        findings: None,
    })
}

/// Everything that is wrong with a skill, or may be: `check` reports it, and `export` writes nothing that has an error.
pub(super) fn violations(skill: &SkillEntry) -> Vec<Found> {
    let found = |severity, code: &str, pointer: String, message: String| {
        Found::new(skill, severity, code, Some(pointer), message)
    };
    let broken = validate_spec(&skill.spec, Stage::Source).into_iter();
    let mut all: Vec<_> = broken
        .map(|broken| found(broken.severity, broken.code, broken.pointer, broken.message))
        .collect();
    let description = skill.spec["description"].as_str().unwrap_or_default();
    if description.trim().is_empty() {
        let message = "the skill has no description, by which models and people choose it; write a doc comment on the function";
        let pointer = "/description".to_owned();
        all.push(found(
            Severity::Warning,
            "no_description",
            pointer,
            message.to_owned(),
        ));
    }
    if all.iter().any(|found| found.severity == Severity::Error) {
        return all;
    }
    let contract = &skill.spec["contract"];
    // A validator knows more than the rules, such as the largest regular expression.
    for side in ["inputs", "outputs"] {
        let (schema, pointer) = (&contract[side], format!("/contract/{side}"));
        if let Err(why) = Schema::compile(schema) {
            let message = format!("the schema cannot be used: {why}");
            all.push(found(Severity::Error, "invalid_json_schema", pointer, message));
            continue;
        }
        let broken = check_defaults(schema).into_iter().map(|(place, why)| {
            let message = format!("the value does not match the schema that contains it: {why}");
            ("value_violates_schema", place, message)
        });
        let of_types = (side == "inputs" && !skill.inputs_given).then(|| hidden_defaults(schema));
        let hidden = of_types.into_iter().flatten().map(|place| {
            let message = "the field has a default that is not in the contract, so nobody sees it change: derive \
                           `serde::Serialize` for its type, without `skip_serializing_if`";
            ("hidden_default", place, message.to_owned())
        });
        for (code, place, message) in broken.chain(hidden) {
            all.push(found(
                Severity::Warning,
                code,
                format!("{pointer}{place}"),
                message,
            ));
        }
    }
    if let Some(examples) = skill.metadata.get("examples") {
        for (pointer, message) in check_examples(&contract["inputs"], &contract["outputs"], examples) {
            let pointer = format!("/examples{pointer}");
            all.push(found(Severity::Error, "invalid_example", pointer, message));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::super::tests::skill;
    use super::*;

    /// A skill with these inputs that keeps every rule.
    fn described(reference: &str, inputs: &Value) -> SkillEntry {
        let mut skill = skill(reference, "x::a");
        skill.spec = json!({
            "version": "1", "description": "It.", "sideEffects": "none", "riskLevel": "low",
            "contract": {
                "inputs": inputs, "outputs": {"type": "object"},
                "idempotency": "none", "timeoutSeconds": 60,
                "retryPolicy": {"maxAttempts": 1, "backoffSeconds": 0},
                "implementation": {"protocol": "local", "entrypoint": "x:a"},
            },
        });
        skill
    }

    #[test]
    fn examples_keep_the_contract() {
        let mut skill = described(
            "a.a@1",
            &json!({"type": "object", "properties": {"a": {"minimum": 0}}}),
        );
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
        let mut skill = described(
            "a.a@1",
            &json!({"type": "object", "properties": {"a": {"type": "integer", "minimum": 1, "default": 0}}}),
        );
        let found = violations(&skill);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].severity, Severity::Warning);
        assert_eq!(
            found[0].problem.to_string().lines().next(),
            Some(
                "a.a@1: /contract/inputs/properties/a/default: the value does not match the schema that contains it: 0 is less \
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
        let mut skill = described(
            "a.a@1",
            &json!({"type": "object", "properties": {"a": {"pattern": "[b-a]"}}}),
        );
        let found = violations(&skill);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].problem.code, "invalid_json_schema");
        skill.spec["contract"]["timeoutSeconds"] = json!(0);
        skill.spec["contract"]["idempotency"] = json!("maybe");
        let codes: Vec<_> = violations(&skill)
            .into_iter()
            .map(|found| found.problem.pointer.unwrap())
            .collect();
        assert_eq!(
            codes,
            [
                "/contract/inputs/properties/a/pattern",
                "/contract/timeoutSeconds",
                "/contract/idempotency"
            ]
        );
    }

    #[test]
    fn only_errors_fail_the_check() {
        let mut skill = described("a.b@1", &json!({"type": "object"}));
        skill.spec["description"] = " ".into();
        let mut envelope = Envelope {
            protocol: crate::host::protocol::PROTOCOL,
            sdk: "1".to_owned(),
            skills: vec![skill],
            problems: Vec::new(),
            features: Vec::new(),
        };
        let text = report(&envelope, &[]).unwrap().text(Format::Text).unwrap();
        let warned = "warning: a.b@1: /description: the skill has no description";
        assert!(text.starts_with(warned) && text.ends_with("\nok\n"), "{text}");
        envelope.skills[0].spec["contract"]["timeoutSeconds"] = json!(0);
        assert!(!report(&envelope, &[]).unwrap().is_ok());
    }
}
