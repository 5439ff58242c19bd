//! The rules of one schema, `inputs` or `outputs`: the dialect, and the values of keywords.

use serde_json::Value;

use super::violation::{Violation, code};
use super::{pattern, refs};
use crate::keywords::{Shape, TYPES, shape_of};
use crate::text::{child, kind, quoted, shown};
use crate::tree::{Role, Tree};

/// The dialect that `$schema` must name. A trailing `#` is tolerated.
pub(crate) const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// Checks a schema: it is an object, in the dialect 2020-12, without references to other documents, a valid JSON
/// Schema, and every reference in it leads somewhere.
///
/// `field` is `inputs` or `outputs`: pointers start with it and every violation carries it as its field.
pub(super) fn check(schema: &Value, field: &'static str) -> Vec<Violation> {
    let base = child("", field);
    let Some(members) = schema.as_object() else {
        let message = format!("`{field}` must be a JSON Schema object, not {}", kind(schema));
        return vec![Violation::invalid(base, field, message)];
    };
    let mut found = Vec::new();
    if let Some(dialect) = members.get("$schema") {
        let is = match dialect.as_str() {
            Some(uri) if uri.strip_suffix('#').unwrap_or(uri) == DIALECT => None,
            Some(uri) => Some(quoted(uri)),
            None => Some(kind(dialect).to_owned()),
        };
        found.extend(is.map(|is| {
            let message = format!("`$schema` of `{field}` is {is}: it must be \"{DIALECT}\", or be left out");
            Violation::invalid(child(&base, "$schema"), field, message)
        }));
    }
    let tree = Tree::new(schema);
    refs::check_local(&tree, &base, field, &mut found);
    check_keywords(&tree, &base, field, &mut found);
    refs::check_targets(&tree, &base, field, &mut found);
    found
}

/// What is wrong with the value of a keyword: where in it (a JSON pointer, empty for the value itself), and what.
type Defect = (String, String);

/// Reports every keyword whose value has the wrong shape. References that are not strings are left to `refs`, and a
/// `$schema` at the root to `schema`.
pub(super) fn check_keywords(tree: &Tree<'_>, base: &str, field: &'static str, found: &mut Vec<Violation>) {
    for (at, node) in tree
        .nodes
        .iter()
        .enumerate()
        .filter(|(_, node)| node.role == Role::Schema)
    {
        let mut report = |suffix: &str, message: String| {
            let pointer = tree.pointer(base, at) + suffix;
            found.push(Violation::error(
                code::INVALID_JSON_SCHEMA,
                pointer,
                field,
                message,
            ));
        };
        let members = match node.value {
            Value::Object(members) => members,
            Value::Bool(_) => continue,
            other => {
                report(
                    "",
                    format!("a schema must be an object or a boolean, not {}", kind(other)),
                );
                continue;
            }
        };
        for (keyword, value) in members {
            let elsewhere = match keyword.as_str() {
                "$ref" | "$dynamicRef" => true,
                "$schema" => at == 0,
                _ => false,
            };
            if !elsewhere {
                for (suffix, problem) in defects(shape_of(keyword), value) {
                    report(&(child("", keyword) + &suffix), format!("`{keyword}` {problem}"));
                }
            }
        }
    }
}

