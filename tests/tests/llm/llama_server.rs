//! A real server with a real model: llama.cpp, with a model of a few kilobytes that `tests/llama` generates.
//!
//! The model is untrained, but its responses are valid because the server compiles the schema into a grammar and
//! constrains the model to it. These tests show whether such a server accepts the requests, in which format it responds,
//! and how it fails.

use std::collections::HashMap;
use std::fmt::Debug;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Duration;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use skill_sdk::context::States;
use skill_sdk::pipeline::{Call, Meta, SkillSet};
use skill_sdk::{ChatRequest, Environment, SkillContext, SkillError, skill};

use super::{KEY, code, context_of};

/// Whether the model ends its response as soon as possible, or never.
#[derive(Debug, Clone, Copy)]
enum Temper {
    Terse,
    Endless,
}

/// The server. It ends when its standard input closes, at the end of the test.
struct Llama {
    child: Child,
    _stdin: Option<ChildStdin>,
    address: String,
}

impl Drop for Llama {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Llama {
    /// Starts the server. Returns `None`, with a message, if it is not installed.
    fn start(test: &str, temper: Temper) -> Option<Self> {
        let Some(python) = std::env::var_os("SKILL_SDK_TEST_LLAMA") else {
            eprintln!("skipped: SKILL_SDK_TEST_LLAMA does not name a Python with the server");
            return None;
        };
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let model = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("llama-{test}.gguf"));
        let likes_to_end = match temper {
            Temper::Terse => "3",
            Temper::Endless => "-6",
        };
        let mut child = Command::new(python)
            .arg(here.join("llama/server.py"))
            .arg(model)
            .arg(likes_to_end)
            .env("LLAMA_KEY", KEY)
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap())
            .read_line(&mut line)
            .unwrap();
        let started: Value = serde_json::from_str(&line).unwrap();
        Some(Self {
            _stdin: child.stdin.take(),
            child,
            address: started["address"].as_str().unwrap().to_owned(),
        })
    }

    fn environment(&self, path: &str, variables: &[(&str, &str)]) -> Environment {
        let mut all = HashMap::from([
            ("SKILL_LLM_BASE_URL", format!("{}{path}", self.address)),
            ("SKILL_LLM_API_KEY", KEY.to_owned()),
            ("SKILL_LLM_MODELS", "tiny".to_owned()),
        ]);
        all.extend(variables.iter().map(|(name, value)| (*name, (*value).to_owned())));
        Environment::from_vars(all.into_iter().map(|(name, value)| (name.to_owned(), value)))
    }

    fn context(&self) -> SkillContext {
        context_of(self.environment("/v1", &[]), None)
    }
}

fn question() -> ChatRequest {
    ChatRequest::new("Sort it.").user("A tree fell on my car.")
}

#[derive(Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Damage,
    Theft,
    Other,
}

/// A list of objects, an enum, optional fields, bounded numbers.
#[derive(Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
struct Report {
    /// What it is about.
    kind: Kind,
    second: Option<Kind>,
    urgent: bool,
    #[schemars(range(min = 1, max = 5))]
    grade: u8,
    note: Option<String>,
    #[serde(default)]
    count: u16,
    parts: Vec<Part>,
}

#[derive(Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
struct Part {
    kind: Kind,
    good: Option<bool>,
    inner: Option<Box<Part>>,
}

/// Variants with fields.
#[derive(Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
struct Step {
    what: Action,
}

#[derive(Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Action {
    Wait { seconds: u8 },
    Pay { kind: Kind },
}

#[derive(Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Whole {
    Yes { kind: Kind },
    No { reason: bool },
}

#[derive(Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
struct Counts {
    counts: HashMap<String, u8>,
    fixed: [bool; 2],
}

#[derive(Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
struct Formats {
    #[schemars(length(max = 1000))]
    short: String,
    #[schemars(extend("format" = "date"))]
    day: String,
    #[schemars(regex(pattern = "^[a-c]{3}$"))]
    code: String,
}

/// Requests a `T` several times, at different temperatures.
async fn request_values<T>(context: &SkillContext)
where
    T: Debug + PartialEq + Serialize + DeserializeOwned + JsonSchema + 'static,
{
    for temperature in [0.0, 0.4, 1.0] {
        let request = question().temperature(temperature).max_tokens(2000);
        let answer = context.llm().unwrap().chat_json::<T>(request).await;
        let answer = answer.unwrap_or_else(|error| panic!("{}: {error:?}", T::schema_name()));
        assert_eq!(answer.model, "tiny");
        let tokens = &answer.usage;
        assert!(tokens.prompt_tokens > 0 && tokens.completion_tokens > 0);
        assert_eq!(
            tokens.total_tokens,
            tokens.prompt_tokens + tokens.completion_tokens
        );
        assert_eq!(tokens.cost_usd, None);
        let again: T = serde_json::from_value(serde_json::to_value(&answer.data).unwrap()).unwrap();
        assert_eq!(again, answer.data);
    }
}

