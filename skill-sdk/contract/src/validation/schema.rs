//! The rules of one schema, `inputs` or `outputs`: the dialect, and the values of keywords.

use std::collections::BTreeSet;

use serde_json::Value;

use super::violation::{Found, Violation, code};
use super::{pattern, refs};
use crate::keywords::{Shape, TYPES, shape_of};
use crate::text::{child, kind, quoted, shown};
use crate::tree::{Place, Role, places};

/// The dialect that `$schema` must name. A trailing `#` is tolerated.
pub(crate) const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// Checks a schema: it is an object, in the dialect 2020-12, without references to other documents, a valid JSON
/// Schema, and every reference in it leads somewhere.
///
/// `field` is `inputs` or `outputs`: pointers start with it and every violation carries it as its field. The schema must
/// not be nested deeply.
pub(super) fn check(schema: &Value, field: &'static str, found: &mut Found) {
    let base = child("", field);
    let Some(members) = found.object(schema, field) else {
        return;
    };
    if let Some(dialect) = members.get("$schema")
        && dialect.as_str().map(|uri| uri.strip_suffix('#').unwrap_or(uri)) != Some(DIALECT)
    {
        let is = shown(dialect);
        let message = format!("`$schema` of `{field}` is {is}: it must be \"{DIALECT}\", or be left out");
        found.invalid(child(&base, "$schema"), field, message);
    }
    let places = places(schema, &base);
    refs::check_local(&places, field, found);
    check_keywords(&places, field, found);
    refs::check_targets(&places, field, found);
}

/// Reports every keyword whose value has the wrong shape. References that are not strings are left to `refs`, and a
/// `$schema` at the root to `check`.
pub(super) fn check_keywords(places: &[Place<'_>], field: &'static str, found: &mut Found) {
    for (index, place) in places
        .iter()
        .enumerate()
        .filter(|(_, place)| place.role == Role::Schema)
    {
        let mut report = |pointer: String, message: String| {
            found.0.push(Violation::error(
                code::INVALID_JSON_SCHEMA,
                pointer,
                field,
                message,
            ));
        };
        let members = match place.value {
            Value::Object(members) => members,
            Value::Bool(_) => continue,
            other => {
                let message = format!("a schema must be an object or a boolean, not {}", kind(other));
                report(place.pointer.clone(), message);
                continue;
            }
        };
        for (keyword, value) in members {
            let is_elsewhere = match keyword.as_str() {
                "$ref" | "$dynamicRef" => true,
                "$schema" => index == 0,
                _ => false,
            };
            let problem = shape_problem(shape_of(keyword), value).or_else(|| pattern_problem(keyword, value));
            if let Some(problem) = problem.filter(|_| !is_elsewhere) {
                report(child(&place.pointer, keyword), format!("`{keyword}` {problem}"));
            }
        }
    }
}

/// The problem of a keyword's value. A problem inside a schema is reported at that schema.
fn shape_problem(shape: Shape, value: &Value) -> Option<String> {
    let is_ok = match shape {
        Shape::Any | Shape::Schema => true,
        Shape::Schemas => value.as_array().is_some_and(|list| !list.is_empty()),
        Shape::SchemaMap => value.is_object(),
        Shape::Number => value.is_number(),
        Shape::Positive => value.as_f64().is_some_and(|number| number > 0.0),
        Shape::Count => {
            let is_whole = |number: f64| number >= 0.0 && number.fract() == 0.0;
            value.is_u64() || value.as_f64().is_some_and(is_whole)
        }
        Shape::Flag => value.is_boolean(),
        Shape::Text => value.is_string(),
        Shape::List => value.is_array(),
        Shape::Strings => is_different(value, Value::is_string),
        Shape::StringsMap => has_members(value, |member| is_different(member, Value::is_string)),
        Shape::Dependencies => has_members(value, |member| {
            !member.is_array() || is_different(member, Value::is_string)
        }),
        Shape::FlagMap => has_members(value, Value::is_boolean),
        Shape::Type => is_type(value) || (is_different(value, is_type) && *value != Value::Array(Vec::new())),
        Shape::Anchor => value.as_str().is_some_and(is_anchor),
        Shape::Id => value
            .as_str()
            .is_some_and(|id| !id.strip_suffix('#').unwrap_or(id).contains('#')),
    };
    (!is_ok).then(|| format!("must be {}, not {}", shape.wanted(), shown(value)))
}

/// The first problem of the regular expressions of a keyword.
fn pattern_problem(keyword: &str, value: &Value) -> Option<String> {
    let problem = |pattern: &str| {
        let defect = pattern::defect(pattern)?;
        Some(format!(
            "{} is not a regular expression: {defect}",
            quoted(pattern)
        ))
    };
    match (keyword, value) {
        ("pattern", Value::String(pattern)) => problem(pattern),
        ("patternProperties", Value::Object(patterns)) => {
            patterns.keys().find_map(|pattern| problem(pattern))
        }
        _ => None,
    }
}

/// Whether a value is a list of different values of a kind.
fn is_different(value: &Value, is: fn(&Value) -> bool) -> bool {
    let mut seen = BTreeSet::new();
    value
        .as_array()
        .is_some_and(|items| items.iter().all(|item| is(item) && seen.insert(item.to_string())))
}

/// Whether a value is an object whose fields are of a kind.
fn has_members(value: &Value, are: fn(&Value) -> bool) -> bool {
    value.as_object().is_some_and(|members| members.values().all(are))
}

fn is_type(value: &Value) -> bool {
    value.as_str().is_some_and(|name| TYPES.contains(&name))
}

fn is_anchor(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte))
}
