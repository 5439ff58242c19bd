//! Generated values of representative types, and JSON made from them by small changes: what serde writes fits `outputs`,
//! and what fits `inputs` is read by serde, so what serde does not read does not fit. Both but for the exceptions that
//! the documentation of the module lists; each is named where it is allowed.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::num::NonZeroU8;

use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::changes::{apply, change};
use super::{JsonSchema, OutputShape, inputs, outputs, type_name};

/// Enough to meet every exception below, few enough for a debug build.
const CASES: u32 = 256;

macro_rules! types {
    ($($item:item)*) => { $(#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)] $item)* };
}

types! {
    struct Integers { a: i8, b: u16, c: i32, d: u64, e: i64, f: NonZeroU8, g: Option<u8> }
    struct Wide { signed: i128, unsigned: u128 }
    struct Scalars { text: String, letter: char, flag: bool, real: f64, unit: (), maybe: Option<f64> }
    struct Inner { name: String, size: Option<u8> }
    struct Nested { one: Inner, many: Vec<Inner>, boxed: Option<Box<Inner>>, grid: [[bool; 2]; 2] }
    enum External { Empty, New(u8), Maybe(Option<bool>), Pair(u8, u8), Full { a: bool, b: Option<String> } }
    struct HoldsExternal { v: External, w: Option<External> }
    #[serde(tag = "type", rename_all = "snake_case")]
    enum Internal { Nothing, Some(Inner), Full { a: u8, b: Vec<bool> } }
    #[serde(tag = "t", content = "c")]
    enum Adjacent { Unit, New(u8), Pair(u8, u8), Full { a: bool }, Maybe(Option<u8>) }
    #[serde(untagged)]
    enum Untagged { Flag(bool), Number(i32), Text(String), Many(Vec<Untagged>), Full { a: u8, b: Option<u8> } }
    struct HoldsUntagged { v: Untagged }
    #[derive(PartialOrd, Ord, Eq)]
    enum Word { One, Two }
    struct Maps { text: BTreeMap<String, u8>, numbers: BTreeMap<i64, bool>, words: BTreeMap<Word, u8>, deep: BTreeMap<String, BTreeMap<String, Inner>> }
    struct Tuples { same: (u8, u8), triple: [u8; 3], mixed: (u8, String) }
    struct Limits {
        #[schemars(range(min = 1, max = 14))]
        days: u8,
        #[schemars(length(min = 2, max = 4))]
        code: String,
        #[schemars(regex(pattern = "^[a-z]+$"))]
        key: String,
        #[schemars(length(max = 2))]
        list: Vec<bool>,
    }
    struct Flat {
        id: u8,
        #[serde(flatten)]
        kind: Internal,
        #[serde(flatten)]
        inner: Inner,
    }
    struct Rest {
        id: u8,
        #[serde(flatten)]
        rest: BTreeMap<String, Value>,
    }
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    struct Defaults {
        #[serde(default)]
        first_count: u8,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        some_text: Option<String>,
        #[serde(rename = "in")]
        other: bool,
    }
    struct Tree { value: u8, children: Vec<Tree>, next: Option<Box<Tree>> }
}

/// A number that JSON Schema takes for an integer of the type and serde does not: it has a fraction or an exponent.
fn integral(value: &Value) -> bool {
    match value {
        Value::Number(number) => number
            .as_f64()
            .is_some_and(|real| number.is_f64() && real.fract() == 0.0),
        Value::Array(items) => items.iter().any(integral),
        Value::Object(members) => members.values().any(integral),
        _ => false,
    }
}

fn nothing_else(_: &Value) -> bool {
    false
}

/// Checks `T` with values of `strategy`. `exception` says what may fit and not be read, beside integral numbers.
fn check<T>(strategy: impl Strategy<Value = T>, exception: fn(&Value) -> bool)
where
    T: Debug + Serialize + DeserializeOwned + JsonSchema,
{
    let name = type_name::<T>();
    let options = jsonschema::draft202012::options();
    let read = options.build(&inputs::<T>().unwrap()).unwrap();
    let written = outputs::<T>().unwrap();
    assert_eq!(written.shape, OutputShape::Object, "{name}");
    let written = options.build(&written.schema).unwrap();
    // Through text, since a `Value` cannot be made from every 128-bit integer.
    let json = |value: &T| -> Value { serde_json::from_str(&serde_json::to_string(value).unwrap()).unwrap() };
    let holds = |value: &T| {
        let errors: Vec<_> = written
            .iter_errors(&json(value))
            .map(|error| error.to_string())
            .collect();
        assert!(
            errors.is_empty(),
            "{name}: serde writes {}: {errors:?}",
            json(value)
        );
    };

    let config = Config {
        cases: CASES,
        failure_persistence: None,
        ..Config::default()
    };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let steps = prop::collection::vec((any::<Index>(), change()), 1..4);
    let many = prop::collection::vec(steps, 8);
    let result = runner.run(&(strategy, many), |(value, many)| {
        holds(&value);
        let whole = json(&value);
        prop_assert!(read.is_valid(&whole), "{name}: {whole} should fit inputs");
        let again: Result<T, _> = serde_json::from_str(&serde_json::to_string(&value).unwrap());
        prop_assert!(again.is_ok(), "{name}: {whole} should be read");
        for steps in many {
            let mut changed = whole.clone();
            for (place, change) in steps {
                apply(&mut changed, place, change);
            }
            if !read.is_valid(&changed) {
                continue;
            }
            match serde_json::from_value::<T>(changed.clone()) {
                Ok(parsed) => holds(&parsed),
                Err(error) => prop_assert!(
                    integral(&changed) || exception(&changed),
                    "{name}: {changed} fits inputs, but {error}"
                ),
            }
        }
        Ok(())
    });
    if let Err(error) = result {
        panic!("{name}: {error}");
    }
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[a-c]{0,3}", Just("é\"\n".to_owned()), Just("One".to_owned())]
}

