//! How skills are tools of an MCP server.

use crate::contract::schema::ToolNames;

/// Which schemas `tools/list` of an MCP server shows. Calls are always validated against the contract.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[cfg_attr(feature = "host", derive(clap::ValueEnum))]
#[non_exhaustive]
pub enum ToolSchemas {
    /// The form that all clients and models take: references are resolved in place, except in a type that contains itself;
    /// optional inputs that may be null have their plain type; a choice at the root is one object
    #[default]
    Portable,
    /// The schemas of the contract, unchanged
    Contract,
}

/// How skills are tools. Calls may name a tool by its listed name, by the name of the skill, as it is written and in its
/// portable form, and by the ref, also when the list shows another name.
#[derive(Debug, Clone, Copy, Default)]
#[cfg_attr(feature = "host", derive(clap::Args))]
#[non_exhaustive]
pub struct ToolOptions {
    /// Which names are listed: those that every client takes, as `git_merge`, or those of the skills, as `git.merge`.
    #[cfg_attr(feature = "host", arg(id = "tool_names", long = "tool-names", default_value = "portable", value_parser = tool_names()))]
    pub names: ToolNames,
    /// Which schemas are listed.
    #[cfg_attr(
        feature = "host",
        arg(id = "tool_schemas", long = "tool-schemas", value_enum, default_value_t)
    )]
    pub schemas: ToolSchemas,
    /// List older versions of a skill too, as `git_merge_v1` beside `git_merge`.
    #[cfg_attr(feature = "host", arg(long))]
    pub all_versions: bool,
}

#[cfg(feature = "host")]
fn tool_names() -> impl clap::builder::TypedValueParser<Value = ToolNames> {
    use clap::builder::{PossibleValuesParser, TypedValueParser};

    PossibleValuesParser::new(["portable", "contract"]).map(|name| match name.as_str() {
        "contract" => ToolNames::Contract,
        _ => ToolNames::Portable,
    })
}
