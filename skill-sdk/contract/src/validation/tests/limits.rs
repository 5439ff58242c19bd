//! Limits and their boundaries, and documents that no recursion survives.

use serde_json::{Map, Value, json};

use super::super::code;
use super::super::limits::{MAX_CONTRACT_BYTES, MAX_LEVELS, MAX_NODES, measure};
use super::{brief, check_contract, check_spec, minimal, minimal_with, normalized};

fn nested(levels: usize, key: &str) -> Value {
    // `json!` would copy what is inside on every level, recursively.
    (0..levels).fold(json!({}), |inner, _| {
        Value::Object(Map::from_iter([(key.to_owned(), inner)]))
    })
}

/// Takes a deep document apart: dropping it in one go would recurse.
fn dismantle(document: Value) {
    let mut open = vec![document];
    while let Some(value) = open.pop() {
        match value {
            Value::Array(items) => open.extend(items),
            Value::Object(members) => open.extend(members.into_iter().map(|(_, member)| member)),
            _ => {}
        }
    }
}

#[test]
fn bytes_are_those_of_compact_json_escaped_to_ascii() {
    for (document, bytes) in [
        (json!({}), 2),
        (json!([]), 2),
        (
            json!([null, true, false, 12, -1.5]),
            1 + 4 + 1 + 4 + 1 + 5 + 1 + 2 + 1 + 4 + 1,
        ),
        (json!({"a": 1, "b": [2]}), r#"{"a":1,"b":[2]}"#.len()),
        (json!("\"\\\n\r\t\u{8}\u{c}/"), r#""\"\\\n\r\t\b\f/""#.len()),
        (json!("\u{0}\u{1f}\u{7f}é€"), 2 + 5 * 6),
        (json!("😀"), 2 + 12),
        (json!({"я": 0}), 2 + 2 + 6 + 1 + 1),
    ] {
        assert_eq!(measure(&document)[0], bytes, "{document}");
    }
}

#[test]
fn levels_and_nodes_are_counted_from_the_document_itself() {
    for (document, levels, nodes) in [
        (json!(1), 1, 1),
        (json!([]), 1, 1),
        (json!([1]), 2, 2),
        (json!({"a": [1, {"b": null}], "c": 2}), 4, 6),
    ] {
        assert_eq!(measure(&document)[1..], [levels, nodes], "{document}");
    }
}

#[test]
fn each_limit_may_be_reached_but_not_passed() {
    let codes = |contract: &Value| -> Vec<&str> { check_contract(contract).iter().map(|v| v.code).collect() };

    let with_text = |length: usize| minimal_with(&json!({"inputs": {"description": "x".repeat(length)}}));
    let room = MAX_CONTRACT_BYTES - measure(&with_text(0))[0];
    assert_eq!(codes(&with_text(room)), Vec::<&str>::new());
    assert_eq!(codes(&with_text(room + 1)), [code::PAYLOAD_TOO_LARGE]);

    // `inputs` is on level 2, `default` on level 3.
    let with_default = |levels: usize| minimal_with(&json!({"inputs": {"default": nested(levels, "a")}}));
    assert_eq!(codes(&with_default(MAX_LEVELS - 3)), Vec::<&str>::new());
    assert_eq!(codes(&with_default(MAX_LEVELS - 2)), [code::PAYLOAD_TOO_DEEP]);

    let with_enum = |values: usize| minimal_with(&json!({"inputs": {"enum": vec![0; values]}}));
    let room = MAX_NODES - measure(&with_enum(0))[2];
    assert_eq!(codes(&with_enum(room)), Vec::<&str>::new());
    assert_eq!(codes(&with_enum(room + 1)), [code::INVALID_DOCUMENT]);
}

#[test]
fn a_contract_may_break_several_limits_and_other_rules_at_once() {
    let mut contract = minimal();
    contract["inputs"] = json!({"enum": vec!["some text of some length"; MAX_NODES], "minimum": "0"});
    contract["timeoutSeconds"] = json!(0);
    assert_eq!(
        brief(&check_contract(&contract)),
        [
            "payload_too_large ",
            "invalid_document ",
            "schema /inputs/minimum",
            "contract /timeoutSeconds"
        ]
    );
}

#[test]
fn a_bottomless_document_is_refused_without_recursion() {
    let mut spec = json!({"version": "1", "sideEffects": "none", "riskLevel": "low", "contract": minimal()});
    spec["description"] = nested(50_000, "a");
    spec["contract"]["inputs"] = nested(50_000, "not");

    let found = check_spec(&spec);
    let expected = [
        "contract /description",
        "payload_too_large /contract",
        "payload_too_deep /contract",
        "invalid_document /contract",
    ];
    assert_eq!(brief(&found), expected);
    assert!(normalized(&spec["contract"]).is_err());
    dismantle(spec);
}
