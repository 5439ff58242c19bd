//! The recorded cases of the provider `claude-code`.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use skill_sdk::context::Meta;
use skill_sdk::llm::{ClaudeCode, LlmClient};
use skill_sdk::{ChatRequest, LlmUsage, SkillContext, SkillError};
use skill_sdk_tests::cases::{self, Case, Replay};
use std::time::Duration;

use super::Summary;
use super::claude_code::{MockCli, RecordedCall, environment};

/// The recorded titles of the sections, and the titles of this SDK.
const TITLES: &[(&str, &str)] = &[
    ("# Инструкции", "# Instructions"),
    ("# Сообщение", "# Message"),
    ("# Формат ответа", "# Format"),
    ("# Исправление", "# Correction"),
];

/// The larger type of the recordings.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
struct Rich {
    kind: Kind,
    #[schemars(range(min = 0, max = 1))]
    score: f64,
    note: Option<String>,
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Kind {
    A,
    B,
}

/// The cases that are not replayed here, each with the reason.
const ELSEWHERE: &[(&str, &[&str])] = &[("replayed by the unit tests of the extraction", &["extract-"])];

#[tokio::test]
async fn recorded_calls_match() {
    let mut report = Replay::new(ELSEWHERE);
    for case in &cases::load("claude_code.json") {
        if case.id == "render-empty" {
            report.run(case, rendered(case)).await;
        } else {
            report.run(case, replay(case)).await;
        }
    }
    report.finish();
}

/// The plan of the mock for each call.
fn plan(input: &Value) -> Vec<Vec<(&'static str, Vec<u8>)>> {
    let steps = input["plan"].as_array().unwrap();
    let step = |step: &Value| {
        let mut files = Vec::new();
        for (name, value) in step.as_object().unwrap() {
            files.push(match name.as_str() {
                "reply" => ("stdout", value.to_string().into_bytes()),
                "raw" => ("stdout", value.as_str().unwrap().into()),
                "hex" => (
                    "stdout",
                    vec![u8::from_str_radix(value.as_str().unwrap(), 16).unwrap()],
                ),
                "stderr" => ("stderr", value.as_str().unwrap().into()),
                "exit" => ("exit", value.to_string().into_bytes()),
                "sleep" => ("sleep", Vec::new()),
                "signal" => ("signal", Vec::new()),
                "noread" => ("noread", Vec::new()),
                other => panic!("unknown step {other}"),
            });
        }
        files
    };
    steps.iter().map(step).collect()
}

async fn replay(case: &Case) {
    let (id, input, expect) = (case.id.as_str(), &case.input, &case.expect);
    let tool = MockCli::new(&plan(input));
    let plain = tool.path().with_file_name("plain");
    std::fs::write(&plain, "").unwrap();
    let binary = match input.get("binary").and_then(Value::as_str) {
        None => tool.path(),
        Some("<bin>/plain") => plain,
        Some(_) => tool.path().with_file_name("nope"),
    };
    let variables = [
        ("CLAUDE_CODE_OAUTH_TOKEN", "tok-SECRET-1"),
        ("ANTHROPIC_BASE_URL", "https://b"),
        ("ANTHROPIC_API_KEY", "removed"),
        ("ANTHROPIC_AUTH_TOKEN", "removed"),
        ("MYVAR", "x"),
    ];
    let models = input["models"].as_array().unwrap();
    // The recorded timeout in seconds. On a busy machine a script that does not sleep may need all of it.
    let seconds = input["timeout"].as_f64().unwrap();
    let claude = ClaudeCode::new(binary, &environment(&variables))
        .models(models.iter().map(|model| model.as_str().unwrap()))
        .timeout(Duration::from_secs_f64(if seconds >= 5.0 {
            120.0
        } else {
            seconds
        }));
    let mut meta = Meta::new("test");
    meta.services.llm = Some(LlmClient::new(claude));
    let context = SkillContext::new("doc.summarize@1", meta);
    let request = requests(input);
    let result = match (input["mode"].as_str().unwrap(), input["model"].as_str()) {
        ("object", _) => {
            let answer = context.llm().unwrap().chat_json_object(request).await;
            answer.map(|answer| (Value::from(answer.data), answer.usage))
        }
        (_, Some("Rich")) => of_type::<Rich>(&context, request).await,
        _ => of_type::<Summary>(&context, request).await,
    };
    match &result {
        Ok((data, usage)) => {
            assert_eq!(data, &expect["data"], "{id}");
            assert_eq!(usage.model, expect["model"].as_str().unwrap(), "{id}");
            let tokens = json!([usage.prompt_tokens, usage.completion_tokens, usage.total_tokens]);
            assert_eq!(tokens, expect["usage"], "{id}");
            assert_eq!(usage.cost_usd, None, "{id}");
            assert_eq!(context.cost_document(), Some(expect["cost"].clone()), "{id}");
        }
        Err(error) => {
            assert_eq!(expect["error"]["code"], error.code(), "{id}: {error}");
            assert_eq!(expect["error"]["retryable"], error.is_retryable(), "{id}");
            assert_eq!(expect["error"]["details"], json!(error.details()), "{id}");
            assert!(!format!("{error:?}").contains("SECRET"), "{id}: {error:?}");
            // A deliberate difference: tokens of failed calls are counted if the CLI reported them.
            let told = input["plan"].to_string().contains("\"input_tokens\"");
            let seen = !expect["calls"].as_array().unwrap().is_empty();
            assert_eq!(context.cost_document().is_some(), told && seen, "{id}");
        }
    }
    let recorded = expect["calls"].as_array().unwrap();
    let calls = tool.calls();
    assert_eq!(calls.len(), recorded.len(), "{id}: {result:?}");
    for (seen, recorded) in calls.iter().zip(recorded) {
        compare(id, seen, recorded);
    }
}

fn requests(input: &Value) -> ChatRequest {
    let mut request = ChatRequest::new(input["system"].as_str().unwrap()).schema_name("summary");
    for message in input["messages"].as_array().unwrap() {
        assert_eq!(message["role"], "user");
        request = request.user(message["content"].as_str().unwrap());
    }
    request
}

async fn of_type<T: DeserializeOwned + Serialize + JsonSchema + Send + 'static>(
    context: &SkillContext,
    request: ChatRequest,
) -> Result<(Value, LlmUsage), SkillError> {
    let answer = context.llm()?.chat_json::<T>(request).await?;
    Ok((json!(answer.data), answer.usage))
}

