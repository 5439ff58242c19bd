//! Schemas that are derived need not be written like the recorded ones; they must judge alike.

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

/// Inputs and outputs that were recorded, by skill: the ref, the side, the instance.
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

/// Instances around those that are right: members left out, added, and of every other type.
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
fn derived_schemas_judge_like_the_recorded_ones() {
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
        // Outputs are what is produced, which is always all of it: only inputs are also judged when they are incomplete.
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
