//! The validator of a schema, in the dialect of the platform.
//!
//! The platform checks the same contract with Python's regular expressions before and after a call, so a verdict here must
//! be the same: `\d` and `\w` know all scripts, and `$` also stands before a line break at the very end. JSON Schema's own
//! dialect (ECMA-262) differs in these three, so patterns are written anew before they are compiled.

use jsonschema::Validator;
use serde_json::Value;

use crate::contract::each_schema_mut;

/// A validator of `schema` that loads no other document and asserts the standard formats. An error says why `schema` cannot be
/// used.
pub(super) fn compile(schema: &Value) -> Result<Validator, String> {
    jsonschema::draft202012::options()
        .should_validate_formats(true)
        .with_format("idn-email", is_international_email)
        .build(&translated(schema))
        .map_err(|error| error.to_string())
}

/// Both sides of an `@` are there; more cannot be said of an address in any script.
fn is_international_email(text: &str) -> bool {
    text.rsplit_once('@')
        .is_some_and(|(user, host)| !user.is_empty() && !host.is_empty())
}

/// The schema with its patterns in the dialect of the validator.
fn translated(schema: &Value) -> Value {
    let mut schema = schema.clone();
    each_schema_mut(&mut schema, &mut |members| {
        if let Some(Value::String(pattern)) = members.get_mut("pattern") {
            *pattern = pattern_of(pattern);
        }
        if let Some(Value::Object(patterns)) = members.get_mut("patternProperties") {
            let schemas = std::mem::take(patterns).into_iter();
            *patterns = schemas
                .map(|(pattern, schema)| (pattern_of(&pattern), schema))
                .collect();
        }
    });
    schema
}

/// One pattern in the dialect of the validator.
fn pattern_of(pattern: &str) -> String {
    let mut translated = String::with_capacity(pattern.len());
    let mut in_class = false;
    let mut characters = pattern.chars();
    while let Some(character) = characters.next() {
        match (character, in_class) {
            ('\\', _) => match (characters.next(), in_class) {
                (Some('d'), _) => translated.push_str(r"\p{Nd}"),
                (Some('D'), _) => translated.push_str(r"\P{Nd}"),
                (Some('w'), true) => translated.push_str(r"\p{L}\p{N}_"),
                (Some('w'), false) => translated.push_str(r"[\p{L}\p{N}_]"),
                (Some('W'), false) => translated.push_str(r"[^\p{L}\p{N}_]"),
                (escaped, _) => {
                    translated.push('\\');
                    translated.extend(escaped);
                }
            },
            ('$', false) => translated.push_str(r"\n?$"),
            ('[', false) => {
                in_class = true;
                translated.push('[');
            }
            (']', true) => {
                in_class = false;
                translated.push(']');
            }
            (other, _) => translated.push(other),
        }
    }
    translated
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn patterns_mean_what_the_platform_takes_them_for() {
        let table = [
            (r"^\d+$", "٣", true),
            (r"^[\d.]+$", "٣.1", true),
            (r"^\D+$", "٣", false),
            (r"^\w+$", "ёж_1", true),
            (r"^[\w-]+$", "ё-ж", true),
            (r"^\W+$", "ёж", false),
            (r"^[a-z]+$", "abc\n", true),
            (r"^[a-z]+$", "abc\n\n", false),
            (r"^[a-z]+$", "abc\nd", false),
            (r"^(a$|b)", "a\n", true),
            (r"^[$]\$\\$", "$$\\", true),
            (r"\\d", r"\d", true),
            (r"\\d", "5", false),
        ];
        for (pattern, text, matches) in table {
            let validator = compile(&json!({"pattern": pattern})).unwrap();
            assert_eq!(validator.is_valid(&json!(text)), matches, "{pattern} {text:?}");
        }
    }

    #[test]
    fn only_patterns_change() {
        let schema = json!({
            "properties": {"pattern": {"const": {"pattern": r"\d"}}, "enum": {"pattern": "$"}},
            "patternProperties": {r"^\w$": {"default": "$"}},
            "allOf": [{"pattern": "a"}, true],
            "items": {"not": {"pattern": r"\d"}},
        });
        assert_eq!(
            translated(&schema),
            json!({
                "properties": {"pattern": {"const": {"pattern": r"\d"}}, "enum": {"pattern": r"\n?$"}},
                "patternProperties": {r"^[\p{L}\p{N}_]\n?$": {"default": "$"}},
                "allOf": [{"pattern": "a"}, true],
                "items": {"not": {"pattern": r"\p{Nd}"}},
            })
        );
    }
}
