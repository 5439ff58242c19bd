//! The types that the tests are about.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Derives for a type that is read and written.
macro_rules! types {
    ($($item:item)*) => { $(#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)] $item)* };
}

types! {
    pub(super) struct Field<T> {
        pub(super) v: T,
    }

    pub(super) struct Nothing {}

    pub(super) struct Unit;


    pub(super) struct Meters(pub(super) f64);

    /// A name.
    pub(super) struct Named(String);

    pub(super) struct Anything(Value);

    #[serde(transparent)]
    pub(super) struct Through { inner: Address }

    pub(super) struct Pair(i32, String);

    pub(super) struct Documented(
        /// East.
        f64,
        /// North,
        /// upwards.
        f64,
    );

    /// A postal address.
    pub(super) struct Address {
        /// Street and number.
        street: String,
        city: Option<String>,
    }

    /// Home, sweet home.
    pub(super) struct Home(Address);

    #[serde(tag = "outer")]
    pub(super) enum Nested { Event(Event2), Plain }

    #[serde(tag = "inner")]
    pub(super) enum Event2 { A { x: u8 }, B }

    pub(super) struct Order {
        /// Where the goods go.
        ship_to: Address,
        /// Who pays.
        #[serde(default)]
        bill_to: Option<Address>,
        others: Vec<Address>,
    }

    pub(super) struct Visit {
        /// Where the guest lives.
        home: Address,
        note: Option<Box<Remark>>,
    }

    pub(super) struct Remark { text: String }

    pub(super) struct List {
        value: u8,
        next: Option<Box<List>>,
    }

    pub(super) struct Tree {
        name: String,
        #[serde(default)]
        children: Vec<Tree>,
        colour: Option<Colour>,
    }

    pub(super) enum Colour { Red, Green, #[serde(rename = "dark-blue")] Blue }

    /// How urgent it is.
    pub(super) enum Urgency {
        /// Whenever there
        /// is time.
        Low,
        Middle,
        /// Now.
        #[deprecated]
        High,
    }

    pub(super) enum Shape {
        Empty,
        /// Round.
        Circle(f64),
        Line(i32, i32),
        Maybe(Option<u8>),
        Box { width: u32, height: Option<u32> },
    }

    /// What happened.
    #[serde(tag = "type", rename_all = "snake_case")]
    pub(super) enum Event {
        /// It began.
        Started,
        Moved { x: i32, y: Option<i32> },
        /// Goods were sent.
        Shipped(Address),
        Noted(Remark),
    }

    #[serde(tag = "type")]
    pub(super) enum Strict {
        One(Closed),
        Two(Address),
        Three(Address),
    }

    #[serde(tag = "t", content = "c")]
    pub(super) enum Adjacent { Unit, New(u8), Tuple(u8, String), Struct { a: bool }, Opt(Option<u8>) }

    #[serde(untagged)]
    pub(super) enum Either { Number(i64), Text(String), Many(Vec<Either>), Full { a: u8, b: Option<u8> } }

    #[serde(untagged)]
    pub(super) enum EitherAny { Flag(bool), Other(Value) }

    #[serde(deny_unknown_fields)]
    pub(super) struct Closed { a: u8, #[serde(default)] b: Option<u8> }

    pub(super) struct Flat {
        id: u8,
        #[serde(flatten)]
        address: Address,
        #[serde(flatten)]
        more: BTreeMap<String, Value>,
    }

    pub(super) struct FlatEnum {
        id: u8,
        #[serde(flatten)]
        event: Event,
    }

    pub(super) struct FlatShape {
        id: u8,
        #[serde(flatten)]
        shape: Shape,
    }

    pub(super) struct FlatMaybe {
        id: u8,
        #[serde(flatten)]
        remark: Option<Remark>,
    }

    #[serde(rename_all = "camelCase")]
    pub(super) struct Renamed {
        first_name: String,
        #[serde(rename(serialize = "out", deserialize = "in"))]
        other: u8,
        #[serde(alias = "old")]
        new: Option<u8>,
    }

    pub(super) struct Defaults {
        #[serde(default = "three")]
        count: u8,
        #[serde(default)]
        ratio: f32,
        #[serde(default = "tenth")]
        tenth: f32,
        #[serde(default)]
        tags: Vec<String>,
        #[serde(default = "words")]
        words: HashSet<String>,
        #[serde(default = "scores")]
        scores: HashMap<String, HashSet<u8>>,
        #[serde(default = "remark")]
        remark: Remark,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        maybe: Option<u8>,
        /// The second remark.
        #[serde(default = "remark")]
        second: Remark,
    }

    #[serde(default)]
    pub(super) struct AllDefault { a: u8, b: String }

    pub(super) struct Skips {
        kept: u8,
        #[serde(skip)]
        never: u8,
        #[serde(skip_serializing)]
        only_in: u8,
        #[serde(skip_deserializing)]
        only_out: u8,
        #[serde(skip_serializing_if = "Option::is_none")]
        sometimes: Option<u8>,
    }

    pub(super) struct With {
        #[serde(with = "text")]
        #[schemars(with = "String", regex(pattern = "^[0-9]+$"))]
        number: u64,
        #[schemars(range(min = 1, max = 14))]
        days: u8,
        #[schemars(length(min = 2, max = 5))]
        code: String,
        #[schemars(length(max = 2), inner(length(min = 1)))]
        list: Vec<String>,
        #[schemars(email)]
        mail: String,
        #[schemars(extend("x-unit" = "kg"))]
        weight: f64,
    }

    pub(super) struct Anys {
        plain: Value,
        /// Whatever comes.
        documented: Value,
        maybe: Option<Value>,
        list: Vec<Value>,
        map: BTreeMap<String, Value>,
        object: serde_json::Map<String, Value>,
        shared: Anything,
        /// The same again.
        again: Anything,
    }

    pub(super) struct Maps {
        text: BTreeMap<String, u8>,
        signed: BTreeMap<i32, u8>,
        unsigned: HashMap<u64, Remark>,
        coloured: BTreeMap<Key, u8>,
        patterned: BTreeMap<Code, u8>,
    }

    pub(super) struct Sets { a: BTreeSet<u8>, b: HashSet<String> }

    #[derive(PartialOrd, Ord, Eq)]
    pub(super) enum Key { One, Two }

    #[derive(PartialOrd, Ord, Eq)]
    #[schemars(extend("pattern" = "^[a-z]{2}$"))]
    pub(super) struct Code(String);

    pub(super) struct Page<T> { items: Vec<T>, next: Option<String> }

    pub(super) struct Pages { a: Page<u8>, b: Page<Remark>, c: Page<u8>, d: Page<Remark> }

    pub(super) struct Borrowed { text: Cow<'static, str>, boxed: Box<str>, list: Box<[u8]>, nested: Box<Option<Box<u8>>> }

    pub(super) struct Ping { pong: Vec<Pong> }

    pub(super) struct Pong { ping: Option<Box<Ping>> }

    #[serde(tag = "kind")]
    pub(super) enum Expr { Lit { value: i64 }, Not { of: Box<Expr> }, All { of: Vec<Expr> } }

    pub(super) enum Mixed {
        A,
        /// Second.
        B,
        C(bool),
    }

    pub(super) struct Deep<T> { d: Vec<T> }

    #[serde(untagged)]
    pub(super) enum ClosedUnion { A(Closed), B(Address) }

    pub(super) struct FlatClosed {
        name: String,
        #[serde(flatten)]
        rest: ClosedUnion,
    }

    #[serde(deny_unknown_fields)]
    pub(super) struct ClosedFlat {
        name: String,
        #[serde(flatten)]
        rest: Event,
    }
}

mod other {
    use super::{Deserialize, JsonSchema, Serialize};

    types! {
        pub(in super::super) struct Remark { stars: u8 }
    }
}

types! {
    pub(super) struct SameName { mine: Remark, theirs: other::Remark, both: (Remark, other::Remark) }
}

impl Default for AllDefault {
    fn default() -> Self {
        Self {
            a: 7,
            b: "x".to_owned(),
        }
    }
}

fn three() -> u8 {
    3
}

fn tenth() -> f32 {
    0.1
}

fn words() -> HashSet<String> {
    ["d", "a", "c", "b"].map(ToOwned::to_owned).into()
}

fn scores() -> HashMap<String, HashSet<u8>> {
    ["z", "y", "x"]
        .map(|name| (name.to_owned(), [10, 9, 2].into()))
        .into()
}

fn remark() -> Remark {
    Remark {
        text: "hm".to_owned(),
    }
}

/// A number as text.
mod text {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    #[allow(
        clippy::trivially_copy_pass_by_ref,
        reason = "serde calls it with a reference"
    )]
    pub(super) fn serialize<S: Serializer>(value: &u64, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(value)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}
