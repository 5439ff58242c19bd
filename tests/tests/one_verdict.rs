//! One verdict for every way in: `invoke`, the test kit, and the servers over HTTP, NDJSON and MCP.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a panic of a test program is a failed test"
)]

#[path = "../src/verdicts.rs"]
mod verdicts;

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write as _};
use std::process::{Command, Stdio};
use std::thread;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use skill_sdk::{Registry, testing};
use skill_sdk_tests::program::{Program, run};
use skill_sdk_tests::raw_http::{Client, request};

const PROGRAM: &str = env!("CARGO_BIN_EXE_verdicts");

/// It takes its time whatever the inputs are.
const LEFT_OUT: &str = "slow.sync@1";

/// `invoke` starts a process for each call, so it gets one input of so many. No length of a list below is a multiple of it.
const INVOKED: usize = 41;

/// The test kit prepares the skill anew for each call.
const TESTED: usize = 7;

/// How many requests are sent over HTTP before their responses are read.
const PIPELINED: usize = 32;

/// How many places of an input are changed.
const PLACES: usize = 5;

/// JSON texts that take the place of a value.
const VALUES: [&str; 24] = [
    "null",
    "true",
    "0",
    "-0",
    "-1",
    "1.0",
    "2.5",
    "1e2",
    "1e400",
    "-1e-400",
    "256",
    "9007199254740993",
    "9223372036854775808",
    "18446744073709551616",
    "-170141183460469231731687303715884105729",
    "340282366920938463463374607431768211455",
    r#""""#,
    r#""text""#,
    r#""\u0041\n""#,
    r#""\ud800""#,
    "[]",
    "[1,null]",
    "{}",
    r#"{"$serde_json::private::Number":"1"}"#,
];

/// A call: the skill, and the JSON text of the inputs.
struct Input {
    reference: &'static str,
    text: String,
}

/// A value that `schema` more or less allows, with all that is optional.
fn sample(schema: &Value, root: &Value, depth: usize) -> Value {
    let Some(depth) = depth.checked_sub(1) else {
        return Value::Null;
    };
    let of = |schema| sample(schema, root, depth);
    if let Some(reference) = schema["$ref"].as_str() {
        return root.pointer(&reference[1..]).map(of).unwrap_or_default();
    }
    if let Some(value) = schema.get("const").or_else(|| schema.get("enum")?.get(0)) {
        return value.clone();
    }
    let empty = Map::new();
    let properties = schema["properties"].as_object().unwrap_or(&empty);
    let mut fields: Map<_, _> = properties
        .iter()
        .map(|(name, schema)| (name.clone(), of(schema)))
        .collect();
    let variants = schema.get("oneOf").or_else(|| schema.get("anyOf"));
    if let Some(variant) = variants.and_then(|variants| variants.get(0)) {
        match of(variant) {
            Value::Object(more) => fields.extend(more),
            other => return other,
        }
    }
    match schema["type"].as_str().or_else(|| schema["type"][0].as_str()) {
        Some("string") => "12".into(),
        Some("integer") => 3.into(),
        Some("number") => json!(0.5),
        Some("boolean") => true.into(),
        Some("array") => match schema["prefixItems"].as_array() {
            Some(items) => items.iter().map(of).collect(),
            None => {
                let least = schema["minItems"].as_u64().unwrap_or(1);
                (0..least).map(|_| of(&schema["items"])).collect()
            }
        },
        Some("null") => Value::Null,
        _ => fields.into(),
    }
}

/// The JSON pointers of all values in `value`.
fn places(value: &Value, here: &str, all: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                let place = format!("{here}/{}", name.replace('~', "~0").replace('/', "~1"));
                all.push(place.clone());
                places(field, &place, all);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                all.push(format!("{here}/{index}"));
                places(item, &format!("{here}/{index}"), all);
            }
        }
        _ => {}
    }
}

