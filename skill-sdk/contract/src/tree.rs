//! All values of a schema in document order, each with its place and its part in the schema.
//!
//! Flat instead of recursive, and a place is kept as a link to the value around it: a pointer is only written out
//! for what gets reported.

use serde_json::Value;

use crate::keywords::{Shape, shape_of};
use crate::text::push_step;

/// What a value is for the schema that it stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// A schema.
    Schema,
    /// A container whose members are schemas: the value of `properties`, `allOf`, ….
    Schemas,
    /// The value of `dependencies`: members are schemas unless they are lists.
    Dependencies,
    /// Anything else.
    Data,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Step<'a> {
    Root,
    Key(&'a str),
    Index(usize),
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Node<'a> {
    pub(crate) value: &'a Value,
    pub(crate) role: Role,
    /// How it is reached from the value around it.
    pub(crate) step: Step<'a>,
    /// The node of the schema resource that it belongs to: the nearest schema around it (or itself) with an `$id`, or
    /// the root. Local references start there.
    pub(crate) resource: usize,
    pub(crate) parent: usize,
}

#[derive(Debug)]
pub(crate) struct Tree<'a> {
    /// In document order; the first one is the root.
    pub(crate) nodes: Vec<Node<'a>>,
}

impl<'a> Tree<'a> {
    pub(crate) fn new(schema: &'a Value) -> Self {
        let root = Node {
            value: schema,
            role: Role::Schema,
            step: Step::Root,
            resource: 0,
            parent: 0,
        };
        let mut nodes = Vec::new();
        let mut open = vec![root];
        while let Some(mut node) = open.pop() {
            let at = nodes.len();
            if node.role == Role::Schema && node.value.get("$id").is_some_and(Value::is_string) {
                node.resource = at;
            }
            nodes.push(node);
            let child = |value, step| Node {
                value,
                role: child_role(node.role, step, value),
                step,
                resource: node.resource,
                parent: at,
            };
            let first = open.len();
            match node.value {
                Value::Array(items) => {
                    open.extend(
                        items
                            .iter()
                            .enumerate()
                            .map(|(i, item)| child(item, Step::Index(i))),
                    );
                }
                Value::Object(members) => {
                    open.extend(members.iter().map(|(key, member)| child(member, Step::Key(key))));
                }
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
            }
            // The last one is taken first.
            if let Some(children) = open.get_mut(first..) {
                children.reverse();
            }
        }
        Self { nodes }
    }

    /// The JSON pointer of a node, behind `base`.
    pub(crate) fn pointer(&self, base: &str, at: usize) -> String {
        let mut steps = Vec::new();
        let mut next = self.nodes.get(at);
        while let Some(node) = next {
            if matches!(node.step, Step::Root) {
                break;
            }
            steps.push(node.step);
            next = self.nodes.get(node.parent);
        }
        let mut pointer = base.to_owned();
        for step in steps.into_iter().rev() {
            match step {
                Step::Root => {}
                Step::Key(key) => push_step(&mut pointer, key),
                Step::Index(index) => push_step(&mut pointer, &index.to_string()),
            }
        }
        pointer
    }
}

fn child_role(parent: Role, step: Step<'_>, value: &Value) -> Role {
    match (parent, step) {
        (Role::Schema, Step::Key(keyword)) => match shape_of(keyword) {
            Shape::Schema => Role::Schema,
            Shape::Schemas if value.is_array() => Role::Schemas,
            Shape::SchemaMap | Shape::PatternMap if value.is_object() => Role::Schemas,
            Shape::Dependencies if value.is_object() => Role::Dependencies,
            _ => Role::Data,
        },
        (Role::Schemas, _) => Role::Schema,
        (Role::Dependencies, _) if !value.is_array() => Role::Schema,
        _ => Role::Data,
    }
}
