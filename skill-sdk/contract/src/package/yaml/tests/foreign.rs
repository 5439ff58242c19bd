//! Our text in the hands of readers that are not ours: `yaml_serde` (YAML 1.2, the C parser's
//! lineage) and `PyYAML` (YAML 1.1, what the platform reads with).

use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::{Map, Value, json};

use super::super::emit;

pub(super) fn assert_yaml_serde_reads(value: &Value) {
    let text = emit(value);
    let read: Value = yaml_serde::from_str(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert_eq!(&read, value, "{text}");
}

/// Everything that the foreign readers get to see.
fn samples() -> Vec<Value> {
    let mut samples: Vec<Value> = super::recorded_values()
        .into_iter()
        .map(|(_, value, _)| value)
        .collect();
    for text in super::tricky_strings() {
        let mut key = Map::new();
        key.insert(text.clone(), json!([{ "a": text }, [text]]));
        key.insert("after".to_owned(), json!({ "b": { (text.as_str()): text } }));
        samples.extend([
            json!(text),
            json!({"v": text, "w": [text, 1]}),
            Value::Object(key.clone()),
            json!([[key]]),
        ]);
    }
    for number in [
        1e20,
        -1e-7,
        5e-324,
        f64::MAX,
        -0.0,
        0.1,
        1e15,
        1e16,
        123_456_789.125,
    ] {
        samples.push(json!({ "v": number }));
    }
    samples.extend([
        json!(u64::MAX),
        json!(i64::MIN),
        json!([]),
        json!({}),
        json!(null),
        json!([[[]], {"a": {}}]),
    ]);
    if let Some(skills) = super::recorded("skills.json") {
        samples.extend(skills["skills"].as_array().into_iter().flatten().cloned());
    }
    samples
}

#[test]
fn a_yaml_1_2_reader_gets_the_same_values() {
    for value in samples() {
        assert_yaml_serde_reads(&value);
    }
}

const SCRIPT: &str = r"
import json, sys
try:
    import yaml
except ImportError:
    print('no PyYAML'); sys.exit(0)
def same(a, b):
    if type(a) is not type(b): return False
    if isinstance(a, dict): return list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list): return len(a) == len(b) and all(map(same, a, b))
    return repr(a) == repr(b)
bad = 0
for sample in json.load(sys.stdin):
    try:
        got = yaml.safe_load(sample['text'])
    except Exception as error:
        got = error
    if not same(got, sample['value']):
        bad += 1
        print(repr(sample['text'])[:500], '->', repr(got)[:500])
print('checked' if not bad else 'failed')
";

/// Skipped, with a word on stderr, where `python3` or its package `yaml` is missing. A Python that
/// `SKILL_SDK_TEST_PYTHON` names must have it.
#[test]
fn a_yaml_1_1_reader_gets_the_same_values() {
    let named = std::env::var_os("SKILL_SDK_TEST_PYTHON");
    let python = Command::new(named.as_deref().unwrap_or("python3".as_ref()))
        .args(["-c", SCRIPT])
        .env("PYTHONIOENCODING", "utf-8")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let Ok(mut python) = python else {
        eprintln!("skipped: python3 with PyYAML is missing");
        return;
    };
    let samples: Vec<Value> = samples()
        .into_iter()
        .map(|value| json!({"text": emit(&value), "value": value}))
        .collect();
    let input = serde_json::to_vec(&samples).expect("samples are JSON");
    // Python leaves without reading when PyYAML is missing.
    let _ = python.stdin.take().expect("stdin is piped").write_all(&input);
    let output = python.wait_with_output().expect("python ends");
    let said = String::from_utf8_lossy(&output.stdout);
    match said.lines().last() {
        Some("checked") => {}
        Some("no PyYAML") if named.is_none() => {
            eprintln!("skipped: python3 has no PyYAML (pip install pyyaml)");
        }
        _ => panic!("PyYAML reads other values:\n{said}"),
    }
}
