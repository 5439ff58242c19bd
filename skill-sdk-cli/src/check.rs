//! `check`: the publication rules, and what model providers reject.

use std::collections::BTreeMap;

use clap::Args;
use skill_sdk::contract::Severity;
use skill_sdk::host::args::{Format, FormatArgs, ToolOptions};
use skill_sdk::host::command::check::{self, Found, Report};
use skill_sdk::host::command::{Failure, exit, output};
use skill_sdk::host::protocol::{Envelope, Problem, SkillEntry};

use crate::provider::{Finding, Provider, RENAME, Tool, tools};

/// The arguments of `check`.
#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// Also report what this model provider rejects in the tools; may be repeated
    #[arg(long = "provider", value_enum, value_name = "PROVIDER", value_delimiter = ',')]
    pub(crate) providers: Vec<Provider>,

    #[command(flatten)]
    pub(crate) shared: FormatArgs,
}

/// Prints every violation of the skills, and what the providers reject in them; the exit code says whether one of them
/// stops publication or makes a provider reject a request.
///
/// Unless `verbose`, advice is one line for each rule.
pub(crate) fn check(envelope: &Envelope, args: &CheckArgs, verbose: bool) -> Result<u8, Failure> {
    let report = report(envelope, &args.providers)?;
    output::print(&text(&report, args.shared.format, verbose)?)?;
    Ok(if report.is_ok() { exit::GOOD } else { exit::NO })
}

/// Every violation of the skills, and what the providers reject in them.
fn report(envelope: &Envelope, providers: &[Provider]) -> Result<Report, Failure> {
    let mut report = check::report(envelope, &[])?;
    if !providers.is_empty() {
        let mut providers = providers.to_vec();
        providers.sort_unstable();
        providers.dedup();
        let skills: Vec<&SkillEntry> = envelope.skills.iter().collect();
        report.findings = Some(rejected(&providers, &skills));
    }
    Ok(report)
}

/// Errors first, then warnings, then the advice of providers.
fn text(report: &Report, format: Format, verbose: bool) -> Result<String, Failure> {
    let Some(findings) = report.findings.as_ref().filter(|_| format == Format::Text) else {
        return report.text(format);
    };
    let is_error = |found: &&Found| found.severity == Severity::Error;
    let (errors, advice): (Vec<&Found>, Vec<&Found>) = findings.iter().partition(is_error);
    let (broken, warnings): (Vec<&Found>, Vec<&Found>) = report.violations.iter().partition(is_error);
    let found = broken.into_iter().chain(errors).chain(warnings);
    let mut lines: Vec<String> = found.map(ToString::to_string).collect();
    if verbose {
        lines.extend(advice.iter().map(ToString::to_string));
    } else {
        lines.extend(by_rule(&advice));
    }
    if report.is_ok() {
        lines.push("ok".to_owned());
    }
    lines.push(String::new());
    Ok(lines.join("\n"))
}

/// One line for each rule, with how often it is broken and where first.
fn by_rule(advice: &[&Found]) -> Vec<String> {
    let mut rules: BTreeMap<&str, Vec<&Found>> = BTreeMap::new();
    for found in advice {
        rules.entry(&found.problem.code).or_default().push(found);
    }
    let mut lines = Vec::new();
    for places in rules.values() {
        let times = match places.len() {
            1 => String::new(),
            more => format!("{more} times, first "),
        };
        let Found { problem, remedy, .. } = places[0];
        let mut first = problem.clone();
        first.origin = None;
        first.message = format!("{}; {}", first.message, remedy.as_deref().unwrap_or_default());
        lines.push(format!("advice: {times}{first}"));
    }
    if !lines.is_empty() {
        lines.push("--verbose shows every place".to_owned());
    }
    lines
}

/// What the providers reject in the tools that an MCP server makes of the skills, by provider.
fn rejected(providers: &[Provider], skills: &[&SkillEntry]) -> Vec<Found> {
    let mut options = ToolOptions::default();
    options.all_versions = true;
    let mut rejected = Vec::new();
    let tools = tools(skills, options).unwrap_or_else(|message| {
        rejected.push(one_tool(message));
        // Each by itself is a tool.
        let alone = skills.iter();
        alone
            .flat_map(|skill| tools(&[*skill], options).unwrap_or_default())
            .collect()
    });
    for provider in providers {
        for tool in &tools {
            let found = tool.check(*provider).into_iter();
            rejected.extend(found.map(|finding| placed(*provider, tool, finding)));
        }
    }
    rejected
}

fn one_tool(message: String) -> Found {
    let problem = Problem {
        code: "one_tool".to_owned(),
        reference: None,
        pointer: None,
        origin: None,
        message,
    };
    let mut found = Found::from((Severity::Error, problem));
    found.remedy = Some(RENAME.to_owned());
    found
}

/// A finding with its place in the spec: that of the tool, or the nearest around it that the contract has too.
fn placed(provider: Provider, tool: &Tool<'_>, finding: Finding) -> Found {
    let spec = &tool.skill.spec;
    // The name is not part of the spec.
    let pointer = (finding.pointer != "/name").then(|| {
        let mut pointer = match finding.pointer.strip_prefix("/inputs") {
            Some(rest) => format!("/contract/inputs{rest}"),
            None => finding.pointer.clone(),
        };
        while spec.pointer(&pointer).is_none() {
            pointer.truncate(pointer.rfind('/').unwrap_or_default());
        }
        pointer
    });
    let mut found = Found::new(
        tool.skill,
        finding.severity,
        finding.rule,
        pointer,
        finding.message,
    );
    found.provider = Some(provider.name());
    found.remedy = Some(finding.remedy);
    found
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;
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
            .filter(|rejected| rejected.severity == Severity::Error)
            .map(|rejected| {
                (
                    rejected.problem.code.as_str(),
                    rejected.problem.pointer.as_deref(),
                )
            })
            .collect();
        assert_eq!(
            errors,
            [("openai.pattern", Some("/contract/inputs/properties/a b"))]
        );
        let pointer = |code: &str| {
            let of_code = |rejected: &&Found| rejected.problem.code == code;
            let rejected = found.iter().find(of_code).unwrap();
            rejected.problem.pointer.as_deref()
        };
        assert_eq!(pointer("openai.description_length"), Some("/description"));
        assert_eq!(pointer("openai.strict_required"), Some("/contract/inputs"));
        for rejected in &found {
            assert!(
                skill
                    .spec
                    .pointer(rejected.problem.pointer.as_deref().unwrap_or(""))
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
            let report = report(envelope, providers).unwrap();
            (text(&report, format, false).unwrap(), report.is_ok())
        };
        let (text, ok) = check(&envelope, Provider::value_variants(), Format::Text);
        assert!(ok && text.ends_with("\nok\n"), "{text}");

        envelope.skills[0].spec["contract"]["inputs"]["properties"]["a"] =
            json!({"type": "string", "pattern": "(?!a)"});
        for (providers, expected) in [
            (&[Provider::Anthropic][..], true),
            (&[Provider::OpenAi], false),
            (Provider::value_variants(), false),
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
        let report = super::report(&envelope, &[Provider::OpenAi]).unwrap();
        let text = super::text(&report, Format::Text, true).unwrap();
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
