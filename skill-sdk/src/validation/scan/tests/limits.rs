//! Where a plan stops, and leaves the rest to the validator.

use serde_json::{Map, Value, json};

use super::super::Scan;
use super::compare;

#[test]
fn annotations_and_many_validators_leave_the_rest_of_the_plan() {
    let properties: Map<String, Value> = (0..60)
        .map(|n| {
            (
                format!("p{n}"),
                json!({"type": "string", "format": "date", "x-mcp-header": format!("P{n}")}),
            )
        })
        .collect();
    let schema = json!({"type": "object", "properties": properties});
    let scan = Scan::compile(&schema).unwrap();
    let today = "\"2026-01-31\"";
    assert!(compare(&schema, &scan, &format!("{{\"p0\":{today},\"other\":1}}")).1);
    // Those beyond the limit are left to the validator of the whole.
    assert!(!compare(&schema, &scan, &format!("{{\"p59\":{today}}}")).1);
    let annotated = json!({"properties": {"a": {"type": "integer", "x-mcp-header": "A"}}});
    assert!(compare(&annotated, &Scan::compile(&annotated).unwrap(), r#"{"a":1}"#).1);
}

/// Alternatives in alternatives are given up before they cost too much.
#[test]
fn nested_alternatives_have_a_bound() {
    let schema = json!({
        "type": "object", "properties": {"t": {"$ref": "#/$defs/T"}},
        "$defs": {"T": {"anyOf": [
            {"type": "object", "properties": {"t": {"$ref": "#/$defs/T"}, "z": {"type": "null"}}, "required": ["t", "z"]},
            {"type": "object", "properties": {"t": {"$ref": "#/$defs/T"}}, "required": ["t"]},
            {"type": "null"},
        ]}},
    });
    let scan = Scan::compile(&schema).unwrap();
    let text = |levels: usize| {
        let end = "}".repeat(levels);
        format!("{{\"t\":{}null{end}}}", "{\"t\":".repeat(levels))
    };
    assert!(scan.accepts(&text(2)));
    assert!(!scan.accepts(&text(60)));
}
