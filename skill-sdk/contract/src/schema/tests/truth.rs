//! Whether schemas tell the truth: what serde writes fits `outputs`, and what fits `inputs` is read by serde.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::types::*;
use super::{JsonSchema, inputs, outputs, rules, type_name};

/// Values of all sorts; each is tried on every type.
fn pool() -> Vec<Value> {
    let mut pool = vec![
        json!(null),
        json!(true),
        json!(0),
        json!(1),
        json!(-1),
        json!(127),
        json!(128),
        json!(255),
        json!(256),
        json!(-129),
        json!(65536),
        json!(2_147_483_648_u64),
        json!(4_294_967_296_u64),
        json!(9_007_199_254_740_993_u64),
        json!(i64::MIN),
        json!(i64::MAX),
        json!(u64::MAX),
        json!(1e20),
        json!(0.5),
        json!(1e30),
        json!(""),
        json!("a"),
        json!("é"),
        json!("ab"),
        json!("12"),
        json!("Red"),
        json!("dark-blue"),
        json!("Low"),
        json!("Empty"),
        json!("One"),
        json!("127.0.0.1"),
        json!("::1"),
    ];
    pool.extend(lists_and_objects());
    pool.extend(large_objects());
    pool
}

fn lists_and_objects() -> Vec<Value> {
    vec![
        json!([]),
        json!([1]),
        json!([true, true]),
        json!([1, "a"]),
        json!(["a", "b"]),
        json!([1, 2, 3]),
        json!([[1], [2]]),
        json!([null]),
        json!({}),
        json!({"a": 1}),
        json!({"a": 1, "b": null}),
        json!({"a": 1, "b": 2, "c": 3}),
        json!({"1": 1, "-2": 3}),
        json!({"007": 1}),
        json!({"One": 1, "Two": 2}),
        json!({"One": 1, "Three": 3}),
        json!({"ab": 1}),
        json!({"text": "x"}),
        json!({"street": "x", "city": null, "more": 1}),
        json!({"id": 1, "street": "x", "left": [1]}),
        json!({"id": 1}),
        json!({"id": 1, "text": "x"}),
        json!({"id": 1, "type": "started"}),
        json!({"id": 1, "type": "moved", "x": 1}),
        json!({"id": 1, "Circle": 1.5}),
        json!({"id": 1, "Empty": null}),
        json!({"type": "started"}),
        json!({"type": "moved", "x": 1, "y": null}),
        json!({"type": "moved"}),
        json!({"type": "shipped", "street": "x"}),
        json!({"type": "noted", "text": "x"}),
        json!({"type": "One", "a": 1}),
        json!({"type": "One", "a": 1, "z": 1}),
        json!({"type": "Two", "street": "x", "z": 1}),
        json!({"Circle": 2}),
        json!({"Circle": 2, "Line": [1, 2]}),
        json!({"Line": [1, 2]}),
        json!({"Line": [1]}),
        json!({"Maybe": null}),
        json!({"Box": {"width": 1}}),
        json!({"t": "Unit"}),
        json!({"t": "New", "c": 1}),
        json!({"t": "Tuple", "c": [1, "a"]}),
        json!({"t": "Struct", "c": {"a": true}}),
        json!({"t": "Opt", "c": null}),
        json!({"t": "New"}),
        json!({"value": 1}),
        json!({"value": 1, "next": {"value": 2, "next": null}}),
        json!({"value": 1, "next": {"value": "2"}}),
        json!({"name": "x", "children": [{"name": "y", "colour": "Red"}]}),
        json!({"name": "x", "colour": "Pink"}),
        json!({"kind": "Not", "of": {"kind": "Lit", "value": 1}}),
        json!({"kind": "All", "of": [{"kind": "Lit", "value": 1}, {"kind": "All", "of": []}]}),
        json!({"kind": "All", "of": [{"kind": "Lit"}]}),
        json!({"firstName": "a", "in": 1}),
        json!({"firstName": "a", "in": 1, "old": 2}),
        json!({"kept": 1, "only_in": 2, "sometimes": null}),
        json!({"kept": 1}),
        json!({"count": 1}),
        json!({"count": 300}),
        json!({"items": [1], "next": "x"}),
        json!({"Ok": 1}),
        json!({"Err": "x"}),
        json!({"secs": 1, "nanos": 2}),
        json!({"start": 1, "end": 2}),
    ]
}

