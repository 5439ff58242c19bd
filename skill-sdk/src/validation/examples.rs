//! The values in a contract: whether the examples that a skill declares are valid, and the defaults of its schemas.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::keywords::{each_schema, pointer_step};
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

/// The problems of examples, each as a JSON pointer into them and words.
///
/// `examples` is a list of `{"name"?, "inputs", "outputs"?}`. The schemas are those of the contract.
pub(crate) fn check_examples(inputs: &Value, outputs: &Value, examples: &Value) -> Vec<(String, String)> {
    let Value::Array(examples) = examples else {
        return vec![(String::new(), "the examples must be an array".to_owned())];
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
    match Schema::compile(schema) {
        Ok(schema) => violations(pointer, &schema, &value.into()),
        Err(why) => vec![(pointer.to_owned(), format!("the schema cannot be used: {why}"))],
    }
}

/// The violations of a value at a pointer.
fn violations(pointer: &str, schema: &Schema, value: &Value) -> Vec<(String, String)> {
    let found = schema.validate_value(value).err().map(Invalid::into_violations);
    let place = |path: &str| format!("{pointer}{}", path.trim_end_matches('/'));
    let found = found.into_iter().flatten();
    found
        .map(|Violation { path, message }| (place(&path), message))
        .collect()
}

/// The defaults and examples in a schema that are not valid where they stand, each as a JSON pointer and words.
pub(crate) fn check_defaults(schema: &Value) -> Vec<(String, String)> {
    let mut wrong = Vec::new();
    each_schema(schema, "", &mut |pointer, part| {
        let examples = part.get("examples").and_then(Value::as_array);
        let examples = examples.into_iter().flatten().enumerate();
        let examples = examples.map(|(at, value)| (format!("{pointer}/examples/{at}"), value));
        let default = part
            .get("default")
            .map(|value| (format!("{pointer}/default"), value));
        let values: Vec<_> = examples.chain(default).collect();
        if !values.is_empty()
            && let Some(compiled) = compile_part(part, schema)
        {
            wrong.extend(
                values
                    .iter()
                    .flat_map(|(pointer, value)| violations(pointer, &compiled, value)),
            );
        }
    });
    wrong
}

/// The fields of a schema that was made from types that may be left out and have no default in it, as JSON pointers.
pub(crate) fn hidden_defaults(schema: &Value) -> Vec<String> {
    let mut hidden = Vec::new();
    each_schema(schema, "", &mut |pointer, part| {
        let required = part.get("required").and_then(Value::as_array);
        let properties = part.get("properties").and_then(Value::as_object);
        for (name, property) in properties.into_iter().flatten() {
            let is_required = required.is_some_and(|names| names.iter().any(|required| required == name));
            let Some(property) = property.as_object().filter(|_| !is_required) else {
                continue;
            };
            // An `Option` without a default is `None`.
            let takes_null = || {
                let compiled = compile_part(property, schema);
                compiled.is_none_or(|schema| schema.validate_value(&Value::Null).is_ok())
            };
            if !property.contains_key("default") && !takes_null() {
                hidden.push(format!("{pointer}/properties/{}", pointer_step(name)));
            }
        }
    });
    hidden
}

fn compile_part(part: &Map<String, Value>, whole: &Value) -> Option<Schema> {
    let mut part = part.clone();
    part.extend(
        whole
            .get("$defs")
            .map(|shared| ("$defs".to_owned(), shared.clone())),
    );
    Schema::compile(&part.into()).ok()
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

    #[test]
    fn fields_whose_default_is_not_told_are_found() {
        let schema = json!({
            "type": "object",
            "properties": {
                "text": {"type": "string"},
                "separator": {"$ref": "#/$defs/Separator"},
                "told": {"type": "integer", "default": 1},
                "option": {"type": ["string", "null"]},
                "shared": {"anyOf": [{"$ref": "#/$defs/Part"}, {"type": "null"}]},
                "anything": {"description": "JSON"},
            },
            "required": ["text"],
            "$defs": {
                "Separator": {"type": "string", "enum": ["comma", "semicolon"]},
                "Part": {"type": "object", "properties": {"a/b": {"type": "array"}}},
            },
        });
        assert_eq!(
            hidden_defaults(&schema),
            ["/properties/separator", "/$defs/Part/properties/a~1b"]
        );
    }
}
