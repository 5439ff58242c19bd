//! Inputs and outputs that violate the contract.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Value, json};
use skill_sdk::pipeline::{Call, Meta};
use skill_sdk::{SkillError, skill};
use skill_sdk_tests::sample;

use super::{failure, meta, outputs, paths, skill_set, violations, wire};

const INPUTS: &str = "inputs do not match the skill's input schema";
const OUTPUTS: &str = "outputs do not match the skill's output schema";

#[derive(Deserialize, JsonSchema)]
struct Tree {
    branches: Vec<Branch>,
    #[serde(default, rename = "a/b~c")]
    _slash: u8,
}

#[derive(Deserialize, JsonSchema)]
struct Branch {
    leaf: u8,
}

/// Takes a tree.
#[skill("violations.tree", version = "1", side_effects = "none", risk = "low")]
fn tree(inputs: Tree) -> Vec<u8> {
    inputs.branches.iter().map(|branch| branch.leaf).collect()
}

#[tokio::test]
async fn all_violations_are_reported_with_their_paths_in_order() {
    let branches: Vec<_> = (0..11).map(|leaf| json!({"leaf": leaf})).collect();
    let mut inputs = json!({"branches": branches, "a/b~c": -1});
    inputs["branches"][10] = json!({"leaf": "x"});
    inputs["branches"][2] = json!({});
    inputs["branches"][0]["leaf"] = json!(256);
    let error = failure(tree::SKILL, inputs, meta("tree")).await;
    assert_eq!(
        (error.code(), error.message()),
        ("input_contract_violation", INPUTS)
    );
    assert!(!error.is_retryable() && !error.is_crash());
    // Names are not escaped. Indexes are compared as numbers: 2 sorts before 10.
    assert_eq!(
        paths(&error),
        ["/a/b~c", "/branches/0/leaf", "/branches/2", "/branches/10/leaf"]
    );
    let keys: Vec<_> = error.details().unwrap().as_object().unwrap().keys().collect();
    assert_eq!(keys, ["errors"]);
    assert!(
        violations(&error)[2].1.contains("leaf"),
        "the message names the missing field"
    );
}

#[tokio::test]
async fn violations_of_the_whole_value_are_at_the_root() {
    let error = failure(tree::SKILL, json!({}), meta("root")).await;
    assert_eq!(paths(&error), ["/"]);
    for inputs in [json!(null), json!([]), json!("{}"), json!(1), json!(true)] {
        let error = failure(tree::SKILL, inputs.clone(), meta("root")).await;
        let expected = json!({
            "code": "input_contract_violation", "message": INPUTS, "retryable": false,
            "details": {"errors": [{"path": "/", "message": "inputs must be a JSON object"}]},
        });
        assert_eq!(wire(&error), expected, "{inputs}");
    }
}

#[tokio::test]
async fn invalid_json_is_a_violation() {
    let skill_set = skill_set(&[tree::SKILL]);
    for text in ["", "{", "{}x", "{\"branches\":[],}", "\u{feff}{}", "nan"] {
        let call = Call::json(text, Meta::new("test"));
        let completed = skill_set
            .call(skill_set.get("violations.tree@1").unwrap(), call)
            .await;
        let error = completed.result().unwrap_err();
        assert_eq!(error.code(), "input_contract_violation", "{text}");
        assert_eq!(paths(error), ["/"], "{text}");
    }
}

/// Has strict constraints.
#[skill(
    "violations.picky", version = "1", side_effects = "none", risk = "low",
    inputs_schema = json!({"type": "object", "additionalProperties": {"enum": ["this"]}}),
)]
fn picky(inputs: Value) -> Value {
    json!({"got": inputs})
}

#[tokio::test]
async fn at_most_20_violations_are_reported_and_long_values_are_not_quoted() {
    let error = failure(sample::many_errors::SKILL, json!({}), meta("many")).await;
    assert_eq!(violations(&error).len(), 20);
    let inputs: serde_json::Map<_, _> = (0..25)
        .map(|index| (format!("{index:02}"), "я".repeat(2000).into()))
        .collect();
    let error = failure(picky::SKILL, inputs.into(), meta("many")).await;
    let found = violations(&error);
    let expected: Vec<_> = (0..20).map(|index| format!("/{index:02}")).collect();
    assert_eq!(paths(&error), expected);
    for (_, message) in found {
        // A long value is not quoted, because it would hide the constraint.
        assert_eq!(message, "the value is not one of \"this\"");
    }
}

