//! Interoperability: the official Python library reads the requests, and a third-party server responds.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use skill_sdk::ChatRequest;

use super::{context_at, summarize};

/// A child process that is killed at the end of the test.
struct Server {
    child: Child,
    base: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    /// Starts a program that prints its address as its first line.
    fn start(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut base = String::new();
        BufReader::new(child.stdout.as_mut().unwrap())
            .read_line(&mut base)
            .unwrap();
        assert!(base.starts_with("http://127.0.0.1:"), "{base}");
        let base = base.trim().to_owned();
        Self { child, base }
    }
}

/// The Python that `variable` names, and a script of this repository.
fn python(variable: &str, script: &str) -> Option<Command> {
    let Some(python) = std::env::var_os(variable) else {
        eprintln!("skipped: {variable} does not name a Python");
        return None;
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("oracles").join(script);
    let mut command = Command::new(PathBuf::from(python));
    command.arg(script);
    Some(command)
}

/// A type with every kind of schema.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
struct Report {
    /// What it is about.
    kind: Kind,
    /// At most two words.
    #[schemars(length(max = 40))]
    title: String,
    #[schemars(range(min = 0, max = 1))]
    share: f64,
    parts: Vec<Part>,
    note: Option<String>,
    #[serde(default)]
    count: u8,
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Good,
    Bad,
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
struct Part {
    name: Option<String>,
    size: u16,
}

#[tokio::test]
async fn the_official_library_accepts_every_request() {
    let Some(mut command) = python("SKILL_SDK_TEST_PYTHON", "openai_server.py") else {
        return;
    };
    let server = Server::start(&mut command);
    let llm = context_at(&server.base).llm().unwrap();
    // The script rejects requests that the library's types do not know. It responds according to the schema, and rejects
    // the first format once, so that the simpler formats are tested as well.
    let request = || {
        ChatRequest::new("Report.")
            .user("one")
            .assistant("two")
            .user("three")
    };
    let answer = llm
        .chat_json::<Report>(request().max_tokens(100).temperature(0.5))
        .await
        .unwrap();
    assert_eq!((answer.model.as_str(), answer.usage.total_tokens), ("a", 30));
    assert_eq!(answer.data.parts.len(), 1);
    // Its responses have null for every nullable field.
    assert_eq!((answer.data.count, answer.data.note), (0, None));
    assert!(matches!(answer.data.kind, Kind::Good));
    let object = llm.chat_json_object(request()).await.unwrap();
    assert_eq!(json!(object.data), json!({}));
    let refused = context_at(&format!("{}/no-schema", server.base));
    assert_eq!(summarize(&refused).await.unwrap().data.summary, "text");
}

/// A third-party server of the same protocol: the Python package `fakellm`.
#[tokio::test]
async fn fallback_and_reprompt_work_with_a_third_party_server() {
    let Some(program) = std::env::var_os("SKILL_SDK_TEST_FAKELLM") else {
        eprintln!("skipped: SKILL_SDK_TEST_FAKELLM does not name a program");
        return;
    };
    // It cannot report which free port it took.
    let port = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap().port()
    };
    let config = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/llm/fakellm.yaml");
    let mut child = Command::new(program)
        .args(["serve", "--port", &port.to_string(), "--config"])
        .arg(config)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut log = BufReader::new(child.stderr.take().unwrap()).lines();
    let server = Server {
        child,
        base: format!("http://127.0.0.1:{port}/v1"),
    };
    assert!(
        log.any(|line| line.unwrap().contains("running on")),
        "the server starts"
    );
    // Read its output, so that it does not block on a full pipe.
    let _rest = std::thread::spawn(move || log.for_each(drop));

    // The first model is always overloaded.
    let context = context_at(&server.base);
    let answer = summarize(&context).await.unwrap();
    assert_eq!((answer.data.summary.as_str(), answer.model.as_str()), ("s", "b"));
    let request = ChatRequest::new("Please answer badly.").user("one");
    let answer = context
        .llm()
        .unwrap()
        .chat_json::<super::Summary>(request)
        .await
        .unwrap();
    assert_eq!(answer.data.summary, "repaired");
    let tokens = answer.usage;
    assert!(
        tokens.prompt_tokens > 0 && tokens.total_tokens == tokens.prompt_tokens + tokens.completion_tokens
    );
}
