//! From texts to values of types.

use std::fs;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::*;

/// Recorded extractions with another result here, and why.
const DIFFERENT: &[&str] = &[
    // `NaN` is not JSON. Neither implementation finds an object.
    "extract-05",
];

/// How many cases are replayed here; `tests/tests/replayed.rs` adds up.
const REPLAYED: usize = 18;

#[test]
fn recorded_extractions() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/cases/claude_code.json");
    let Ok(text) = fs::read_to_string(path) else {
        eprintln!("skipped: the recorded cases are not at hand (claude_code.json)");
        return;
    };
    let document: Value = serde_json::from_str(&text).unwrap();
    let cases = document["cases"].as_array().unwrap();
    let mut replayed = 0;
    for case in cases {
        let id = case["id"].as_str().unwrap();
        if !id.starts_with("extract-") {
            continue;
        }
        replayed += 1;
        let found = extract::json(case["input"]["text"].as_str().unwrap());
        if DIFFERENT.contains(&id) {
            assert_eq!(found, None, "{id}");
        } else {
            assert_eq!(found.as_ref(), case["expect"].get("value"), "{id}");
        }
    }
    assert_eq!(replayed, REPLAYED);
}

#[test]
fn long_and_deep_texts_are_read() {
    let object = || Some(json!({"a": 1}));
    assert_eq!(extract::json(&("```".repeat(100_000) + "{\"a\": 1}")), object());
    assert_eq!(extract::json(&"{".repeat(200_000)), None);
    assert_eq!(extract::json(&("[".repeat(300) + &"]".repeat(300))), None);
    assert_eq!(extract::json("Sure! ```json5 {\"a\": 1} ``` done"), object());
    assert_eq!(extract::json(r#"{"$serde_json::private::RawValue": "1"}"#), None);
}

#[derive(Debug, Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only read")]
struct Report {
    kind: Kind,
    #[schemars(length(min = 1, max = 5))]
    title: String,
    #[schemars(range(min = 0, max = 1))]
    share: f64,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Good,
    Bad,
}

#[test]
fn callers_get_paths_and_no_values() {
    let wanted = Wanted::of::<Report>(Some("my report!")).unwrap();
    let answer = json!({"kind": "hunter2", "title": "", "share": 7});
    let misfit = wanted.read(&answer.to_string()).unwrap_err();
    assert!(misfit.for_model.contains("hunter2"), "{misfit:?}");
    assert_eq!(
        misfit.for_caller,
        "the reply is not valid for the schema `my_report_` at /kind, /share, /title"
    );
    for (text, why) in [
        ("no", "the reply contains no JSON object"),
        ("[{}]", "the reply contains no JSON object"),
    ] {
        assert_eq!(wanted.read(text).unwrap_err().for_caller, why);
        assert_eq!(Wanted::any_object().read(text).unwrap_err().for_caller, why);
    }
}

#[test]
fn rules_of_deserialize_are_validated_too() {
    #[derive(Debug, Deserialize, JsonSchema)]
    struct Even {
        #[serde(deserialize_with = "even")]
        #[expect(dead_code, reason = "only read")]
        number: i64,
    }

    fn even<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
        let number = i64::deserialize(deserializer)?;
        (number % 2 == 0)
            .then_some(number)
            .ok_or_else(|| serde::de::Error::custom("it must be even"))
    }

    let misfit = Wanted::of::<Even>(None)
        .unwrap()
        .read(r#"{"number": 3}"#)
        .unwrap_err();
    assert!(
        misfit.for_model.ends_with("`Even`: it must be even"),
        "{misfit:?}"
    );
    assert_eq!(misfit.for_caller, "the reply cannot be deserialized as `Even`");
}

#[test]
fn a_type_that_is_not_an_object_is_rejected() {
    let Err(error) = Wanted::of::<Vec<String>>(None) else {
        panic!("a list was taken for an object");
    };
    assert_eq!(
        (error.code(), error.is_retryable()),
        ("llm_schema_unusable", false)
    );
    assert!(error.message().contains("`Vec<String>`"), "{error}");
}
