//! Violations of a schema, in the form of the wire: ordered by path, limited in number and length.

use jsonschema::{ValidationError, Validator};
use serde::Serialize;
use serde_json::{Value, json};

use super::{INPUT_CONTRACT_VIOLATION, OUTPUT_CONTRACT_VIOLATION};
use crate::error::SkillError;

/// How many violations are reported.
const MAX_VIOLATIONS: usize = 20;

/// The longest message, in characters.
const MAX_MESSAGE: usize = 500;

/// How many violations are collected at most, so that hostile inputs cannot make the report costly.
const MAX_COLLECTED: usize = 10_000;

/// One violation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Violation {
    /// `/` and the parts of the path, joined by `/`.
    pub(super) path: String,
    /// What is wrong there.
    pub(super) message: String,
}

impl Violation {
    /// A violation of the whole document.
    pub(super) fn root(message: String) -> Self {
        Self { path: "/".to_owned(), message }
    }
}

/// The failure of a call whose inputs break the contract.
pub(super) fn of_inputs(violations: Vec<Violation>) -> SkillError {
    failure(INPUT_CONTRACT_VIOLATION, "inputs do not match the skill's input schema", violations)
}

/// The failure of a call whose outputs break the contract.
pub(super) fn of_outputs(violations: Vec<Violation>) -> SkillError {
    failure(OUTPUT_CONTRACT_VIOLATION, "outputs do not match the skill's output schema", violations)
}

fn failure(code: &'static str, message: &'static str, mut violations: Vec<Violation>) -> SkillError {
    violations.truncate(MAX_VIOLATIONS);
    for violation in &mut violations {
        if let Some((end, _)) = violation.message.char_indices().nth(MAX_MESSAGE) {
            violation.message.truncate(end);
        }
    }
    SkillError::terminal(code, message).with_details(json!({"errors": violations}))
}

/// All violations of `instance`, in the order of the wire.
pub(super) fn check(validator: &Validator, schema: &Value, instance: &Value) -> Result<(), Vec<Violation>> {
    // By far most calls are right, and saying so needs no list.
    if validator.is_valid(instance) {
        return Ok(());
    }
    let mut found: Vec<_> = validator
        .iter_errors(instance)
        .take(MAX_COLLECTED)
        .map(|error| {
            let place = place(instance, error.instance_path().as_str());
            let keyword = keyword_order(schema, error.evaluation_path().as_str());
            (place, keyword, message(&error))
        })
        .collect();
    found.sort_by(|(place, keyword, _), (other_place, other_keyword, _)| {
        place.cmp(other_place).then_with(|| keyword.cmp(other_keyword))
    });
    Err(found
        .into_iter()
        .map(|(place, _, message)| Violation { path: path(&place), message })
        .collect())
}

/// One part of a path. Below one parent all parts are of one kind.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
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
    pointer.split('/').skip(1).map(|part| part.replace("~1", "/").replace("~0", "~"))
}

fn path(place: &[Part]) -> String {
    let mut path = String::new();
    for part in place {
        path.push('/');
        match part {
            Part::Index(index) => path.push_str(&index.to_string()),
            Part::Name(name) => path.push_str(name),
        }
    }
    if path.is_empty() { "/".to_owned() } else { path }
}

/// Where a keyword stands in the schema's own order: its position in each document on the way to it.
fn keyword_order(schema: &Value, pointer: &str) -> Vec<usize> {
    let mut node = schema;
    let mut order = Vec::new();
    for part in parts(pointer) {
        let found = match node {
            Value::Object(members) => {
                let mut members = members.iter().enumerate();
                members.find(|(_, (name, _))| **name == part).map(|(at, (_, next))| (at, next))
            }
            Value::Array(items) => {
                part.parse().ok().and_then(|index: usize| Some((index, items.get(index)?)))
            }
            _ => None,
        };
        let Some((position, next)) = found else { break };
        order.push(position);
        node = match next.as_str().and_then(|reference| reference.strip_prefix('#')) {
            // The way goes on in the document that is referred to.
            Some(reference) if part == "$ref" => schema.pointer(reference).unwrap_or(next),
            _ => next,
        };
    }
    order
}

/// What is wrong, in words.
fn message(error: &ValidationError<'_>) -> String {
    match error.kind() {
        jsonschema::error::ValidationErrorKind::FalseSchema => "nothing is allowed here".to_owned(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_not_escaped_and_indexes_are_numbers() {
        let instance = json!({"a/b": [[0, 1]], "10": {"9": 1}});
        assert_eq!(path(&place(&instance, "/a~1b/0/1")), "/a/b/0/1");
        assert_eq!(place(&instance, "/10/9"), [Part::Name("10".into()), Part::Name("9".into())]);
        assert_eq!(path(&place(&instance, "")), "/");
    }

    #[test]
    fn messages_and_lists_are_cut() {
        let violations = vec![Violation::root("я".repeat(501)); 21];
        let error = of_outputs(violations);
        let errors = error.details().unwrap()["errors"].as_array().unwrap();
        assert_eq!(errors.len(), 20);
        assert_eq!(errors[0]["message"].as_str().unwrap().chars().count(), 500);
    }
}
