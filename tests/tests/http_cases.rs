//! Replays the recorded responses of the HTTP server over a real socket.

#![allow(clippy::unwrap_used, reason = "a panic in a test is a failed test")]

use std::collections::BTreeMap;
use std::net::SocketAddr;

use serde_json::Value;
use skill_sdk::Environment;
use skill_sdk::context::States;
use skill_sdk::http::{HttpServer, ServeOptions};
use skill_sdk::pipeline::{SkillSet, install_panic_hook};
use skill_sdk_tests::cases::{self, Replay, Verdict};
use skill_sdk_tests::raw_http::Server;
use skill_sdk_tests::sample;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// The cases in which the specification differs from the recording, with the specified status and code.
const DIFFERENT: &[(&str, u16, &str)] = &[
    // Errors are JSON envelopes everywhere, and a trailing slash does not redirect.
    ("slash-in-ref", 404, "not_found"),
    ("trailing-slash", 404, "not_found"),
    ("listing-slash", 404, "not_found"),
    ("root", 404, "not_found"),
    ("put-invoke", 405, "method_not_allowed"),
    ("delete-invoke", 405, "method_not_allowed"),
    ("options-invoke", 405, "method_not_allowed"),
    ("head-invoke", 405, ""),
    // `/openapi.json` exists.
    ("docs", 200, ""),
    // A slash in the ref is part of the ref.
    ("pct-slash-in-ref", 404, "skill_not_hosted"),
    // Bodies are UTF-8 JSON with a JSON media type and limited depth.
    ("body-utf16", 400, "bad_request"),
    ("text-content-type", 415, "unsupported_media_type"),
    ("echo-surrogate", 422, "input_contract_violation"),
    ("deep-nesting", 422, "input_contract_violation"),
    ("deep-nesting-100k", 422, "input_contract_violation"),
    // The server enforces the timeout of the contract.
    ("slow", 503, "timeout"),
    // The format `date-time` is validated.
    ("fmt-when-space", 422, "input_contract_violation"),
    // An invalid error code is replaced, also if only a line break makes it invalid.
    ("err-code-newline", 500, "skill_error"),
    // Exceptions with a `code` attribute exist only in the language of the reference.
    ("err-attrs", 200, ""),
    ("err-attrs-final", 200, ""),
    ("err-attrs-badcode", 200, ""),
    // NaN is written as null, and details are always JSON.
    ("err-return-nan", 200, ""),
    ("err-details-unserializable", 200, ""),
];

/// The cases that are not replayed here, each with the reason.
const ELSEWHERE: &[(&str, &[&str])] = &[("needs a model: replayed in `llm_http.rs`", &["summarize-"])];

struct Response {
    status: u16,
    headers: BTreeMap<String, String>,
    body: String,
}

impl Response {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or(Value::Null)
    }
}