fn inner() -> impl Strategy<Value = Inner> {
    (text(), any::<Option<u8>>()).prop_map(|(name, size)| Inner { name, size })
}

fn few<T: Debug>(of: impl Strategy<Value = T>) -> impl Strategy<Value = Vec<T>> {
    prop::collection::vec(of, 0..3)
}

fn map<K: Debug + Ord, T: Debug>(
    key: impl Strategy<Value = K>,
    of: impl Strategy<Value = T>,
) -> impl Strategy<Value = BTreeMap<K, T>> {
    prop::collection::btree_map(key, of, 0..3)
}

fn internal() -> impl Strategy<Value = Internal> {
    prop_oneof![
        Just(Internal::Nothing),
        inner().prop_map(Internal::Some),
        (any::<u8>(), few(any::<bool>())).prop_map(|(a, b)| Internal::Full { a, b }),
    ]
}

fn external() -> impl Strategy<Value = External> {
    prop_oneof![
        Just(External::Empty),
        any::<u8>().prop_map(External::New),
        any::<Option<bool>>().prop_map(External::Maybe),
        any::<(u8, u8)>().prop_map(|(one, other)| External::Pair(one, other)),
        (any::<bool>(), prop::option::of(text())).prop_map(|(a, b)| External::Full { a, b }),
    ]
}

#[test]
fn numbers_and_text() {
    let integers = any::<(i8, u16, i32, u64, i64, NonZeroU8, Option<u8>)>();
    check(
        integers.prop_map(|(a, b, c, d, e, f, g)| Integers { a, b, c, d, e, f, g }),
        nothing_else,
    );
    let wide = any::<(i128, u128)>().prop_map(|(signed, unsigned)| Wide { signed, unsigned });
    check(wide, nothing_else);
    let scalars = (text(), any::<(char, bool, f64, Option<f64>)>());
    let scalars = scalars.prop_map(|(text, (letter, flag, real, maybe))| Scalars {
        text,
        letter,
        flag,
        real,
        unit: (),
        maybe,
    });
    check(scalars, nothing_else);
    let limits = (1_u8..=14, "[a-zé]{2,4}", "[a-z]{1,3}", few(any::<bool>()));
    check(
        limits.prop_map(|(days, code, key, list)| Limits {
            days,
            code,
            key,
            list,
        }),
        nothing_else,
    );
}

