//! Conversion of inputs and outputs.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use skill_sdk::pipeline::{Call, Meta};
use skill_sdk::{Skill, SkillContext, SkillError, skill};
use skill_sdk_tests::sample;

use super::{outputs, paths, skill_set};

#[derive(Deserialize, Serialize, JsonSchema)]
struct Numbers {
    small: u8,
    list: Vec<i64>,
    map: BTreeMap<String, i32>,
    float: f64,
    big: i128,
}

/// Returns its numbers.
#[skill("values.numbers", version = "1", side_effects = "none", risk = "low")]
async fn numbers(inputs: Numbers) -> Numbers {
    inputs
}

async fn of_text(skill: &'static Skill, inputs: &str) -> Result<String, SkillError> {
    let skill_set = skill_set(&[skill]);
    let call = Call::json(inputs, Meta::new("test"));
    let completed = skill_set
        .call(skill_set.get(skill.reference()).unwrap(), call)
        .await;
    completed
        .into_parts()
        .0
        .map(|text| String::from_utf8(text).unwrap())
}

#[tokio::test]
async fn integers_can_be_written_as_decimals() {
    let inputs =
        r#"{"small": 1.0, "list": [2.00, 3e2, -4, 1.5e1], "map": {"a": 5.0}, "float": 1, "big": 1e20}"#;
    assert_eq!(
        of_text(numbers::SKILL, inputs).await.unwrap(),
        r#"{"small":1,"list":[2,300,-4,15],"map":{"a":5},"float":1.0,"big":100000000000000000000}"#
    );
    let inputs = r#"{"small": -0, "list": [-0], "map": {}, "float": -0.0, "big": -0}"#;
    assert!(
        of_text(numbers::SKILL, inputs)
            .await
            .unwrap()
            .starts_with(r#"{"small":0,"list":[0],"map":{},"#)
    );
    let inputs = r#"{"small": 1.5, "list": [2e-1], "map": {}, "float": 1, "big": 1}"#;
    assert_eq!(
        paths(&of_text(numbers::SKILL, inputs).await.unwrap_err()),
        ["/list/0", "/small"]
    );
}

#[tokio::test]
async fn numbers_are_exact() {
    let inputs = r#"{"small":255,"list":[9007199254740993,-9223372036854775808],"map":{},"float":0.1,"big":170141183460469231731687303715884105727}"#;
    assert_eq!(of_text(numbers::SKILL, inputs).await.unwrap(), inputs);
    let inputs = json!({"a": 1, "b": 2});
    assert_eq!(
        outputs(sample::add::SKILL, inputs).await,
        r#"{"sum":3,"note":null}"#
    );
}

#[tokio::test]
async fn the_last_of_duplicate_fields_wins() {
    let rest = r#""list": [], "map": {}, "float": 0, "big": 0"#;
    let inputs = format!(r#"{{"small": "x", "small": 1, "small": 2, {rest}}}"#);
    assert!(
        of_text(numbers::SKILL, &inputs)
            .await
            .unwrap()
            .starts_with(r#"{"small":2,"#)
    );
    // This applies to validation as well.
    let inputs = format!(r#"{{"small": 1, {rest}, "small": "x"}}"#);
    assert_eq!(
        paths(&of_text(numbers::SKILL, &inputs).await.unwrap_err()),
        ["/small"]
    );
    let inputs = r#"{"text": "a", "text": "a text that is long"}"#;
    assert_eq!(
        of_text(sample::classify::SKILL, inputs).await.unwrap(),
        r#"{"kind":"long"}"#
    );
}

/// Returns nothing.
#[skill("values.unit", version = "1", side_effects = "none", risk = "low")]
fn unit() {}

/// Returns nothing, or fails.
#[skill("values.result", version = "1", side_effects = "none", risk = "low")]
async fn unit_result() -> Result<(), SkillError> {
    Ok(())
}

/// Returns a string.
#[skill("values.text", version = "1", side_effects = "none", risk = "low")]
fn text() -> &'static str {
    "ё \"\n"
}

/// Returns a list or null.
#[skill("values.option", version = "1", side_effects = "none", risk = "low")]
fn option(some: bool) -> Option<Vec<u8>> {
    some.then(|| vec![1, 2])
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Object {
    z_last: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    absent: Option<u8>,
    a_first: (),
}

/// Returns an object.
#[skill("values.object", version = "1", side_effects = "none", risk = "low")]
fn object() -> Object {
    Object {
        z_last: 1,
        absent: None,
        a_first: (),
    }
}

/// Returns a map, which is an object already.
#[skill("values.map", version = "1", side_effects = "none", risk = "low")]
fn map() -> BTreeMap<String, u8> {
    [("a".to_owned(), 1)].into()
}

#[derive(Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Shape {
    Circle { radius: f64 },
}

/// Returns a tagged enum, which is an object.
#[skill("values.tagged", version = "1", side_effects = "none", risk = "low")]
fn tagged() -> Shape {
    Shape::Circle { radius: 1.0 }
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Word {
    VeryGood,
}

/// Returns an enum value.
#[skill("values.word", version = "1", side_effects = "none", risk = "low")]
fn word() -> Word {
    Word::VeryGood
}

#[tokio::test]
async fn outputs_are_always_objects() {
    let table = [
        (unit::SKILL, json!({}), "{}"),
        (unit_result::SKILL, json!({}), "{}"),
        (text::SKILL, json!({}), r#"{"result":"ё \"\n"}"#),
        (option::SKILL, json!({"some": true}), r#"{"result":[1,2]}"#),
        (option::SKILL, json!({"some": false}), r#"{"result":null}"#),
        (object::SKILL, json!({}), r#"{"zLast":1,"aFirst":null}"#),
        (map::SKILL, json!({}), r#"{"a":1}"#),
        (tagged::SKILL, json!({}), r#"{"kind":"circle","radius":1.0}"#),
        (word::SKILL, json!({}), r#"{"result":"very_good"}"#),
    ];
    for (skill, inputs, expected) in table {
        assert_eq!(outputs(skill, inputs).await, expected, "{}", skill.reference());
        let described = skill.described().unwrap();
        assert_eq!(
            described.contract().outputs["type"],
            "object",
            "{}",
            skill.reference()
        );
    }
}

/// Returns any value.
#[skill(
    "values.any", version = "1", side_effects = "none", risk = "low",
    inputs_schema = json!({"type": "object"}), outputs_schema = json!({"type": "object"}),
)]
fn any(inputs: Value, _ctx: &SkillContext) -> Value {
    inputs
}

#[tokio::test]
async fn untyped_values_keep_order_and_notation() {
    let text = r#"{"z":[1.0,1,-0.0,1e300,"\u0001é"],"a":{"":null,"b":true}}"#;
    let got = of_text(any::SKILL, text).await.unwrap();
    assert_eq!(
        got,
        r#"{"z":[1.0,1,-0.0,1e+300,"\u0001é"],"a":{"":null,"b":true}}"#
    );
}
