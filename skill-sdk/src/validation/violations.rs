//! Violations of a schema, in the form of the wire: ordered by path.

use std::fmt::{self, Write};

use jsonschema::error::ValidationErrorKind;
use jsonschema::{ValidationError, Validator};
use serde::Serialize;
use serde_json::Value;

use super::{dialect, narrow};

/// The longest message that quotes its value, in bytes: the value may be large, and what is wrong stands behind it.
const MAX_QUOTING: usize = 500;

/// The longest path, in characters. It quotes names, which may be large.
const MAX_PATH: usize = 500;

/// One violation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Violation {
    /// `/` and the parts of the path, joined by `/`.
    pub(crate) path: String,
    /// What is wrong there.
    pub(crate) message: String,
}

impl Violation {
    /// A violation of the whole document.
    pub(crate) fn root(message: String) -> Self {
        Self {
            path: "/".to_owned(),
            message,
        }
    }
}

/// The violations of `instance`, in the order of the wire: all of them, or those of one place where the instance is so large
/// that a list of all could be costly.
pub(crate) fn check(validator: &Validator, schema: &Value, instance: &Value) -> Result<(), Vec<Violation>> {
    // By far most calls are right, and saying so needs no list.
    if validator.is_valid(instance) {
        return Ok(());
    }
    Err(if narrow::is_light(instance) {
        all(validator, schema, instance, &[])
    } else {
        narrow::at_one_place(schema, instance)
    })
}

/// All violations of an instance that stands at `place`. Its cost is that of the instance times what a violation takes.
pub(super) fn all(validator: &Validator, schema: &Value, instance: &Value, place: &[Part]) -> Vec<Violation> {
    let mut found: Vec<_> = validator
        .iter_errors(instance)
        .map(|error| found(schema, instance, &error))
        .collect();
    found.sort_by(|(place, keyword, _), (other_place, other_keyword, _)| {
        place.cmp(other_place).then_with(|| keyword.cmp(other_keyword))
    });
    found.dedup();
    let violation = |(inside, _, message): (Vec<Part>, _, _)| Violation {
        path: path(place.iter().chain(&inside)),
        message,
    };
    found.into_iter().map(violation).collect()
}

/// The place of a violation, its keyword, and what is wrong.
fn found(schema: &Value, instance: &Value, error: &ValidationError<'_>) -> (Vec<Part>, Vec<usize>, String) {
    let mut place = place(instance, error.instance_path().as_str());
    let (keyword, rule) = keyword(schema, error.evaluation_path().as_str());
    let message = match error.kind() {
        // `items: false` is a rule of the list: it has one violation, however many items are too many.
        ValidationErrorKind::FalseSchema
            if matches!(place.last(), Some(Part::Index(_)))
                && error.evaluation_path().as_str().ends_with("/items") =>
        {
            place.pop();
            "there are more items than are allowed".to_owned()
        }
        ValidationErrorKind::FalseSchema => "nothing is allowed here".to_owned(),
        // The validator knows the pattern in its own dialect only.
        ValidationErrorKind::Pattern { .. } => match rule.and_then(Value::as_str) {
            Some(pattern) => short(format_args!(
                "{} does not match the pattern {pattern}",
                error.instance()
            ))
            .unwrap_or_else(|| format!("{MASK} does not match the pattern {pattern}")),
            None => "a name or a text does not match its pattern".to_owned(),
        },
        _ => short(format_args!("{error}")).unwrap_or_else(|| error.masked_with(MASK).to_string()),
    };
    (place, keyword, message)
}

/// What stands for a value that is too large to be quoted.
const MASK: &str = "the value";

/// A message, unless it is too long; then its end is not even written.
fn short(message: fmt::Arguments<'_>) -> Option<String> {
    struct Short(String);

    impl Write for Short {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            if self.0.len() + text.len() > MAX_QUOTING {
                return Err(fmt::Error);
            }
            self.0.push_str(text);
            Ok(())
        }
    }

    let mut short = Short(String::new());
    short.write_fmt(message).is_ok().then_some(short.0)
}

/// One part of a path. Below one parent all parts are of one kind.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    Index(usize),
    Name(String),
}

/// The parts of a JSON pointer into `instance`.
fn place(instance: &Value, pointer: &str) -> Vec<Part> {
    let mut node = Some(instance);
    parts(pointer)
        .map(|part| {
            let (part, next) = match (node, part.parse()) {
                (Some(Value::Array(items)), Ok(index)) => (Part::Index(index), items.get(index)),
                _ => {
                    let next = node.and_then(|node| node.get(&part));
                    (Part::Name(part), next)
                }
            };
            node = next;
            part
        })
        .collect()
}

fn parts(pointer: &str) -> impl Iterator<Item = String> {
    pointer
        .split('/')
        .skip(1)
        .map(|part| part.replace("~1", "/").replace("~0", "~"))
}

pub(super) fn path<'a>(place: impl IntoIterator<Item = &'a Part>) -> String {
    let mut path = String::new();
    for part in place {
        path.push('/');
        match part {
            Part::Index(index) => path.push_str(&index.to_string()),
            Part::Name(name) => path.push_str(name),
        }
    }
    if let Some((end, _)) = path.char_indices().nth(MAX_PATH) {
        path.truncate(end);
    }
    if path.is_empty() { "/".to_owned() } else { path }
}

/// Where a keyword stands in the schema's own order, as its position in each document on the way to it, and its value.
fn keyword<'a>(schema: &'a Value, pointer: &str) -> (Vec<usize>, Option<&'a Value>) {
    let mut node = schema;
    let mut order = Vec::new();
    for part in parts(pointer) {
        let found = match node {
            Value::Object(members) => {
                // A choice of one was compiled as `allOf`.
                let written = dialect::choice_of_one(members).filter(|_| part == "allOf");
                let is_part = |name: &str| name == written.unwrap_or(&part);
                members
                    .iter()
                    .enumerate()
                    .find(|(_, (name, _))| is_part(name))
                    .map(|(at, (_, next))| (at, next))
            }
            Value::Array(items) => part
                .parse()
                .ok()
                .and_then(|index: usize| Some((index, items.get(index)?))),
            _ => None,
        };
        let Some((position, next)) = found else {
            return (order, None);
        };
        order.push(position);
        node = match next.as_str().and_then(|reference| reference.strip_prefix('#')) {
            // The way goes on in the document that is referred to.
            Some(reference) if part == "$ref" => schema.pointer(reference).unwrap_or(next),
            _ => next,
        };
    }
    (order, Some(node))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_are_not_escaped_and_indexes_are_numbers() {
        let instance = json!({"a/b": [[0, 1]], "10": {"9": 1}});
        assert_eq!(path(&place(&instance, "/a~1b/0/1")), "/a/b/0/1");
        assert_eq!(
            place(&instance, "/10/9"),
            [Part::Name("10".into()), Part::Name("9".into())]
        );
        assert_eq!(path(&place(&instance, "")), "/");
    }
}
