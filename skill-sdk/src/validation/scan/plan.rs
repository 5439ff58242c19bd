//! What a plan is made of.

use jsonschema::Validator;

use super::bounds::Bounds;

/// The place of a node in its plan.
pub(super) type NodeId = usize;

/// The node that takes every value.
pub(super) const ANY: NodeId = 0;

/// A set of types of JSON values. A number that is written with a fraction or an exponent is none of the integers here:
/// whether it is one is for the validator to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Types(u8);

impl Types {
    pub(super) const NULL: Self = Self(1);
    pub(super) const BOOLEAN: Self = Self(2);
    pub(super) const INTEGER: Self = Self(4);
    pub(super) const FRACTION: Self = Self(8);
    pub(super) const STRING: Self = Self(16);
    pub(super) const ARRAY: Self = Self(32);
    pub(super) const OBJECT: Self = Self(64);
    pub(super) const ALL: Self = Self(127);
    pub(super) const NONE: Self = Self(0);

    /// The types that a schema names as `name`.
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "null" => Self::NULL,
            "boolean" => Self::BOOLEAN,
            "integer" => Self::INTEGER,
            "number" => Self::INTEGER.and(Self::FRACTION),
            "string" => Self::STRING,
            "array" => Self::ARRAY,
            "object" => Self::OBJECT,
            _ => return None,
        })
    }

    pub(super) const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// What a value has to satisfy.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) types: Types,
    pub(super) choices: Option<Choices>,
    pub(super) bounds: Option<Bounds>,
    pub(super) length: Range,
    pub(super) object: Option<Object>,
    pub(super) array: Option<Array>,
    /// What the value has to satisfy besides.
    pub(super) further: Vec<Further>,
}

impl Node {
    /// Takes every value.
    pub(super) const fn anything() -> Self {
        Self {
            types: Types::ALL,
            choices: None,
            bounds: None,
            length: Range::ALL,
            object: None,
            array: None,
            further: Vec::new(),
        }
    }

    /// Takes none.
    pub(super) const fn nothing() -> Self {
        let mut node = Self::anything();
        node.types = Types::NONE;
        node
    }

    /// Whether all that is asked stands in `further`.
    pub(super) fn asks_nothing_itself(&self) -> bool {
        self.types == Types::ALL
            && self.choices.is_none()
            && self.bounds.is_none()
            && self.length == Range::ALL
            && self.object.is_none()
            && self.array.is_none()
    }
}

/// Something that a value has to satisfy besides what its node asks.
#[derive(Debug)]
pub(super) enum Further {
    /// A node.
    One(NodeId),
    /// Any of several nodes.
    AnyOf(Vec<NodeId>),
    /// Whatever the plan does not know.
    Validator(Box<Validator>),
}

/// The values of an `enum` that are compared here. Others are for the validator.
#[derive(Debug, Default)]
pub(super) struct Choices {
    pub(super) strings: Vec<Box<str>>,
    pub(super) integers: Vec<i64>,
    pub(super) null: bool,
    pub(super) yes: bool,
    pub(super) no: bool,
}

/// A range of sizes, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) least: u64,
    pub(super) most: u64,
}

impl Range {
    pub(super) const ALL: Self = Self {
        least: 0,
        most: u64::MAX,
    };

    pub(super) fn holds(self, size: usize) -> bool {
        let size = size as u64;
        self.least <= size && size <= self.most
    }
}

/// What the items of a list have to satisfy.
#[derive(Debug)]
pub(super) struct Array {
    /// The first items, one by one.
    pub(super) first: Vec<NodeId>,
    /// The others.
    pub(super) rest: NodeId,
    pub(super) size: Range,
}

impl Array {
    /// Whether it asks nothing.
    pub(super) fn is_free(&self) -> bool {
        self.first.is_empty() && self.rest == ANY && self.size == Range::ALL
    }
}

/// What the members of an object have to satisfy.
#[derive(Debug)]
pub(super) struct Object {
    pub(super) members: Vec<Member>,
    /// The places of the members, by name.
    pub(super) by_name: Vec<usize>,
    /// The bits of the members that must be there.
    pub(super) required: u64,
    /// Members that are not named.
    pub(super) others: NodeId,
    /// The number of members. One that comes twice is counted twice, so no more than 1 can be asked for at least.
    pub(super) size: Range,
}

/// One member of an object.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) name: Box<str>,
    /// The name as JSON.
    pub(super) quoted: Box<str>,
    pub(super) node: NodeId,
    /// Its own bit when it is required, else 0.
    pub(super) bit: u64,
}

impl Object {
    /// Whether it asks nothing.
    pub(super) fn is_free(&self) -> bool {
        self.members.is_empty() && self.others == ANY && self.size == Range::ALL
    }

    /// Where the member `name` stands. Most clients send members in the order of the schema, so this is seldom asked.
    pub(super) fn position(&self, name: &str) -> Option<usize> {
        let found = self.by_name.binary_search_by(|place| {
            self.members
                .get(*place)
                .map(|member| &*member.name)
                .cmp(&Some(name))
        });
        self.by_name.get(found.ok()?).copied()
    }
}
