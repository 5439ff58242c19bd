//! Names of tools.

use super::Provider;
use super::node::short;
use super::rule::{Finding, Rule};

/// The most characters in the name of a tool.
fn most_chars(provider: Provider) -> usize {
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

/// The name that a client has to give a tool made of the skill `name`: every character that the provider rejects is
/// an underscore. `None` when that is too long, or holds no letter and no digit any more.
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

/// Says that a client has to use another name.
pub(super) fn renamed(rule: &Rule, name: &str, tool_name: Option<&str>) -> Option<Finding> {
    let tool = tool_name.filter(|tool| *tool != name)?;
    let message = format!("a tool cannot be called `{}`", short(name));
    Some(Finding {
        remedy: format!("a client has to call it `{}`", short(tool)),
        ..rule.finding("/name", message)
    })
}

/// Says that a client cannot derive a name.
pub(super) fn unusable(provider: Provider, name: &str) -> String {
    format!(
        "`{}` cannot be turned into the name of a tool: that has letters, digits and at most {} characters",
        short(name),
        most_chars(provider)
    )
}
