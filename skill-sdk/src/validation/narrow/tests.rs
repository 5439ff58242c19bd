//! Which place is told, and what finding it costs.

use serde_json::json;

use super::super::check;
use super::*;

fn found(schema: &Value, instance: &Value) -> Vec<Violation> {
    check(&compile(schema).unwrap(), schema, instance).unwrap_err()
}

fn paths(schema: &Value, instance: &Value) -> Vec<String> {
    found(schema, instance)
        .into_iter()
        .map(|found| found.path)
        .collect()
}

/// More values than are listed.
fn many(value: &Value) -> Vec<Value> {
    vec![value.clone(); MAX_WEIGHT / VIOLATION + 1]
}

#[test]
fn a_large_instance_tells_its_first_wrong_place() {
    let schema = json!({
        "type": "object",
        "properties": {
            "before": {"type": "array", "items": {"type": "integer"}},
            "rows": {"anyOf": [{"type": "array", "items": {"$ref": "#/$defs/Row"}}, {"type": "null"}]},
            "map": {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "integer"}}},
        },
        "$defs": {"Row": {"type": "object", "properties": {"n": {"type": "integer"}, "m": {"type": "integer"}}}},
    });
    let mut rows = many(&json!({"n": 1}));
    rows[70] = json!({"n": "x", "m": "y"});
    assert_eq!(
        paths(&schema, &json!({"before": many(&json!(1)), "rows": rows})),
        ["/rows/70/m", "/rows/70/n"]
    );
    assert_eq!(
        paths(&schema, &json!({"map": {"a": many(&json!("x"))}})),
        ["/map/a/0"]
    );
    assert_eq!(
        paths(&schema, &json!({"rows": many(&json!(1)), "before": 1})),
        ["/before"]
    );
}

#[test]
fn a_rule_of_the_large_value_itself_is_told() {
    let list = json!({"type": "array", "maxItems": 3, "items": {"type": "integer"}});
    let schema = json!({"type": "object", "properties": {"a": list}, "required": ["b"]});
    let found_there = found(&schema, &json!({"a": many(&json!(1)), "b": 1}));
    assert_eq!(found_there.len(), 1);
    assert_eq!(found_there[0].path, "/a");
    assert!(
        found_there[0].message.contains("more than 3 items"),
        "{found_there:?}"
    );
    assert!(found_there[0].message.len() <= 2_000);
    let free = json!({"type": "object", "properties": {"a": {"type": "array"}}, "required": ["b"]});
    assert_eq!(paths(&free, &json!({"a": many(&json!(1))})), ["/"]);
    let alternatives = json!({"type": "object", "properties": {"a": {"oneOf": [
        {"type": "array", "items": {"type": "integer"}},
        {"type": "array", "items": {"type": "boolean"}},
    ]}}});
    let found_there = found(&alternatives, &json!({"a": many(&json!("x"))}));
    assert_eq!(found_there.len(), 1);
    assert_eq!(found_there[0].path, "/a");
    assert!(found_there[0].message.contains("too large"), "{found_there:?}");
}

#[test]
fn what_is_quoted_is_cut() {
    let long = "x".repeat(3 << 20);
    let schema =
        json!({"additionalProperties": {"type": "object", "additionalProperties": {"type": "integer"}}});
    let found = found(
        &schema,
        &json!({&long: {"a": &long, "b": "x", "c": [&long], "d": [], "e": {}}}),
    );
    assert!(!found.is_empty());
    for violation in found {
        assert!(
            violation.path.len() <= 500 && violation.message.len() <= 2_000,
            "{}",
            violation.path.len()
        );
    }
}

