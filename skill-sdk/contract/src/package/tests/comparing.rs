//! Differences in meaning, as data and as text.

use serde_json::{Value, json};

use super::super::diff::unified_diff;
use super::super::drift::compare;

fn told(file: &Value, code: &Value) -> Vec<String> {
    compare(file, code).iter().map(ToString::to_string).collect()
}

#[test]
fn equal_in_meaning() {
    let same = [
        (
            json!({"a": 1, "b": [1, {"c": null}]}),
            json!({"b": [1.0, {"c": null}], "a": 1.0}),
        ),
        (json!(0), json!(-0.0)),
        (json!(1e20), json!(100_000_000_000_000_000_000.0)),
        (json!(u64::MAX), json!(u64::MAX)),
    ];
    for (file, code) in same {
        assert_eq!(told(&file, &code), Vec::<String>::new());
    }
}

#[test]
fn differences_name_their_place() {
    let cases = [
        (json!({"a": 30}), json!({"a": 60}), vec!["a: file 30, code 60"]),
        (
            json!({"a": "30"}),
            json!({"a": 30}),
            vec!["a: file \"30\", code 30"],
        ),
        (json!({"a": true}), json!({"a": 1}), vec!["a: file true, code 1"]),
        (
            json!({"a": null}),
            json!({}),
            vec!["a: file null, not in the code"],
        ),
        (
            json!({}),
            json!({"a": null}),
            vec!["a: missing in the file, code null"],
        ),
        (
            json!({"a": {"b": [1, 2]}}),
            json!({"a": {"b": [2, 1]}}),
            vec!["a.b[0]: file 1, code 2", "a.b[1]: file 2, code 1"],
        ),
        (
            json!(["a", "c"]),
            json!(["a", "b", "c"]),
            vec!["[1]: missing in the file, code \"b\""],
        ),
        (
            json!(["a", "b", "c", "d"]),
            json!(["a", "d"]),
            vec![
                "[1]: file \"b\", not in the code",
                "[2]: file \"c\", not in the code",
            ],
        ),
        (
            json!([1, 2]),
            json!([]),
            vec!["[0]: file 1, not in the code", "[1]: file 2, not in the code"],
        ),
        (
            json!([{"a": 1}]),
            json!([{"a": 2}, 3]),
            vec!["[0].a: file 1, code 2", "[1]: missing in the file, code 3"],
        ),
        (
            json!({"a.b": {"": 1}, "$defs": {"x-y": 1, "1": {"ё": 1}}}),
            json!({"a.b": {"": 2}, "$defs": {"x-y": 2, "1": {"ё": 2}}}),
            vec![
                "[\"a.b\"][\"\"]: file 1, code 2",
                "$defs.x-y: file 1, code 2",
                "$defs[\"1\"].ё: file 1, code 2",
            ],
        ),
        (
            json!([1]),
            json!({"a": 1}),
            vec!["the document: file [1], code {\"a\":1}"],
        ),
        (
            json!({"z": 1, "a": 1}),
            json!({"a": 2, "z": 2}),
            vec!["a: file 1, code 2", "z: file 1, code 2"],
        ),
    ];
    for (file, code, expected) in cases {
        assert_eq!(told(&file, &code), expected);
    }
}

#[test]
fn the_list_of_differences_is_bounded() {
    assert_eq!(compare(&json!(vec![1; 100_000]), &json!([])).len(), 200);
    assert_eq!(compare(&json!(vec![1; 1000]), &json!(vec![2; 1000])).len(), 200);
}

#[test]
fn long_values_are_shortened_in_text_and_whole_in_data() {
    let long = "Ж".repeat(500);
    let found = compare(&json!({ "a": long }), &json!({"a": "\u{1b}"}));
    let text = found[0].to_string();
    assert!(
        text.chars().count() < 100 && text.contains("…") && text.ends_with("code \"\\u001b\""),
        "{text}"
    );
    assert_eq!(found[0].file, Some(json!(long)));
    assert_eq!(
        serde_json::to_value(compare(&json!({"a": null}), &json!({}))).expect("data"),
        json!([{"path": "a", "file": null}])
    );
}

#[test]
fn the_diff_is_of_canonical_text_in_the_codes_order() {
    let code = json!({"kind": "Skill", "spec": {"a": 1, "b": "on", "c": [1, 2]}});
    let file = json!({"spec": {"c": [1, 2], "b": "off", "a": 1, "d": 4}, "kind": "Skill"});
    let expected = "\
--- p/a.yaml (file)
+++ p/a.yaml (code)
@@ -1,8 +1,7 @@
 kind: Skill
 spec:
   a: 1
-  b: 'off'
+  b: 'on'
   c:
   - 1
   - 2
-  d: 4
";
    assert_eq!(unified_diff("p/a.yaml", &file, &code), expected);
    assert_eq!(unified_diff("p", &code, &code), "");
    let long = json!(vec![1; 10_001]);
    assert_eq!(unified_diff("p", &long, &code), "");
}