fn large_objects() -> Vec<Value> {
    let home = json!({"street": "s", "city": "c"});
    vec![
        json!({"ship_to": home, "others": [home], "bill_to": null}),
        json!({"ship_to": home, "others": [{}]}),
        json!({"home": home, "note": {"text": "x"}}),
        json!({"number": "12", "days": 3, "code": "abc", "list": ["a"], "mail": "a@b.c", "weight": 1.5}),
        json!({"number": "x", "days": 3, "code": "abc", "list": [], "mail": "a@b.c", "weight": 1}),
        json!({"pong": [{"ping": null}, {"ping": {"pong": []}}]}),
        json!({
            "plain": 1, "documented": null, "list": [1, "a"], "map": {"x": []}, "object": {}, "shared": {}, "again": []
        }),
    ]
}

/// Tries the pool and `own` on a field of type `T`. `loose` are the values that fit the schema and that serde does
/// not read: exceptions that the documentation of the module lists.
fn try_all<T>(own: &[Value], loose: &[Value])
where
    T: Serialize + DeserializeOwned + JsonSchema,
{
    let name = type_name::<T>();
    let read = inputs::<Field<T>>().unwrap();
    let written = outputs::<Field<T>>().unwrap().schema;
    rules::check(&read, &name);
    rules::check(&written, &name);
    let mut draft_07 = read.clone();
    draft_07["$schema"] = json!("http://json-schema.org/draft-07/schema#");
    let draft_07 = jsonschema::draft7::new(&draft_07).unwrap();
    let options = jsonschema::draft202012::options().should_validate_formats(true);
    let read = options.build(&read).unwrap();
    let written = options.build(&written).unwrap();
    let mut accepted = 0;
    for value in pool().iter().chain(own).chain(loose) {
        let whole = json!({"v": value});
        let parsed = serde_json::from_value::<Field<T>>(whole.clone());
        let fits = read.is_valid(&whole);
        if draft_07.is_valid(&whole) != fits {
            // draft-07 does not assert formats by default.
            assert!(
                !fits && read_text(&name),
                "{name}: draft-07 does not agree about {value}"
            );
        }
        let exception = loose.contains(value);
        assert_eq!(
            fits && parsed.is_err(),
            exception,
            "{name}: {value}: {:?}",
            parsed.err()
        );
        if let Ok(parsed) = parsed
            && (fits || !has_limits(&name))
        {
            accepted += usize::from(fits);
            let again = serde_json::to_value(&parsed).unwrap();
            let errors: Vec<String> = written
                .iter_errors(&again)
                .map(|error| error.to_string())
                .collect();
            assert!(errors.is_empty(), "{name}: serde writes {again}: {errors:?}");
        }
    }
    assert!(accepted > 0, "{name}: no value was accepted");
    for value in own {
        assert!(read.is_valid(&json!({"v": value})), "{name}: {value} should fit");
    }
}

/// Types with limits in the schema that serde does not check.
fn has_limits(name: &str) -> bool {
    ["Code", "With", "Maps"].iter().any(|one| name.contains(one))
}

fn read_text(name: &str) -> bool {
    name.contains("Addr")
}

macro_rules! tell_the_truth {
    ($($kind:ty: [$($own:tt),*] $(, but [$($loose:tt),*])?;)*) => { $(
        try_all::<$kind>(&[$(json!($own)),*], &[$($(json!($loose)),*)?]);
    )* };
}

#[test]
fn scalars() {
    tell_the_truth! {
        bool: [];
        i8: [];
        i16: [];
        i32: [];
        i64: [(i64::MAX), (i64::MIN)];
        isize: [];
        i128: [(u64::MAX), (i64::MIN)], but [1e20, 1e30, 18_446_744_073_709_551_616.0];
        u8: [0, 255];
        u16: [];
        u32: [];
        u64: [(u64::MAX)], but [1.0];
        usize: [];
        u128: [(u64::MAX)], but [1e20, 1e30, 18_446_744_073_709_551_616.0];
        f32: [];
        f64: [];
        std::num::NonZeroU8: [];
        std::num::NonZeroI64: [];
        char: ["é"];
        String: [];
        Box<str>: [];
        std::path::PathBuf: [];
        std::net::IpAddr: ["127.0.0.1", "::1"];
        std::net::Ipv4Addr: [];
        std::borrow::Cow<'static, str>: [];
        Value: [];
        serde_json::Number: [];
        (): [];
        Unit: [];
        std::time::Duration: [];
        std::ops::Range<u8>: [];
        std::num::Wrapping<u8>: [];
    }
}