#[test]
fn a_schema_that_refers_to_itself_ends() {
    let schema = json!({
        "properties": {"a": {"$ref": "#/$defs/A"}},
        "$defs": {"A": {"anyOf": [{"$ref": "#/$defs/A"}, {"type": "null"}]}},
    });
    let walk = Walk::new(&schema, &json!([]));
    assert!(walk.may_have_type_of(&schema["properties"]["a"], &json!([])));
    assert_eq!(at_one_place(&schema, &json!({"a": many(&json!(1))})).len(), 1);
    let circle = json!({"$defs": {"A": {"$ref": "#/$defs/B"}, "B": {"$ref": "#/$defs/A"}}});
    let walk = Walk::new(&circle, &json!([]));
    assert!(walk.may_have_type_of(&circle["$defs"]["A"], &json!([])));
    walk.followed(&circle["$defs"]["A"]);
}

#[test]
fn a_part_that_refers_to_the_whole_is_not_taken_for_the_whole() {
    let schema = json!({"type": "object", "properties": {
        "rows": {"type": "array", "items": {"$ref": "#"}},
        "n": {"type": "integer"},
    }});
    let rows = many(&json!({"n": 1}));
    assert_eq!(paths(&schema, &json!({"rows": rows, "n": "x"})), ["/n"]);
    // The rows cannot be judged without the document, so the place of the whole is told.
    let mut rows = rows;
    rows[7] = json!({"n": "x"});
    let found_there = found(&schema, &json!({"rows": rows, "n": 1}));
    assert_eq!((found_there[0].path.as_str(), found_there.len()), ("/", 1));
    assert!(found_there[0].message.contains("too large"), "{found_there:?}");
    // A part that is nothing but such a reference can.
    let schema = json!({"type": "object", "properties": {"next": {"$ref": "#"}, "rows": {"items": {"type": "integer"}}}});
    let inner = json!({"rows": many(&json!("x"))});
    assert_eq!(
        paths(&schema, &json!({"next": {"next": inner}})),
        ["/next/next/rows/0"]
    );
    // Where references are moved, nothing below the whole is judged by them.
    let schema = json!({"$id": "https://example.com/a", "properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"items": {"type": "integer"}}}});
    assert_eq!(paths(&schema, &json!({"a": many(&json!("x"))})), ["/"]);
}

/// A list of small values with a wrong one at its end, below so many lists with one item before it.
fn nested(depth: usize) -> Value {
    let mut nested = json!({"values": many(&json!(1))});
    nested["values"].as_array_mut().unwrap().push(json!("x"));
    for _ in 0..depth {
        nested = json!({"values": [1], "below": [{"values": [1]}, nested]});
    }
    nested
}

#[test]
fn the_work_is_bounded_by_the_size_of_the_instance() {
    let schema = json!({"$ref": "#/$defs/Tree", "$defs": {"Tree": {"type": "object", "properties": {
        "values": {"type": "array", "items": {"type": "integer"}},
        "below": {"type": "array", "items": {"$ref": "#/$defs/Tree"}},
    }}}});
    let path_at = |depth: usize| {
        let instance = nested(depth);
        let found = Walk::new(&schema, &instance).run(&instance);
        assert_eq!(found.len(), 1, "{depth}");
        found[0].path.clone()
    };
    let wrong = format!("/values/{}", MAX_WEIGHT / VIOLATION + 1);
    assert_eq!(path_at(0), wrong);
    assert_eq!(path_at(2), format!("/below/1/below/1{wrong}"));
    // Each level looks at all of what is below it twice: far too deep for the end to be reached, and not for a start.
    let reached = path_at(60);
    let levels = reached.matches("/below/1").count();
    assert!((3..60).contains(&levels), "{reached}");
    let instance = nested(60);
    let mut walk = Walk::new(&schema, &instance);
    let before = walk.budget;
    walk.run(&instance);
    assert!(before <= PASSES * (size(&instance, usize::MAX) + LEAST));
    assert_eq!(
        walk.validators.len(),
        3,
        "one for each part of the schema that was judged"
    );
}

#[test]
fn counting_ends_when_it_is_enough() {
    let value = json!([1, {"a": [2, 3]}, 4]);
    assert_eq!(size(&value, usize::MAX), 7);
    assert_eq!(size(&value, 7), 7);
    assert!((4..7).contains(&size(&value, 3)));
}