fn even<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    let number = i64::deserialize(deserializer)?;
    if number % 2 == 0 {
        Ok(number)
    } else {
        Err(serde::de::Error::custom("must be even"))
    }
}

#[derive(Deserialize, JsonSchema)]
struct Even {
    #[serde(deserialize_with = "even")]
    number: i64,
}

/// Takes values that only the type can check.
#[skill("violations.even", version = "1", side_effects = "none", risk = "low")]
fn only_even(
    list: Vec<Even>,
    #[serde(default)] small: i64,
    #[serde(default)] map: BTreeMap<String, Even>,
) -> i64 {
    list.iter()
        .chain(map.values())
        .map(|even| even.number)
        .sum::<i64>()
        + small
}

/// The schema accepts more than the type.
#[skill(
    "violations.handwritten", version = "1", side_effects = "none", risk = "low",
    inputs_schema = json!({"type": "object"}),
)]
fn handwritten(inputs: Tree) -> usize {
    inputs.branches.len()
}

#[tokio::test]
async fn values_rejected_by_the_type_are_violations_with_a_path() {
    let table = [
        (
            json!({"list": [{"number": 2}, {"number": 3}]}),
            "/list/1/number",
            "must be even",
        ),
        (
            json!({"list": [], "map": {"a/b": {"number": 5}}}),
            "/map/a/b/number",
            "must be even",
        ),
        // The violation points to the real problem, not to the number written as `1.0`.
        (
            json!({"small": 1.0, "list": [{"number": 2.0}, {"number": 3.0}]}),
            "/list/1/number",
            "must be even",
        ),
    ];
    for (inputs, path, message) in table {
        let error = failure(only_even::SKILL, inputs.clone(), meta("even")).await;
        assert_eq!(
            (error.code(), error.message()),
            ("input_contract_violation", INPUTS),
            "{inputs}"
        );
        assert!(!error.is_retryable() && !error.is_crash(), "{inputs}");
        assert_eq!(
            violations(&error),
            [(path.to_owned(), message.to_owned())],
            "{inputs}"
        );
    }
    for (inputs, path) in [
        (json!({}), "/"),
        (
            json!({"branches": [{"leaf": 1}, {"leaf": 300}]}),
            "/branches/1/leaf",
        ),
        (json!({"branches": [{"leaf": 1}, {}]}), "/branches/1"),
        (json!({"branches": {}}), "/branches"),
    ] {
        let error = failure(handwritten::SKILL, inputs.clone(), meta("handwritten")).await;
        assert_eq!(paths(&error), [path], "{inputs}: {error:?}");
    }
}

/// Returns values that the type allows and the schema does not.
#[skill(
    "violations.outputs", version = "1", side_effects = "none", risk = "low",
    inputs_schema = json!({"type": "object"}),
    outputs_schema = json!({
        "type": "object", "required": ["kind"],
        "properties": {"kind": {"enum": ["a", "b"]}, "list": {"items": {"type": "integer"}}},
    }),
)]
fn bad_outputs(inputs: Value) -> Value {
    inputs["return"].clone()
}

#[derive(JsonSchema)]
struct Unwritable;

impl Serialize for Unwritable {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(serde::ser::Error::custom("no way to write it"))
    }
}

/// Returns a value that cannot be serialized.
#[skill("violations.unwritable", version = "1", side_effects = "none", risk = "low")]
async fn unwritable() -> Result<Unwritable, SkillError> {
    Ok(Unwritable)
}

/// Returns NaN.
#[skill("violations.nan", version = "1", side_effects = "none", risk = "low")]
fn not_a_number() -> f64 {
    f64::NAN
}

#[tokio::test]
async fn invalid_outputs_are_rejected() {
    let table = [
        (json!({"kind": "c"}), vec!["/kind"]),
        (json!({}), vec!["/"]),
        (
            json!({"list": [1, "x", 1.0, 1.5], "kind": "z"}),
            vec!["/kind", "/list/1", "/list/3"],
        ),
        (json!([]), vec!["/"]),
        (json!(null), vec!["/"]),
        (json!("text"), vec!["/"]),
    ];
    for (value, expected) in table {
        let error = failure(bad_outputs::SKILL, json!({"return": value}), meta("outputs")).await;
        assert_eq!(
            (error.code(), error.message()),
            ("output_contract_violation", OUTPUTS),
            "{value}"
        );
        assert!(!error.is_retryable() && !error.is_crash(), "{value}");
        assert_eq!(paths(&error), expected, "{value}");
    }
    let error = failure(unwritable::SKILL, json!({}), meta("outputs")).await;
    assert_eq!(
        (error.code(), paths(&error)),
        ("output_contract_violation", vec!["/".to_owned()])
    );
    let error = failure(not_a_number::SKILL, json!({}), meta("outputs")).await;
    let message =
        "null is not of type \"number\"; a number that is not finite (NaN, infinity) is written as null";
    assert_eq!(error.code(), "output_contract_violation");
    assert_eq!(violations(&error), [("/result".to_owned(), message.to_owned())]);
    assert_eq!(
        outputs(bad_outputs::SKILL, json!({"return": {"kind": "a"}})).await,
        r#"{"kind":"a"}"#
    );
}

