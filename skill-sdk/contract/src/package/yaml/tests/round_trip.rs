//! Any JSON value comes back from the reader as it went into the emitter.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::super::{emit, read};

fn assert_round_trip(value: &Value) {
    let text = emit(value);
    assert!(text.ends_with('\n'));
    assert_eq!(read(text.as_bytes()).as_ref(), Ok(value), "{text}");
}

#[test]
fn recorded_scalars_come_back() {
    for (id, value, reference) in super::recorded_values() {
        assert_round_trip(&value);
        // The reference's own text means the same to us, or is rejected because readers differ.
        if let Ok(read) = read(reference.as_bytes()) {
            // U+0085 is known not to survive there.
            assert_eq!(read, value, "{id}");
        }
    }
}

#[test]
fn tricky_strings_come_back_everywhere() {
    for text in super::tricky_strings() {
        let mut key = Map::new();
        key.insert(text.clone(), json!([{ "a": text }]));
        key.insert("after".to_owned(), json!(1));
        let shapes = [
            json!(text),
            json!({"v": text, "after": 1}),
            json!([text, [text, text], {"a": text}]),
            json!({"a": {"b": [text, {"c": text, "d": text}]}}),
            Value::Object(key.clone()),
            json!([key.clone(), [key.clone()]]),
            json!({"a": key, "b": 1}),
        ];
        for shape in &shapes {
            assert_round_trip(shape);
        }
    }
}

/// Strings full of what YAML cares about, and any others.
fn strings() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ a:#'\"\\-?\n\t,\\[\\]{}&*!|>%@`~=.0-9_]{0,12}",
        "[0-9eE.+:_xobTZ \\-]{1,10}",
        any::<String>(),
        "(\n|  | a|a|\r|\u{85}|\u{2028}|\u{feff}){0,6}",
        prop::sample::select(super::tricky_strings()),
    ]
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>()
            .prop_filter("JSON numbers are finite", |f| f.is_finite())
            .prop_map(Value::from),
        strings().prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 48, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((strings(), inner), 0..6)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_value_comes_back(value in values()) {
        assert_round_trip(&value);
        super::foreign::assert_yaml_serde_reads(&value);
    }

    #[test]
    fn no_bytes_panic_the_reader(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = read(&bytes);
    }

    #[test]
    fn no_text_panics_the_reader(text in "[ a:#'\"\\-?\n\t,\\[\\]{}&*!|>%@`~=.0-9\r\\\\ud]{0,60}") {
        if let Ok(value) = read(text.as_bytes()) {
            assert_round_trip(&value);
        }
    }
}
