//! Validation of a parsed value, with its violations.
//!
//! Schema and value are walked together. Only a reference can lead to the same schema at the same place of the value by several
//! ways, so the verdict of each referenced schema on each place is cached: the number of steps is at most the number of
//! schemas times the number of values. A schema written by hand can still take many more steps, for example when names are
//! matched against many patterns, so the steps are counted and bounded.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Map, Value};

use super::violations::{self, Part, Violation};
use super::{Invalid, MAX_VIOLATIONS, Schema};

/// How many schemas may be open at the same time. A value has at most 127 levels; a schema may refer to itself without going down.
const MAX_DEPTH: usize = 700;

/// The largest number of violations that is counted, so that sums of them do not overflow.
const MAX_COUNT: usize = 1 << 20;

/// Validation would take more steps than are allowed.
#[derive(Debug)]
pub(super) struct TooComplex;

/// How many violations there are; 0 is valid. Of alternatives that all fail, those of one count.
pub(super) type Count = Result<usize, TooComplex>;

/// How violations are handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// They are counted.
    Count,
    /// They are counted and kept.
    Report,
}

/// One walk along a value.
pub(super) struct Walk<'a> {
    pub(super) schema: &'a Schema,
    /// How many steps are left.
    steps: usize,
    depth: usize,
    /// The counts of referenced schemas on objects and arrays, by both addresses.
    counts: HashMap<(usize, usize), usize>,
    pub(super) path: Vec<Part<'a>>,
    /// How many alternatives there are of which the closest one is reported.
    pub(super) closest_of: Option<usize>,
    /// The first violations in the order of the wire: by path, then as they were found.
    found: BTreeMap<(Vec<Part<'a>>, usize), String>,
    reported: usize,
    /// The tags of alternatives, by the address of their list.
    pub(super) tags: HashMap<usize, Option<&'a str>>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(schema: &'a Schema, steps: usize) -> Self {
        Self {
            schema,
            steps,
            depth: 0,
            counts: HashMap::new(),
            path: Vec::new(),
            closest_of: None,
            found: BTreeMap::new(),
            reported: 0,
            tags: HashMap::new(),
        }
    }

    /// Validates a value.
    pub(super) fn run(mut self, value: &'a Value) -> Result<(), Invalid> {
        let schema = self.schema;
        match self.check(&schema.document, value, Mode::Report) {
            Ok(0) => Ok(()),
            Ok(_) => Err(Invalid::Violations(self.into_violations())),
            Err(TooComplex) => Err(Invalid::TooComplex),
        }
    }

    /// How many steps are left.
    #[cfg(test)]
    pub(super) fn steps_left(&self) -> usize {
        self.steps
    }

    fn into_violations(self) -> Vec<Violation> {
        let violation = |((path, _), message): ((Vec<Part<'_>>, usize), String)| {
            Violation::at(violations::path(&path), message)
        };
        let mut violations: Vec<_> = self.found.into_iter().map(violation).collect();
        violations.dedup();
        violations
    }

    pub(super) fn spend(&mut self, steps: usize) -> Result<(), TooComplex> {
        self.steps = self.steps.checked_sub(steps).ok_or(TooComplex)?;
        Ok(())
    }

    /// A violation at the current path.
    pub(super) fn violation(&mut self, mode: Mode, message: impl FnOnce() -> String) -> usize {
        let is_early = || {
            let last = self.found.last_key_value();
            last.is_none_or(|((path, _), _)| self.path < *path)
        };
        if mode == Mode::Report && (self.found.len() < MAX_VIOLATIONS || is_early()) {
            let message = match self.closest_of {
                Some(alternatives) => {
                    format!("{} (in the closest of {alternatives} alternatives)", message())
                }
                None => message(),
            };
            self.found.insert((self.path.clone(), self.reported), message);
            self.reported += 1;
            if self.found.len() > MAX_VIOLATIONS {
                self.found.pop_last();
            }
        }
        1
    }

    /// Validates the value at the current path.
    pub(super) fn check(&mut self, schema: &'a Value, value: &'a Value, mode: Mode) -> Count {
        self.spend(1)?;
        let members = match schema {
            Value::Object(members) => members,
            Value::Bool(false) => return Ok(self.violation(mode, || "nothing is allowed here".to_owned())),
            _ => return Ok(0),
        };
        if self.depth == MAX_DEPTH {
            return Err(TooComplex);
        }
        self.depth += 1;
        let mut count = self.own_keywords(members, value, mode)?;
        for (keyword, rule) in members {
            count += self.applicator(members, keyword, rule, value, mode)?;
        }
        self.depth -= 1;
        Ok(count.min(MAX_COUNT))
    }

    /// Validates a part of the value at the current path.
    fn part(&mut self, part: Part<'a>, schema: &'a Value, value: &'a Value, mode: Mode) -> Count {
        self.path.push(part);
        let count = self.check(schema, value, mode);
        self.path.pop();
        count
    }

    /// The keywords that look at one value only.
    fn own_keywords(&mut self, members: &'a Map<String, Value>, value: &'a Value, mode: Mode) -> Count {
        let Some(validator) = self.schema.own(members) else {
            return Ok(0);
        };
        self.spend(match value {
            Value::Array(items) => items.len(),
            Value::Object(object) => object.len(),
            _ => 1,
        })?;
        if validator.is_valid(value) {
            return Ok(0);
        }
        if mode == Mode::Count {
            return Ok(validator.iter_errors(value).count());
        }
        let mut errors: Vec<_> = validator
            .iter_errors(value)
            .map(|error| {
                (
                    violations::position(members, &error),
                    violations::message(members, &error),
                )
            })
            .collect();
        errors.sort_by_key(|(position, _)| *position);
        Ok(errors
            .into_iter()
            .map(|(_, message)| self.violation(mode, || message))
            .sum())
    }

    /// A keyword that applies schemas to the value or its parts.
    fn applicator(
        &mut self,
        members: &'a Map<String, Value>,
        keyword: &str,
        rule: &'a Value,
        value: &'a Value,
        mode: Mode,
    ) -> Count {
        let mut count = 0;
        match (keyword, rule, value) {
            ("$ref", Value::String(reference), _) => count = self.reference(reference, value, mode)?,
            ("allOf", Value::Array(all), _) => {
                for schema in all {
                    count += self.check(schema, value, mode)?;
                }
            }
            ("anyOf" | "oneOf", Value::Array(alternatives), _) => {
                count = self.choice(alternatives, keyword == "oneOf", value, mode)?;
            }
            ("not", schema, _) if self.check(schema, value, Mode::Count)? == 0 => {
                let message = || "the value matches a schema that is not allowed".to_owned();
                count = self.violation(mode, message);
            }
            ("if", schema, _) => {
                let is_met = self.check(schema, value, Mode::Count)? == 0;
                if let Some(schema) = members.get(if is_met { "then" } else { "else" }) {
                    count = self.check(schema, value, mode)?;
                }
            }
            ("dependentSchemas", Value::Object(schemas), Value::Object(object)) => {
                for schema in schemas
                    .iter()
                    .filter(|(name, _)| object.contains_key(*name))
                    .map(|(_, schema)| schema)
                {
                    count += self.check(schema, value, mode)?;
                }
            }
            ("properties", Value::Object(properties), Value::Object(object)) => {
                self.spend(properties.len())?;
                for (name, schema) in properties {
                    if let Some(value) = object.get(name) {
                        count += self.part(Part::Name(name), schema, value, mode)?;
                    }
                }
            }
            ("patternProperties", Value::Object(patterns), Value::Object(object)) => {
                for (pattern, schema) in patterns {
                    self.spend(object.len())?;
                    for (name, value) in object {
                        if self.schema.matches(pattern, name) {
                            count += self.part(Part::Name(name), schema, value, mode)?;
                        }
                    }
                }
            }
            // The form `false` is among the keywords that look at one value only.
            ("additionalProperties", Value::Object(_), Value::Object(object)) => {
                for (name, value) in object {
                    if !self.is_named(members, name)? {
                        count += self.part(Part::Name(name), rule, value, mode)?;
                    }
                }
            }
            ("propertyNames", _, Value::Object(object)) => {
                for name in object.keys() {
                    if !self.is_valid_name(rule, name)? {
                        count += self.violation(mode, || format!("the name {name:?} is not allowed"));
                    }
                }
            }
            ("prefixItems", Value::Array(first), Value::Array(items)) => {
                for (index, (schema, item)) in first.iter().zip(items).enumerate() {
                    count += self.part(Part::Index(index), schema, item, mode)?;
                }
            }
            ("items", rule, Value::Array(items)) => {
                let first = members
                    .get("prefixItems")
                    .and_then(Value::as_array)
                    .map_or(0, Vec::len);
                if *rule == Value::Bool(false) && items.len() > first {
                    return Ok(self.violation(mode, || format!("there may be at most {first} items")));
                }
                for (index, item) in items.iter().enumerate().skip(first) {
                    count += self.part(Part::Index(index), rule, item, mode)?;
                }
            }
            ("contains", schema, Value::Array(items)) => {
                count = self.contains(members, schema, items, mode)?;
            }
            _ => {}
        }
        Ok(count)
    }

    /// Counts the items that match the schema of `contains`.
    fn contains(
        &mut self,
        members: &Map<String, Value>,
        schema: &'a Value,
        items: &'a [Value],
        mode: Mode,
    ) -> Count {
        let bound = |keyword, none| members.get(keyword).and_then(Value::as_u64).unwrap_or(none);
        let (least, most) = (bound("minContains", 1), bound("maxContains", u64::MAX));
        let mut matching = 0;
        for item in items {
            matching += u64::from(self.check(schema, item, Mode::Count)? == 0);
        }
        if (least..=most).contains(&matching) {
            return Ok(0);
        }
        Ok(self.violation(mode, || {
            format!("{matching} items match the schema of `contains`, which must be {least} to {most}")
        }))
    }

    fn reference(&mut self, reference: &str, value: &'a Value, mode: Mode) -> Count {
        // That every reference leads somewhere was checked when the schema was compiled.
        let target = self.schema.target(reference).ok_or(TooComplex)?;
        // A value without parts is validated as quickly as a verdict is looked up.
        let has_parts = value.is_object() || value.is_array();
        let key = (
            std::ptr::from_ref(target).addr(),
            std::ptr::from_ref(value).addr(),
        );
        if has_parts && let Some(&count) = self.counts.get(&key)
            // To be reported, violations have to be found once more.
            && (count == 0 || mode == Mode::Count)
        {
            return Ok(count);
        }
        let count = self.check(target, value, mode)?;
        if has_parts {
            self.counts.insert(key, count);
        }
        Ok(count)
    }

    /// Whether `properties` or `patternProperties` are about a name.
    fn is_named(&mut self, members: &'a Map<String, Value>, name: &str) -> Result<bool, TooComplex> {
        let rules = |keyword| members.get(keyword).and_then(Value::as_object);
        if rules("properties").is_some_and(|properties| properties.contains_key(name)) {
            return Ok(true);
        }
        let Some(patterns) = rules("patternProperties") else {
            return Ok(false);
        };
        self.spend(patterns.len())?;
        Ok(patterns.keys().any(|pattern| self.schema.matches(pattern, name)))
    }

    /// Whether a name matches a schema. It is not a part of the value, so it has a walk of its own.
    fn is_valid_name(&mut self, schema: &Value, name: &str) -> Result<bool, TooComplex> {
        let name = Value::from(name);
        let mut walk = Walk::new(self.schema, self.steps);
        let count = walk.check(schema, &name, Mode::Count)?;
        self.steps = walk.steps;
        Ok(count == 0)
    }
}