fn compare(id: &str, seen: &RecordedCall, recorded: &Value) {
    let mut arguments: Vec<_> = recorded["argv"].as_array().unwrap().clone();
    // The constant texts of this SDK are in English.
    arguments[5] = json!(seen.arguments[5]);
    assert!(
        seen.arguments[5].is_ascii() && seen.arguments[5].contains("one JSON object"),
        "{id}"
    );
    assert_eq!(json!(seen.arguments), json!(arguments), "{id}");

    match recorded["stdin"].as_str().unwrap() {
        "" => assert_eq!(seen.input, "", "{id}"),
        input => compare_input(id, &seen.input, input),
    }
    assert_eq!((seen.entries.as_str(), seen.mode.as_str()), ("0", "700"), "{id}");
    let name = seen.directory.file_name().unwrap().to_str().unwrap();
    assert!(
        name.starts_with(recorded["cwdPrefix"].as_str().unwrap()),
        "{id}: {name}"
    );
    let mut variables: Vec<_> = seen
        .environment
        .iter()
        .filter(|variable| {
            ["ANTHROPIC", "CLAUDE", "SKILL_", "MYVAR"]
                .iter()
                .any(|start| variable.starts_with(start))
        })
        .cloned()
        .collect();
    variables.sort();
    let mut expected: Vec<_> = recorded["env"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, value)| format!("{name}={}", value.as_str().unwrap()))
        .collect();
    expected.sort();
    assert_eq!(variables, expected, "{id}");
}

/// The sections of an input: titles and contents.
fn sections(input: &str) -> Vec<(String, String)> {
    let mut sections: Vec<(String, String)> = Vec::new();
    for line in input.split('\n') {
        match sections.last_mut() {
            Some((_, content)) if !line.starts_with("# ") => {
                content.push_str(line);
                content.push('\n');
            }
            _ => sections.push((line.to_owned(), String::new())),
        }
    }
    sections
}

fn compare_input(id: &str, ours: &str, recorded: &str) {
    let (ours, recorded) = (sections(ours), sections(recorded));
    assert_eq!(ours.len(), recorded.len(), "{id}: {ours:?}");
    for ((title, content), (recorded_title, recorded_content)) in ours.iter().zip(&recorded) {
        let (_, expected) = TITLES
            .iter()
            .find(|(theirs, _)| theirs == recorded_title)
            .unwrap();
        assert_eq!(title, expected, "{id}");
        match *expected {
            "# Instructions" | "# Message" => assert_eq!(content, recorded_content, "{id}"),
            "# Format" => {
                let schema = |content: &str| {
                    content.lines().find(|line| line.starts_with('{')).map(|line| {
                        let schema: Value = serde_json::from_str(line).unwrap();
                        let names: Vec<_> = schema["properties"]
                            .as_object()
                            .unwrap()
                            .keys()
                            .cloned()
                            .collect();
                        assert_eq!(schema.get("$schema"), None);
                        (names, schema["required"].clone())
                    })
                };
                assert_eq!(schema(content), schema(recorded_content), "{id}");
            }
            _ => assert!(content.contains("was not accepted: "), "{id}: {content}"),
        }
    }
}

async fn rendered(case: &Case) {
    let reply = json!({"result": "{}"}).to_string().into_bytes();
    let tool = MockCli::new(&[vec![("stdout", reply)]]);
    let mut meta = Meta::new("test");
    meta.services.llm = Some(LlmClient::new(ClaudeCode::new(tool.path(), &environment(&[]))));
    let llm = SkillContext::new("doc.summarize@1", meta).llm().unwrap();
    llm.chat_json_object(ChatRequest::new("")).await.unwrap();
    compare_input(
        &case.id,
        &tool.calls()[0].input,
        case.expect["prompt"].as_str().unwrap(),
    );
}
