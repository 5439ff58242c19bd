//! `check`: all publication rules over all skills, and what model providers refuse.

use serde::Serialize;
use serde_json::Value;

use super::{Failure, exit, output, problems, select};
use crate::contract::check::{Severity, check_spec};
use crate::contract::provider::{Provider, check_tool};
use crate::host::args::{CheckArgs, Format};
use crate::host::protocol::{Envelope, Problem, SkillEntry};
use crate::pipeline::{check_examples, check_schema_compiles};

/// One violation of one skill.
#[derive(Debug, Serialize)]
struct Found {
    severity: Severity,
    #[serde(flatten)]
    problem: Problem,
}

/// What one provider refuses in one skill.
#[derive(Debug, Serialize)]
struct Refused {
    provider: Provider,
    #[serde(flatten)]
    found: Found,
    remedy: String,
}

#[derive(Debug, Serialize)]
struct Report<'a> {
    ok: bool,
    skills: usize,
    violations: &'a [Found],
    /// Missing when no provider was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    findings: Option<&'a [Refused]>,
}

/// Prints every violation of the skills that `names` mean, and what the providers refuse in them; the exit code says
/// whether one of them stops publication or makes a provider refuse a request.
pub fn check(envelope: &Envelope, names: &[String], args: &CheckArgs) -> Result<u8, Failure> {
    let (text, ok) = report(envelope, names, args)?;
    output::print(&text)?;
    Ok(if ok { exit::GOOD } else { exit::NO })
}

