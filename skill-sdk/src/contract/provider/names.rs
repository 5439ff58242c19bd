//! Names of tools.

use super::Provider;
use super::finding::Findings;
use super::node::short;
use super::rule::Rule;

/// The most characters in the name of a tool.
pub(super) fn most_chars(provider: Provider) -> usize {
    match provider {
        Provider::OpenAi => 64,
        Provider::Anthropic | Provider::Gemini => 128,
    }
}

fn is_allowed(provider: Provider, c: char) -> bool {
    c.is_ascii_alphanumeric()
        || matches!(c, '_' | '-')
        || (provider == Provider::Gemini && matches!(c, '.' | ':'))
}

pub(super) fn tool_name(provider: Provider, name: &str) -> Option<String> {
    let replaced = |c: char| if is_allowed(provider, c) { c } else { '_' };
    let mut tool: String = name.chars().map(replaced).collect();
    let begins_well = |c: char| c.is_ascii_alphabetic() || c == '_';
    if provider == Provider::Gemini && !tool.starts_with(begins_well) {
        tool.insert(0, '_');
    }
    let says_something = tool.contains(|c: char| c.is_ascii_alphanumeric());
    (says_something && tool.len() <= most_chars(provider)).then_some(tool)
}

/// Reports a name that the provider refuses: by `another` when a client can derive one, else by `unusable`.
pub(super) fn check(
    provider: Provider,
    name: &str,
    another: &'static Rule,
    unusable: &'static Rule,
    found: &mut Findings<'_, '_>,
) {
    match tool_name(provider, name) {
        Some(tool) if tool == name => {}
        Some(tool) => {
            let message = format!("a tool cannot be called `{}`", short(name));
            let remedy = format!("a client has to call it `{}`", short(&tool));
            found.add_at(another, "/name", message, remedy);
        }
        None => {
            let message = format!(
                "`{}` cannot be turned into the name of a tool: that has letters, digits and at most {} characters",
                short(name),
                most_chars(provider)
            );
            found.add_at(unusable, "/name", message, unusable.remedy);
        }
    }
}