/// Takes a string of every standard format.
#[skill(
    "violations.formats", version = "1", side_effects = "none", risk = "low",
    inputs_schema = json!({"type": "object", "properties": {
        "date-time": {"format": "date-time"}, "date": {"format": "date"}, "time": {"format": "time"},
        "duration": {"format": "duration"}, "email": {"format": "email"}, "hostname": {"format": "hostname"},
        "ipv4": {"format": "ipv4"}, "ipv6": {"format": "ipv6"}, "uri": {"format": "uri"},
        "uri-reference": {"format": "uri-reference"}, "uuid": {"format": "uuid"}, "regex": {"format": "regex"},
        "json-pointer": {"format": "json-pointer"}, "own": {"format": "of-our-own"},
    }}),
)]
fn formats(inputs: Value) -> Value {
    inputs
}

#[tokio::test]
async fn standard_formats_are_validated() {
    let table = [
        ("date-time", "2026-02-28T23:59:59Z", "2026-02-28 23:59:59"),
        ("date", "2028-02-29", "2026-02-29"),
        ("time", "10:00:00Z", "25:00:00Z"),
        ("duration", "P1DT2H", "1 day"),
        ("email", "a@b.example", "a"),
        ("hostname", "api.example.com", "-a.example"),
        ("ipv4", "10.0.0.1", "10.0.0.256"),
        ("ipv6", "::1", ":::"),
        ("uri", "https://example.com/a?b", "example"),
        ("uri-reference", "../a", "a b"),
        (
            "uuid",
            "2eb8aa08-aa98-11ea-b4aa-73b441d16380",
            "2eb8aa08aa9811eab4aa73b441d16380",
        ),
        ("regex", "^a+$", "^(a"),
        ("json-pointer", "/a/0", "a"),
    ];
    for (format, good, bad) in table {
        outputs(formats::SKILL, json!({format: good})).await;
        let error = failure(formats::SKILL, json!({format: bad}), meta("formats")).await;
        assert_eq!(paths(&error), [format!("/{format}")], "{bad}");
    }
    outputs(formats::SKILL, json!({"own": "anything"})).await;
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Labels {
    labels: BTreeMap<String, Label>,
    #[serde(default)]
    any: Value,
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Label(#[schemars(length(max = 3))] String);

/// Takes labels and any value.
#[skill("violations.labels", version = "1", side_effects = "none", risk = "low")]
fn labels(inputs: Labels) -> Labels {
    inputs
}

/// The JSON library has private field names that make it deserialize another value than the validated one. They must be
/// rejected.
#[tokio::test]
async fn private_names_of_the_json_library_are_rejected() {
    let word = "$serde_json::private::RawValue";
    let mut nested = "1".to_owned();
    for _ in 0..8 {
        let inner = json!({ word: nested }).to_string();
        nested = format!("{}{inner}{}", "[".repeat(110), "]".repeat(110));
    }
    for inputs in [
        format!(r#"{{"labels": {{"{word}": "{{\"x\": \"ok\"}}"}}}}"#),
        format!(r#"{{"labels": {{}}, "any": {{"{word}": "1"}}}}"#),
        format!(r#"{{"labels": {{}}, "any": [{{"\u0024{}": "1"}}]}}"#, &word[1..]),
        r#"{"labels": {}, "any": {"$serde_json::private::Number": "7"}}"#.to_owned(),
        format!(r#"{{"labels": {{}}, "any": {nested}}}"#),
    ] {
        let skill_set = skill_set(&[labels::SKILL]);
        let runnable = skill_set.get("violations.labels@1").unwrap();
        let completed = skill_set
            .call(runnable, Call::json(inputs.clone(), Meta::new("test")))
            .await;
        let error = completed.result().unwrap_err();
        assert_eq!(error.code(), "input_contract_violation", "{inputs:.120}");
    }
}
