//! The JSON in the text of a reply.

use serde_json::Value;

use crate::contract::json;

/// How many fenced blocks are read.
const MAX_BLOCKS: usize = 32;

/// The JSON value in a text: the whole text, a fenced block, or from the first `{` to the last `}`.
pub(super) fn json(text: &str) -> Option<Value> {
    let parse = |text: &str| json::parse(text.trim().as_bytes()).ok();
    parse(text)
        .or_else(|| blocks(text).find_map(|block| parse(block).or_else(|| parse(without_language(block)))))
        .or_else(|| {
            let (first, last) = (text.find('{')?, text.rfind('}')?);
            parse(text.get(first..=last)?)
        })
}

/// The texts between triple backticks.
fn blocks(text: &str) -> impl Iterator<Item = &str> {
    text.split("```").skip(1).step_by(2).take(MAX_BLOCKS)
}

/// A block without the language after its backticks.
fn without_language(block: &str) -> &str {
    block.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '+' | '.'))
}
