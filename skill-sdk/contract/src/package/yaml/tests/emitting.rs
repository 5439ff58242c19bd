//! The exact text of the canonical layout.

use serde_json::{Value, json};

use super::super::emit;

#[test]
fn the_layout_is_this() {
    let value = json!({
        "apiVersion": "x/v1",
        "spec": {
            "version": "1",
            "description": "One line: with a colon",
            "long": "first\n  second\n",
            "required": ["a", "on"],
            "anyOf": [{"type": "string", "enum": ["x"]}, {"type": "null"}, [1, [2]], {}, []],
            "empty": {},
            "none": [],
            "null": null,
            "yes": true,
            "estimate": 1e20,
            "kept": "a\n\n",
            "cut": "a\nb",
        },
    });
    let expected = "\
apiVersion: x/v1
spec:
  version: '1'
  description: 'One line: with a colon'
  long: |
    first
      second
  required:
  - a
  - 'on'
  anyOf:
  - type: string
    enum:
    - x
  - type: 'null'
  - - 1
    - - 2
  - {}
  - []
  empty: {}
  none: []
  'null': null
  'yes': true
  estimate: 1.0e+20
  kept: |+
    a

  cut: |-
    a
    b
";
    assert_eq!(emit(&value), expected);
}

#[test]
fn strings_are_quoted_when_some_reader_needs_it() {
    let cases = [
        ("1", "'1'"),
        ("on", "'on'"),
        ("yes", "'yes'"),
        ("y", "'y'"),
        ("null", "'null'"),
        ("1e3", "'1e3'"),
        ("0o17", "'0o17'"),
        ("2026-01-01", "'2026-01-01'"),
        ("12:30:45", "'12:30:45'"),
        ("", "''"),
        ("it's", "it's"),
        ("'a", "'''a'"),
        ("a: b", "'a: b'"),
        ("a #b", "'a #b'"),
        ("Ёж 🙂", "Ёж 🙂"),
        ("acme.reports:build", "acme.reports:build"),
        (
            "https://json-schema.org/draft/2020-12/schema",
            "https://json-schema.org/draft/2020-12/schema",
        ),
        ("#/$defs/A", "'#/$defs/A'"),
        ("^[a-z]+$", "^[a-z]+$"),
        ("-a", "-a"),
        ("a\tb", "\"a\\tb\""),
        ("a\r\nb", "\"a\\r\\nb\""),
        ("a \nb", "\"a \\nb\""),
        ("\u{85}", "\"\\x85\""),
        ("\u{2028}", "\"\\u2028\""),
        ("\u{feff}", "\"\\uFEFF\""),
        ("\u{202e}", "\"\\u202E\""),
        ("\u{1fffe}", "\"\\U0001FFFE\""),
    ];
    for (text, expected) in cases {
        assert_eq!(
            emit(&json!({ "v": text })),
            format!("v: {expected}\n"),
            "{text:?}"
        );
    }
}

#[test]
fn numbers_look_the_same_to_both_readers() {
    let cases = [
        (json!(1), "1"),
        (json!(-5), "-5"),
        (json!(u64::MAX), "18446744073709551615"),
        (json!(i64::MIN), "-9223372036854775808"),
        (json!(1.0), "1.0"),
        (json!(-0.0), "-0.0"),
        (json!(0.1), "0.1"),
        (json!(1e-7), "1.0e-7"),
        (json!(1.5e300), "1.5e+300"),
        (json!(5e-324), "5.0e-324"),
    ];
    for (value, expected) in cases {
        assert_eq!(emit(&value), format!("{expected}\n"));
    }
}

#[test]
fn keys_follow_the_rules_of_strings_and_long_ones_are_explicit() {
    let long = "x".repeat(129);
    let value = json!({ "1": 1, "on": {"a: b": []}, (long.as_str()): {"a": [1]}, "a\nb": [1] });
    let expected = format!("'1': 1\n'on':\n  'a: b': []\n? {long}\n:\n  a:\n  - 1\n\"a\\nb\":\n- 1\n");
    assert_eq!(emit(&value), expected);
}

#[test]
fn a_root_that_is_no_collection_is_one_line() {
    for value in [
        Value::Null,
        json!(true),
        json!("a\nb\n"),
        json!(" a\n"),
        json!([]),
        json!({}),
    ] {
        assert_eq!(emit(&value).lines().count(), 1, "{value}");
    }
}
