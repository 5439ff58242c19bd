//! The recorded cases.

use std::collections::HashMap;
use std::fs;

use serde_json::{Value, json};

use super::layout::Layout;
use super::permissions;
use crate::environment::secrets::{Secret, read_secret, read_secret_file, secrets_dir};
use crate::error::SkillError;

pub(super) const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/cases/secrets.json");

/// Names another place of the recordings, for a user who cannot look into the first.
pub(super) const OTHER_PATH: &str = "SKILL_SDK_TEST_SECRETS_CASES";

/// How many cases are replayed here; `tests/tests/replayed.rs` adds up.
const REPLAYED: usize = 60;

#[test]
fn the_recorded_cases() {
    let path = std::env::var(OTHER_PATH).unwrap_or_else(|_| PATH.to_owned());
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            eprintln!("skipped: the recorded cases are not at {path}");
            return;
        }
        Err(error) => panic!("the recorded cases cannot be read: {path}: {error}"),
    };
    let document: Value = serde_json::from_str(&text).unwrap();
    let cases = document["cases"].as_array().unwrap();
    assert_eq!(cases.len(), REPLAYED);
    let wrong: Vec<String> = cases.iter().filter_map(|case| replay(case).err()).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn replay(case: &Value) -> Result<(), String> {
    let id = case["id"].as_str().unwrap();
    let input = &case["input"];
    let layout = Layout::new();
    for entry in input["layout"].as_array().unwrap() {
        build(&layout, entry);
    }
    let got = if input["uid"].is_null() {
        outcome(&layout, call(input, &layout))
    } else {
        permissions::read_as_another_user(&layout)
    };
    let wanted = wanted(id, &case["expect"], &layout);
    if got == wanted {
        Ok(())
    } else {
        Err(format!("{id}: got {got}, wanted {wanted}"))
    }
}

fn call(input: &Value, layout: &Layout) -> Result<Option<Secret>, SkillError> {
    let mut env: HashMap<String, String> = HashMap::new();
    if let Some(dir) = input["dir"].as_str() {
        env.insert(
            "SKILL_SDK_SECRETS_DIR".to_owned(),
            layout.path(dir).to_str().unwrap().to_owned(),
        );
    }
    for (name, value) in input["env"].as_object().unwrap() {
        env.insert(name.clone(), value.as_str().unwrap().to_owned());
    }
    let env = |name: &str| env.get(name).cloned();
    let name = input["name"].as_str().unwrap();
    let dir = secrets_dir(env);
    match input["call"].as_str().unwrap() {
        "read_secret" => read_secret(name, env, &dir).map(Some),
        "read_secret_file" => read_secret_file(&dir, name),
        other => panic!("unknown call {other}"),
    }
}

fn build(layout: &Layout, entry: &Value) {
    let path = entry["path"].as_str().unwrap();
    match entry["type"].as_str().unwrap() {
        "dir" => layout.dir(path),
        "symlink" => layout.link(path, entry["target"].as_str().unwrap()),
        "file" => layout.file(path, content(entry)),
        other => panic!("unknown type {other}"),
    }
    if let Some(mode) = entry["mode"].as_str() {
        layout.mode(path, u32::from_str_radix(mode, 8).unwrap());
    }
}

fn content(entry: &Value) -> Vec<u8> {
    if let Some(text) = entry["text"].as_str() {
        return text.as_bytes().to_owned();
    }
    if let Some(hex) = entry["hex"].as_str() {
        let digits = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
        return (0..hex.len()).step_by(2).map(digits).collect();
    }
    if entry["repeat"].is_array() {
        return repeated(&entry["repeat"]).into_bytes();
    }
    // Two cases describe their content in words.
    match entry["note"].as_str().unwrap() {
        "65536 x 'x' then LF" => format!("{}\n", "x".repeat(65_536)).into_bytes(),
        "65537 bytes 0xff" => vec![0xff; 65_537],
        other => panic!("unknown content {other}"),
    }
}

fn repeated(pair: &Value) -> String {
    pair[0]
        .as_str()
        .unwrap()
        .repeat(usize::try_from(pair[1].as_u64().unwrap()).unwrap())
}

/// An outcome in the form of the recorded ones, without messages: ours are worded differently.
pub(super) fn outcome(layout: &Layout, result: Result<Option<Secret>, SkillError>) -> Value {
    let outcome = match result {
        Ok(secret) => json!({"value": secret.as_ref().map(Secret::expose)}),
        Err(error) => json!({"error": {
            "code": error.code(),
            "retryable": error.is_retryable(),
            "details": error.details(),
        }}),
    };
    serde_json::from_str(&outcome.to_string().replace(layout.root(), "<root>")).unwrap()
}

fn wanted(id: &str, expect: &Value, layout: &Layout) -> Value {
    if expect["valueRepeat"].is_array() {
        return json!({"value": repeated(&expect["valueRepeat"])});
    }
    if expect["crash"].is_string() {
        // Deliberately different: what escaped there as a raw exception is a failure with a code here.
        assert_eq!(id, "dir-read-only");
        return permissions::unreadable(layout);
    }
    let mut expect = expect.clone();
    if let Some(error) = expect.get_mut("error").and_then(Value::as_object_mut) {
        error.shift_remove("message");
    }
    expect
}