fn defects(shape: Shape, value: &Value) -> Vec<Defect> {
    let unless = |holds: bool, wanted: &str| {
        if holds {
            Vec::new()
        } else {
            vec![(String::new(), format!("must be {wanted}, not {}", shown(value)))]
        }
    };
    match shape {
        // What is wrong inside a schema is reported there.
        Shape::Any | Shape::Schema => Vec::new(),
        Shape::Schemas => unless(
            value.as_array().is_some_and(|list| !list.is_empty()),
            "a non-empty list of schemas",
        ),
        Shape::SchemaMap => unless(value.is_object(), "an object whose members are schemas"),
        Shape::Number => unless(value.is_number(), "a number"),
        Shape::Positive => unless(
            value.as_f64().is_some_and(|number| number > 0.0),
            "a number above 0",
        ),
        Shape::Count => unless(is_count(value), "an integer from 0"),
        Shape::Flag => unless(value.is_boolean(), "a boolean"),
        Shape::Text => unless(value.is_string(), "a string"),
        Shape::List => unless(value.is_array(), "a list"),
        Shape::Anchor => unless(
            value.as_str().is_some_and(is_anchor),
            "a string of ASCII letters, digits and `_.-` that starts with a letter or `_`",
        ),
        Shape::Id => unless(
            value.as_str().is_some_and(is_id),
            "a string that holds a URI without a fragment",
        ),
        Shape::Pattern => match value.as_str() {
            Some(text) => regex_defect(text)
                .map(|problem| (String::new(), problem))
                .into_iter()
                .collect(),
            None => unless(false, "a string"),
        },
        Shape::PatternMap => match value.as_object() {
            Some(members) => {
                let keys = members.keys();
                keys.filter_map(|key| regex_defect(key).map(|problem| (child("", key), problem)))
                    .collect()
            }
            None => unless(false, "an object whose members are schemas"),
        },
        Shape::Strings => strings(value),
        Shape::StringsMap => in_members(value, strings),
        Shape::Dependencies => in_members(value, |member| {
            if member.is_array() {
                strings(member)
            } else {
                Vec::new()
            }
        }),
        Shape::FlagMap => in_members(value, |member| match member {
            Value::Bool(_) => Vec::new(),
            other => vec![(String::new(), format!("must hold booleans, not {}", shown(other)))],
        }),
        Shape::Type => types(value),
    }
}

/// The defects of every member of an object.
fn in_members(value: &Value, check: fn(&Value) -> Vec<Defect>) -> Vec<Defect> {
    let Some(members) = value.as_object() else {
        return vec![(String::new(), format!("must be an object, not {}", shown(value)))];
    };
    let of_member = |(key, member): (&String, &Value)| {
        let place = child("", key);
        check(member)
            .into_iter()
            .map(move |(suffix, problem)| (format!("{place}{suffix}"), problem))
    };
    members.iter().flat_map(of_member).collect()
}

fn strings(value: &Value) -> Vec<Defect> {
    let Some(items) = value.as_array() else {
        return vec![(
            String::new(),
            format!("must be a list of strings, not {}", shown(value)),
        )];
    };
    in_items(items, |item| match item {
        Value::String(_) => None,
        other => Some(format!("must hold strings, not {}", shown(other))),
    })
}

fn types(value: &Value) -> Vec<Defect> {
    let problem = |item: &Value| {
        let known = item.as_str().is_some_and(|name| TYPES.contains(&name));
        (!known).then(|| {
            format!(
                "must name a type, one of {}, not {}",
                TYPES.join(", "),
                shown(item)
            )
        })
    };
    match value {
        Value::Array(items) if items.is_empty() => {
            vec![(String::new(), "must name at least one type".to_owned())]
        }
        Value::Array(items) => in_items(items, problem),
        other => problem(other)
            .map(|problem| (String::new(), problem))
            .into_iter()
            .collect(),
    }
}

/// The defects of the items of a list that holds strings, each one once.
fn in_items(items: &[Value], problem: impl Fn(&Value) -> Option<String>) -> Vec<Defect> {
    let mut seen = std::collections::BTreeSet::new();
    let check = |(index, item): (usize, &Value)| {
        let repeated = || {
            let text = item.as_str().filter(|text| !seen.insert((*text).to_owned()))?;
            Some(format!("must not name {} twice", quoted(text)))
        };
        problem(item)
            .or_else(repeated)
            .map(|problem| (format!("/{index}"), problem))
    };
    items.iter().enumerate().filter_map(check).collect()
}

fn regex_defect(text: &str) -> Option<String> {
    pattern::defect(text).map(|problem| {
        format!(
            "must hold a regular expression, and {} is none: {problem}",
            quoted(text)
        )
    })
}

fn is_count(value: &Value) -> bool {
    value.as_u64().is_some()
        || value
            .as_f64()
            .is_some_and(|number| number >= 0.0 && number.fract() == 0.0)
}

fn is_anchor(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_'))
}

fn is_id(text: &str) -> bool {
    !text.strip_suffix('#').unwrap_or(text).contains('#')
}
