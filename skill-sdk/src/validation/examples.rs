//! The examples that a skill declares: whether they keep its contract.

use serde_json::Value;

use super::{Invalid, Schema};

/// What is wrong with examples, each as a JSON pointer into them and words.
///
/// `examples` is a list of `{"name"?, "inputs", "outputs"?}`. The schemas are those of the contract.
pub(crate) fn check_examples(inputs: &Value, outputs: &Value, examples: &Value) -> Vec<(String, String)> {
    let Value::Array(examples) = examples else {
        return vec![(String::new(), "the examples must be a list".to_owned())];
    };
    let mut wrong = Vec::new();
    for (index, example) in examples.iter().enumerate() {
        let Value::Object(members) = example else {
            wrong.push((format!("/{index}"), "an example must be an object".to_owned()));
            continue;
        };
        if let Some(unknown) = members
            .keys()
            .find(|key| !matches!(key.as_str(), "name" | "inputs" | "outputs"))
        {
            let message = format!("unknown member `{unknown}`, expected one of: name, inputs, outputs");
            wrong.push((format!("/{index}"), message));
        }
        if members.get("name").is_some_and(|name| !name.is_string()) {
            wrong.push((format!("/{index}/name"), "a name must be a string".to_owned()));
        }
        match members.get("inputs") {
            Some(value) => wrong.extend(check_one(&format!("/{index}/inputs"), inputs, value)),
            None => wrong.push((format!("/{index}"), "an example needs `inputs`".to_owned())),
        }
        if let Some(value) = members.get("outputs") {
            wrong.extend(check_one(&format!("/{index}/outputs"), outputs, value));
        }
    }
    wrong
}

fn check_one(pointer: &str, schema: &Value, value: &Value) -> Vec<(String, String)> {
    if !value.is_object() {
        return vec![(pointer.to_owned(), "must be an object".to_owned())];
    }
    let schema = match Schema::compile(schema) {
        Ok(schema) => schema,
        Err(why) => return vec![(pointer.to_owned(), format!("the schema cannot be used: {why}"))],
    };
    let found = schema.validate_value(value).err().map(Invalid::into_violations);
    found
        .into_iter()
        .flatten()
        .map(|violation| {
            let inner = if violation.path == "/" {
                ""
            } else {
                &violation.path
            };
            (format!("{pointer}{inner}"), violation.message)
        })
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
                json!([1, {"output": {}, "inputs": {"a": 1}}, {"name": 1}, {"inputs": [], "outputs": {"a": "x"}}, {"inputs": {}}])
            ),
            [
                "/0",
                "/1",
                "/2/name",
                "/2",
                "/3/inputs",
                "/3/outputs/a",
                "/4/inputs"
            ]
        );
    }
}
