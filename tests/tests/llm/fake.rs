//! The fake model of the test kit, and its recorded cases.

use std::panic::AssertUnwindSafe;

use serde_json::{Value, json};
use skill_sdk::context::Meta;
use skill_sdk::llm::Prompt;
use skill_sdk::testing::{FakeAnswer, FakeLlm, invoke};
use skill_sdk::{ChatRequest, LlmUsage, SkillContext, SkillError, skill};
use skill_sdk_tests::cases::{self, Case};

use super::Summary;

#[test]
fn recorded_calls_match() {
    let cases = cases::load("fakes.json");
    let own: Vec<_> = cases.iter().filter(|case| case.id.starts_with("llm-")).collect();
    own.into_iter().for_each(replay);
}

fn answer(recorded: &Value) -> FakeAnswer {
    match recorded.as_str() {
        None => recorded.clone().into(),
        Some("function: {summary: prompt + '!'}") => {
            FakeAnswer::from_fn(|call| json!({"summary": format!("{}!", call.prompt())}))
        }
        Some("function: {m: mode}") => FakeAnswer::from_fn(|call| json!({"m": mode(call)})),
        Some(other) => panic!("unknown function {other}"),
    }
}

fn mode(call: &Prompt) -> &'static str {
    if call.schema_name().is_some() {
        "json"
    } else {
        "object"
    }
}

fn replay(case: &Case) {
    let id = case.id.as_str();
    let answers = &case.input["answers"];
    let fake = match answers.as_array() {
        Some(list) => FakeLlm::answers(list.iter().map(answer)),
        None => FakeLlm::always(answer(answers)),
    };
    let fake = fake.usage(LlmUsage::new("m").tokens(10, 5).price(0.5));
    let mut meta = Meta::new("test");
    meta.services.llm = Some(fake.client());
    let context = SkillContext::new("doc.summarize@1", meta);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let calls = case.input["calls"].as_array().unwrap();
    let expected = case.expect["results"].as_array().unwrap();
    let mut failed = false;
    for (call, expected) in calls.iter().zip(expected) {
        let asked = ask(&context, call);
        let result = std::panic::catch_unwind(AssertUnwindSafe(|| runtime.block_on(asked)));
        match (result, expected["crash"].as_str()) {
            (Ok(Ok(result)), None) => assert_eq!(&result, expected, "{id}"),
            (Ok(Err(error)), Some("ValidationError")) => {
                failed = true;
                assert_eq!((error.code(), error.is_crash()), ("skill_error", true), "{id}");
            }
            (Err(panic), Some("AssertionError")) => {
                let text = panic.downcast_ref::<String>().unwrap();
                assert!(
                    text.contains("request 2, but there are only 1 replies"),
                    "{id}: {text}"
                );
            }
            (result, _) => panic!(
                "{id}: {:?}",
                result.map(|result| result.map_err(|error| error.to_string()))
            ),
        }
    }
    let recorded: Vec<_> = fake.calls().iter().map(recorded).collect();
    assert_eq!(json!(recorded), case.expect["recorded"], "{id}");
    // A deliberate difference: tokens of failed calls are counted.
    let cost = if failed {
        json!({"llm": {"calls": 1, "promptTokens": 10, "completionTokens": 5, "totalTokens": 15, "models": ["m"], "costUsd": 0.5}})
    } else {
        case.expect["cost"].clone()
    };
    assert_eq!(json!(context.cost_document()), cost, "{id}");
}

fn recorded(call: &Prompt) -> Value {
    let messages: Vec<_> = call
        .messages
        .iter()
        .map(|message| json!({"role": message.role.as_str(), "content": message.content}))
        .collect();
    json!({
        "mode": mode(call), "system": call.system_prompt, "messages": messages, "schemaName": call.schema_name(),
        "temperature": call.temperature, "maxTokens": call.max_tokens, "prompt": call.prompt(),
    })
}

