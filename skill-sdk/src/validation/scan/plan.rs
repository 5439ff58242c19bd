//! What a plan is made of, and how a schema becomes one.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use jsonschema::Validator;
use serde_json::{Map, Number, Value};

use super::apart;
use crate::contract::json;
use crate::contract::types::Types;
use crate::validation::dialect;
use crate::validation::keywords::{is_applicator, is_silent};

/// How deep a schema may be nested, with the references in it followed.
const MAX_DEPTH: usize = 100;

/// How many nodes a plan may have.
const MAX_NODES: usize = 20_000;

/// How many parts of a schema may be left to validators of their own.
const MAX_VALIDATORS: usize = 32;

/// The place of a node in its plan.
pub(super) type NodeId = usize;

/// 2^53: doubles hold all integers below it.
const TWO_53: f64 = 9_007_199_254_740_992.0;

/// The bounds of integers or sizes.
type Range = RangeInclusive<i128>;

/// No bounds.
pub(super) const UNBOUNDED: Range = i128::MIN..=i128::MAX;

/// The node that takes every value.
const ANY: NodeId = 0;

/// What a value has to satisfy.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) types: Types,
    /// The strings that are allowed, where not all are.
    pub(super) words: Option<Vec<String>>,
    /// The bounds of types without fractions.
    pub(super) bounds: Range,
    /// Other bounds. They are below 2^53, so that no integer beyond a bound is rounded to it.
    pub(super) floats: RangeInclusive<f64>,
    pub(super) length: Range,
    pub(super) object: Object,
    pub(super) array: Array,
    /// Validates the keywords that look at one value only and that the plan does not know.
    pub(super) own: Option<Box<Validator>>,
    /// Of each of these lists the value has to satisfy one node besides.
    pub(super) also: Vec<Vec<NodeId>>,
    /// The node of all values but null, where that is all there is to say.
    pub(super) optional: Option<NodeId>,
    /// Whether `also` has all the rules.
    pub(super) asks_nothing_itself: bool,
}

impl Node {
    /// Takes all values of some types.
    fn new(types: Types) -> Self {
        Self {
            types,
            words: None,
            bounds: UNBOUNDED,
            floats: f64::NEG_INFINITY..=f64::INFINITY,
            length: UNBOUNDED,
            object: Object::default(),
            array: Array {
                first: Vec::new(),
                rest: ANY,
                size: UNBOUNDED,
            },
            own: None,
            also: Vec::new(),
            optional: None,
            asks_nothing_itself: false,
        }
    }

    /// Allows strings and null of a list only. `false`, and nothing is done, where there are others in it.
    fn allow(&mut self, values: &[Value]) -> bool {
        let is_known =
            self.words.is_none() && values.iter().all(|value| value.is_string() || value.is_null());
        if is_known {
            let null = if values.contains(&Value::Null) {
                Types::NULL
            } else {
                Types::NONE
            };
            self.types = self.types.and(Types::STRING.or(null));
            self.words = Some(
                values
                    .iter()
                    .filter_map(Value::as_str)
                    .map(str::to_owned)
                    .collect(),
            );
        }
        is_known
    }
}

/// What the items of a list have to satisfy.
#[derive(Debug)]
pub(super) struct Array {
    /// The first items, one by one.
    first: Vec<NodeId>,
    /// The others.
    rest: NodeId,
    pub(super) size: Range,
}

impl Array {
    pub(super) fn item(&self, index: usize) -> NodeId {
        self.first.get(index).copied().unwrap_or(self.rest)
    }
}

/// What the fields of an object have to satisfy.
#[derive(Debug, Default)]
pub(super) struct Object {
    pub(super) members: Vec<Member>,
    /// The places of the fields, by name.
    pub(super) positions: HashMap<String, usize>,
    /// The bits of the fields that must be there.
    pub(super) required: u64,
    /// Fields that are not named.
    pub(super) others: NodeId,
}

impl Object {
    /// The field of a name, which is added if it is new.
    fn member(&mut self, name: &str, node: NodeId) -> Option<&mut Member> {
        if json::is_reserved(name) {
            return None;
        }
        let position = *self
            .positions
            .entry(name.to_owned())
            .or_insert(self.members.len());
        if position == self.members.len() {
            self.members.push(Member {
                name: name.into(),
                node,
                bit: 0,
            });
        }
        self.members.get_mut(position)
    }
}

/// One field of an object.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) name: Box<str>,
    pub(super) node: NodeId,
    /// Its own bit when it is required, else 0.
    pub(super) bit: u64,
}

