//! What is wrong with an instance that is too large for a list of everything that is wrong.
//!
//! The validator collects all violations before it gives the first, each with the path of its value. A few megabytes with
//! a mistake in every item, or below one very long name, would cost far more memory than the instance itself. So a large
//! instance is walked down along the schema, one step at a time and asking for a verdict only, to the first place that is
//! small enough, or that is wrong itself.

use serde_json::{Map, Value};

use super::violations::{self, Part, Violation};
use super::{compile, dialect};

/// How much memory a list of violations may take, in bytes.
const MAX_WEIGHT: usize = 16 << 20;

/// What one violation takes beside its path, in bytes, about.
const VIOLATION: usize = 512;

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
    let mut place = Vec::new();
    let (mut schema, mut value) = (document, instance);
    for _ in 0..MAX_STEPS {
        let walk = Walk { document, schema };
        if is_light(value)
            && let Some(found) = walk.all_violations(value, &place)
        {
            return found;
        }
        match walk.wrong_child(value) {
            Some((part, child_schema, child)) => {
                place.extend(part);
                (schema, value) = (child_schema, child);
            }
            None => match walk.own_violations(value, &place) {
                Some(found) => return found,
                None => break,
            },
        }
    }
    let message = "the value does not match its schema, and is too large for a list of what is wrong inside";
    vec![Violation {
        path: violations::path(&place),
        message: message.to_owned(),
    }]
}

/// One step: a schema of the document.
struct Walk<'a> {
    document: &'a Value,
    schema: &'a Value,
}

type Child<'a> = (Option<Part>, &'a Value, &'a Value);

impl<'a> Walk<'a> {
    /// All violations of a value that is not large; `None` when there are none, or the schema does not stand alone.
    fn all_violations(&self, value: &Value, place: &[Part]) -> Option<Vec<Violation>> {
        let schema = self.alone(self.schema);
        let found = violations::all(&compile(&schema).ok()?, &schema, value, place);
        (!found.is_empty()).then_some(found)
    }

    /// What breaks the rules of the place itself: its type, its size, its names.
    fn own_violations(&self, value: &Value, place: &[Part]) -> Option<Vec<Violation>> {
        let mut own = self.schema.as_object()?.clone();
        own.retain(|keyword, _| !APPLICATORS.contains(&keyword.as_str()));
        let own = Value::Object(own);
        let found = violations::all(&compile(&own).ok()?, &own, value, place);
        (!found.is_empty()).then_some(found)
    }

    /// The first part of the value that breaks the schema for it.
    fn wrong_child(&self, value: &'a Value) -> Option<Child<'a>> {
        let members = self.schema.as_object()?;
        // One validator for all values of one schema.
        let mut last: Option<(&Value, _)> = None;
        self.children(members, value)
            .into_iter()
            .find(|(_, schema, child)| {
                if !last
                    .as_ref()
                    .is_some_and(|(known, _)| std::ptr::eq(*known, *schema))
                {
                    last = Some((*schema, compile(&self.alone(schema)).ok()));
                }
                let validator = last.as_ref().and_then(|(_, validator)| validator.as_ref());
                validator.is_some_and(|validator| !validator.is_valid(child))
            })
    }

    /// The parts of a value with the schema of each, grouped by schema.
    fn children(&self, members: &'a Map<String, Value>, value: &'a Value) -> Vec<Child<'a>> {
        let mut children = Vec::new();
        match value {
            Value::Object(values) => {
                let properties = members.get("properties").and_then(Value::as_object);
                for (name, schema) in properties.into_iter().flatten() {
                    if let Some(child) = values.get(name) {
                        children.push((Some(Part::Name(name.clone())), schema, child));
                    }
                }
                // Which names are left for it, a pattern would have a say in.
                if let Some(schema) = members.get("additionalProperties")
                    && !members.contains_key("patternProperties")
                {
                    let others = values
                        .iter()
                        .filter(|(name, _)| !properties.is_some_and(|known| known.contains_key(*name)));
                    children
                        .extend(others.map(|(name, child)| (Some(Part::Name(name.clone())), schema, child)));
                }
            }
            Value::Array(items) => {
                let first = members.get("prefixItems").and_then(Value::as_array);
                let first = first.map_or(&[][..], Vec::as_slice);
                let rest = members.get("items").filter(|items| items.is_object());
                let schemas = first
                    .iter()
                    .chain(std::iter::repeat_with(|| rest).map_while(|rest| rest));
                children.extend(
                    (0..)
                        .zip(items)
                        .zip(schemas)
                        .map(|((index, child), schema)| (Some(Part::Index(index)), schema, child)),
                );
            }
            _ => {}
        }
        let same = |schema| (None, schema, value);
        let pointer = members.get("$ref").and_then(Value::as_str);
        let target = pointer.and_then(|pointer| self.document.pointer(pointer.strip_prefix('#')?));
        children.extend(target.map(same));
        let list = |keyword| {
            members
                .get(keyword)
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
        };
        children.extend(list("allOf").map(same));
        if let Some(choice) = dialect::choice_of_one(members) {
            children.extend(list(choice).map(same));
        }
        for keyword in ["anyOf", "oneOf"] {
            // `null` or something: it is the something.
            let mut fitting = list(keyword).filter(|branch| self.may_have_type_of(branch, value));
            if let (Some(branch), None) = (fitting.next(), fitting.next()) {
                children.push(same(branch));
            }
        }
        children
    }