async fn send(address: SocketAddr, head: &str, body: &[u8]) -> Response {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = format!(
        "{head}Content-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(body).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    let answer = String::from_utf8(answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let mut lines = head.lines();
    let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    let header = |line: &str| {
        let (name, value) = line.split_once(':').unwrap();
        (name.to_ascii_lowercase(), value.trim().to_owned())
    };
    Response {
        status,
        headers: lines.map(header).collect(),
        body: body.to_owned(),
    }
}

/// The body of a case, which may be a template.
fn body(input: &Value) -> Vec<u8> {
    if let Some(hex) = input.get("bodyHex").and_then(Value::as_str) {
        let byte = |at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
        return (0..hex.len()).step_by(2).map(byte).collect();
    }
    match input.get("bodyTemplate") {
        Some(Value::Object(template)) => {
            let x = &template["inputs"]["x"];
            let times = usize::try_from(x["times"].as_u64().unwrap()).unwrap();
            format!(
                "{{\"inputs\":{{\"x\":\"{}\"}}}}",
                x["repeat"].as_str().unwrap().repeat(times)
            )
            .into_bytes()
        }
        Some(Value::String(template)) => {
            let (before, rest) = template.split_once('<').unwrap();
            let (count, rest) = rest.split_once(" x ").unwrap();
            let (_, after) = rest.split_once('>').unwrap();
            let count = count.parse().unwrap();
            format!("{before}{}{}{after}", "[".repeat(count), "]".repeat(count)).into_bytes()
        }
        _ => input["bodyText"].as_str().unwrap_or_default().as_bytes().to_vec(),
    }
}

fn head(input: &Value) -> String {
    let mut head = format!(
        "{} {} HTTP/1.1\r\nHost: localhost\r\n",
        input["method"].as_str().unwrap(),
        input["target"].as_str().unwrap()
    );
    for header in input["headers"].as_array().into_iter().flatten() {
        head += &format!(
            "{}: {}\r\n",
            header[0].as_str().unwrap(),
            header[1].as_str().unwrap()
        );
    }
    head
}

/// The part of an error document that must match. Messages differ from the reference.
fn comparable(document: &Value) -> Value {
    let mut document = document.clone();
    if let Some(error) = document.get_mut("error").and_then(Value::as_object_mut) {
        error.insert("message".into(), Value::Null);
        let errors = error
            .get_mut("details")
            .and_then(|details| details.get_mut("errors"));
        for violation in errors.and_then(Value::as_array_mut).into_iter().flatten() {
            violation["message"] = Value::Null;
        }
    }
    document
}

#[tokio::test(flavor = "multi_thread")]
async fn recorded_responses_match() {
    install_panic_hook();
    let host = SkillSet::with_states(sample::SKILLS.iter().copied(), States::default()).unwrap();
    let start = async |environment| {
        let http = HttpServer::anonymous(host.clone()).environment(environment);
        Server::start(http, ServeOptions::default()).await
    };
    let plain = start(Environment::from_vars([])).await;
    let secret = start(Environment::from_vars([("EXT_TOKEN".to_owned(), "t".to_owned())])).await;
    let (without_secret, with_secret) = (plain.address, secret.address);

    let mut replay = Replay::new(ELSEWHERE);
    for case in cases::load("http.json") {
        if let Some(reason) = replay.left_out(&case.id) {
            replay.report(&case.id, &Verdict::NotReplayed(reason.to_owned()));
            continue;
        }
        // One case was recorded with a secret in the environment of the server.
        let address = if case.id == "write-with-secret" {
            with_secret
        } else {
            without_secret
        };
        let answer = send(address, &head(&case.input), &body(&case.input)).await;
        let is_deliberate = DIFFERENT.iter().any(|(id, ..)| *id == case.id);
        let verdict = match judge(&case, &answer) {
            Err(why) => Verdict::Differs(format!("{why}\n  got {} {}", answer.status, answer.body)),
            Ok(()) if is_deliberate => Verdict::Deliberate(format!("status {}", answer.status)),
            Ok(()) => Verdict::Ok,
        };
        replay.report(&case.id, &verdict);
    }
    replay.finish();
}

fn judge(case: &cases::Case, answer: &Response) -> Result<(), String> {
    let content_type = answer.headers.get("content-type").map(String::as_str);
    if content_type != Some("application/json") {
        return Err(format!("content type {content_type:?}"));
    }
    if let Some((_, status, code)) = DIFFERENT.iter().find(|(id, ..)| *id == case.id) {
        let got = answer.json();
        let got = got
            .pointer("/error/code")
            .and_then(Value::as_str)
            .unwrap_or_default();
        return if answer.status == *status && got == *code {
            Ok(())
        } else {
            Err(format!("wanted {status} {code}"))
        };
    }
    let expect = &case.expect;
    if Some(u64::from(answer.status)) != expect["status"].as_u64() {
        return Err(format!("wanted status {}", expect["status"]));
    }
    let cost = |text: Option<&str>| text.map(|text| serde_json::from_str::<Value>(text).unwrap());
    let wanted = cost(expect["headers"]["x-skill-cost"].as_str());
    if cost(answer.headers.get("x-skill-cost").map(String::as_str)) != wanted {
        return Err(format!("wanted the cost {wanted:?}"));
    }
    match expect.get("json") {
        Some(document) => {
            let (got, wanted) = (comparable(&answer.json()), comparable(document));
            // Compared as text: the order of fields is part of the protocol.
            let (got, wanted) = (got.to_string(), wanted.to_string());
            if got == wanted {
                Ok(())
            } else {
                Err(format!("wanted {wanted}"))
            }
        }
        None => match expect["contentLength"].as_str() {
            Some(length) if answer.headers["content-length"] != length => {
                Err(format!("wanted {length} bytes"))
            }
            _ => Ok(()),
        },
    }
}