#[tokio::test]
async fn all_kinds_of_types_are_supported() {
    let Some(llama) = Llama::start("shapes", Temper::Terse) else {
        return;
    };
    let context = llama.context();
    request_values::<Report>(&context).await;
    request_values::<Step>(&context).await;
    request_values::<Whole>(&context).await;
    request_values::<Counts>(&context).await;
    request_values::<Formats>(&context).await;
    let any = context.llm().unwrap().chat_json_object(question()).await.unwrap();
    assert_eq!(any.model, "tiny");
    // Every first response was valid: nothing was rejected, re-prompted or sent in another format.
    let calls = context.cost_document().unwrap()["llm"]["calls"].as_u64();
    assert_eq!(calls, Some(16));
}

/// The vocabulary has one token per byte, so the token count of the server shows the length of the prompt.
#[tokio::test]
async fn the_server_receives_redacted_texts() {
    let Some(llama) = Llama::start("guard", Temper::Terse) else {
        return;
    };
    let context = llama.context();
    let sent = async |system: &str, text: &str| {
        let request = ChatRequest::new(system).user(text);
        let answer = context.llm().unwrap().chat_json_object(request).await.unwrap();
        answer.usage.prompt_tokens
    };
    let guarded = sent("Ответь [ПДн:фио]", "тел [ПДн:телефон]").await;
    assert_eq!(sent("Ответь Иванову И.И.", "тел 89123456789").await, guarded);
    assert_ne!(sent("Ответь", "тел 89123456789").await, guarded);
}

/// Requests a value that the model never completes.
#[skill("llama.endless", version = "1", side_effects = "none", risk = "low")]
async fn endless(limit: Option<u32>, ctx: &SkillContext) -> Result<(), SkillError> {
    let mut request = question();
    if let Some(limit) = limit {
        request = request.max_tokens(limit);
    }
    ctx.llm()?.chat_json::<super::Summary>(request).await.map(drop)
}

async fn call_endless(
    llama: &Llama,
    inputs: Value,
    timeout: Option<Duration>,
    variables: &[(&str, &str)],
) -> SkillError {
    let host = SkillSet::with_states([endless::SKILL], States::default()).unwrap();
    let mut meta = Meta::new("test");
    meta.environment = llama.environment("/v1", variables);
    meta.timeout = timeout;
    let runnable = host.get("llama.endless@1").unwrap();
    let completed = host.call(runnable, Call::json(inputs.to_string(), meta)).await;
    completed.into_parts().0.unwrap_err()
}

#[tokio::test]
async fn endless_responses_time_out() {
    let Some(llama) = Llama::start("time", Temper::Endless) else {
        return;
    };
    // The server truncates this response. The result is a truncation error or an invalid response.
    let error = call_endless(&llama, json!({"limit": 40}), None, &[]).await;
    let known = ["llm_failed", "llm_invalid_response"].contains(&code(&error));
    assert!(known, "{error:?}");
    // The server keeps generating after a disconnect, so these must be the last requests.
    let error = call_endless(&llama, json!({}), None, &[("SKILL_LLM_TIMEOUT_SECONDS", "0.2")]).await;
    assert_eq!(code(&error), "llm_timeout");
    let short = Some(Duration::from_millis(200));
    let error = call_endless(&llama, json!({}), short, &[]).await;
    assert_eq!(code(&error), "timeout");
}

#[tokio::test]
async fn rejections_name_the_setting_to_check() {
    let Some(llama) = Llama::start("refusals", Temper::Terse) else {
        return;
    };
    let refused = async |path: &str, variables: &[(&str, &str)], request: ChatRequest| {
        let context = context_of(llama.environment(path, variables), None);
        let error = context
            .llm()
            .unwrap()
            .chat_json_object(request)
            .await
            .unwrap_err();
        assert_eq!(code(&error), "llm_failed");
        error.message().to_owned()
    };
    let wrong_path = refused("/v2", &[], question()).await;
    assert!(
        wrong_path.contains("404") && wrong_path.contains("SKILL_LLM_BASE_URL"),
        "{wrong_path}"
    );
    let wrong_key = refused("/v1", &[("SKILL_LLM_API_KEY", "other")], question()).await;
    assert!(
        wrong_key.contains("SKILL_LLM_API_KEY (authentication_error)"),
        "{wrong_key}"
    );
    // The error type is the same in every format.
    let too_long = refused("/v1", &[], ChatRequest::new("x".repeat(100_000)).user("one")).await;
    assert!(too_long.contains("exceed_context_size_error"), "{too_long}");
}
