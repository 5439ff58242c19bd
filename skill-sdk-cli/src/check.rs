//! `check`: the publication rules, and what model providers reject.

use clap::Args;
use serde::Serialize;
use serde_json::Value;
use skill_sdk::contract::Severity;
use skill_sdk::host::args::{Format, FormatArgs};
use skill_sdk::host::command::check::{Found, Report, origin, report, text};
use skill_sdk::host::command::{Failure, exit, output};
use skill_sdk::host::protocol::{Envelope, Problem, SkillEntry};

use crate::provider::{Provider, check_tool};

/// The arguments of `check`.
#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// Also say what this model provider rejects in a tool made of a skill; may be repeated
    #[arg(long = "provider", value_enum, value_name = "PROVIDER", value_delimiter = ',')]
    pub(crate) providers: Vec<Provider>,

    #[command(flatten)]
    pub(crate) shared: FormatArgs,
}

/// What one provider rejects in one skill.
#[derive(Debug, Serialize)]
struct Rejected {
    provider: Provider,
    #[serde(flatten)]
    found: Found,
    remedy: String,
}

#[derive(Debug, Serialize)]
struct Document<'a> {
    ok: bool,
    skills: usize,
    violations: &'a [Found],
    findings: &'a [Rejected],
}

/// Prints every violation of the skills, and what the providers reject in them; the exit code says whether one of them
/// stops publication or makes a provider reject a request.
pub(crate) fn check(envelope: &Envelope, args: &CheckArgs) -> Result<u8, Failure> {
    if args.providers.is_empty() {
        return skill_sdk::host::command::check::check(envelope, &[], &args.shared);
    }
    let (text, ok) = checked(envelope, &args.providers, args.shared.format)?;
    output::print(&text)?;
    Ok(if ok { exit::GOOD } else { exit::NO })
}

/// What is printed, and whether there is no error.
fn checked(envelope: &Envelope, providers: &[Provider], format: Format) -> Result<(String, bool), Failure> {
    let Report { skills, violations } = report(envelope, &[])?;
    let mut providers = providers.to_vec();
    providers.sort_unstable();
    providers.dedup();
    let rejected: Vec<Rejected> = providers
        .iter()
        .flat_map(|provider| skills.iter().flat_map(|skill| rejected(*provider, skill)))
        .collect();
    let mut all = violations
        .iter()
        .chain(rejected.iter().map(|rejected| &rejected.found));
    let ok = all.all(|found| found.severity != Severity::Error);
    let text = match format {
        Format::Json => output::json(&Document {
            ok,
            skills: skills.len(),
            violations: &violations,
            findings: &rejected,
        })?,
        _ => {
            let lines: Vec<Found> = rejected.into_iter().map(with_remedy).collect();
            text(violations.iter().chain(&lines), ok)
        }
    };
    Ok((text, ok))
}

fn with_remedy(rejected: Rejected) -> Found {
    let Rejected {
        mut found, remedy, ..
    } = rejected;
    found.problem.message = format!("{}; {remedy}", found.problem.message);
    found
}

fn rejected(provider: Provider, skill: &SkillEntry) -> Vec<Rejected> {
    let part = |pointer: &str| skill.spec.pointer(pointer).unwrap_or(&Value::Null);
    let description = part("/description").as_str().unwrap_or_default();
    let found = check_tool(provider, &skill.name, description, part("/contract/inputs"));
    let in_spec = |pointer: &str| match pointer.strip_prefix("/inputs") {
        Some(rest) => Some(format!("/contract/inputs{rest}")),
        // The name stands beside the spec.
        None => (pointer != "/name").then(|| pointer.to_owned()),
    };
    let rejected = found.into_iter().map(|finding| Rejected {
        provider,
        found: Found {
            severity: finding.severity,
            problem: Problem {
                code: finding.rule.to_owned(),
                reference: Some(skill.reference.clone()),
                pointer: in_spec(&finding.pointer),
                origin: Some(origin(skill)),
                message: finding.message,
            },
        },
        remedy: finding.remedy,
    });
    rejected.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use skill_sdk::host::protocol::PROTOCOL;

    use super::*;
    use crate::sample::skill;

    #[test]
    fn what_providers_reject_is_placed_in_the_spec() {
        let mut skill = skill("a.b@1", "x::a");
        skill.spec["description"] = json!("é".repeat(2000));
        skill.spec["contract"]["inputs"] =
            json!({"type": "object", "properties": {"a b": {"type": "array"}}});
        let found = rejected(Provider::OpenAi, &skill);
        let errors: Vec<_> = found
            .iter()
            .filter(|rejected| rejected.found.severity == Severity::Error)
            .map(|rejected| {
                (
                    rejected.found.problem.code.as_str(),
                    rejected.found.problem.pointer.as_deref(),
                )
            })
            .collect();
        assert_eq!(
            errors,
            [("openai.items", Some("/contract/inputs/properties/a b"))]
        );
        let pointer = |code: &str| {
            let of_code = |rejected: &&Rejected| rejected.found.problem.code == code;
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
        for rejected in &found {
            assert!(
                skill
                    .spec
                    .pointer(rejected.found.problem.pointer.as_deref().unwrap_or(""))
                    .is_some()
            );
        }
    }

    #[test]
    fn only_errors_change_the_exit_code() {
        let mut envelope = Envelope {
            protocol: PROTOCOL,
            sdk: "1".to_owned(),
            skills: vec![skill("a.b@1", "x::a")],
            problems: Vec::new(),
            features: Vec::new(),
        };
        let check = |envelope: &Envelope, providers: &[Provider], format| {
            checked(envelope, providers, format).unwrap()
        };
        let (text, ok) = check(&envelope, Provider::ALL, Format::Text);
        assert!(ok && text.ends_with("\nok\n"), "{text}");

        envelope.skills[0].spec["contract"]["inputs"]["properties"]["a"] = json!({"type": "array"});
        for (providers, expected) in [
            (&[Provider::Anthropic][..], true),
            (&[Provider::OpenAi], false),
            (Provider::ALL, false),
        ] {
            assert_eq!(
                check(&envelope, providers, Format::Text).1,
                expected,
                "{providers:?}"
            );
        }
        let (text, _) = check(&envelope, &[Provider::OpenAi, Provider::OpenAi], Format::Text);
        let line = "error: a.b@1: /contract/inputs/properties/a: the list has no `items`; add `items` [openai.items]\n";
        assert_eq!(text.matches(line).count(), 1, "{text}");
        assert!(
            text.contains("a client has to call it `a_b` [openai.name]"),
            "{text}"
        );

        let (text, _) = check(&envelope, &[Provider::OpenAi], Format::Json);
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
