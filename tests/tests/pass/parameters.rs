//! Parameters as fields: their attributes, and the resulting schema.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use skill_sdk::skill;

use super::{call, document, properties};

fn three() -> u8 {
    3
}

fn even<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<u8, D::Error> {
    match u8::deserialize(deserializer)? {
        odd if odd % 2 == 1 => Err(serde::de::Error::custom("must be even")),
        even => Ok(even),
    }
}

/// Deserializable without a schema.
#[derive(Deserialize)]
struct Opaque(String);

/// Neither serde nor schemars support it.
#[derive(Default)]
struct Local;

#[derive(Deserialize, JsonSchema)]
struct Rest {
    remote: String,
}

/// Weather for a city.
#[skill("parameter.all", version = "1", side_effects = "none", risk = "low")]
#[allow(clippy::too_many_arguments, reason = "fields of an object")]
fn all(
    /// City name, as people write it.
    city: String,
    /// Days
    /// ahead.
    #[schemars(range(min = 1, max = 14))]
    #[serde(default = "three")]
    days: u8,
    #[serde(default)] labels: BTreeMap<String, u8>,
    #[serde(rename = "unitOfMeasure", alias = "unit")] unit: Option<Cow<'static, str>>,
    #[serde(deserialize_with = "even")] even: u8,
    #[schemars(with = "String")] opaque: Opaque,
    #[serde(skip)] local: Local,
    #[cfg_attr(all(), serde(default))] conditional: bool,
    #[allow(unused_variables, reason = "lints stay")] unused: Option<u8>,
) -> Value {
    let Local = local;
    json!([city, days, labels, unit, even, opaque.0, conditional])
}

#[skill("parameter.flatten", version = "1", side_effects = "none", risk = "low")]
fn flatten(branch: String, #[serde(flatten)] rest: Rest) -> String {
    branch + &rest.remote
}

#[skill(
    "parameter.schema_beside", version = "1", side_effects = "none", risk = "low",
    inputs_schema = json!({"type": "object"})
)]
fn schema_beside(
    #[schemars(range(min = 1))]
    #[cfg_attr(all(), schemars(length(max = 9)), serde(alias = "other"))]
    opaque: Opaque,
) -> String {
    opaque.0
}

#[skill("parameter.many", version = "1", side_effects = "none", risk = "low")]
#[allow(
    clippy::too_many_arguments,
    clippy::many_single_char_names,
    reason = "fields of an object"
)]
fn many(a: u8, b: i8, c: u16, d: i16, e: u32, f: i32, g: u64, h: i64, i: Vec<u8>, j: (u8, String)) -> u64 {
    let small = u64::from(a) + u64::from(c) + u64::from(e) + g + u64::from(j.0);
    small + i.len() as u64 + [i64::from(b), i64::from(d), i64::from(f), h].len() as u64
}

#[test]
fn parameters_are_deserialized_like_fields() {
    let least = json!({"city": "Oslo", "even": 2, "opaque": "x"});
    assert_eq!(
        call(all::SKILL, least).unwrap(),
        json!({"result": ["Oslo", 3, {}, null, 2, "x", false]})
    );
    let most = json!({
        "city": "Oslo", "days": 5, "labels": {"a": 1}, "unitOfMeasure": "C", "even": 4, "opaque": "y",
        "conditional": true, "unused": 1,
    });
    assert_eq!(
        call(all::SKILL, most).unwrap(),
        json!({"result": ["Oslo", 5, {"a": 1}, "C", 4, "y", true]})
    );
    for wrong in [
        json!({"city": "Oslo", "even": 2, "opaque": "x", "typo": 1}),
        json!({"city": "Oslo", "even": 3, "opaque": "x"}),
        json!({"city": "Oslo", "even": 2, "opaque": "x", "days": 15}),
        json!({}),
    ] {
        let error = call(all::SKILL, wrong.clone()).unwrap_err();
        assert_eq!(error.code(), "input_contract_violation", "{wrong}");
    }
}

#[test]
fn parameters_have_the_schema_of_fields() {
    let inputs = &document(all::SKILL)["contract"]["inputs"];
    assert_eq!(inputs["required"], json!(["city", "even", "opaque"]));
    assert_eq!(inputs["additionalProperties"], json!(false));
    let properties = properties(all::SKILL);
    let names: Vec<&String> = properties.as_object().unwrap().keys().collect();
    assert_eq!(
        names,
        [
            "city",
            "days",
            "labels",
            "unitOfMeasure",
            "even",
            "opaque",
            "conditional",
            "unused"
        ]
    );
    assert_eq!(
        properties["city"]["description"],
        "City name, as people write it."
    );
    assert_eq!(
        properties["days"],
        json!({"description": "Days ahead.", "type": "integer", "minimum": 1, "maximum": 14, "default": 3})
    );
}

#[test]
fn parameters_can_be_flattened_opaque_or_numerous() {
    assert_eq!(
        call(flatten::SKILL, json!({"branch": "a", "remote": "b"})).unwrap(),
        json!({"result": "ab"})
    );
    assert_eq!(
        call(schema_beside::SKILL, json!({"opaque": "a"})).unwrap(),
        json!({"result": "a"})
    );
    let inputs = json!(
        {"a": 1, "b": 1, "c": 1, "d": 1, "e": 1, "f": 1, "g": 1, "h": 1, "i": [1], "j": [1, "x"]}
    );
    assert_eq!(call(many::SKILL, inputs).unwrap(), json!({"result": 10}));
}
