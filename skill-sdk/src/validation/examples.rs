//! The values in a contract: whether the examples that a skill declares are valid, and the defaults of its schemas.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Invalid, Schema, Violation};

/// An example: inputs and, where they are told, outputs.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Example {
    #[serde(default, rename = "name")]
    _name: Option<String>,
    inputs: Map<String, Value>,
    outputs: Option<Map<String, Value>>,
}

/// What is wrong with examples, each as a JSON pointer into them and words.
///
/// `examples` is a list of `{"name"?, "inputs", "outputs"?}`. The schemas are those of the contract.
pub(crate) fn check_examples(inputs: &Value, outputs: &Value, examples: &Value) -> Vec<(String, String)> {
    let Value::Array(examples) = examples else {
        return vec![(String::new(), "the examples must be a list".to_owned())];
    };
    let mut wrong = Vec::new();
    for (index, example) in examples.iter().enumerate() {
        match Example::deserialize(example) {
            Ok(example) => {
                wrong.extend(check_one(&format!("/{index}/inputs"), inputs, example.inputs));
                let outputs = example.outputs.map(|value| (value, outputs));
                let of_outputs = |(value, schema)| check_one(&format!("/{index}/outputs"), schema, value);
                wrong.extend(outputs.map(of_outputs).into_iter().flatten());
            }
            Err(error) => wrong.push((format!("/{index}"), error.to_string())),
        }
    }
    wrong
}

fn check_one(pointer: &str, schema: &Value, value: Map<String, Value>) -> Vec<(String, String)> {
    let schema = match Schema::compile(schema) {
        Ok(schema) => schema,
        Err(why) => return vec![(pointer.to_owned(), format!("the schema cannot be used: {why}"))],
    };
    let found = schema
        .validate_value(&value.into())
        .err()
        .map(Invalid::into_violations);
    let found = found.into_iter().flatten();
    found
        .map(|Violation { path, message }| (format!("{pointer}{}", path.trim_end_matches('/')), message))
        .collect()
}

/// The defaults and examples in a schema that are not valid where they stand, each as a JSON pointer and words.
pub(crate) fn check_defaults(schema: &Value) -> Vec<(String, String)> {
    let mut wrong = Vec::new();
    check_part(schema, &schema["$defs"], "", &mut wrong);
    wrong
}

fn check_part(part: &Value, shared: &Value, pointer: &str, wrong: &mut Vec<(String, String)>) {
    for (index, part) in part.as_array().into_iter().flatten().enumerate() {
        check_part(part, shared, &format!("{pointer}/{index}"), wrong);
    }
    let Value::Object(members) = part else { return };
    let examples = members.get("examples").and_then(Value::as_array);
    let examples = examples.into_iter().flatten().enumerate();
    let mut values: Vec<_> = examples
        .map(|(at, value)| (format!("examples/{at}"), value))
        .collect();
    values.extend(members.get("default").map(|value| ("default".to_owned(), value)));
    if !values.is_empty() {
        let mut whole = members.clone();
        whole.extend(shared.is_object().then(|| ("$defs".to_owned(), shared.clone())));
        let schema = Schema::compile(&whole.into());
        for (place, value) in values {
            let invalid = schema
                .as_ref()
                .ok()
                .and_then(|schema| schema.validate_value(value).err());
            for Violation { path, message } in invalid.into_iter().flat_map(Invalid::into_violations) {
                wrong.push((
                    format!("{pointer}/{place}{}", path.trim_end_matches('/')),
                    message,
                ));
            }
        }
    }
    for (keyword, child) in members {
        let pointer = format!("{pointer}/{keyword}");
        match (keyword.as_str(), child) {
            ("default" | "examples" | "enum" | "const", _) => {}
            ("properties" | "$defs" | "patternProperties" | "dependentSchemas", Value::Object(parts)) => {
                for (name, part) in parts {
                    let name = name.replace('~', "~0").replace('/', "~1");
                    check_part(part, shared, &format!("{pointer}/{name}"), wrong);
                }
            }
            (_, part) => check_part(part, shared, &pointer, wrong),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn everything_wrong_is_found() {
        let schema = json!({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]});
        let check = |examples: Value| -> Vec<String> {
            check_examples(&schema, &schema, &examples)
                .into_iter()
                .map(|(pointer, _)| pointer)
                .collect()
        };
        assert!(
            check(json!([{"name": "n", "inputs": {"a": 1}, "outputs": {"a": 2}}, {"inputs": {"a": 1}}]))
                .is_empty()
        );
        assert_eq!(check(json!({})), [""]);
        assert_eq!(
            check(
                json!([1, {"output": {}, "inputs": {"a": 1}}, {"name": 1}, {"inputs": [], "outputs": {"a": "x"}}, {"inputs": {}}, {"inputs": {"a": 1}, "outputs": {"a": "x"}}])
            ),
            ["/0", "/1", "/2", "/3", "/4/inputs", "/5/outputs/a"]
        );
    }

    #[test]
    fn values_that_their_own_schema_refuses_are_found() {
        let schema = json!({
            "type": "object",
            "properties": {
                "page": {"type": "integer", "minimum": 1, "default": 0},
                "sort": {"type": "string", "default": "", "examples": ["a", 7]},
                "default": {"type": "string", "enum": ["default", 1]},
                "size": {"$ref": "#/$defs/Size", "default": {"width": "x"}},
                "list": {"type": "array", "items": {"anyOf": [{"type": "null"}, {"const": 1, "default": 2}]}},
            },
            "$defs": {"Size": {"type": "object", "properties": {"width": {"type": "integer", "default": 1}}}},
        });
        let pointers: Vec<_> = check_defaults(&schema)
            .into_iter()
            .map(|(pointer, _)| pointer)
            .collect();
        assert_eq!(
            pointers,
            [
                "/properties/page/default",
                "/properties/sort/examples/1",
                "/properties/size/default/width",
                "/properties/list/items/anyOf/1/default",
            ]
        );
    }
}
