//! How the schemas of tools are shown.

/// Which schemas `tools/list` of an MCP server shows. Calls are always validated against the contract.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[cfg_attr(feature = "host", derive(clap::ValueEnum))]
#[non_exhaustive]
pub enum ToolSchemas {
    /// The form that clients and models read alike: references are resolved in place, except in a type that contains itself;
    /// optional inputs that may be null have their plain type
    #[default]
    Portable,
    /// The schemas of the contract, unchanged
    Contract,
}
