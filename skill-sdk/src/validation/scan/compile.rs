//! From a schema to its plan.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::apart;
use super::bounds::Bounds;
use super::plan::{ANY, Array, Choices, Further, Member, Node, NodeId, Object, Range, Types};
use crate::contract::json;
use crate::validation::dialect;
use crate::validation::keywords::{APPLICATORS, is_silent};

/// The schema language of the contracts.
const DRAFT: &str = "https://json-schema.org/draft/2020-12/schema";

/// How deep a schema may be nested, with the references in it followed.
const MAX_DEPTH: usize = 100;

/// How many nodes a plan may have.
const MAX_NODES: usize = 20_000;

/// How many parts of a schema may be left to validators of their own.
const MAX_VALIDATORS: usize = 32;

/// How many required members of one object are kept track of.
const MAX_REQUIRED: u32 = 64;

/// Keywords that the plan knows.
const KNOWN: &[&str] = &[
    "$ref",
    "additionalProperties",
    "allOf",
    "anyOf",
    "const",
    "enum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "items",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "oneOf",
    "prefixItems",
    "properties",
    "required",
    "type",
];

/// The bounds of numbers.
const BOUNDS: [&str; 5] = [
    "exclusiveMaximum",
    "exclusiveMinimum",
    "maximum",
    "minimum",
    "multipleOf",
];

/// The nodes of the plan and the one to begin with.
pub(super) fn plan(schema: &Value) -> Option<(Vec<Node>, NodeId)> {
    let members = schema.as_object()?;
    if members.get("$schema").is_some_and(|draft| draft != DRAFT) {
        return None;
    }
    let mut plan = Plan {
        document: schema,
        nodes: vec![Node::anything()],
        known: HashMap::new(),
        depth: 0,
        validators: 0,
    };
    let root = plan.node(schema)?;
    Some((plan.nodes, root))
}

struct Plan<'a> {
    document: &'a Value,
    nodes: Vec<Node>,
    /// The nodes of schemas by their place in memory: a schema may refer to itself.
    known: HashMap<usize, NodeId>,
    depth: usize,
    validators: usize,
}

impl<'a> Plan<'a> {
    /// The node of a schema; `None` when it cannot be planned at all.
    fn node(&mut self, schema: &'a Value) -> Option<NodeId> {
        let members = match schema {
            Value::Bool(true) => return Some(ANY),
            Value::Bool(false) => return self.add(Node::nothing()),
            Value::Object(members) => members,
            _ => return None,
        };
        let address = std::ptr::from_ref(schema).addr();
        if let Some(known) = self.known.get(&address) {
            return Some(*known);
        }
        if self.depth == MAX_DEPTH {
            return None;
        }
        self.depth += 1;
        let node = self.new_node(schema, members, address);
        self.depth -= 1;
        node
    }

    fn new_node(
        &mut self,
        schema: &'a Value,
        members: &'a Map<String, Value>,
        address: usize,
    ) -> Option<NodeId> {
        let mut telling = members.keys().filter(|name| !is_silent(name));
        match (telling.next().map(String::as_str), telling.next()) {
            (None, _) => Some(ANY),
            (Some("$ref"), None) => self.node(self.target(members)?),
            _ => {
                // Takes nothing until it is known: a plan that comes to nothing must not leave a hole.
                let place = self.add(Node::nothing())?;
                self.known.insert(address, place);
                let node = match self.planned(members) {
                    Some(node) => node,
                    None if std::ptr::eq(schema, self.document) => return None,
                    // Never sure of a value that stands here; of documents without one it still is.
                    None => Node::nothing(),
                };
                *self.nodes.get_mut(place)? = node;
                Some(place)
            }
        }
    }

    fn add(&mut self, node: Node) -> Option<NodeId> {
        let place = self.nodes.len();
        self.nodes.push(node);
        (place < MAX_NODES).then_some(place)
    }

