//! How skills are tools of an MCP server.

use crate::contract::schema::ToolNames;

/// Which schemas `tools/list` of an MCP server shows. Calls are always validated against the contract.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[cfg_attr(feature = "host", derive(clap::ValueEnum))]
#[non_exhaustive]
pub enum ToolSchemas {
    /// Schemas for all clients and models: references are inlined, except in a recursive type; optional inputs are not
    /// nullable; a choice at the root is one object
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
    /// Names in `tools/list`: portable for all clients, such as `git_merge`, or of the contract, such as `git.merge`.
    #[cfg_attr(feature = "host", arg(id = "tool_names", long = "tool-names", value_name = "NAMES", default_value = "portable", value_parser = tool_names()))]
    pub names: ToolNames,
    /// Schemas in `tools/list`.
    #[cfg_attr(
        feature = "host",
        arg(
            id = "tool_schemas",
            long = "tool-schemas",
            value_name = "SCHEMAS",
            value_enum,
            default_value_t
        )
    )]
    pub schemas: ToolSchemas,
    /// List older versions of a skill too, such as `git_merge_v1` beside `git_merge`.
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
