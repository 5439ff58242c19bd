//! Generated schemas, values and texts.

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use super::super::Scan;
use super::compare;
use crate::contract::json;

fn name() -> impl Strategy<Value = String> {
    select(vec!["a", "b", "c", "é", "k"]).prop_map(str::to_owned)
}

pub(in crate::validation) fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3_i64..4).prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        long_integer(),
        (-6_i8..7).prop_map(|half| Value::from(f64::from(half) / 2.0)),
        any::<f64>().prop_map(Value::from),
        select(vec!["", "a", "b", "ab", "abc", "é", "\u{1F600}", "\n\"\\", "12"]).prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((name(), inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Integers around the sizes at which doubles and 64-bit integers end.
fn long_integer() -> impl Strategy<Value = Value> {
    let sizes = select(vec![1_i128 << 53, 10_i128.pow(18), 1_i128 << 63, 1_i128 << 64]);
    (sizes, -3_i128..4, any::<bool>()).prop_map(|(size, by, negative)| {
        let integer = if negative { -size + by } else { size + by };
        let text = integer.to_string();
        serde_json::from_str(&text).expect("an integer is JSON")
    })
}

/// The same sizes as bounds, most of them as doubles.
fn long_bound() -> impl Strategy<Value = Value> {
    let doubles = select(vec![
        9_007_199_254_740_992.0,
        9_007_199_254_740_994.0,
        1e18,
        9_223_372_036_854_775_808.0,
        18_446_744_073_709_551_616.0,
    ]);
    prop_oneof![
        2 => (doubles, any::<bool>()).prop_map(|(size, negative)| Value::from(if negative { -size } else { size })),
        1 => long_integer(),
    ]
}

fn schema() -> impl Strategy<Value = Value> {
    let size = || 0_u8..4;
    let rule = prop_oneof![
        6 => select(vec!["null", "boolean", "integer", "number", "string", "array", "object"]).prop_map(|name| json!({"type": name})),
        1 => Just(json!({"type": ["integer", "null", "string"]})),
        1 => (-3_i64..4).prop_map(|limit| json!({"minimum": limit})),
        1 => (-5_i8..6).prop_map(|half| json!({"maximum": f64::from(half) / 2.0})),
        1 => (-3_i64..4).prop_map(|limit| json!({"exclusiveMinimum": limit, "multipleOf": 2})),
        1 => (select(vec!["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]), long_bound())
            .prop_map(|(keyword, limit)| json!({keyword: limit})),
        1 => (size(), size()).prop_map(|(a, b)| json!({"minLength": a, "maxLength": b})),
        1 => (size(), size()).prop_map(|(a, b)| json!({"minItems": a, "maxItems": b, "minProperties": a % 3, "maxProperties": b})),
        1 => prop::collection::vec(value(), 1..4).prop_map(|values| json!({"enum": values})),
        1 => value().prop_map(|value| json!({"const": value})),
        1 => Just(json!({"pattern": "^[ab]"})),
        1 => Just(json!({"uniqueItems": true})),
        1 => any::<bool>().prop_map(Value::from),
        1 => Just(json!({"$ref": "#/$defs/R"})),
    ];
    rule.prop_recursive(4, 32, 4, |inner| {
        let several = || prop::collection::vec(inner.clone(), 1..4);
        let members = prop::collection::vec((name(), inner.clone()), 0..4)
            .prop_map(|members| Value::Object(members.into_iter().collect()));
        prop_oneof![
            4 => (members, prop::collection::vec(name(), 0..3), prop::option::of(inner.clone())).prop_map(
                |(properties, mut required, others)| {
                    required.sort();
                    required.dedup();
                    let mut schema = json!({"type": "object", "properties": properties, "required": required});
                    if let Some(others) = others {
                        schema["additionalProperties"] = others;
                    }
                    schema
                }
            ),
            1 => inner.clone().prop_map(|items| json!({"items": items})),
            1 => (several(), inner.clone()).prop_map(|(first, rest)| json!({"prefixItems": first, "items": rest})),
            1 => several().prop_map(|schemas| json!({"anyOf": schemas})),
            2 => several().prop_map(|schemas| json!({"oneOf": schemas})),
            1 => several().prop_map(|schemas| json!({"allOf": schemas})),
            1 => inner.clone().prop_map(|schema| json!({"not": schema})),
            1 => inner.prop_map(|names| json!({"propertyNames": names})),
        ]
    })
}

/// The schema of an object with one of several parts in common.
pub(in crate::validation) fn root() -> impl Strategy<Value = Value> {
    (schema(), schema()).prop_map(|(schema, common)| {
        json!({"type": "object", "properties": {"v": schema}, "required": ["v"], "$defs": {"R": common}})
    })
}

/// A text with something about it that JSON allows, or does not.
fn changed(text: &str, at: usize, change: usize) -> String {
    let changes = [
        "",
        "1",
        "\"",
        "\\",
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        " ",
        "-",
        ".",
        "0",
        "e5",
        "null",
        "\\u00e9",
        "\\ud83d",
        "\u{0}",
        "\"v\":1,",
        "\"$serde_json::private::Number\":\"1\",",
        "é",
        ".0",
        "E400",
    ];
    let characters: Vec<char> = text.chars().collect();
    let at = at % characters.len();
    let kept = characters.iter().skip(at + usize::from(change.is_multiple_of(2)));
    characters
        .iter()
        .take(at)
        .copied()
        .chain(changes[change % changes.len()].chars())
        .chain(kept.copied())
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn nothing_wrong_is_accepted(schema in root(), values in prop::collection::vec(value(), 1..12), spaces: bool) {
        // The validator rejects a schema that refers to itself without end, or does not terminate.
        prop_assume!(!schema["$defs"]["R"].to_string().contains("$ref"));
        if let Some(scan) = Scan::compile(&schema) {
            for value in values {
                let whole = json!({"v": value});
                let text = if spaces { serde_json::to_string_pretty(&whole).unwrap() } else { whole.to_string() };
                compare(&schema, &scan, &text);
            }
        }
    }

    #[test]
    fn texts_that_are_no_json_are_not_accepted(value in value(), at: usize, changes in prop::collection::vec(0_usize..1000, 1..4)) {
        let scan = Scan::compile(&json!({"type": "object"})).unwrap();
        let mut text = json!({"v": value, "a": [1.5, "x\u{e9}"]}).to_string();
        for (index, change) in changes.into_iter().enumerate() {
            text = changed(&text, at.wrapping_mul(index + 1), change);
            if text.is_empty() {
                break;
            }
            let parsed = json::parse(text.as_bytes());
            let taken = parsed.as_ref().is_ok_and(Value::is_object);
            prop_assert_eq!(scan.accepts(&text), taken, "{}: {:?}", text, parsed);
        }
    }
}
