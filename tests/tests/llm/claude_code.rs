//! The `claude-code` provider, with a script as a mock of the CLI.

use std::fs;
use std::io::Read;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::json;
use skill_sdk::context::Meta;
use skill_sdk::llm::{ClaudeCode, LlmClient};
use skill_sdk::{ChatRequest, Environment, SkillContext};
use tempfile::TempDir;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::{code, context_of, request, summarize};

/// A mock of the CLI: a script with a plan that records its calls.
pub(crate) struct MockCli(TempDir);

/// One recorded call of the mock.
pub(crate) struct RecordedCall {
    pub(crate) arguments: Vec<String>,
    pub(crate) input: String,
    pub(crate) environment: Vec<String>,
    pub(crate) directory: PathBuf,
    pub(crate) entries: String,
    pub(crate) mode: String,
}

impl MockCli {
    /// A mock that follows this plan: the names and contents of the files of each call. The last step repeats.
    pub(crate) fn new(plan: &[Vec<(&str, Vec<u8>)>]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/llm/claude");
        symlink(script, folder.path().join("claude")).unwrap();
        fs::create_dir(folder.path().join("calls")).unwrap();
        for (at, files) in plan.iter().enumerate() {
            let last = at + 1 == plan.len();
            let name = if last { "last".to_owned() } else { at.to_string() };
            let step = folder.path().join("plan").join(name);
            fs::create_dir_all(&step).unwrap();
            for (name, content) in files {
                fs::write(step.join(name), content).unwrap();
            }
        }
        Self(folder)
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.0.path().join("claude")
    }

    pub(crate) fn calls(&self) -> Vec<RecordedCall> {
        let count = fs::read_dir(self.0.path().join("calls")).unwrap().count();
        let read = |at: usize, name: &str| {
            let path = self.0.path().join("calls").join(at.to_string()).join(name);
            fs::read_to_string(path).unwrap()
        };
        let list = |text: String| text.split_terminator('\0').map(str::to_owned).collect();
        (0..count)
            .map(|at| RecordedCall {
                arguments: list(read(at, "argv")),
                input: read(at, "stdin"),
                environment: list(read(at, "env")),
                directory: read(at, "cwd").trim().into(),
                entries: read(at, "entries").trim().to_owned(),
                mode: read(at, "mode").trim().to_owned(),
            })
            .collect()
    }
}

/// A reply of the CLI with this text.
fn reply(text: &str) -> Vec<(&'static str, Vec<u8>)> {
    let usage = json!({"input_tokens": 100, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 3, "output_tokens": 7});
    let reply =
        json!({"type": "result", "is_error": false, "result": text, "usage": usage, "total_cost_usd": 0.5});
    vec![("stdout", reply.to_string().into_bytes())]
}

pub(crate) fn environment(variables: &[(&str, &str)]) -> Environment {
    let path = std::env::var("PATH").unwrap();
    let path = [("PATH", path.as_str())];
    let all = path.iter().chain(variables);
    Environment::from_vars(all.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())))
}

fn configured(tool: &MockCli, more: &[(&str, &str)]) -> SkillContext {
    let binary = tool.path();
    let mut variables = vec![
        ("SKILL_LLM_PROVIDER", "claude-code"),
        ("SKILL_LLM_CLAUDE_BINARY", binary.to_str().unwrap()),
    ];
    variables.extend(more);
    context_of(environment(&variables), None)
}

