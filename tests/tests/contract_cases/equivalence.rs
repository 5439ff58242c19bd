//! Derived schemas need not be written like the recorded ones, but must accept and reject the same values.

use jsonschema::Validator;
use serde_json::{Map, Value, json};
use skill_sdk_tests::cases;

use super::{described, recorded};

fn compile(schema: &Value) -> Validator {
    jsonschema::draft202012::options()
        .should_validate_formats(true)
        .build(schema)
        .unwrap()
}

/// The recorded inputs and outputs: the ref, the side, the value.
fn recorded_instances() -> Vec<(String, &'static str, Value)> {
    let mut instances = Vec::new();
    for case in cases::load("http.json") {
        let target = case.input["target"].as_str().unwrap_or_default();
        let Some(reference) = target
            .strip_prefix("/skills/")
            .filter(|reference| reference.contains('@'))
        else {
            continue;
        };
        let body: Value =
            serde_json::from_str(case.input["bodyText"].as_str().unwrap_or_default()).unwrap_or_default();
        if let Some(inputs) = body.get("inputs") {
            instances.push((reference.to_owned(), "inputs", inputs.clone()));
        }
        if case.expect["status"] == 200 {
            instances.push((reference.to_owned(), "outputs", case.expect["json"].clone()));
        }
    }
    instances
}

/// Variations of valid values: fields removed, fields added, and fields of every other type.
fn mutations(instance: &Value) -> Vec<Value> {
    let Value::Object(members) = instance else {
        return Vec::new();
    };
    let others = [
        json!(null),
        json!(true),
        json!(-1),
        json!(1.0),
        json!(1.5),
        json!("x"),
        json!([]),
        json!({}),
    ];
    let mut found = vec![json!(null), json!([]), Map::new().into()];
    for name in members.keys() {
        let mut less = members.clone();
        less.shift_remove(name);
        found.push(less.into());
        for other in &others {
            let mut changed = members.clone();
            changed.insert(name.clone(), other.clone());
            found.push(changed.into());
        }
    }
    let mut more = members.clone();
    more.insert("one more".to_owned(), json!(1));
    found.push(more.into());
    found
}

#[test]
fn derived_schemas_are_equivalent_to_the_recorded_ones() {
    let mut instances = recorded_instances();
    if instances.is_empty() {
        return;
    }
    instances.extend([
        (
            "tree.recursive@1".into(),
            "inputs",
            json!({"value": 1, "children": [{"value": 2, "children": []}]}),
        ),
        (
            "tree.recursive@1".into(),
            "inputs",
            json!({"value": 1, "children": [{"value": "x"}]}),
        ),
        (
            "pet.union@1".into(),
            "inputs",
            json!({"pet": {"kind": "cat", "lives": 3}}),
        ),
        (
            "pet.union@1".into(),
            "inputs",
            json!({"pet": {"kind": "dog", "loud": 1}}),
        ),
        ("pet.union@1".into(), "inputs", json!({"pet": {"kind": "cow"}})),
        ("pet.union@1".into(), "inputs", json!({"pet": {}})),
    ]);
    let known: Vec<_> = skill_sdk_tests::sample::SKILLS
        .iter()
        .chain(super::skills::ALL)
        .collect();
    let (mut judged, mut wrong) = (0, Vec::new());
    for (reference, side, instance) in instances {
        if !known.iter().any(|skill| skill.reference() == reference) {
            continue;
        }
        let ours = compile(&json!(described(&reference).contract())[side]);
        let theirs = compile(&recorded(&reference)["contract"][side]);
        // Outputs are always complete, so values with missing fields are tested for inputs only.
        let around = if side == "inputs" {
            mutations(&instance)
        } else {
            Vec::new()
        };
        for instance in around.into_iter().chain([instance]) {
            judged += 1;
            if ours.is_valid(&instance) != theirs.is_valid(&instance) {
                wrong.push(format!(
                    "{reference} {side}: recorded {}: {instance}",
                    theirs.is_valid(&instance)
                ));
            }
        }
    }
    assert!(judged > 500, "{judged}");
    wrong.sort();
    wrong.dedup();
    assert!(
        wrong.is_empty(),
        "{} of {judged} differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
