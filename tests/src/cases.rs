//! The recorded cases of the reference implementation.

use std::fs;
use std::path::Path;

use serde_json::Value;

/// One recorded case.
#[derive(Debug)]
pub struct Case {
    /// The id, unique in its file.
    pub id: String,
    /// What goes in.
    pub input: Value,
    /// What comes out of the reference.
    pub expect: Value,
}

/// The recordings in `file`; nothing, with a message, where they are not at hand.
pub fn document(file: &str) -> Option<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../shared/cases")
        .join(file);
    let text = fs::read_to_string(&path);
    if let Err(error) = &text
        && error.kind() == std::io::ErrorKind::NotFound
    {
        eprintln!("skipped: the recorded cases are not at hand ({file})");
        return None;
    }
    let text = text.expect("the recorded cases are there and can be read");
    Some(serde_json::from_str(&text).expect("the cases are JSON"))
}

/// The cases of `file`; none, with a message, where the recordings are not at hand.
pub fn load(file: &str) -> Vec<Case> {
    let Some(document) = document(file) else {
        return Vec::new();
    };
    let cases = document["cases"].as_array().expect("the file has cases");
    cases
        .iter()
        .map(|case| Case {
            id: case["id"].as_str().expect("a case has an id").to_owned(),
            input: case["input"].clone(),
            expect: case["expect"].clone(),
        })
        .collect()
}
