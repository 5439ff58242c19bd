//! `check`: the publication rules, and what model providers reject.

use clap::Args;
use skill_sdk::host::args::FormatArgs;
use skill_sdk::host::command::Failure;
use skill_sdk::host::command::check::{self, Found, Report};
use skill_sdk::host::protocol::{Envelope, SkillEntry};

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

/// Every violation of the skills, and what the providers reject in them.
pub(crate) fn report(envelope: &Envelope, providers: &[Provider]) -> Result<Report, Failure> {
    let mut report = check::report(envelope, &[])?;
    if !providers.is_empty() {
        let mut providers = providers.to_vec();
        providers.sort_unstable();
        providers.dedup();
        let skills = &envelope.skills;
        let found = providers
            .into_iter()
            .flat_map(|provider| skills.iter().flat_map(move |skill| rejected(provider, skill)));
        report.findings = Some(found.collect());
    }
    Ok(report)
}

/// What one provider rejects in one skill.
fn rejected(provider: Provider, skill: &SkillEntry) -> Vec<Found> {
    let description = skill.spec["description"].as_str().unwrap_or_default();
    let inputs = &skill.spec["contract"]["inputs"];
    let in_spec = |pointer: String| match pointer.strip_prefix("/inputs") {
        Some(rest) => Some(format!("/contract/inputs{rest}")),
        // The name stands beside the spec.
        None => (pointer != "/name").then_some(pointer),
    };
    let findings = check_tool(provider, &skill.name, description, inputs).into_iter();
    let rejected = findings.map(|finding| Found {
        provider: Some(provider.name()),
        remedy: Some(finding.remedy),
        ..Found::new(
            skill,
            finding.severity,
            finding.rule,
            in_spec(finding.pointer),
            finding.message,
        )
    });
    rejected.collect()
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;
    use serde_json::{Value, json};
    use skill_sdk::contract::Severity;
    use skill_sdk::host::args::Format;
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
            [("openai.items", Some("/contract/inputs/properties/a b"))]
        );
        let pointer = |code: &str| {
            let of_code = |rejected: &&Found| rejected.problem.code == code;
            let rejected = found.iter().find(of_code).unwrap();
            rejected.problem.pointer.as_deref()
        };
        assert_eq!(pointer("openai.name"), None);
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
            (report.text(format).unwrap(), report.is_ok())
        };
        let (text, ok) = check(&envelope, Provider::value_variants(), Format::Text);
        assert!(ok && text.ends_with("\nok\n"), "{text}");

        envelope.skills[0].spec["contract"]["inputs"]["properties"]["a"] = json!({"type": "array"});
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
