//! What is wrong with an instance that is too large for a list of everything that is wrong.
//!
//! The validator collects all violations before it gives the first, each with the path of its value. A few megabytes with
//! a mistake in every item, or below one very long name, would cost far more memory than the instance itself. So a large
//! instance is walked down along the schema, one step at a time and asking for a verdict only, to the first place that is
//! small enough, or that is wrong itself.
//!
//! A step judges what is below the place, so a walk down deep nesting looks at the same values again and again. How much it may
//! look at is bounded by the size of the instance; then the place reached is all that is told.

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::rc::Rc;

use jsonschema::Validator;
use serde_json::{Map, Value};

use super::alone::{alone, moves_references};
use super::violations::{self, Violation};
use super::{compile, dialect};

/// How much memory a list of violations may take, in bytes.
const MAX_WEIGHT: usize = 16 << 20;

/// What one violation takes beside its path, in bytes, about.
const VIOLATION: usize = 512;

/// How many times the values of the instance may be looked at, all steps together. The verdict itself is one time.
const PASSES: usize = 8;

/// What an instance counts for at least, in values.
const LEAST: usize = 100_000;

/// What compiling a part of a schema costs, in values that are looked at for each of its own.
const COMPILING: usize = 20;

/// How many steps are taken: a schema may refer to itself.
const MAX_STEPS: usize = 1_000;

/// The keywords that stand for schemas: a walk follows some of them, and none is a rule of the place itself.
const APPLICATORS: &[&str] = &[
    "$defs",
    "$ref",
    "additionalProperties",
    "allOf",
    "anyOf",
    "contains",
    "definitions",
    "dependentSchemas",
    "else",
    "if",
    "items",
    "maxContains",
    "minContains",
    "not",
    "oneOf",
    "patternProperties",
    "prefixItems",
    "properties",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
];

/// Whether a list of violations is no burden, even if every value has one.
pub(super) fn is_light(instance: &Value) -> bool {
    spend(instance, 0, &mut MAX_WEIGHT.clone())
}

/// Takes the weight of a value off the budget, unless it is used up. The parser has bounded the nesting.
fn spend(value: &Value, path: usize, budget: &mut usize) -> bool {
    let Some(rest) = budget.checked_sub(path + VIOLATION) else {
        return false;
    };
    *budget = rest;
    match value {
        Value::Array(items) => items.iter().all(|item| spend(item, path + 8, budget)),
        Value::Object(members) => members
            .iter()
            .all(|(name, member)| spend(member, path + name.len() + 1, budget)),
        _ => true,
    }
}

/// The violations at the first wrong place that can be told. The instance breaks the schema.
pub(super) fn at_one_place(document: &Value, instance: &Value) -> Vec<Violation> {
    Walk::new(document, instance).run(instance)
}

/// A walk down a document and an instance of it.
struct Walk<'a> {
    document: &'a Value,
    /// Whether parts of the document mean the same when they stand alone.
    has_parts: bool,
    /// The validators of parts by their place in memory; `None` where a part does not stand alone.
    validators: HashMap<usize, Option<Rc<Validator>>>,
    /// How much work is left.
    budget: usize,
}

/// The budget is used up.
struct Spent;

type Child<'a> = (Option<Part<'a>>, &'a Value, &'a Value);

/// A part of a path that nobody has to remember yet.
#[derive(Clone, Copy)]
enum Part<'a> {
    Index(usize),
    Name(&'a str),
}

impl<'a> Walk<'a> {
    fn new(document: &'a Value, instance: &Value) -> Self {
        Self {
            document,
            has_parts: !moves_references(document),
            validators: HashMap::new(),
            budget: PASSES * (size(instance, usize::MAX) + LEAST),
        }
    }