/// `value` with the JSON text `text` at a place.
fn replaced(value: &Value, place: &str, text: &str) -> String {
    let mut value = value.clone();
    *value.pointer_mut(place).unwrap() = "here".into();
    value.to_string().replacen(r#""here""#, text, 1)
}

/// Valid inputs and all sorts of others, for every skill.
fn inputs() -> Vec<Input> {
    let mut inputs = Vec::new();
    for skill in Registry::collect().unwrap().iter() {
        if skill.reference() == LEFT_OUT {
            continue;
        }
        let schema = &skill.described().unwrap().document()["contract"]["inputs"];
        let valid = sample(schema, schema, 6);
        let mut texts = vec!["{}".to_owned(), r#"{"zzz": [1]}"#.to_owned(), valid.to_string()];
        let mut all = Vec::new();
        places(&valid, "", &mut all);
        for place in all.iter().take(PLACES) {
            texts.extend(VALUES.iter().map(|text| replaced(&valid, place, text)));
            let (parent, name) = place.rsplit_once('/').unwrap();
            let mut without = valid.clone();
            if let Some(Value::Object(fields)) = without.pointer_mut(parent) {
                let field = fields.shift_remove(name);
                texts.push(without.to_string());
                // A field twice: the last one counts.
                let twice = format!(
                    "{}:[], {}:{}",
                    Value::from(name),
                    Value::from(name),
                    field.unwrap_or_default()
                );
                texts.push(
                    without
                        .to_string()
                        .replacen('{', &format!("{{{twice},"), 1)
                        .replace(",}", "}"),
                );
            }
        }
        let call = |text| Input {
            reference: skill.reference(),
            text,
        };
        inputs.extend(texts.into_iter().map(call));
    }
    inputs
}

/// What came of a call: the outputs of a skill that gives its inputs, or the code and the violations.
type Verdict = Result<String, String>;

/// One for each input; `None` for an input that was not tried.
type Verdicts = Vec<Option<Verdict>>;

/// A way in.
type Way = fn(&[Input]) -> Verdicts;

fn shown(input: &Input, outputs: &str) -> String {
    if input.reference.starts_with("type.") {
        compact(outputs)
    } else {
        String::new()
    }
}

fn rejected(error: &Value) -> Verdict {
    Err(format!("{} {}", error["code"], error["details"]))
}

/// A JSON text without the white space between its tokens.
fn compact(text: &str) -> String {
    let (mut in_string, mut is_escaped) = (false, false);
    let keeps = |c: &char| {
        let was_in_string = in_string;
        in_string ^= *c == '"' && !is_escaped;
        is_escaped = in_string && *c == '\\' && !is_escaped;
        was_in_string || !c.is_whitespace()
    };
    text.chars().filter(keeps).collect()
}

/// `{"outputs"}` or `{"error"}`, as the local protocol and `invoke` write it.
#[derive(Deserialize)]
struct Document<'a> {
    id: Option<usize>,
    #[serde(borrow)]
    outputs: Option<&'a RawValue>,
    #[serde(default)]
    error: Value,
}

impl Document<'_> {
    fn verdict(&self, input: &Input) -> Verdict {
        match self.outputs {
            Some(outputs) => Ok(shown(input, outputs.get())),
            None => rejected(&self.error),
        }
    }
}

/// Sends lines to a server and hands over the lines that it sends back.
fn over_a_pipe(arguments: &[&str], lines: String, mut take: impl FnMut(&str)) {
    let mut child = Command::new(PROGRAM)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let writing = thread::spawn(move || input.write_all(lines.as_bytes()).unwrap());
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        take(&line.unwrap());
    }
    writing.join().unwrap();
    assert!(child.wait().unwrap().success());
}

fn local(inputs: &[Input]) -> Verdicts {
    let mut lines = String::new();
    for (id, Input { reference, text }) in inputs.iter().enumerate() {
        writeln!(lines, r#"{{"id":{id},"skill":"{reference}","inputs":{text}}}"#).unwrap();
    }
    let mut verdicts = vec![None; inputs.len()];
    over_a_pipe(&["serve", "local"], lines, |line| {
        let document: Document<'_> = serde_json::from_str(line).unwrap();
        // Progress reports come between the responses.
        if let Some(id) = document
            .id
            .filter(|_| document.outputs.is_some() || document.error.is_object())
        {
            verdicts[id] = Some(document.verdict(&inputs[id]));
        }
    });
    verdicts
}

fn mcp(inputs: &[Input]) -> Verdicts {
    #[derive(Deserialize)]
    struct Response<'a> {
        id: Option<usize>,
        #[serde(borrow)]
        result: Option<CallResult<'a>>,
        error: Option<Value>,
    }
    #[derive(Default, Deserialize)]
    #[serde(default, rename_all = "camelCase")]
    struct CallResult<'a> {
        #[serde(borrow)]
        structured_content: Option<&'a RawValue>,
        content: Value,
    }
    let begin = json!({
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"},
    });
    let end = inputs.len();
    let mut lines = format!(
        "{}\n",
        json!({"jsonrpc": "2.0", "id": end, "method": "initialize", "params": begin})
    );
    for (id, Input { reference, text }) in inputs.iter().enumerate() {
        let params = format!(r#"{{"name":"{reference}","arguments":{text}}}"#);
        writeln!(
            lines,
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#
        )
        .unwrap();
    }
    let mut verdicts = vec![None; end];
    over_a_pipe(&["serve", "mcp-stdio"], lines, |line| {
        let response: Response<'_> = serde_json::from_str(line).unwrap();
        let (Some(id), Some(input)) = (response.id, response.id.and_then(|id| inputs.get(id))) else {
            return;
        };
        verdicts[id] = Some(match response.result {
            Some(CallResult {
                structured_content: Some(outputs),
                ..
            }) => Ok(shown(input, outputs.get())),
            Some(CallResult { content, .. }) => {
                let document: Value = serde_json::from_str(content[0]["text"].as_str().unwrap()).unwrap();
                rejected(&document["error"])
            }
            None => Err(response.error.unwrap_or_default().to_string()),
        });
    });
    verdicts
}