/// The nodes of the plan and the one to begin with.
pub(super) fn plan(schema: &Value) -> Option<(Vec<Node>, NodeId)> {
    let mut plan = Plan {
        document: schema,
        nodes: vec![Node::new(Types::ALL)],
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
            Value::Bool(false) => return self.add(Node::new(Types::NONE)),
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
        let mut telling = members.iter().filter(|(name, _)| !is_silent(name));
        match (telling.next(), telling.next()) {
            (None, _) => Some(ANY),
            (Some((name, reference)), None) if name == "$ref" => self.node(self.target(reference)?),
            _ => {
                // Takes nothing until it is known: a plan that comes to nothing must not leave a hole.
                let place = self.add(Node::new(Types::NONE))?;
                self.known.insert(address, place);
                match self.planned(members) {
                    Some(node) => self.nodes[place] = node,
                    None if std::ptr::eq(schema, self.document) => return None,
                    // Never sure of a value that stands here; of documents without one it still is.
                    None => {}
                }
                Some(place)
            }
        }
    }

    fn add(&mut self, node: Node) -> Option<NodeId> {
        let place = self.nodes.len();
        self.nodes.push(node);
        (place < MAX_NODES).then_some(place)
    }

    fn target(&self, reference: &Value) -> Option<&'a Value> {
        self.document.pointer(reference.as_str()?.strip_prefix('#')?)
    }

    fn nodes(&mut self, schemas: &'a Value) -> Option<Vec<NodeId>> {
        schemas
            .as_array()?
            .iter()
            .map(|schema| self.node(schema))
            .collect()
    }

    /// The node of a schema of which the plan knows everything.
    fn planned(&mut self, members: &'a Map<String, Value>) -> Option<Node> {
        let mut node = Node::new(Types::ALL);
        let mut own = Map::new();
        let integer = |rule: &Value| rule.as_number().and_then(Number::as_i128);
        let types = members.get("type").map_or(Some(Types::ALL), Types::read)?;
        let float = |rule: &Value| rule.as_f64().filter(|float| float.abs() < TWO_53);
        let bound = |rule: &Value| integer(rule).filter(|_| !types.meets(Types::FRACTION));
        node.object.others = match members.get("additionalProperties") {
            Some(schema) => self.node(schema)?,
            None => ANY,
        };
        for (keyword, rule) in members.iter().filter(|(name, _)| !is_silent(name)) {
            match (keyword.as_str(), rule) {
                ("type", names) => node.types = node.types.and(Types::read(names)?),
                ("enum", Value::Array(values)) if node.allow(values) => {}
                ("const", value) if node.allow(std::slice::from_ref(value)) => {}
                ("minimum", rule) => match (bound(rule), float(rule)) {
                    (Some(least), _) => node.bounds = least..=*node.bounds.end(),
                    (None, Some(least)) => node.floats = least..=*node.floats.end(),
                    (None, None) => drop(own.insert(keyword.clone(), rule.clone())),
                },
                ("maximum", rule) => match (bound(rule), float(rule)) {
                    (Some(most), _) => node.bounds = *node.bounds.start()..=most,
                    (None, Some(most)) => node.floats = *node.floats.start()..=most,
                    (None, None) => drop(own.insert(keyword.clone(), rule.clone())),
                },
                ("minLength", size) => node.length = integer(size)?..=*node.length.end(),
                ("maxLength", size) => node.length = *node.length.start()..=integer(size)?,
                ("minItems", size) => node.array.size = integer(size)?..=*node.array.size.end(),
                ("maxItems", size) => node.array.size = *node.array.size.start()..=integer(size)?,
                ("prefixItems", schemas) => node.array.first = self.nodes(schemas)?,
                ("items", schema) => node.array.rest = self.node(schema)?,
                ("additionalProperties", _) => {}
                ("properties", Value::Object(properties)) => {
                    for (name, schema) in properties {
                        let property = self.node(schema)?;
                        // A name that is also required may be known already.
                        node.object.member(name, property)?.node = property;
                    }
                }
                ("required", Value::Array(names)) => {
                    for (index, name) in names.iter().enumerate() {
                        let bit = 1_u64.checked_shl(u32::try_from(index).ok()?)?;
                        let others = node.object.others;
                        node.object.member(name.as_str()?, others)?.bit |= bit;
                        node.object.required |= bit;
                    }
                }
                ("$ref", reference) => node.also.push(vec![self.node(self.target(reference)?)?]),
                ("allOf", schemas) => node
                    .also
                    .extend(self.nodes(schemas)?.into_iter().map(|one| vec![one])),
                // Where no value can satisfy two of them, one is any.
                ("oneOf", Value::Array(schemas)) if !apart::all(self.document, schemas) => return None,
                ("anyOf" | "oneOf", schemas) => node.also.push(self.nodes(schemas)?),
                (keyword, _) if is_applicator(keyword) => return None,
                _ => drop(own.insert(keyword.clone(), rule.clone())),
            }
        }
        if !own.is_empty() {
            self.validators += 1;
            if self.validators > MAX_VALIDATORS {
                return None;
            }
            node.own = Some(Box::new(dialect::compile(&own.into()).ok()?));
        }
        let mut telling = members.keys().filter(|name| !is_silent(name));
        node.asks_nothing_itself =
            telling.all(|name| matches!(name.as_str(), "$ref" | "allOf" | "anyOf" | "oneOf"));
        node.optional = self.optional(&node);
        Some(node)
    }

    /// The other one of two alternatives of which one is null.
    fn optional(&self, node: &Node) -> Option<NodeId> {
        let is_null = |place: &NodeId| {
            let node = &self.nodes[*place];
            node.types == Types::NULL && node.also.is_empty() && node.own.is_none()
        };
        match node.also.as_slice() {
            [alternatives] if node.asks_nothing_itself => match alternatives.as_slice() {
                [other, null] | [null, other] if is_null(null) => Some(*other),
                _ => None,
            },
            _ => None,
        }
    }
}
