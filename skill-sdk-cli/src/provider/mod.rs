//! What the API of a model provider does to a tool made of a skill: its name, description and input schema.
//!
//! Every provider takes a subset of JSON Schema of its own, and one tool that breaks a rule makes the provider reject the
//! whole request, so all other tools with it. [`check_tool`] finds this before. Pure functions over JSON; nothing recurses.
//!
//! | module | holds |
//! |---|---|
//! | `openai`, `anthropic`, `gemini` | the tables of rules; the page `docs/reference/provider-rules.md` explains each |
//! | `rule` | a rule, what it looks at, and what is reported |
//! | `tree`, `refs` | the walk over a schema; where references lead, which of them are recursive |
//! | `node` | questions about one schema |
//! | `values` | names, numbers and regular expressions |
//! | `served` | the tools that an MCP server makes of skills |

mod anthropic;
mod gemini;
mod node;
mod openai;
mod refs;
mod rule;
mod served;
#[cfg(test)]
mod tests;
mod tree;
mod values;

use std::fmt;

use clap::ValueEnum;
use serde_json::Value;

pub(crate) use self::rule::Finding;
use self::rule::{Check, Rule};
pub(crate) use self::served::{Tool, tools, warn};
use self::tree::Tree;
pub(crate) use self::values::RENAME;

/// A provider of models that call tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
#[value(rename_all = "lower")]
pub(crate) enum Provider {
    // Function calling, plain and strict.
    OpenAi,
    // Tool use, plain and strict.
    Anthropic,
    // Function calling, with a JSON Schema and with the older OpenAPI schema.
    Gemini,
}

impl Provider {
    /// Its name on the command line and at the beginning of the ids of its rules.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
        }
    }

    /// The rules of the provider, those that hold for every tool first.
    fn rules(self) -> &'static [Rule] {
        match self {
            Self::OpenAi => openai::RULES,
            Self::Anthropic => anthropic::RULES,
            Self::Gemini => gemini::RULES,
        }
    }
}

impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Everything that `provider` rejects, ignores or asks for in a tool with this name, description and input schema, in the
/// order of its rules. An empty list means that the tool may be sent as it is, in every mode of the provider.
pub(crate) fn check_tool(provider: Provider, name: &str, description: &str, inputs: &Value) -> Vec<Finding> {
    let tree = Tree::new(inputs);
    let mut found = Vec::new();
    for rule in provider.rules() {
        let mut at = |index: usize, message: String| found.push(rule.finding(tree.pointer(index), message));
        match rule.check {
            Check::Schema(check) => {
                for (index, node) in tree.schemas() {
                    if let Some(message) = check(node) {
                        at(index, message);
                    }
                }
            }
            Check::Reference(check) => {
                for reference in refs::references(&tree) {
                    if let Some(message) = check(&reference) {
                        at(reference.at, message);
                    }
                }
            }
            Check::Whole(check) => {
                for (index, message) in check(&tree) {
                    at(index, message);
                }
            }
            Check::Description(check) => {
                found.extend(check(description).map(|message| rule.finding("/description", message)));
            }
            Check::Name(check) => {
                found.extend(check(name).map(|message| rule.finding("/name", message)));
            }
        }
    }
    found
}