    fn run(&mut self, instance: &'a Value) -> Vec<Violation> {
        let mut place = Vec::new();
        let (mut schema, mut value) = (self.document, instance);
        for _ in 0..MAX_STEPS {
            schema = self.followed(schema);
            if is_light(value)
                && let Some(found) = self.all_violations(schema, value, &place)
            {
                return found;
            }
            match self.wrong_child(schema, value) {
                Some((part, child_schema, child)) => {
                    place.extend(part.map(|part| match part {
                        Part::Index(index) => violations::Part::Index(index),
                        Part::Name(name) => violations::Part::Name(name.to_owned()),
                    }));
                    (schema, value) = (child_schema, child);
                }
                None => match own_violations(schema, value, &place) {
                    Some(found) => return found,
                    None => break,
                },
            }
        }
        let message =
            "the value does not match its schema, and is too large for a list of what is wrong inside";
        vec![Violation {
            path: violations::path(&place),
            message: message.to_owned(),
        }]
    }

    /// Takes work off the budget, unless it is used up.
    fn spend(&mut self, work: usize) -> Result<(), Spent> {
        self.budget = self.budget.checked_sub(work).ok_or(Spent)?;
        Ok(())
    }

    /// What a schema that only refers to another one refers to: nothing has to be judged on the way.
    fn followed(&self, schema: &'a Value) -> &'a Value {
        let mut schema = schema;
        for _ in 0..MAX_STEPS {
            let has_rules = |members: &Map<String, Value>| {
                let says_nothing = |name: &str| matches!(name, "$ref" | "description" | "title" | "default");
                members.keys().any(|name| !says_nothing(name))
            };
            match self.target(schema) {
                Some(target) if !schema.as_object().is_some_and(has_rules) => schema = target,
                _ => break,
            }
        }
        schema
    }

    /// The schema that a schema refers to.
    fn target(&self, schema: &'a Value) -> Option<&'a Value> {
        let pointer = schema.get("$ref")?.as_str()?.strip_prefix('#')?;
        // Escapes of URLs are not read here.
        let target = (self.has_parts && !pointer.contains('%')).then(|| self.document.pointer(pointer));
        target.flatten()
    }

    /// The schema as one of its own.
    fn alone(&self, schema: &Value) -> Option<Value> {
        (self.has_parts || std::ptr::eq(schema, self.document))
            .then(|| alone(self.document, schema))
            .flatten()
    }

    /// All violations of a value that is not large; `None` when there are none, or the schema does not stand alone.
    fn all_violations(
        &self,
        schema: &Value,
        value: &Value,
        place: &[violations::Part],
    ) -> Option<Vec<Violation>> {
        let schema = self.alone(schema)?;
        let found = violations::all(&compile(&schema).ok()?, &schema, value, place);
        (!found.is_empty()).then_some(found)
    }

    /// The first part of the value that surely breaks the schema for it, as far as the budget goes.
    fn wrong_child(&mut self, schema: &'a Value, value: &'a Value) -> Option<Child<'a>> {
        let members = schema.as_object()?;
        for (part, schema, child) in self.children(members, value) {
            let schema = self.followed(schema);
            let Some(validator) = self.validator(schema).ok()? else {
                continue;
            };
            self.spend(size(child, self.budget)).ok()?;
            if !validator.is_valid(child) {
                return Some((part, schema, child));
            }
        }
        None
    }

    /// The validator of a part; `None` where it does not stand alone.
    fn validator(&mut self, schema: &'a Value) -> Result<Option<Rc<Validator>>, Spent> {
        let address = std::ptr::from_ref(schema).addr();
        if let Some(known) = self.validators.get(&address) {
            return Ok(known.clone());
        }
        let alone = self.alone(schema);
        let validator = match alone {
            Some(alone) => {
                self.spend(COMPILING * size(&alone, usize::MAX))?;
                compile(&alone).ok().map(Rc::new)
            }
            None => None,
        };
        self.validators.insert(address, validator.clone());
        Ok(validator)
    }

    /// The parts of a value with the schema of each.
    fn children(
        &self,
        members: &'a Map<String, Value>,
        value: &'a Value,
    ) -> impl Iterator<Item = Child<'a>> + use<'a> {
        let properties = members.get("properties").and_then(Value::as_object);
        let (values, items) = (value.as_object(), value.as_array());
        let known = properties
            .into_iter()
            .flatten()
            .filter_map(move |(name, schema)| {
                let (name, child) = values?.get_key_value(name)?;
                Some((Some(Part::Name(name)), schema, child))
            });
        // Which names are left for it, a pattern would have a say in.
        let others = members
            .get("additionalProperties")
            .filter(|_| !members.contains_key("patternProperties"))
            .into_iter()
            .flat_map(move |schema| {
                let others = values.into_iter().flatten();
                let others = others
                    .filter(move |(name, _)| !properties.is_some_and(|known| known.contains_key(*name)));
                others.map(move |(name, child)| (Some(Part::Name(name)), schema, child))
            });
        let first = members.get("prefixItems").and_then(Value::as_array);
        let first = first.map_or(&[][..], Vec::as_slice);
        let rest = members.get("items").filter(|items| items.is_object());
        let schemas = first
            .iter()
            .chain(std::iter::repeat_with(move || rest).map_while(|rest| rest));
        let items = (0..)
            .zip(items.into_iter().flatten())
            .zip(schemas)
            .map(|((index, child), schema)| (Some(Part::Index(index)), schema, child));
        let itself = self.on_the_same(members, value).into_iter();
        known
            .chain(others)
            .chain(items)
            .chain(itself.map(move |schema| (None, schema, value)))
    }

    /// The schemas inside a schema that the same value must match.
    fn on_the_same(&self, members: &'a Map<String, Value>, value: &Value) -> Vec<&'a Value> {
        let list = |keyword| {
            let list = members.get(keyword).and_then(Value::as_array);
            list.into_iter().flatten()
        };
        let pointer = members.get("$ref").and_then(Value::as_str);
        let target = pointer
            .and_then(|pointer| pointer.strip_prefix('#'))
            .filter(|_| self.has_parts);
        let target = target.and_then(|pointer| self.document.pointer(pointer));
        let mut schemas: Vec<_> = target.into_iter().chain(list("allOf")).collect();
        if let Some(choice) = dialect::choice_of_one(members) {
            schemas.extend(list(choice));
        }
        for keyword in ["anyOf", "oneOf"] {
            // `null` or something: it is the something.
            let mut fitting = list(keyword).filter(|branch| self.may_have_type_of(branch, value));
            if let (Some(branch), None) = (fitting.next(), fitting.next()) {
                schemas.push(branch);
            }
        }
        schemas
    }

    /// Whether a schema is for values of this type, as far as a look at it tells.
    fn may_have_type_of(&self, schema: &'a Value, value: &Value) -> bool {
        let mut schema = schema;
        for _ in 0..MAX_STEPS {
            match self.target(schema) {
                Some(next) if schema.get("type").is_none() => schema = next,
                _ => break,
            }
        }
        schema.get("type").is_none_or(|types| {
            let only_type = Value::Object(Map::from_iter([("type".to_owned(), types.clone())]));
            compile(&only_type).is_ok_and(|validator| validator.is_valid(value))
        })
    }
}

/// What breaks the rules of the place itself: its type, its size, its names.
fn own_violations(schema: &Value, value: &Value, place: &[violations::Part]) -> Option<Vec<Violation>> {
    let mut own = schema.as_object()?.clone();
    own.retain(|keyword, _| !APPLICATORS.contains(&keyword.as_str()));
    let own = Value::Object(own);
    let found = violations::all(&compile(&own).ok()?, &own, value, place);
    (!found.is_empty()).then_some(found)
}

/// How many values there are in a value; counting ends beyond `most`.
fn size(value: &Value, most: usize) -> usize {
    let within = |sum: usize, part: &Value| {
        let sum = sum + size(part, most.saturating_sub(sum));
        if sum > most { Err(sum) } else { Ok(sum) }
    };
    let counted = match value {
        Value::Array(items) => items.iter().try_fold(1, within),
        Value::Object(members) => members.values().try_fold(1, within),
        _ => Ok(1),
    };
    counted.unwrap_or_else(|beyond| beyond)
}