    /// Whether a schema is for values of this type, as far as a look at it tells.
    fn may_have_type_of(&self, schema: &Value, value: &Value) -> bool {
        let mut schema = schema;
        while let Some(target) = schema.get("$ref").and_then(Value::as_str)
            && schema.get("type").is_none()
            && let Some(next) = target
                .strip_prefix("#")
                .and_then(|target| self.document.pointer(target))
            && !std::ptr::eq(next, schema)
        {
            schema = next;
        }
        schema.get("type").is_none_or(|types| {
            let only_type = Value::Object(Map::from_iter([("type".to_owned(), types.clone())]));
            compile(&only_type).is_ok_and(|validator| validator.is_valid(value))
        })
    }

    /// A schema with the definitions that it may refer to.
    fn alone(&self, schema: &Value) -> Value {
        let mut alone = schema.clone();
        if let (Some(members), Some(document)) = (alone.as_object_mut(), self.document.as_object()) {
            for definitions in ["$defs", "definitions"] {
                if let Some(found) = document.get(definitions) {
                    members.insert(definitions.to_owned(), found.clone());
                }
            }
        }
        alone
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::check;
    use super::*;

    fn found(schema: &Value, instance: &Value) -> Vec<Violation> {
        check(&compile(schema).unwrap(), schema, instance).unwrap_err()
    }

    fn paths(schema: &Value, instance: &Value) -> Vec<String> {
        found(schema, instance)
            .into_iter()
            .map(|found| found.path)
            .collect()
    }

    /// More values than are listed.
    fn many(value: &Value) -> Vec<Value> {
        vec![value.clone(); MAX_WEIGHT / VIOLATION + 1]
    }

    #[test]
    fn a_large_instance_tells_its_first_wrong_place() {
        let schema = json!({
            "type": "object",
            "properties": {
                "before": {"type": "array", "items": {"type": "integer"}},
                "rows": {"anyOf": [{"type": "array", "items": {"$ref": "#/$defs/Row"}}, {"type": "null"}]},
                "map": {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "integer"}}},
            },
            "$defs": {"Row": {"type": "object", "properties": {"n": {"type": "integer"}, "m": {"type": "integer"}}}},
        });
        let mut rows = many(&json!({"n": 1}));
        rows[70] = json!({"n": "x", "m": "y"});
        assert_eq!(
            paths(&schema, &json!({"before": many(&json!(1)), "rows": rows})),
            ["/rows/70/m", "/rows/70/n"]
        );
        assert_eq!(
            paths(&schema, &json!({"map": {"a": many(&json!("x"))}})),
            ["/map/a/0"]
        );
        assert_eq!(
            paths(&schema, &json!({"rows": many(&json!(1)), "before": 1})),
            ["/before"]
        );
    }

    #[test]
    fn a_rule_of_the_large_value_itself_is_told() {
        let list = json!({"type": "array", "maxItems": 3, "items": {"type": "integer"}});
        let schema = json!({"type": "object", "properties": {"a": list}, "required": ["b"]});
        let found_there = found(&schema, &json!({"a": many(&json!(1)), "b": 1}));
        assert_eq!(found_there.len(), 1);
        assert_eq!(found_there[0].path, "/a");
        assert!(
            found_there[0].message.contains("more than 3 items"),
            "{found_there:?}"
        );
        assert!(found_there[0].message.len() <= 2_000);
        let free = json!({"type": "object", "properties": {"a": {"type": "array"}}, "required": ["b"]});
        assert_eq!(paths(&free, &json!({"a": many(&json!(1))})), ["/"]);
        let alternatives = json!({"type": "object", "properties": {"a": {"oneOf": [
            {"type": "array", "items": {"type": "integer"}},
            {"type": "array", "items": {"type": "boolean"}},
        ]}}});
        let found_there = found(&alternatives, &json!({"a": many(&json!("x"))}));
        assert_eq!(found_there.len(), 1);
        assert_eq!(found_there[0].path, "/a");
        assert!(found_there[0].message.contains("too large"), "{found_there:?}");
    }

    #[test]
    fn what_is_quoted_is_cut() {
        let long = "x".repeat(3 << 20);
        let schema =
            json!({"additionalProperties": {"type": "object", "additionalProperties": {"type": "integer"}}});
        let found = found(
            &schema,
            &json!({&long: {"a": &long, "b": "x", "c": [&long], "d": [], "e": {}}}),
        );
        assert!(!found.is_empty());
        for violation in found {
            assert!(
                violation.path.len() <= 500 && violation.message.len() <= 2_000,
                "{}",
                violation.path.len()
            );
        }
    }

    #[test]
    fn a_schema_that_refers_to_itself_ends() {
        let schema = json!({
            "properties": {"a": {"$ref": "#/$defs/A"}},
            "$defs": {"A": {"anyOf": [{"$ref": "#/$defs/A"}, {"type": "null"}]}},
        });
        let walk = Walk {
            document: &schema,
            schema: &schema,
        };
        assert!(walk.may_have_type_of(&schema["properties"]["a"], &json!([])));
        assert_eq!(at_one_place(&schema, &json!({"a": many(&json!(1))})).len(), 1);
    }
}
