//! Plain scalars: what is one value to all readers and what is not.

use serde_json::{Value, json};

use super::super::scalar::{is_plain_safe, resolve};

#[test]
fn scalars_on_which_readers_agree() {
    let cases = [
        ("", Value::Null),
        ("~", Value::Null),
        ("Null", Value::Null),
        ("TRUE", json!(true)),
        ("False", json!(false)),
        ("0", json!(0)),
        ("-0", json!(-0.0)),
        ("-12", json!(-12)),
        ("0.5", json!(0.5)),
        ("-1.5E-3", json!(-0.0015)),
        ("18446744073709551616", json!(18_446_744_073_709_551_616.0)),
    ];
    for (text, expected) in cases {
        assert_eq!(resolve(text), Some(expected), "{text}");
    }
    for text in [
        "y",
        "n",
        "nUlL",
        "a",
        "-a",
        ".",
        "..",
        "-",
        "+",
        "1a",
        "1 b",
        "1.2.3",
        "10.0.0.1",
        "123e4567-e89b-12d3-a456-426614174000",
        "08_9x",
        "v1",
        "+.nan",
        "e3",
        "1,5",
        "2026-01-01x",
    ] {
        assert_eq!(resolve(text), Some(json!(text)), "{text}");
    }
}

#[test]
fn scalars_on_which_readers_may_differ() {
    for text in [
        "yes",
        "No",
        "ON",
        "off",
        "<<",
        "=",
        "017",
        "007",
        "00",
        "08",
        "-017",
        "0o17",
        "0b101",
        "-0x1f",
        "0x_f",
        "1_000",
        "1_0.5",
        "1e3",
        "1.e3",
        "1.0e3",
        "1e+3",
        "-.5",
        "+.5",
        "08.5",
        "12:30:45",
        "1:30",
        "190:20:30.15",
        "2026-01-01",
        "2026-1-2 3:04:05",
        "2026-01-02T03:04:05Z",
        "2026-01-02t03:04:05.1 +01:30",
        "2026-01-02 03:04:05.",
        "0_7",
        "5e-1",
        ".5e3",
        ".5",
        "1.",
        "+1",
        "0xfF",
        // Text to both, but close to a number.
        "._1",
        "0b",
        "0x",
        "-0o17",
        "1:99",
        "2026-1-2",
        "2026-01-02 03:04",
        "12:",
        "1e",
        "1.0e",
        // Not numbers of JSON.
        ".inf",
        "-.INF",
        ".NaN",
        "1.0e+999",
        "0xFFFFFFFFFFFFFFFFF",
    ] {
        assert_eq!(resolve(text), None, "{text}");
    }
}

#[test]
fn what_is_written_plain_is_read_as_that_string() {
    for text in super::tricky_strings() {
        if is_plain_safe(&text) {
            assert_eq!(resolve(&text), Some(Value::String(text.clone())), "{text:?}");
        }
    }
}

/// All short strings of the characters that numbers, dates and words are made of.
#[test]
fn no_short_string_is_written_plain_and_read_as_something_else() {
    let alphabet = b"01e.+-_:xo~ n#=";
    let mut level = vec![String::new()];
    for _ in 0..5 {
        level = level
            .iter()
            .flat_map(|s| alphabet.iter().map(move |&b| format!("{s}{}", char::from(b))))
            .collect();
        for text in &level {
            let resolved = resolve(text);
            if is_plain_safe(text) {
                assert_eq!(resolved, Some(Value::String(text.clone())), "{text:?}");
            }
        }
    }
}
