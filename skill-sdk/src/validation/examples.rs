//! The examples that a skill declares: whether they keep its contract.

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
}