/// What is printed, and whether there is no error.
fn report(envelope: &Envelope, names: &[String], args: &CheckArgs) -> Result<(String, bool), Failure> {
    // While there are problems a name may belong to a skill that is not described, so all are checked that are.
    let skills = if envelope.problems.is_empty() {
        select::select(&envelope.skills, names)?
    } else {
        envelope.skills.iter().collect()
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
    let mut providers = args.providers.clone();
    providers.sort_unstable();
    providers.dedup();
    let refused: Vec<Refused> = providers
        .iter()
        .flat_map(|provider| skills.iter().flat_map(|skill| refused(*provider, skill)))
        .collect();
    let all = found.iter().chain(refused.iter().map(|refused| &refused.found));
    let ok = all.into_iter().all(|found| found.severity != Severity::Error);
    let text = match args.format {
        Format::Json => output::json(&Report {
            ok,
            skills: skills.len(),
            violations: &found,
            findings: (!providers.is_empty()).then_some(&refused),
        })?,
        Format::Text => text(&found, &refused, ok),
    };
    Ok((text, ok))
}

fn text(found: &[Found], refused: &[Refused], ok: bool) -> String {
    let mut text = String::new();
    let mut line = |severity: Severity, problem: &Problem| {
        let label = if severity == Severity::Error {
            "error"
        } else {
            "warning"
        };
        text.push_str(&format!("{label}: {}\n", problems::line(problem)));
    };
    for Found { severity, problem } in found {
        line(*severity, problem);
    }
    for Refused { found, remedy, .. } in refused {
        let mut problem = found.problem.clone();
        problem.message = format!("{}; {remedy}", problem.message);
        line(found.severity, &problem);
    }
    if ok {
        text.push_str("ok\n");
    }
    text
}

fn origin(skill: &SkillEntry) -> String {
    format!(
        "{} {}, {}:{}",
        skill.package, skill.package_version, skill.file, skill.line
    )
}

fn refused(provider: Provider, skill: &SkillEntry) -> Vec<Refused> {
    let part = |pointer: &str| skill.spec.pointer(pointer).unwrap_or(&Value::Null);
    let description = part("/description").as_str().unwrap_or_default();
    let found = check_tool(provider, &skill.name, description, part("/contract/inputs"));
    let of_spec = |pointer: &str| match pointer.strip_prefix("/inputs") {
        Some(rest) => Some(format!("/contract/inputs{rest}")),
        // The name stands beside the spec.
        None => (pointer != "/name").then(|| pointer.to_owned()),
    };
    let refused = found.into_iter().map(|finding| Refused {
        provider,
        found: Found {
            severity: finding.severity,
            problem: Problem {
                code: finding.rule.to_owned(),
                reference: Some(skill.reference.clone()),
                pointer: of_spec(&finding.pointer),
                origin: Some(origin(skill)),
                message: finding.message,
            },
        },
        remedy: finding.remedy,
    });
    refused.collect()
}

fn violations(skill: &SkillEntry) -> Vec<Found> {
    let at = |code: &str, pointer: Option<String>, message: String| Problem {
        code: code.to_owned(),
        reference: Some(skill.reference.clone()),
        pointer,
        origin: Some(origin(skill)),
        message,
    };
    let mut found: Vec<_> = check_spec(&skill.spec)
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
        if let Err(why) = check_schema_compiles(schema) {
            let message = format!("the schema cannot be used: {why}");
            found.push(Found {
                severity: Severity::Error,
                problem: at("invalid_json_schema", Some(pointer), message),
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

    use super::super::select::tests::skill;
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
    fn what_providers_refuse_is_placed_in_the_spec() {
        let mut skill = skill("a.b@1", "x::a");
        skill.spec["description"] = json!("é".repeat(2000));
        skill.spec["contract"]["inputs"] =
            json!({"type": "object", "properties": {"a b": {"type": "array"}}});
        let found = refused(Provider::OpenAi, &skill);
        let errors: Vec<_> = found
            .iter()
            .filter(|refused| refused.found.severity == Severity::Error)
            .map(|refused| {
                (
                    refused.found.problem.code.as_str(),
                    refused.found.problem.pointer.as_deref(),
                )
            })
            .collect();
        assert_eq!(
            errors,
            [("openai.items", Some("/contract/inputs/properties/a b"))]
        );
        let pointer = |code: &str| {
            let of_code = |refused: &&Refused| refused.found.problem.code == code;
            found
                .iter()
                .find(of_code)
                .unwrap()
                .found
                .problem
                .pointer
                .as_deref()
        };
        assert_eq!(pointer("openai.name"), None);
        assert_eq!(pointer("openai.description_length"), Some("/description"));
        assert_eq!(pointer("openai.strict_required"), Some("/contract/inputs"));
        for refused in &found {
            assert!(
                skill
                    .spec
                    .pointer(refused.found.problem.pointer.as_deref().unwrap_or(""))
                    .is_some()
            );
        }
    }

    #[test]
    fn only_errors_change_the_exit_code() {
        let mut skill = skill("a.b@1", "x::a");
        skill.spec = json!({
            "version": "1", "description": "It.", "sideEffects": "none", "riskLevel": "low",
            "contract": {
                "inputs": {"type": "object", "properties": {"a": {"type": "string"}}},
                "outputs": {"type": "object"},
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
            actions: Vec::new(),
        };
        let report = |envelope: &Envelope, providers: &[Provider], format| {
            let args = CheckArgs {
                providers: providers.to_vec(),
                format,
            };
            report(envelope, &[], &args).unwrap()
        };
        let (text, ok) = report(&envelope, Provider::ALL, Format::Text);
        assert!(ok && text.ends_with("\nok\n"), "{text}");
        assert_eq!(report(&envelope, &[], Format::Text), ("ok\n".to_owned(), true));

        envelope.skills[0].spec["description"] = json!(" ");
        let (text, ok) = report(&envelope, &[], Format::Text);
        let warned = "warning: a.b@1: /description: the skill has no description";
        assert!(
            ok && text.starts_with(warned) && text.ends_with("\nok\n"),
            "{text}"
        );
        envelope.skills[0].spec["description"] = json!("It.");

        envelope.skills[0].spec["contract"]["inputs"]["properties"]["a"] = json!({"type": "array"});
        for (providers, expected) in [
            (&[][..], true),
            (&[Provider::Anthropic], true),
            (&[Provider::OpenAi], false),
            (Provider::ALL, false),
        ] {
            assert_eq!(
                report(&envelope, providers, Format::Text).1,
                expected,
                "{providers:?}"
            );
        }
        let (text, _) = report(&envelope, &[Provider::OpenAi, Provider::OpenAi], Format::Text);
        let line = "error: a.b@1: /contract/inputs/properties/a: the list has no `items`; add `items` [openai.items]\n";
        assert_eq!(text.matches(line).count(), 1, "{text}");
        assert!(
            text.contains("a client has to call it `a_b` [openai.name]"),
            "{text}"
        );

        let (text, _) = report(&envelope, &[], Format::Json);
        assert!(!text.contains("findings"), "{text}");
        let (text, _) = report(&envelope, &[Provider::OpenAi], Format::Json);
        let document: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(document["ok"], json!(false));
        assert_eq!(document["violations"], json!([]));
        let findings = document["findings"].as_array().unwrap();
        let items = findings.iter().find(|finding| finding["code"] == "openai.items");
        assert_eq!(
            items.unwrap(),
            &json!({
                "provider": "openai", "severity": "error", "code": "openai.items", "ref": "a.b@1",
                "pointer": "/contract/inputs/properties/a", "origin": "acme-skills 1.0.0, src/lib.rs:3",
                "message": "the list has no `items`", "remedy": "add `items`",
            })
        );
    }
}