fn http(inputs: &[Input]) -> Verdicts {
    let program = Program::serve(
        PROGRAM,
        &["serve", "http", "--allow-anonymous", "--port", "0"],
        &[],
    );
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let mut client = Client::connect(program.address).await;
        let mut verdicts = Vec::new();
        for some in inputs.chunks(PIPELINED) {
            for Input { reference, text } in some {
                let json = [("Content-Type", "application/json")];
                let body = format!(r#"{{"inputs":{text}}}"#);
                client
                    .send(request("POST", &format!("/skills/{reference}"), &json, &body))
                    .await;
            }
            for input in some {
                let answer = client.receive().await;
                verdicts.push(Some(if answer.status == 200 {
                    Ok(shown(input, &answer.body))
                } else {
                    rejected(&answer.json()["error"])
                }));
            }
        }
        verdicts
    })
}

/// Judges one of `step` inputs, on two threads.
fn some(inputs: &[Input], step: usize, judge: impl Fn(&Input) -> Verdict + Sync) -> Verdicts {
    let half = |parity: usize| {
        let judge = &judge;
        move || -> Vec<_> {
            let chosen = (0..inputs.len())
                .step_by(step)
                .filter(|at| at / step % 2 == parity);
            chosen.map(|at| (at, judge(&inputs[at]))).collect()
        }
    };
    let mut verdicts = vec![None; inputs.len()];
    thread::scope(|scope| {
        let halves = [0, 1].map(|parity| scope.spawn(half(parity)));
        for (at, verdict) in halves.into_iter().flat_map(|half| half.join().unwrap()) {
            verdicts[at] = Some(verdict);
        }
    });
    verdicts
}

fn invoke(inputs: &[Input]) -> Verdicts {
    some(inputs, INVOKED, |input| {
        let ended = run(PROGRAM, &["invoke", input.reference, "--input", &input.text], &[]);
        let document: Result<Document<'_>, _> = serde_json::from_str(&ended.stdout);
        document.map_or_else(|_| Err(ended.stderr.clone()), |document| document.verdict(input))
    })
}

fn kit(inputs: &[Input]) -> Verdicts {
    let skills = Registry::collect().unwrap();
    some(inputs, TESTED, |input| {
        let text: &RawValue = serde_json::from_str(&input.text).unwrap();
        let skill = skills.get(input.reference).unwrap();
        match testing::invoke(skill, text).blocking() {
            Ok(invoked) => Ok(shown(input, invoked.outputs_as::<Box<RawValue>>().unwrap().get())),
            Err(error) => rejected(&serde_json::to_value(&error).unwrap()),
        }
    })
}

#[test]
fn every_way_in_has_the_same_verdict() {
    let inputs = inputs();
    let expected = http(&inputs);
    let count = |is: fn(&Verdict) -> bool| expected.iter().flatten().filter(|verdict| is(verdict)).count();
    let (good, bad) = (count(Result::is_ok), count(Result::is_err));
    println!("{good} inputs are accepted, {bad} are not");
    assert!(good > 500 && bad > 1000, "{good} are accepted, {bad} are not");
    let mut differences = String::new();
    let ways: [(&str, Way); 4] = [
        ("local", local),
        ("mcp", mcp),
        ("the test kit", kit),
        ("invoke", invoke),
    ];
    for (way, judged) in ways {
        let verdicts = judged(&inputs);
        let is_whole = matches!(way, "local" | "mcp");
        for ((input, expected), verdict) in inputs.iter().zip(&expected).zip(&verdicts) {
            if verdict == expected || (verdict.is_none() && !is_whole) {
                continue;
            }
            let Input { reference, text } = input;
            writeln!(
                differences,
                "{reference} {text}\n  http: {expected:?}\n  {way}: {verdict:?}"
            )
            .unwrap();
        }
    }
    assert!(differences.is_empty(), "{differences}");
}