#[test]
fn containers() {
    tell_the_truth! {
        Option<u8>: [];
        Option<Option<String>>: [];
        Option<Vec<Option<u8>>>: [];
        Vec<u8>: [];
        Vec<Vec<u8>>: [];
        Vec<Value>: [];
        [u8; 2]: [[1, 2]];
        [u8; 3]: [];
        (u8,): [];
        (bool, bool): [];
        (u8, String): [[1, "a"]], but [["a", "b"], ["a", 1]];
        (u8, Option<String>): [[1, null]], but [["a", "b"]];
        BTreeSet<u8>: [];
        BTreeMap<String, u8>: [];
        BTreeMap<String, Value>: [];
        HashMap<i32, u8>: [{"-5": 1}];
        BTreeMap<u8, u8>: [{"255": 1}], but [{"256": 1}];
        BTreeMap<Key, u8>: [];
        BTreeMap<Code, u8>: [];
        BTreeMap<bool, u8>: [{"true": 1}],
            but [{"a": 1}, {"a": 1, "b": 2, "c": 3}, {"1": 1, "-2": 3}, {"007": 1}, {"One": 1, "Two": 2},
                {"One": 1, "Three": 3}, {"ab": 1}, {"id": 1}, {"value": 1}, {"kept": 1}, {"count": 1}, {"Ok": 1},
                {"secs": 1, "nanos": 2}, {"start": 1, "end": 2}, {"Circle": 2}];
        serde_json::Map<String, Value>: [];
        Box<u8>: [];
        Result<u8, String>: [];
        Meters: [];
        Named: [];
        Pair: [[1, "a"]], but [["a", "b"], ["a", 1]];
        Documented: [[1, 2.5]];
        Anything: [];
    }
}

#[test]
fn structs_and_enums() {
    tell_the_truth! {
        Nothing: [{}, {"more": 1}];
        Address: [];
        Home: [{"street": "x"}];
        Nested: [{"outer": "Plain"}, {"outer": "Event", "inner": "A", "x": 1}];
        Through: [];
        Order: [];
        Visit: [];
        List: [];
        Tree: [];
        Colour: [];
        Urgency: ["Low", "Middle", "High"];
        Mixed: ["A", "B", {"C": true}];
        Shape: ["Empty", {"Maybe": 1}];
        Event: [];
        Strict: [];
        Adjacent: [];
        Either: [];
        EitherAny: [];
        Closed: [];
        Flat: [];
        FlatEnum: [];
        FlatShape: [];
        FlatMaybe: [];
        Renamed: [];
        Defaults: [];
        AllDefault: [];
        Skips: [];
        With: [], but [];
        Anys: [];
        Maps: [{"text": {}, "signed": {"-1": 1}, "unsigned": {"1": {"text": ""}}, "coloured": {"One": 1}, "patterned": {}}];
        Sets: [{"a": [1], "b": []}];
        Page<u8>: [];
        Page<Option<Remark>>: [{"items": [null, {"text": "x"}], "next": null}];
        Borrowed: [{"text": "a", "boxed": "b", "list": [1], "nested": null}];
        Ping: [];
        Expr: [];
        SameName: [{"mine": {"text": "a"}, "theirs": {"stars": 1}, "both": [{"text": "a"}, {"stars": 1}]}];
        Deep<Deep<Deep<Deep<Deep<Deep<u8>>>>>>: [{"d": [{"d": [{"d": []}]}]}];
    }
}

#[test]
fn wrapped_outputs_hold_what_serde_writes() {
    fn fits<T: Serialize + JsonSchema>(value: &T) {
        let outputs = outputs::<T>().unwrap();
        let value = serde_json::to_value(value).unwrap();
        let whole = match outputs.shape {
            super::OutputShape::Object => value,
            super::OutputShape::Wrapped => json!({"result": value}),
            super::OutputShape::Empty => json!({}),
        };
        assert!(
            jsonschema::draft202012::is_valid(&outputs.schema, &whole),
            "{whole}: {}",
            outputs.schema
        );
    }
    fits(&());
    fits(&Unit);
    fits(&"text".to_owned());
    fits(&vec![1, 2]);
    fits(&Some(u64::MAX));
    fits(&None::<u64>);
    fits(&(1, "a".to_owned(), None::<bool>));
    fits(&json!({"a": [1]}));
    fits(&Shape::Empty);
    fits(&Shape::Maybe(None));
    fits(&BTreeMap::from([(1_u8, Colour::Red)]));
}