#[test]
fn structs() {
    let nested = (
        inner(),
        few(inner()),
        prop::option::of(inner()),
        any::<[[bool; 2]; 2]>(),
    );
    let nested = nested.prop_map(|(one, many, boxed, grid)| Nested {
        one,
        many,
        boxed: boxed.map(Box::new),
        grid,
    });
    check(nested, nothing_else);
    let defaults = (any::<u8>(), prop::option::of(text()), any::<bool>());
    let defaults = defaults.prop_map(|(first_count, some_text, other)| Defaults {
        first_count,
        some_text,
        other,
    });
    check(defaults, nothing_else);
    let leaf = any::<u8>().prop_map(|value| Tree {
        value,
        children: Vec::new(),
        next: None,
    });
    let tree = leaf.prop_recursive(3, 12, 3, |tree| {
        (any::<u8>(), few(tree.clone()), prop::option::of(tree)).prop_map(|(value, children, next)| Tree {
            value,
            children,
            next: next.map(Box::new),
        })
    });
    check(tree, nothing_else);
    let plain = prop_oneof![
        Just(Internal::Nothing),
        any::<u8>().prop_map(|a| Internal::Full { a, b: Vec::new() })
    ];
    check(
        (any::<u8>(), plain, inner()).prop_map(|(id, kind, inner)| Flat { id, kind, inner }),
        nothing_else,
    );
    let rest = map(
        "[j-m]{1,2}",
        select(vec![json!(null), json!(1), json!([0.5]), json!({"a": "b"})]),
    );
    check(
        (any::<u8>(), rest).prop_map(|(id, rest)| Rest { id, rest }),
        nothing_else,
    );
}

#[test]
fn enums() {
    let holds = (external(), prop::option::of(external())).prop_map(|(v, w)| HoldsExternal { v, w });
    check(holds, nothing_else);
    check(internal(), nothing_else);
    let adjacent = prop_oneof![
        Just(Adjacent::Unit),
        any::<u8>().prop_map(Adjacent::New),
        any::<(u8, u8)>().prop_map(|(one, other)| Adjacent::Pair(one, other)),
        any::<bool>().prop_map(|a| Adjacent::Full { a }),
        any::<Option<u8>>().prop_map(Adjacent::Maybe),
    ];
    check(adjacent, |value| value["t"] == "Unit" && !value["c"].is_null());
    let leaf = prop_oneof![
        any::<bool>().prop_map(Untagged::Flag),
        any::<i32>().prop_map(Untagged::Number),
        text().prop_map(Untagged::Text),
        (any::<u8>(), any::<Option<u8>>()).prop_map(|(a, b)| Untagged::Full { a, b }),
    ];
    let untagged = leaf.prop_recursive(2, 8, 3, |any| few(any).prop_map(Untagged::Many));
    check(untagged.prop_map(|v| HoldsUntagged { v }), nothing_else);
}

#[test]
fn containers() {
    let words = map(prop_oneof![Just(Word::One), Just(Word::Two)], any::<u8>());
    let maps = (
        map(text(), any::<u8>()),
        map(any::<i64>(), any::<bool>()),
        words,
        map(text(), map(text(), inner())),
    );
    check(
        maps.prop_map(|(text, numbers, words, deep)| Maps {
            text,
            numbers,
            words,
            deep,
        }),
        nothing_else,
    );
    let tuples = (any::<((u8, u8), [u8; 3], u8)>(), text());
    // The schema does not say the order of items of different types.
    let out_of_order = |value: &Value| value["mixed"][0].is_string() || value["mixed"][1].is_number();
    check(
        tuples.prop_map(|((same, triple, number), text)| Tuples {
            same,
            triple,
            mixed: (number, text),
        }),
        out_of_order,
    );
}