async fn ask(context: &SkillContext, call: &Value) -> Result<Value, SkillError> {
    let mut request = ChatRequest::new(call["system"].as_str().unwrap_or("s")).schema_name("n");
    match call["messages"].as_array() {
        None => request = request.user("q"),
        Some(messages) => {
            for message in messages {
                request = request.user(message["content"].as_str().unwrap());
            }
        }
    }
    if let Some(temperature) = call["temperature"].as_f64() {
        request = request.temperature(temperature);
    }
    if let Some(tokens) = call["max_tokens"].as_u64() {
        request = request.max_tokens(tokens.try_into().unwrap());
    }
    let llm = context.llm()?;
    let (data, usage) = if call["mode"] == "json" {
        let answer = llm.chat_json::<Summary>(request).await?;
        (json!(answer.data), answer.usage)
    } else {
        let answer = llm.chat_json_object(request).await?;
        (json!(answer.data), answer.usage)
    };
    let tokens = [usage.prompt_tokens, usage.completion_tokens, usage.total_tokens];
    Ok(json!({"data": data, "model": usage.model, "usage": tokens, "costUsd": usage.cost_usd}))
}

/// Summarizes a text, and returns an empty summary if the model times out.
#[skill("fake.summary", version = "1", side_effects = "none", risk = "low")]
async fn summary(text: String, ctx: &SkillContext) -> Result<Summary, SkillError> {
    let request = ChatRequest::new("Sum it up.").user(&text);
    match ctx.llm()?.chat_json::<Summary>(request).await {
        Ok(answer) => Ok(answer.data),
        Err(error) if error.code() == "llm_timeout" => Ok(Summary {
            summary: String::new(),
        }),
        Err(error) => Err(error),
    }
}

#[tokio::test]
async fn a_skill_can_use_a_fake_model() {
    let fake = FakeLlm::answers([json!({"summary": "one"}), json!({"summary": "two"})]);
    for expected in ["one", "two"] {
        let result = invoke(summary::SKILL, json!({"text": "t"}))
            .llm(&fake)
            .await
            .unwrap();
        assert_eq!(result.outputs["summary"], expected);
        assert_eq!(result.cost.unwrap()["llm"]["models"], json!(["fake-model"]));
    }
    let calls = fake.calls();
    assert_eq!((calls.len(), calls[0].prompt()), (2, "t"));
    assert_eq!(
        calls[0].schema.as_ref().unwrap().schema["required"],
        json!(["summary"])
    );
}

#[tokio::test]
async fn a_fake_model_can_fail() {
    let failing = |code: &'static str| FakeLlm::from_fn(move |_| SkillError::retryable(code, "no"));
    let call = |fake: FakeLlm| invoke(summary::SKILL, json!({"text": "t"})).llm(fake);
    let result = call(failing("llm_timeout")).await.unwrap();
    assert_eq!(result.outputs["summary"], "");
    let error = call(failing("llm_rate_limited")).await.unwrap_err();
    assert_eq!((error.code(), error.is_retryable()), ("llm_rate_limited", true));
    // An invalid response is a mistake in the test, and is reported as such.
    let error = call(FakeLlm::always(json!({"sum": 1}))).await.unwrap_err();
    assert_eq!(error.code(), "skill_error");
    assert!(
        format!("{error:?}").contains("is not valid for the schema"),
        "{error:?}"
    );
}

#[test]
#[should_panic(expected = "FakeLlm: the skill sent request 2, but there are only 1 replies")]
fn an_unexpected_call_panics() {
    /// Calls the model twice, and ignores failures.
    #[skill("fake.twice", version = "1", side_effects = "none", risk = "low")]
    async fn twice(ctx: &SkillContext) -> Result<(), SkillError> {
        for _ in 0..2 {
            let llm = ctx.llm()?;
            let _ = llm.chat_json_object(ChatRequest::new("s")).await;
        }
        Ok(())
    }

    let fake = FakeLlm::answers([json!({})]);
    let _ = invoke(twice::SKILL, json!({})).llm(&fake).blocking();
}
