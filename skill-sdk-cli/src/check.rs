//! `check`: the publication rules, and what model providers reject.

use clap::Args;
use serde::Serialize;
use skill_sdk::contract::Severity;
use skill_sdk::host::args::{Format, FormatArgs, ToolArgs};
use skill_sdk::host::command::check::{Found, Report, origin, report, text};
use skill_sdk::host::command::{Failure, exit, output, problems};
use skill_sdk::host::protocol::{Envelope, Problem, SkillEntry};

use crate::provider::{Finding, Provider, RENAME, Tool, tools};

/// The arguments of `check`.
#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// Also say what this model provider rejects in a tool made of a skill; may be repeated
    #[arg(long = "provider", value_enum, value_name = "PROVIDER", value_delimiter = ',')]
    pub(crate) providers: Vec<Provider>,

    #[command(flatten)]
    pub(crate) shared: FormatArgs,
}

/// What one provider rejects in one skill, or an MCP server in all of them together.
#[derive(Debug, Serialize)]
struct Rejected {
    #[serde(skip_serializing_if = "Option::is_none")]
    provider: Option<Provider>,
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
///
/// Unless `verbose`, advice is one line for each rule.
pub(crate) fn check(envelope: &Envelope, args: &CheckArgs, verbose: bool) -> Result<u8, Failure> {
    if args.providers.is_empty() {
        return skill_sdk::host::command::check::check(envelope, &[], &args.shared);
    }
    let (text, ok) = checked(envelope, &args.providers, args.shared.format, verbose)?;
    output::print(&text)?;
    Ok(if ok { exit::GOOD } else { exit::NO })
}

/// What is printed, and whether there is no error.
fn checked(
    envelope: &Envelope,
    providers: &[Provider],
    format: Format,
    verbose: bool,
) -> Result<(String, bool), Failure> {
    let Report { skills, violations } = report(envelope, &[])?;
    let mut providers = providers.to_vec();
    providers.sort_unstable();
    providers.dedup();
    let rejected = rejected(&providers, &skills);
    let is_error = |found: &Found| found.severity == Severity::Error;
    let ok = !violations.iter().any(is_error) && !rejected.iter().any(|rejected| is_error(&rejected.found));
    let text = match format {
        Format::Json => output::json(&Document {
            ok,
            skills: skills.len(),
            violations: &violations,
            findings: &rejected,
        })?,
        _ => {
            let found: Vec<Found> = rejected.into_iter().map(with_remedy).collect();
            let (errors, advice): (Vec<_>, Vec<_>) =
                violations.iter().chain(&found).partition(|found| is_error(found));
            let (warnings, advice): (Vec<_>, Vec<_>) = advice
                .into_iter()
                .partition(|advice| verbose || violations.iter().any(|found| std::ptr::eq(found, *advice)));
            let summary = by_rule(&advice);
            text(errors, false) + &text(warnings, false) + &summary + &text([], ok)
        }
    };
    Ok((text, ok))
}

/// One line for each rule, with how often it is broken and where first.
fn by_rule(advice: &[&Found]) -> String {
    let mut rules: Vec<(&str, Vec<&Problem>)> = Vec::new();
    for Found { problem, .. } in advice {
        match rules.iter_mut().find(|(rule, _)| *rule == problem.code) {
            Some((_, places)) => places.push(problem),
            None => rules.push((&problem.code, vec![problem])),
        }
    }
    let mut text = String::new();
    for (_, places) in &rules {
        let times = match places.len() {
            1 => String::new(),
            more => format!("{more} times, first "),
        };
        for first in places.iter().take(1) {
            let first = Problem {
                origin: None,
                ..(*first).clone()
            };
            text.push_str(&format!("advice: {times}{}\n", problems::line(&first)));
        }
    }
    if !text.is_empty() {
        text.push_str("--verbose shows every place\n");
    }
    text
}

fn with_remedy(rejected: Rejected) -> Found {
    let Rejected {
        mut found, remedy, ..
    } = rejected;
    found.problem.message = format!("{}; {remedy}", found.problem.message);
    found
}

/// What the providers reject in the tools that an MCP server makes of the skills, by provider.
fn rejected(providers: &[Provider], skills: &[&SkillEntry]) -> Vec<Rejected> {
    let args = ToolArgs {
        all_versions: true,
        ..ToolArgs::default()
    };
    let mut rejected = Vec::new();
    let tools = tools(skills, args).unwrap_or_else(|message| {
        rejected.push(one_tool(message));
        // Each by itself is a tool.
        let alone = skills
            .iter()
            .flat_map(|skill| tools(&[*skill], args).unwrap_or_default());
        alone.collect()
    });
    for provider in providers {
        for tool in &tools {
            let found = tool.check(*provider).into_iter();
            rejected.extend(found.map(|finding| placed(*provider, tool, finding)));
        }
    }
    rejected
}

fn one_tool(message: String) -> Rejected {
    Rejected {
        provider: None,
        found: Found {
            severity: Severity::Error,
            problem: Problem {
                code: "one_tool".to_owned(),
                reference: None,
                pointer: None,
                origin: None,
                message,
            },
        },
        remedy: RENAME.to_owned(),
    }
}

/// A finding with its place in the spec: that of the tool, or the nearest around it that the contract has too.
fn placed(provider: Provider, tool: &Tool<'_>, finding: Finding) -> Rejected {
    let skill = tool.skill;
    // The name stands beside the spec.
    let pointer = (finding.pointer != "/name").then(|| {
        let mut pointer = match finding.pointer.strip_prefix("/inputs") {
            Some(rest) => format!("/contract/inputs{rest}"),
            None => finding.pointer.clone(),
        };
        while skill.spec.pointer(&pointer).is_none() {
            pointer.truncate(pointer.rfind('/').unwrap_or_default());
        }
        pointer
    });
    Rejected {
        provider: Some(provider),
        found: Found {
            severity: finding.severity,
            problem: Problem {
                code: finding.rule.to_owned(),
                reference: Some(skill.reference.clone()),
                pointer,
                origin: Some(origin(skill)),
                message: finding.message,
            },
        },
        remedy: finding.remedy,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use skill_sdk::host::protocol::PROTOCOL;

    use super::*;
    use crate::sample::skill;

    #[test]
    fn what_providers_reject_is_placed_in_the_spec() {
        let mut skill = skill("a.b@1", "x::a");
        skill.spec["description"] = json!("é".repeat(2000));
        skill.spec["contract"]["inputs"] =
            json!({"type": "object", "properties": {"a b": {"type": "string", "pattern": "(?!a)"}}});
        let found = rejected(&[Provider::OpenAi], &[&skill]);
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
            [("openai.pattern", Some("/contract/inputs/properties/a b"))]
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
            checked(envelope, providers, format, false).unwrap()
        };
        let (text, ok) = check(&envelope, Provider::ALL, Format::Text);
        assert!(ok && text.ends_with("\nok\n"), "{text}");

        envelope.skills[0].spec["contract"]["inputs"]["properties"]["a"] =
            json!({"type": "string", "pattern": "(?!a)"});
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
        let line = "error: a.b@1: /contract/inputs/properties/a: the pattern `(?!a)` has `(?!`; write it without, and check the rest in the skill [openai.pattern]\n";
        assert_eq!(text.matches(line).count(), 1, "{text}");
        assert!(text.starts_with(line), "errors come first: {text}");

        // Both have the same advice.
        let mut other = skill("a.c@1", "x::b");
        other.spec["contract"]["inputs"]["properties"]["b"] = json!({"type": "string", "minLength": 1});
        envelope.skills.push(other);
        let (text, _) = check(&envelope, &[Provider::OpenAi], Format::Text);
        let closed = "advice: 2 times, first a.b@1: /contract/inputs: the object has no `additionalProperties: false`; ";
        assert_eq!(text.matches(closed).count(), 1, "{text}");
        assert_eq!(text.matches("[openai.strict_closed]").count(), 1, "{text}");
        assert!(
            text.contains("\nadvice: a.c@1: /contract/inputs/properties/b: "),
            "{text}"
        );
        assert!(text.ends_with("--verbose shows every place\n"), "{text}");
        let advice = text.lines().filter(|line| line.starts_with("advice: ")).count();
        assert_eq!(
            text.lines().count(),
            advice + 3,
            "an error with its origin, and the last line: {text}"
        );
        let (text, _) = checked(&envelope, &[Provider::OpenAi], Format::Text, true).unwrap();
        assert_eq!(text.matches("[openai.strict_closed]").count(), 2, "{text}");
        envelope.skills.pop();

        envelope.skills.push(skill("a_b@1", "x::c"));
        let (text, ok) = check(&envelope, &[Provider::Gemini], Format::Text);
        assert!(!ok, "{text}");
        let one = "error: a.b@1 and a_b@1 would be one tool of an MCP server; declare another one";
        assert!(text.starts_with(one), "{text}");
        envelope.skills.pop();

        let (text, _) = check(&envelope, &[Provider::OpenAi], Format::Json);
        let document: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(document["ok"], json!(false));
        assert_eq!(document["violations"], json!([]));
        let findings = document["findings"].as_array().unwrap();
        let pattern = findings
            .iter()
            .find(|finding| finding["code"] == "openai.pattern");
        assert_eq!(
            pattern.unwrap(),
            &json!({
                "provider": "openai", "severity": "error", "code": "openai.pattern", "ref": "a.b@1",
                "pointer": "/contract/inputs/properties/a", "origin": "acme-skills 1.0.0, src/lib.rs:3",
                "message": "the pattern `(?!a)` has `(?!`", "remedy": "write it without, and check the rest in the skill",
            })
        );
    }
}
