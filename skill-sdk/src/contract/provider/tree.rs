//! All schemas of a schema, in document order, each with its place.
//!
//! Flat instead of recursive: a schema may be as deep as memory allows. A place is kept as a link to the schema around it;
//! a pointer is only written out for what gets reported.

use std::collections::HashMap;

use serde_json::Value;

/// What a schema is for the schema that it stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place<'a> {
    /// The schema of the inputs.
    Root,
    /// The value of this property.
    Property(&'a str),
    /// The items of a list.
    Items,
    /// The values of properties without a schema of their own.
    Rest,
    /// One of the alternatives or parts under this keyword.
    Branch(&'a str),
    /// A definition, used by references.
    Definition,
    /// Something that only narrows what the schema around it describes (`not`, `if`, `propertyNames`, …), or stands in
    /// such a schema. No provider translates these, so only what holds anywhere is asked of them.
    Condition,
}

#[derive(Debug, Clone, Copy)]
enum Key<'a> {
    None,
    Member(&'a str),
    Index(usize),
}

#[derive(Debug)]
pub(super) struct Node<'a> {
    /// An object, or a boolean.
    pub(super) value: &'a Value,
    pub(super) place: Place<'a>,
    /// How many objects are around this schema, itself included when it is one.
    pub(super) level: usize,
    keyword: &'a str,
    key: Key<'a>,
    pub(super) parent: usize,
}

#[derive(Debug)]
pub(super) struct Tree<'a> {
    pub(super) nodes: Vec<Node<'a>>,
    at: HashMap<*const Value, usize>,
}

impl<'a> Tree<'a> {
    pub(super) fn new(schema: &'a Value) -> Self {
        let mut nodes: Vec<Node<'a>> = Vec::new();
        let mut at = HashMap::new();
        let mut open = vec![Node {
            value: schema,
            place: Place::Root,
            level: 0,
            keyword: "",
            key: Key::None,
            parent: 0,
        }];
        while let Some(mut node) = open.pop() {
            node.level += usize::from(super::node::types(node.value).any(|name| name == "object"));
            let index = nodes.len();
            at.insert(std::ptr::from_ref(node.value), index);
            let mut children = Vec::new();
            for (keyword, value) in node.value.as_object().into_iter().flatten() {
                let mut child = |value: &'a Value, key: Key<'a>, place: Place<'a>| {
                    // A boolean in `additionalProperties` is a switch rather than a schema.
                    let schema = value.is_object() || (value.is_boolean() && place != Place::Rest);
                    if schema {
                        children.push(Node {
                            value,
                            place: if node.place == Place::Condition {
                                Place::Condition
                            } else {
                                place
                            },
                            level: node.level,
                            keyword,
                            key,
                            parent: index,
                        });
                    }
                };
                match keyword.as_str() {
                    "properties" => members(value, |name, value| {
                        child(value, Key::Member(name), Place::Property(name));
                    }),
                    "$defs" | "definitions" => members(value, |name, value| {
                        child(value, Key::Member(name), Place::Definition);
                    }),
                    "patternProperties" | "dependentSchemas" => members(value, |name, value| {
                        child(value, Key::Member(name), Place::Condition);
                    }),
                    "items" => child(value, Key::None, Place::Items),
                    "additionalProperties" => child(value, Key::None, Place::Rest),
                    "anyOf" | "oneOf" | "allOf" | "prefixItems" => {
                        for (i, value) in value.as_array().into_iter().flatten().enumerate() {
                            child(value, Key::Index(i), Place::Branch(keyword));
                        }
                    }
                    "not"
                    | "if"
                    | "then"
                    | "else"
                    | "contains"
                    | "propertyNames"
                    | "unevaluatedItems"
                    | "unevaluatedProperties"
                    | "contentSchema" => {
                        child(value, Key::None, Place::Condition);
                    }
                    _ => {}
                }
            }
            nodes.push(node);
            // The last one is taken first.
            open.extend(children.into_iter().rev());
        }
        Self { nodes, at }
    }

    /// The schemas that describe values, with their indexes: all but conditions.
    pub(super) fn schemas(&self) -> impl Iterator<Item = (usize, &Node<'a>)> {
        let all = self.nodes.iter().enumerate();
        all.filter(|(_, node)| node.place != Place::Condition)
    }

    pub(super) fn root(&self) -> &'a Value {
        // There always is a root; `Null` is no schema and breaks every rule that asks for one.
        self.nodes.first().map_or(&Value::Null, |node| node.value)
    }

    /// The index of a schema of the document.
    pub(super) fn index_of(&self, schema: &Value) -> Option<usize> {
        self.at.get(&std::ptr::from_ref(schema)).copied()
    }

    /// The JSON pointer of a schema in the tool.
    pub(super) fn pointer(&self, at: usize) -> String {
        let mut steps = Vec::new();
        let mut index = at;
        while let Some(node) = self.nodes.get(index) {
            if node.place == Place::Root {
                break;
            }
            steps.push((node.keyword, node.key));
            index = node.parent;
        }
        let mut pointer = "/inputs".to_owned();
        for (keyword, key) in steps.into_iter().rev() {
            push(&mut pointer, keyword);
            match key {
                Key::None => {}
                Key::Member(name) => push(&mut pointer, name),
                Key::Index(index) => push(&mut pointer, &index.to_string()),
            }
        }
        pointer
    }
}

fn members<'a>(value: &'a Value, mut each: impl FnMut(&'a str, &'a Value)) {
    for (name, value) in value.as_object().into_iter().flatten() {
        each(name, value);
    }
}

fn push(pointer: &mut String, step: &str) {
    pointer.push('/');
    pointer.push_str(&step.replace('~', "~0").replace('/', "~1"));
}
