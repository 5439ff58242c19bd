//! All schemas of a schema, in document order, each with its place.
//!
//! Flat instead of recursive: a schema may be as deep as memory allows. A place is kept as a link to the schema around it;
//! a pointer is only written out for what gets reported.

use std::collections::HashMap;

use serde_json::Value;

use super::node;

/// How schemas stand under a keyword.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Under {
    Keyword,
    Names,
    Indexes,
}

/// How schemas stand under this keyword, and whether they only narrow what the schema around them describes; `None` for a
/// keyword without schemas.
fn schemas_under(keyword: &str) -> Option<(Under, bool)> {
    Some(match keyword {
        "properties" | "$defs" | "definitions" => (Under::Names, false),
        "patternProperties" | "dependentSchemas" => (Under::Names, true),
        "anyOf" | "oneOf" | "allOf" | "prefixItems" => (Under::Indexes, false),
        "items" | "additionalProperties" => (Under::Keyword, false),
        "not"
        | "if"
        | "then"
        | "else"
        | "contains"
        | "propertyNames"
        | "unevaluatedItems"
        | "unevaluatedProperties"
        | "contentSchema" => (Under::Keyword, true),
        _ => return None,
    })
}

#[derive(Debug)]
pub(super) struct Node<'a> {
    /// An object, or a boolean.
    pub(super) value: &'a Value,
    /// The keyword that the schema stands under; empty for the schema of the inputs.
    pub(super) keyword: &'a str,
    /// The name or the index behind the keyword.
    key: Option<String>,
    pub(super) parent: usize,
    /// How many objects are around this schema, itself included when it is one.
    pub(super) level: usize,
    /// Whether it only narrows what another schema describes (`not`, `if`, `propertyNames`, …), or is inside such a schema.
    /// No provider translates these, so only what holds anywhere is asked of them.
    pub(super) is_condition: bool,
}

impl Node<'_> {
    pub(super) fn is_root(&self) -> bool {
        self.keyword.is_empty()
    }

    /// The name of the property whose value it describes.
    pub(super) fn property(&self) -> Option<&str> {
        (self.keyword == "properties").then_some(self.key.as_deref()?)
    }
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
            keyword: "",
            key: None,
            parent: 0,
            level: 0,
            is_condition: false,
        }];
        while let Some(mut node) = open.pop() {
            node.level += usize::from(node::is(node.value, "object"));
            at.insert(std::ptr::from_ref(node.value), nodes.len());
            let mut children = inner(&node, nodes.len());
            // The last one is taken first.
            children.reverse();
            open.append(&mut children);
            nodes.push(node);
        }
        Self { nodes, at }
    }

    /// The schemas that describe values, with their indexes: all but conditions.
    pub(super) fn schemas(&self) -> impl Iterator<Item = (usize, &Node<'a>)> {
        let all = self.nodes.iter().enumerate();
        all.filter(|(_, node)| !node.is_condition)
    }

    pub(super) fn root(&self) -> &'a Value {
        // A root always exists; `Null` is not a schema and breaks every rule that needs one.
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
        while let Some(node) = self.nodes.get(index).filter(|node| !node.is_root()) {
            steps.extend(node.key.as_deref());
            steps.push(node.keyword);
            index = node.parent;
        }
        let steps = steps.iter().rev();
        let steps = steps.map(|step| format!("/{}", step.replace('~', "~0").replace('/', "~1")));
        "/inputs".to_owned() + &steps.collect::<String>()
    }
}

/// The schemas inside a schema, which will have the index `parent`.
fn inner<'a>(node: &Node<'a>, parent: usize) -> Vec<Node<'a>> {
    let mut children = Vec::new();
    for (keyword, value) in node.value.as_object().into_iter().flatten() {
        let Some((under, is_condition)) = schemas_under(keyword) else {
            continue;
        };
        // A boolean in `additionalProperties` is a switch rather than a schema.
        let is_schema =
            |value: &Value| value.is_object() || (value.is_boolean() && keyword != "additionalProperties");
        let mut child = |value: &'a Value, key: Option<String>| {
            if is_schema(value) {
                children.push(Node {
                    value,
                    keyword,
                    key,
                    parent,
                    level: node.level,
                    is_condition: is_condition || node.is_condition,
                });
            }
        };
        match (under, value) {
            (Under::Keyword, value) => child(value, None),
            (Under::Names, Value::Object(members)) => {
                members
                    .iter()
                    .for_each(|(name, value)| child(value, Some(name.clone())));
            }
            (Under::Indexes, Value::Array(items)) => {
                items
                    .iter()
                    .enumerate()
                    .for_each(|(index, value)| child(value, Some(index.to_string())));
            }
            _ => {}
        }
    }
    children
}