    fn target(&self, members: &'a Map<String, Value>) -> Option<&'a Value> {
        let pointer = members.get("$ref")?.as_str()?.strip_prefix('#')?;
        // Escapes of URLs are left to the validator.
        (!pointer.contains('%')).then(|| self.document.pointer(pointer))?
    }

    /// A validator of keywords that look at one value only and that the plan does not know.
    fn validator(&mut self, members: &Map<String, Value>, keywords: &[&str]) -> Option<Further> {
        self.validators += 1;
        if self.validators > MAX_VALIDATORS {
            return None;
        }
        let rules = keywords.iter().filter_map(|name| members.get_key_value(*name));
        let rules: Map<_, _> = rules.map(|(name, rule)| (name.clone(), rule.clone())).collect();
        Some(Further::Validator(Box::new(
            dialect::compile(&rules.into()).ok()?,
        )))
    }

    /// The node of a schema of which the plan knows everything.
    fn planned(&mut self, members: &'a Map<String, Value>) -> Option<Node> {
        let types = match members.get("type") {
            None => Types::ALL,
            Some(Value::String(name)) => Types::named(name)?,
            Some(Value::Array(names)) => {
                let mut types = Types::NONE;
                for name in names {
                    types = types.and(Types::named(name.as_str()?)?);
                }
                types
            }
            Some(_) => return None,
        };
        let mut unknown = Vec::new();
        for name in members.keys().map(String::as_str) {
            // Formats are rules of strings.
            let is_void = is_silent(name) || (name == "format" && !types.meets(Types::STRING));
            if KNOWN.contains(&name) || is_void {
                continue;
            }
            if APPLICATORS.contains(&name) {
                return None;
            }
            unknown.push(name);
        }
        let values = match (members.get("enum"), members.get("const")) {
            (None, None) => None,
            (Some(values), None) => Some(values.as_array()?.as_slice()),
            (None, Some(value)) => Some(std::slice::from_ref(value)),
            (Some(_), Some(_)) => return None,
        };
        let bounds = match Bounds::read(members) {
            Some(bounds) => bounds,
            None => {
                unknown.extend(BOUNDS);
                Bounds::read(&Map::new())?
            }
        };
        let array = self.array(members)?;
        let object = self.object(members, &mut unknown)?;
        let mut further = self.further(members)?;
        if !unknown.is_empty() {
            further.push(self.validator(members, &unknown)?);
        }
        Some(Node {
            types,
            choices: values.map(choices),
            bounds: (!bounds.is_free()).then_some(bounds),
            length: range(members, "minLength", "maxLength")?,
            object: (!object.is_free()).then_some(object),
            array: (!array.is_free()).then_some(array),
            further,
        })
    }

    /// The rules of objects. Keywords of which the plan cannot be sure become unknown.
    fn object(&mut self, members: &'a Map<String, Value>, unknown: &mut Vec<&str>) -> Option<Object> {
        let mut size = range(members, "minProperties", "maxProperties")?;
        if size.least > 1 {
            // A property that comes twice would be counted twice.
            unknown.extend(["minProperties", "maxProperties"]);
            size = Range::ALL;
        }
        let mut object = Object {
            members: Vec::new(),
            by_name: Vec::new(),
            required: 0,
            others: match members.get("additionalProperties") {
                None => ANY,
                Some(schema) => self.node(schema)?,
            },
            size,
        };
        if let Some(properties) = members.get("properties") {
            for (name, schema) in properties.as_object()? {
                let node = self.node(schema)?;
                object.members.push(member(name, node)?);
            }
        }
        let mut bits = 0;
        if let Some(required) = members.get("required") {
            for name in required.as_array()? {
                let name = name.as_str()?;
                let position = object.members.iter().position(|member| *member.name == *name);
                let position = match position {
                    Some(position) => position,
                    None => {
                        // It is no property, so it is one of the others.
                        object.members.push(member(name, object.others)?);
                        object.members.len() - 1
                    }
                };
                let member = object.members.get_mut(position)?;
                if member.bit == 0 {
                    if bits == MAX_REQUIRED {
                        return None;
                    }
                    member.bit = 1 << bits;
                    bits += 1;
                    object.required |= member.bit;
                }
            }
        }
        object.by_name = (0..object.members.len()).collect();
        let names = &object.members;
        object.by_name.sort_by(|a, b| {
            names
                .get(*a)
                .map(|a| &a.name)
                .cmp(&names.get(*b).map(|b| &b.name))
        });
        Some(object)
    }

    fn array(&mut self, members: &'a Map<String, Value>) -> Option<Array> {
        let mut first = Vec::new();
        if let Some(schemas) = members.get("prefixItems") {
            for schema in schemas.as_array()? {
                first.push(self.node(schema)?);
            }
        }
        let rest = match members.get("items") {
            None => ANY,
            Some(schema) => self.node(schema)?,
        };
        let size = range(members, "minItems", "maxItems")?;
        Some(Array { first, rest, size })
    }

    /// What stands besides.
    fn further(&mut self, members: &'a Map<String, Value>) -> Option<Vec<Further>> {
        let mut further = Vec::new();
        if members.contains_key("$ref") {
            further.push(Further::One(self.node(self.target(members)?)?));
        }
        if let Some(schemas) = members.get("allOf") {
            for schema in schemas.as_array()? {
                further.push(Further::One(self.node(schema)?));
            }
        }
        if let Some(schemas) = members.get("oneOf") {
            // Where no value can satisfy two of them, one is any.
            apart::all(self.document, schemas.as_array()?).then_some(())?;
        }
        for keyword in ["anyOf", "oneOf"] {
            if let Some(schemas) = members.get(keyword) {
                let nodes: Option<_> = schemas
                    .as_array()?
                    .iter()
                    .map(|schema| self.node(schema))
                    .collect();
                further.push(Further::AnyOf(nodes?));
            }
        }
        Some(further)
    }
}

fn member(name: &str, node: NodeId) -> Option<Member> {
    (!json::is_reserved(name)).then_some(())?;
    Some(Member {
        name: name.into(),
        quoted: serde_json::to_string(name).ok()?.into(),
        node,
        bit: 0,
    })
}

fn range(members: &Map<String, Value>, least: &str, most: &str) -> Option<Range> {
    let bound = |keyword: &str, none| members.get(keyword).map_or(Some(none), Value::as_u64);
    Some(Range {
        least: bound(least, 0)?,
        most: bound(most, u64::MAX)?,
    })
}

/// The values that are allowed, as far as they are compared here.
fn choices(values: &[Value]) -> Choices {
    let mut choices = Choices::default();
    for value in values {
        match value {
            Value::Null => choices.null = true,
            Value::Bool(true) => choices.yes = true,
            Value::Bool(false) => choices.no = true,
            Value::Number(number) => choices.integers.extend(number.as_i64()),
            Value::String(text) => choices.strings.push(text.as_str().into()),
            Value::Array(_) | Value::Object(_) => {}
        }
    }
    choices
}