#[tokio::test]
async fn the_cli_is_found_by_path_and_on_the_search_path() {
    let tool = MockCli::new(&[reply(r#"{"summary": "s"}"#)]);
    let answer = summarize(&configured(&tool, &[])).await.unwrap();
    assert_eq!(
        (answer.data.summary.as_str(), answer.model.as_str()),
        ("s", "claude-code")
    );
    let folder = tool.0.path().to_str().unwrap();
    let search = format!(
        "/no/such/folder::relative:{folder}:{}",
        std::env::var("PATH").unwrap()
    );
    let variables = [
        ("SKILL_LLM_PROVIDER".to_owned(), "claude-code".to_owned()),
        ("PATH".to_owned(), search),
    ];
    summarize(&context_of(Environment::from_vars(variables), None))
        .await
        .unwrap();
    assert_eq!(tool.calls().len(), 2);
    // A directory and a file without execute permission are skipped.
    let none = format!("{folder}:/");
    fs::write(tool.0.path().join("tool"), "").unwrap();
    for binary in ["tool", "tmp"] {
        let variables = [
            ("SKILL_LLM_PROVIDER", "claude-code"),
            ("SKILL_LLM_CLAUDE_BINARY", binary),
            ("PATH", &none),
        ];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let error = summarize(&context_of(Environment::from_vars(variables), None))
            .await
            .unwrap_err();
        assert_eq!(code(&error), "llm_unavailable", "{binary}");
    }
}

#[tokio::test]
async fn the_prompt_is_not_in_the_arguments_and_the_directory_is_removed() {
    let tool = MockCli::new(&[reply(r#"{"summary": "s"}"#)]);
    let context = configured(&tool, &[("SKILL_LLM_MODELS", "m1,m2")]);
    let request = ChatRequest::new("secret-one")
        .user("secret-two")
        .assistant("secret-three");
    context
        .llm()
        .unwrap()
        .chat_json::<super::Summary>(request)
        .await
        .unwrap();
    let [seen] = tool.calls().try_into().ok().unwrap();
    assert!(
        !seen.arguments.join(" ").contains("secret"),
        "{:?}",
        seen.arguments
    );
    assert_eq!(seen.arguments[seen.arguments.len() - 2..], ["--model", "m1"]);
    for part in [
        "secret-one",
        "secret-two",
        "# Earlier answer\n\nsecret-three",
        r#""required":["summary"]"#,
    ] {
        assert!(seen.input.contains(part), "{part}: {}", seen.input);
    }
    assert_eq!((seen.entries.as_str(), seen.mode.as_str()), ("0", "700"));
    assert!(!seen.directory.exists());
}

#[tokio::test]
async fn the_token_is_not_leaked() {
    let token = "tok-hunter2";
    let error_text = format!("bad {token}").into_bytes();
    let is_error = json!({"is_error": true, "result": format!("{token} {token}")})
        .to_string()
        .into_bytes();
    for files in [
        vec![("stderr", error_text.clone()), ("exit", b"1".to_vec())],
        vec![("stdout", is_error)],
        vec![("stdout", token.into())],
    ] {
        let tool = MockCli::new(&[files]);
        let context = configured(&tool, &[("CLAUDE_CODE_OAUTH_TOKEN", token)]);
        assert!(!format!("{:?}", context.llm().unwrap()).contains(token));
        let error = summarize(&context).await.unwrap_err();
        assert_eq!(code(&error), "llm_failed");
        let handed_on = tool.calls()[0]
            .environment
            .contains(&format!("CLAUDE_CODE_OAUTH_TOKEN={token}"));
        assert!(handed_on);
    }
}

#[tokio::test]
async fn a_token_with_white_space_is_not_leaked() {
    let failing = || {
        vec![
            ("stderr", b"bad tok-hunter2 token".to_vec()),
            ("exit", b"1".to_vec()),
        ]
    };
    for token in ["tok-hunter2\n", " tok-hunter2\t"] {
        let tool = MockCli::new(&[failing()]);
        let context = configured(&tool, &[("CLAUDE_CODE_OAUTH_TOKEN", token)]);
        let error = summarize(&context).await.unwrap_err();
        assert_eq!(code(&error), "llm_failed");
        assert!(error.message().ends_with("bad *** token"), "{error}");
    }
    // White space alone is not a token.
    let tool = MockCli::new(&[vec![("stderr", b"bad b token".to_vec()), ("exit", b"1".to_vec())]]);
    let error = summarize(&configured(&tool, &[("CLAUDE_CODE_OAUTH_TOKEN", " ")]))
        .await
        .unwrap_err();
    assert!(error.message().ends_with("bad b token"), "{error}");
}

#[tokio::test]
async fn a_process_with_endless_output_is_killed() {
    let tool = MockCli::new(&[vec![("flood", Vec::new())]]);
    let error = summarize(&configured(&tool, &[])).await.unwrap_err();
    assert_eq!(code(&error), "llm_failed");
    assert!(error.message().contains("wrote more than"), "{error}");
}

/// A mock that starts a child process and sleeps.
struct WatchedCli {
    tool: MockCli,
    /// Resolves once the script is running.
    began: oneshot::Receiver<()>,
    /// Resolves once the script and its child have ended.
    gone: JoinHandle<()>,
}

impl WatchedCli {
    /// Waits until the script and its child have ended, even if they never started.
    async fn ended(self) -> MockCli {
        let pipe = self.tool.0.path().join("alive");
        // Opening the pipe for reading and writing never blocks, and unblocks the reader if the script never opened it.
        drop(fs::OpenOptions::new().read(true).write(true).open(pipe).unwrap());
        self.gone.await.unwrap();
        self.tool
    }
}

fn sleeping() -> WatchedCli {
    watched(vec![("sleep", Vec::new())])
}

/// A mock that does this once, and reports when it and its child have ended.
fn watched(files: Vec<(&str, Vec<u8>)>) -> WatchedCli {
    let tool = MockCli::new(&[files]);
    let pipe = tool.0.path().join("alive");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let (sender, began) = oneshot::channel();
    let gone = tokio::task::spawn_blocking(move || {
        // Opening the pipe waits for the writer. Reading ends when the last writer has ended.
        let mut pipe = fs::File::open(pipe).unwrap();
        let _ = sender.send(());
        pipe.read_to_end(&mut Vec::new()).unwrap();
    });
    WatchedCli { tool, began, gone }
}

#[tokio::test]
async fn a_background_process_that_holds_the_pipes_does_not_block() {
    let mut files = reply(r#"{"summary": "s"}"#);
    files.push(("linger", Vec::new()));
    let lingering = watched(files);
    let context = configured(&lingering.tool, &[("SKILL_LLM_TIMEOUT_SECONDS", "60")]);
    let answer = summarize(&context).await.unwrap();
    assert_eq!(
        (answer.data.summary.as_str(), answer.usage.total_tokens),
        ("s", 130)
    );
    lingering.ended().await;
    // The error output of such a process is read as well.
    let lingering = watched(vec![
        ("stderr", b"weekly limit".to_vec()),
        ("linger", Vec::new()),
        ("exit", b"1".to_vec()),
    ]);
    let context = configured(&lingering.tool, &[("SKILL_LLM_TIMEOUT_SECONDS", "60")]);
    let error = summarize(&context).await.unwrap_err();
    assert_eq!(code(&error), "llm_rate_limited");
    lingering.ended().await;
}

#[tokio::test]
async fn a_timeout_kills_the_cli_and_its_children() {
    let sleeping = sleeping();
    let error = summarize(&configured(&sleeping.tool, &[("SKILL_LLM_TIMEOUT_SECONDS", "2")]))
        .await
        .unwrap_err();
    assert_eq!(code(&error), "llm_timeout");
    assert_eq!(error.message(), "Claude Code did not answer within 2 s");
    let tool = sleeping.ended().await;
    assert!(tool.calls().iter().all(|seen| !seen.directory.exists()));
}

#[tokio::test]
async fn the_timeout_of_the_call_kills_the_cli() {
    let sleeping = sleeping();
    let mut meta = Meta::new("test");
    meta.timeout = Some(Duration::from_secs(2));
    meta.services.llm = Some(LlmClient::new(ClaudeCode::new(
        sleeping.tool.path(),
        &environment(&[]),
    )));
    let error = summarize(&SkillContext::new("doc.summarize@1", meta))
        .await
        .unwrap_err();
    assert_eq!(code(&error), "timeout");
    sleeping.ended().await;
}

#[tokio::test]
async fn cancelling_the_call_kills_the_cli() {
    let WatchedCli { tool, began, gone } = sleeping();
    let context = configured(&tool, &[]);
    let task = tokio::spawn(async move { summarize(&context).await.map(drop) });
    began.await.unwrap();
    task.abort();
    gone.await.unwrap();
}

#[tokio::test]
async fn long_prompts_and_long_error_output_do_not_block() {
    let mut files = reply(r#"{"summary": "s"}"#);
    files.push(("stderr", vec![b'e'; 1 << 20]));
    files.push(("noread", Vec::new()));
    let tool = MockCli::new(&[files]);
    let long = request().user("x".repeat(1 << 20));
    let llm = configured(&tool, &[]).llm().unwrap();
    let answer = llm.chat_json::<super::Summary>(long).await.unwrap();
    assert_eq!(answer.usage.total_tokens, 130);
    assert_eq!(answer.usage.cost_usd, None);
    assert_eq!(json!(answer.data), json!({"summary": "s"}));
}
