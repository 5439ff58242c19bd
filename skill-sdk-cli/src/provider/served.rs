//! The tools that an MCP server makes of skills, and what keeps providers from taking them.

use clap::ValueEnum;
use serde_json::Value;
use skill_sdk::contract::Severity;
use skill_sdk::contract::schema::{Side, ToolSkill, portable, tool_names};
use skill_sdk::host::args::{ToolOptions, ToolSchemas};
use skill_sdk::host::command::failure;
use skill_sdk::host::protocol::SkillEntry;

use super::{Finding, Provider, check_tool};

/// A skill as an MCP server lists it.
#[derive(Debug)]
pub(crate) struct Tool<'a> {
    pub(crate) skill: &'a SkillEntry,
    pub(crate) name: String,
    inputs: Value,
}

impl Tool<'_> {
    /// What the provider makes of it.
    pub(crate) fn check(&self, provider: Provider) -> Vec<Finding> {
        let description = self.skill.spec.get("description").and_then(Value::as_str);
        check_tool(
            provider,
            &self.name,
            description.unwrap_or_default(),
            &self.inputs,
        )
    }
}

/// The tools of a server of these skills, which are sorted by name and version; or why they cannot be served.
pub(crate) fn tools<'a>(skills: &[&'a SkillEntry], args: ToolOptions) -> Result<Vec<Tool<'a>>, String> {
    let sources: Vec<_> = skills
        .iter()
        .map(|skill| {
            let implementation = |name: &str| {
                skill
                    .spec
                    .pointer("/contract/implementation")?
                    .get(name)?
                    .as_str()
            };
            ToolSkill {
                name: &skill.name,
                version: &skill.version,
                declared: implementation("entrypoint").filter(|_| implementation("protocol") == Some("mcp")),
            }
        })
        .collect();
    let names = tool_names(&sources, args.names, args.all_versions).map_err(|(first, second)| {
        let [first, second] = [first, second].map(|index| &skills[index].reference);
        format!("{first} and {second} would be one tool of an MCP server")
    })?;
    let served = |(skill, name): (&&'a SkillEntry, Option<String>)| {
        let inputs = skill.spec.pointer("/contract/inputs").unwrap_or(&Value::Null);
        let inputs = match args.schemas {
            ToolSchemas::Contract => inputs.clone(),
            _ => portable(inputs, Side::Inputs),
        };
        Some(Tool {
            skill,
            name: name?,
            inputs,
        })
    };
    Ok(skills.iter().zip(names).filter_map(served).collect())
}

/// Warns of the tools for which a provider rejects the requests of its clients.
pub(crate) fn warn(skills: &[&SkillEntry], args: ToolOptions) {
    for message in fatal(skills, args) {
        failure::warn(&message, None);
    }
}

pub(super) fn fatal(skills: &[&SkillEntry], args: ToolOptions) -> Vec<String> {
    let tools = match tools(skills, args) {
        Ok(tools) => tools,
        Err(message) => return vec![message],
    };
    let mut messages = Vec::new();
    for provider in Provider::value_variants() {
        for tool in &tools {
            let errors = tool.check(*provider).into_iter();
            messages.extend(errors.filter(|finding| finding.severity == Severity::Error).map(|finding| {
                let reference = &tool.skill.reference;
                format!("clients of {provider} cannot use the tools of this server: {reference}: {finding}")
            }));
        }
    }
    messages
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use skill_sdk::contract::schema::ToolNames;

    use super::*;
    use crate::sample::skill;

    #[test]
    fn what_is_fatal_is_said_before_a_client_finds_it() {
        let mut skills = [
            skill("git.merge@1", "x::a"),
            skill("git.merge@2", "x::b"),
            skill("user@1", "x::c"),
        ];
        skills[2].spec["contract"]["inputs"]["oneOf"] = json!([{"required": ["a"]}]);
        let entries = skills.each_ref();
        assert_eq!(
            fatal(&entries, ToolOptions::default()),
            [""; 0],
            "served, they are portable"
        );
        let mut args = ToolOptions::default();
        args.names = ToolNames::Contract;
        args.schemas = ToolSchemas::Contract;
        let rules: Vec<_> = fatal(&entries, args)
            .iter()
            .map(|message| message.rsplit_once('[').unwrap().1.to_owned())
            .collect();
        assert_eq!(
            rules,
            [
                "openai.name]",
                "openai.root]",
                "anthropic.name]",
                "anthropic.root]"
            ]
        );
        let names = |args| -> Vec<_> {
            tools(&entries, args)
                .unwrap()
                .into_iter()
                .map(|tool| tool.name)
                .collect()
        };
        assert_eq!(names(ToolOptions::default()), ["git_merge", "user"]);
        let mut all_versions = ToolOptions::default();
        all_versions.all_versions = true;
        assert_eq!(names(all_versions), ["git_merge_v1", "git_merge", "user"]);
    }

    #[test]
    fn two_skills_of_one_name_are_fatal() {
        let skills = [skill("git.merge@1", "x::a"), skill("git_merge@1", "x::b")];
        let found = fatal(&skills.each_ref(), ToolOptions::default());
        assert_eq!(
            found,
            ["git.merge@1 and git_merge@1 would be one tool of an MCP server"]
        );
    }
}
