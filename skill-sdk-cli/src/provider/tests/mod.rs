//! The rules of the providers: every one with a tool that breaks it and one that keeps it.

mod cases;
mod oracle;
mod ours;
mod page;
mod table;

use clap::ValueEnum;
use std::collections::BTreeSet;

use serde_json::{Map, json};
use skill_sdk::contract::Severity;

use self::cases::{Case, cases};
use super::rule::Rule;
use super::{Finding, Provider, check_tool};

/// When a rule holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// For every tool.
    Always,
    /// For a tool that is sent with `strict: true`: the provider then guarantees arguments that fit the schema.
    Strict,
    /// For a tool whose schema is sent in the older, `OpenAPI` form of the provider.
    OpenApi,
}

fn mode_of(rule: &str) -> Mode {
    if rule.contains(".strict_") {
        Mode::Strict
    } else if rule.contains(".openapi_") {
        Mode::OpenApi
    } else {
        Mode::Always
    }
}

fn provider_of(rule: &str) -> Provider {
    let of = |provider: &&Provider| rule.starts_with(&format!("{provider}."));
    *Provider::value_variants().iter().find(of).unwrap()
}

fn all_rules() -> impl Iterator<Item = &'static Rule> {
    Provider::value_variants()
        .iter()
        .flat_map(|provider| provider.rules().iter())
}

fn errors(found: &[Finding]) -> Vec<String> {
    let errors = found.iter().filter(|finding| finding.severity == Severity::Error);
    errors.map(ToString::to_string).collect()
}

#[test]
fn every_rule_has_a_case_and_every_case_a_rule() {
    let rules: Vec<_> = all_rules().map(|rule| rule.id).collect();
    let with_case: BTreeSet<_> = cases().into_iter().map(|case| case.rule).collect();
    let unique: BTreeSet<_> = rules.iter().copied().collect();
    assert_eq!(unique.len(), rules.len(), "an id is there twice");
    assert_eq!(unique, with_case);
}

#[test]
fn a_rule_is_known_in_full() {
    for rule in all_rules() {
        assert!(
            !rule.remedy.is_empty() && !rule.remedy.ends_with('.'),
            "{}",
            rule.id
        );
        let always = mode_of(rule.id) == Mode::Always;
        assert!(always || rule.severity == Severity::Warning, "{}", rule.id);
        let word = match mode_of(rule.id) {
            Mode::Always => "",
            Mode::Strict => "strict_",
            Mode::OpenApi => "openapi_",
        };
        let name = rule.id.strip_prefix(provider_of(rule.id).name()).unwrap();
        assert!(name.starts_with(&format!(".{word}")), "{}", rule.id);
    }
}

#[test]
fn every_rule_finds_what_breaks_it_and_nothing_else() {
    for Case {
        rule,
        pointer,
        bad,
        good,
    } in cases()
    {
        let check = |tool: &cases::Tool| {
            let found = check_tool(provider_of(rule), &tool.name, &tool.description, &tool.inputs);
            found
                .into_iter()
                .filter(|finding| finding.rule == rule)
                .collect::<Vec<_>>()
        };
        let found = check(&bad);
        let pointers: Vec<_> = found.iter().map(|finding| finding.pointer.as_str()).collect();
        assert_eq!(pointers, [pointer], "{rule}: {found:#?}");
        let tool = json!({"name": bad.name, "description": bad.description, "inputs": bad.inputs});
        assert!(tool.pointer(pointer).is_some(), "{rule}: nothing is at {pointer}");
        let known = all_rules().find(|known| known.id == rule).unwrap();
        assert_eq!(found[0].severity, known.severity, "{rule}");
        assert!(
            !found[0].message.is_empty() && !found[0].remedy.is_empty(),
            "{rule}"
        );

        let found = check(&good);
        assert!(found.is_empty(), "{rule}: {found:#?}");
    }
}

#[test]
fn a_name_that_a_provider_rejects_is_an_error() {
    for (provider, name, is_good) in [
        (Provider::OpenAi, "git.merge", false),
        (Provider::OpenAi, "git_merge", true),
        (Provider::OpenAi, "2fa", true),
        (Provider::OpenAi, "名前", false),
        (Provider::OpenAi, "", false),
        (Provider::Anthropic, "git.merge", false),
        (Provider::Anthropic, "git-merge", true),
        (Provider::Gemini, "git.merge", true),
        (Provider::Gemini, "2fa.code", false),
        (Provider::Gemini, "größe", false),
        (Provider::Gemini, "...", false),
    ] {
        let found = errors(&check_tool(provider, name, "", &cases::empty()));
        assert_eq!(found.is_empty(), is_good, "{provider} {name}: {found:?}");
    }
    let found = check_tool(Provider::OpenAi, "git.merge", "", &cases::empty());
    assert_eq!(
        found[0].to_string(),
        "/name: the name `git.merge` is not 1 to 64 letters, digits and characters of `_-`; declare another one: \
         `implementation = mcp(…, tool = \"…\")` [openai.name]"
    );
}

#[test]
fn anything_may_be_checked() {
    // Deeper than a parser would go, and moved, not copied, from level to level.
    let mut deep = json!({});
    for _ in 0..1000 {
        let properties = Map::from_iter([("a".to_owned(), deep)]);
        deep = json!({"type": "object", "required": 3});
        deep["properties"] = properties.into();
    }
    let odd = [
        json!(null),
        json!(true),
        json!([1]),
        json!({"type": 3, "properties": [], "required": {}, "enum": "a", "anyOf": {}, "$defs": 1, "format": []}),
        json!({"$ref": 1, "items": [1, null], "properties": {"a": null, "b": 3, "": {}}}),
        json!({"$ref": "#"}),
        json!({"$ref": "#/%zz", "allOf": [{"$ref": "#/allOf/0"}, {"$ref": "#/allOf"}]}),
        json!({"properties": {"a/b~c\u{7}": {"type": "array", "minItems": -1e300}}}),
    ];
    for provider in Provider::value_variants() {
        for schema in &odd {
            for finding in check_tool(*provider, "\u{7}", "", schema) {
                let text = finding.to_string();
                assert!(!text.chars().any(|c| c.is_control() && c != '\u{7}'), "{text}");
                assert!(!finding.message.contains('\u{7}'), "{text}");
            }
        }
        assert!(!check_tool(*provider, "a", "", &deep).is_empty());
    }
}
