//! Alternatives: `anyOf` and `oneOf`.
//!
//! Where alternatives have a tag, the tag decides which one is meant, and no other is looked at. Otherwise all are tried. If
//! none matches, the violations of one are reported: of the one that the value is surely meant for, or of the closest one.

use serde_json::{Map, Value};

use super::violations::Part;
use super::walk::{Count, Mode, Walk};
use crate::contract::types::Types;

/// How many references are followed to see what an alternative is.
const MAX_REFERENCES: usize = 10;

type Members = Map<String, Value>;

impl<'a> Walk<'a> {
    /// Validates a value against alternatives, of which at least one must match, or exactly one.
    pub(super) fn choice(
        &mut self,
        alternatives: &'a [Value],
        exactly_one: bool,
        value: &'a Value,
        mode: Mode,
    ) -> Count {
        if let [only] = alternatives {
            return self.check(only, value, mode);
        }
        if let Value::Object(object) = value
            && let Some(tag) = self.tag(alternatives)
        {
            return self.tagged(tag, alternatives, value, object, mode);
        }
        let (mut matching, mut closest) = (0, None);
        for schema in alternatives {
            let count = self.check(schema, value, Mode::Count)?;
            if count == 0 && !exactly_one {
                return Ok(0);
            }
            matching += usize::from(count == 0);
            if closest.is_none_or(|(fewest, _)| count < fewest) {
                closest = Some((count, schema));
            }
        }
        let Some((fewest, closest)) = closest else {
            return Ok(0);
        };
        match matching {
            0 => {}
            1 => return Ok(0),
            _ => {
                let message =
                    || format!("the value matches {matching} alternatives of `oneOf` instead of one");
                return Ok(self.violation(mode, message));
            }
        }
        if let Some(meant) = self.meant(alternatives, value) {
            return self.check(meant, value, mode);
        }
        if mode == Mode::Report {
            let outer = self.closest_of.replace(alternatives.len());
            self.check(closest, value, mode)?;
            self.closest_of = outer;
        }
        Ok(fewest)
    }

    /// Validates an object against alternatives that differ in the words of a property.
    fn tagged(
        &mut self,
        tag: &'a str,
        alternatives: &'a [Value],
        value: &'a Value,
        object: &'a Members,
        mode: Mode,
    ) -> Count {
        self.spend(alternatives.len())?;
        let Some(word) = object.get(tag) else {
            return Ok(self.violation(mode, || format!("{tag:?} is a required property")));
        };
        let words_of = |schema: &'a Value| {
            let words =
                resolved(&self.schema.document, schema).and_then(|members| words_of_tag(members, tag));
            words.unwrap_or_default()
        };
        let is_meant = |schema: &&'a Value| words_of(schema).iter().any(|known| word == known);
        if let Some(meant) = alternatives.iter().find(is_meant) {
            return self.check(meant, value, mode);
        }
        let known = alternatives.iter().flat_map(words_of);
        let known: Vec<_> = known.map(|word| format!("{word:?}")).collect();
        self.path.push(Part::Name(tag));
        let count = self.violation(mode, || {
            let word = if word.is_string() {
                word.to_string()
            } else {
                "the value".to_owned()
            };
            format!("{word} is not one of {}", known.join(" or "))
        });
        self.path.pop();
        Ok(count)
    }

    /// The property that tells the alternatives for objects apart: all of them require it, each with words of its own.
    fn tag(&mut self, alternatives: &'a [Value]) -> Option<&'a str> {
        let address = alternatives.as_ptr().addr();
        if let Some(known) = self.tags.get(&address) {
            return *known;
        }
        let tag = self.found_tag(alternatives);
        self.tags.insert(address, tag);
        tag
    }

    fn found_tag(&self, alternatives: &'a [Value]) -> Option<&'a str> {
        let mut objects = Vec::new();
        for schema in alternatives {
            let members = resolved(&self.schema.document, schema)?;
            if Types::allowed(members).meets(Types::OBJECT) {
                objects.push(members);
            }
        }
        let properties = objects.first()?.get("properties")?.as_object()?;
        let is_tag = |name: &&String| objects.len() > 1 && have_own_words(&objects, name);
        properties.keys().find(is_tag).map(String::as_str)
    }

    /// The alternative that a value is surely meant for: the only one for values of its type, the only one beside null, or the
    /// one whose only property it has.
    fn meant(&self, alternatives: &'a [Value], value: &Value) -> Option<&'a Value> {
        let only = |is: &dyn Fn(&Members) -> bool| {
            let mut fitting = alternatives
                .iter()
                .filter(|schema| resolved(&self.schema.document, schema).is_none_or(is));
            fitting.next().filter(|_| fitting.next().is_none())
        };
        only(&|members| Types::allowed(members).meets(Types::of(value)))
            .or_else(|| only(&|members| members.get("type").is_none_or(|name| name != "null")))
            .or_else(|| {
                only(&|members| {
                    let required = members.get("required").and_then(Value::as_array);
                    let closed = members.get("additionalProperties") == Some(&Value::Bool(false));
                    match required.map(Vec::as_slice) {
                        Some([Value::String(name)]) => closed && value.get(name).is_some(),
                        _ => false,
                    }
                })
            })
    }
}

/// What a schema is, with references followed.
pub(super) fn resolved<'a>(document: &'a Value, schema: &'a Value) -> Option<&'a Members> {
    let mut members = schema.as_object()?;
    for _ in 0..MAX_REFERENCES {
        match members.get("$ref") {
            Some(reference) if !members.contains_key("properties") => {
                let pointer = reference.as_str()?.strip_prefix('#')?;
                members = document.pointer(pointer)?.as_object()?;
            }
            _ => break,
        }
    }
    Some(members)
}

/// The schema of a property.
pub(super) fn property<'a>(members: &'a Members, name: &str) -> Option<&'a Value> {
    members.get("properties")?.get(name)
}

/// Whether all schemas require a property, each with words that no other has.
fn have_own_words(schemas: &[&Members], name: &str) -> bool {
    let mut seen = Vec::new();
    schemas.iter().all(|members| {
        let words = words_of_tag(members, name).unwrap_or_default();
        let are_own = !words.is_empty() && !words.iter().any(|word| seen.contains(word));
        seen.extend(words);
        are_own
    })
}

/// The words that a schema allows for a property that it requires.
fn words_of_tag<'a>(members: &'a Members, name: &str) -> Option<Vec<&'a str>> {
    let required = members.get("required")?.as_array()?;
    let is_required = required.iter().any(|required| required == name);
    is_required.then(|| words(property(members, name)?.as_object()?))?
}

/// The strings that a schema allows, where it allows these only.
pub(super) fn words(members: &Members) -> Option<Vec<&str>> {
    match members.get("const") {
        Some(word) => Some(vec![word.as_str()?]),
        None => members
            .get("enum")?
            .as_array()?
            .iter()
            .map(Value::as_str)
            .collect(),
    }
}
