//! Reading a text along a plan.

use std::cell::Cell;
use std::fmt;

use jsonschema::Validator;
use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use super::plan::{Node, NodeId, Object, UNBOUNDED};
use crate::contract::json;
use crate::contract::types::Types;

/// How many nodes may be open at the same time. [`json::parse`] takes as many nested values.
const MAX_DEPTH: usize = 127;

/// How much of a text may be read again, as a multiple of its length: alternatives within alternatives would otherwise
/// cost time without bound.
const MAX_AGAIN: usize = 16;

/// How many bytes may be read for a text.
pub(super) fn budget(text: &str) -> usize {
    text.len().saturating_mul(MAX_AGAIN).saturating_add(1024)
}

/// Reads a value that surely satisfies a node; fails where it is not sure.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a> {
    nodes: &'a [Node],
    node: &'a Node,
    depth: usize,
    /// How many bytes may still be read.
    budget: &'a Cell<usize>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(nodes: &'a [Node], node: NodeId, budget: &'a Cell<usize>) -> Self {
        Self {
            nodes,
            node: &nodes[node],
            depth: 0,
            budget,
        }
    }

    /// The reader of a part, or of the same value by another node.
    fn to(self, node: NodeId) -> Self {
        Self {
            node: &self.nodes[node],
            depth: self.depth + 1,
            ..self
        }
    }

    /// Whether a text is surely a value that satisfies the node.
    pub(super) fn accepts(self, text: &str) -> bool {
        let mut reader = serde_json::Deserializer::from_str(text);
        self.may_read(text) && self.deserialize(&mut reader).is_ok() && reader.end().is_ok()
    }

    /// Whether the text of a value satisfies what cannot be checked while it is read.
    fn accepts_again(self, text: &str) -> bool {
        let is_own = |validator: &Validator| {
            json::parse(text.as_bytes()).is_ok_and(|value| validator.is_valid(&value))
        };
        let any = |nodes: &Vec<NodeId>| nodes.iter().any(|node| self.to(*node).accepts(text));
        self.depth < MAX_DEPTH
            && self.may_read(text)
            && self.node.also.iter().all(any)
            && (!text.starts_with(['{', '[']) || self.node.own.as_deref().is_none_or(is_own))
    }

    /// Counts what is read again.
    fn may_read(self, text: &str) -> bool {
        let left = self.budget.get().checked_sub(text.len() + 1);
        self.budget.set(left.unwrap_or(0));
        left.is_some()
    }

    /// Whether a value without parts satisfies the keywords that the plan does not know.
    fn is_own(self, value: impl Into<Value>) -> bool {
        let own = self.node.own.as_ref();
        own.is_none_or(|validator| validator.is_valid(&value.into()))
    }

    #[expect(clippy::cast_precision_loss, reason = "bounds of floats are small enough")]
    fn integer<E: Error>(self, integer: i128, value: impl Into<Value>) -> Result<(), E> {
        let is_within = self.node.bounds.contains(&integer) && self.node.floats.contains(&(integer as f64));
        sure(self.node.types.meets(Types::INTEGER) && is_within && self.is_own(value))
    }
}

/// `Err` stands for "not sure".
fn sure<E: Error>(sure: bool) -> Result<(), E> {
    if sure { Ok(()) } else { Err(E::custom("not sure")) }
}

impl<'de> DeserializeSeed<'de> for Reader<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        let node = self.node;
        if node.optional.is_some() {
            return reader.deserialize_option(self);
        }
        let validates_parts = node.own.is_some() && node.types.meets(Types::ARRAY.or(Types::OBJECT));
        if node.also.is_empty() && !validates_parts {
            return reader.deserialize_any(self);
        }
        let text = <&RawValue>::deserialize(reader)?.get();
        sure(self.accepts_again(text))?;
        if node.asks_nothing_itself {
            return Ok(());
        }
        let again = serde_json::Deserializer::from_str(text).deserialize_any(self);
        again.map_err(D::Error::custom)
    }
}

impl<'de> Visitor<'de> for Reader<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value that satisfies the schema")
    }

    fn visit_none<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_some<D: Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        sure(self.depth < MAX_DEPTH)?;
        match self.node.optional {
            Some(node) => self.to(node).deserialize(reader),
            None => sure(false),
        }
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        sure(self.node.types.meets(Types::NULL) && self.is_own(Value::Null))
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        sure(self.node.types.meets(Types::BOOLEAN) && self.is_own(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        self.integer(value.into(), value)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        self.integer(value.into(), value)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        let is_within = self.node.floats.contains(&value);
        sure(self.node.types.meets(Types::FRACTION) && is_within && self.is_own(value))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<(), E> {
        let words = self.node.words.as_ref();
        let is_word = words.is_none_or(|words| words.iter().any(|word| word == value));
        let has_length =
            self.node.length == UNBOUNDED || self.node.length.contains(&(value.chars().count() as i128));
        sure(self.node.types.meets(Types::STRING) && is_word && has_length && self.is_own(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        sure(self.node.types.meets(Types::ARRAY) && self.depth < MAX_DEPTH)?;
        let rules = &self.node.array;
        let mut count = 0;
        while items.next_element_seed(self.to(rules.item(count)))?.is_some() {
            count += 1;
        }
        sure(rules.size.contains(&(count as i128)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        sure(self.node.types.meets(Types::OBJECT) && self.depth < MAX_DEPTH)?;
        let rules = &self.node.object;
        let mut names = Names {
            rules,
            next: 0,
            seen: 0,
        };
        while let Some(node) = members.next_key_seed(&mut names)? {
            members.next_value_seed(self.to(node))?;
        }
        sure(names.seen & rules.required == rules.required)
    }
}

/// Reads the names of the fields of an object; gives the node of each value.
struct Names<'a> {
    rules: &'a Object,
    /// The field of the rules that is expected next: most clients send fields in the order of the schema.
    next: usize,
    /// The bits of the required fields that were read.
    seen: u64,
}

impl<'de> DeserializeSeed<'de> for &mut Names<'_> {
    type Value = NodeId;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<NodeId, D::Error> {
        reader.deserialize_str(self)
    }
}

impl Visitor<'_> for &mut Names<'_> {
    type Value = NodeId;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<NodeId, E> {
        let is_next = self
            .rules
            .members
            .get(self.next)
            .is_some_and(|member| *member.name == *name);
        let position = if is_next {
            Some(&self.next)
        } else {
            self.rules.positions.get(name)
        };
        let Some(position) = position.copied() else {
            sure(!json::is_reserved(name))?;
            return Ok(self.rules.others);
        };
        let member = &self.rules.members[position];
        self.next = position + 1;
        self.seen |= member.bit;
        Ok(member.node)
    }
}
