//! What the API of a model provider does to a tool made of a skill: its name, description and input schema.
//!
//! Every provider takes a subset of JSON Schema of its own, and one tool that breaks a rule makes the provider refuse the
//! whole request, so all other tools with it. [`check_tool`] says so before. Pure functions over JSON; nothing recurses.
//!
//! | module | holds |
//! |---|---|
//! | `finding`, `rule` | what is reported, and what is known of a rule |
//! | `tree`, `refs` | all schemas of a schema; where references lead, which of them are recursive |
//! | `node` | questions about one schema |
//! | `names` | the name that a client has to use instead |
//! | `strict` | what strict modes have in common |
//! | `openai`, `openai_strict`, `anthropic`, `anthropic_strict`, `gemini`, `gemini_openapi` | the rules: first a table, then the code |
//!
//! The tables are also the page `docs/providers.md`.

mod anthropic;
mod anthropic_strict;
mod finding;
mod gemini;
mod gemini_openapi;
mod names;
mod node;
mod openai;
mod openai_strict;
mod refs;
mod rule;
mod strict;
mod tree;

#[cfg(test)]
mod tests;

use std::fmt;

use serde::Serialize;
use serde_json::Value;

pub use self::finding::Finding;
use self::finding::Findings;
#[cfg(feature = "llm")]
pub(crate) use self::openai_strict::{FORMATS as STRICT_FORMATS, KEYWORDS as STRICT_KEYWORDS};
pub use self::rule::{Mode, Rule};
use self::tree::Tree;

/// A provider of models that call tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Provider {
    /// Function calling of `OpenAI`, plain and strict.
    OpenAi,
    /// Tool use of Anthropic, plain and strict.
    Anthropic,
    /// Function calling of Gemini, with a JSON Schema and with the older `OpenAPI` schema.
    Gemini,
}

impl Provider {
    /// All of them.
    pub const ALL: &'static [Self] = &[Self::OpenAi, Self::Anthropic, Self::Gemini];

    /// Its name on the command line and at the beginning of the ids of its rules.
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
        }
    }

    /// The rules of the provider, those that hold for every tool first.
    pub fn rules(self) -> impl Iterator<Item = &'static Rule> {
        let (always, sometimes) = match self {
            Self::OpenAi => (openai::RULES, openai_strict::RULES),
            Self::Anthropic => (anthropic::RULES, anthropic_strict::RULES),
            Self::Gemini => (gemini::RULES, gemini_openapi::RULES),
        };
        always.iter().chain(sometimes).copied()
    }

    /// The name that a client has to give a tool made of the skill `name`: every character that the provider refuses is
    /// an underscore. `None` when that is too long, or holds no letter and no digit any more.
    pub fn tool_name(self, name: &str) -> Option<String> {
        names::tool_name(self, name)
    }
}

impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Everything that `provider` refuses, ignores or asks for in a tool with this name, description and input schema.
///
/// What holds for every tool comes first, then what holds in other modes; each in the order of the document. An empty list means that the tool may be sent as it is, in every
/// mode that the provider has.
pub fn check_tool(provider: Provider, name: &str, description: &str, inputs: &Value) -> Vec<Finding> {
    let tree = Tree::new(inputs);
    let mut found = Findings::new(&tree);
    match provider {
        Provider::OpenAi => {
            names::check(provider, name, &openai::NAME, &openai::NAME_UNUSABLE, &mut found);
            openai::check(description, &tree, &mut found);
            openai_strict::check(&tree, &mut found);
        }
        Provider::Anthropic => {
            names::check(
                provider,
                name,
                &anthropic::NAME,
                &anthropic::NAME_UNUSABLE,
                &mut found,
            );
            anthropic::check(name, &tree, &mut found);
            anthropic_strict::check(&tree, &mut found);
        }
        Provider::Gemini => {
            names::check(provider, name, &gemini::NAME, &gemini::NAME_UNUSABLE, &mut found);
            gemini::check(&tree, &mut found);
            gemini_openapi::check(&tree, &mut found);
        }
    }
    found.into_list()
}
