//! The context of a call: identity, cost, settings, log.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use skill_sdk::LlmUsage;
use skill_sdk::context::{NoticeLevel, ReportSink, settings_values};
use skill_sdk::pipeline::Meta;
use skill_sdk::{Environment, Skill, SkillContext, SkillError, skill};
use skill_sdk_tests::log;

use super::{call, failure, meta};

/// The context is `Send`, `Sync` and `'static`.
#[test]
fn the_context_can_be_sent_anywhere() {
    fn assert_sendable<T: Clone + Send + Sync + Unpin + 'static>() {}
    assert_sendable::<SkillContext>();
}

/// Returns the data of its context.
#[skill(
    "context.echo", version = "7", side_effects = "none", risk = "low",
    outputs_schema = json!({"type": "object"}),
)]
async fn echo(ctx: &SkillContext) -> Result<Value, SkillError> {
    #[derive(Deserialize, Serialize)]
    struct Limits {
        limit: u8,
    }
    ctx.progress(1.0, Some(2.0), "half");
    Ok(json!({
        "skill": ctx.skill(), "protocol": ctx.protocol(), "invocationId": ctx.invocation_id(),
        "idempotencyKey": ctx.idempotency_key(), "settings": ctx.settings(),
        "limits": ctx.settings_as::<Limits>().ok(), "config": ctx.config("A"), "other": ctx.config("B"),
        "default": ctx.config_or("B", "b"), "secret": ctx.secret("token")?.expose(), "caller": ctx.caller().is_some(),
    }))
}

/// Requires an idempotency key.
#[skill(
    "context.write",
    version = "1",
    side_effects = "external_write",
    risk = "low",
    idempotency = "required"
)]
async fn write(ctx: &SkillContext) -> Result<String, SkillError> {
    ctx.require_idempotency_key().map(str::to_owned)
}

#[tokio::test]
async fn an_empty_idempotency_key_is_not_set() {
    for (key, expected) in [(Some("k"), Ok("k")), (Some(""), Err(())), (None, Err(()))] {
        let mut meta = Meta::new("local");
        meta.idempotency_key = key.map(str::to_owned);
        let completed = call(write::SKILL, json!({}), meta).await;
        match (completed.result(), expected) {
            (Ok(outputs), Ok(expected)) => {
                let outputs: Value = serde_json::from_slice(outputs).unwrap();
                assert_eq!(outputs, json!({"result": expected}));
            }
            (Err(error), Err(())) => assert_eq!(error.code(), "idempotency_key_missing"),
            (result, _) => panic!("{key:?}: {result:?}"),
        }
    }
}

#[derive(Default)]
struct Reports(Mutex<Vec<(f64, Option<f64>, String)>>);

impl ReportSink for Reports {
    fn progress(&self, done: f64, total: Option<f64>, message: &str) {
        self.0.lock().unwrap().push((done, total, message.to_owned()));
    }

    fn notice(&self, level: NoticeLevel, message: &str) {
        panic!("{level:?} {message}");
    }
}

#[tokio::test]
async fn a_skill_sees_the_metadata_of_its_call() {
    let reports = Arc::new(Reports::default());
    let mut meta = Meta::new("local");
    meta.invocation_id = Some("i-1".to_owned());
    meta.idempotency_key = Some("k-1".to_owned());
    meta.settings = settings_values(Some(json!({
        "package": "p", "version": "1", "schemaRevision": 2, "values": {"limit": 5, "b": {"c": [1]}},
    })));
    meta.environment =
        Environment::from_vars([("A", "1"), ("token", "s3")].map(|(a, b)| (a.to_owned(), b.to_owned())));
    meta.reports = Some(Arc::clone(&reports) as Arc<dyn ReportSink>);
    let completed = call(echo::SKILL, json!({}), meta).await;
    let got: Value = serde_json::from_slice(completed.result().unwrap()).unwrap();
    let expected = json!({
        "skill": "context.echo@7", "protocol": "local", "invocationId": "i-1", "idempotencyKey": "k-1",
        "settings": {"limit": 5, "b": {"c": [1]}}, "limits": {"limit": 5}, "config": "1", "other": null,
        "default": "b", "secret": "s3", "caller": false,
    });
    assert_eq!(got, expected);
    let reports = reports.0.lock().unwrap();
    assert_eq!(*reports, [(1.0, Some(2.0), "half".to_owned())]);
}

/// Adds cost, and may fail.
#[skill("context.spend", version = "1", side_effects = "none", risk = "low")]
async fn spend(fail: bool, nothing: bool, ctx: SkillContext) -> Result<(), SkillError> {
    if nothing {
        return Ok(());
    }
    ctx.add_cost("page", 1.0);
    let other = ctx.clone();
    tokio::spawn(async move {
        other.add_cost("second", 0.5);
        other.add_cost("page", 2.0);
    })
    .await
    .unwrap();
    for (model, cost_usd) in [("b", Some(0.1)), ("a", None), ("b", Some(0.200_000_4))] {
        let mut usage = LlmUsage::new(model).tokens(3, 2);
        usage.cost_usd = cost_usd;
        ctx.add_llm_usage(&usage);
    }
    if fail {
        Err(SkillError::terminal("broke", ""))
    } else {
        Ok(())
    }
}

const COST: &str = concat!(
    r#"{"llm":{"calls":3,"promptTokens":9,"completionTokens":6,"totalTokens":15,"models":["b","a"],"#,
    r#""costUsd":0.3},"units":{"page":3.0,"second":0.5}}"#
);

#[tokio::test]
async fn costs_are_summed_by_unit() {
    let completed = call(
        spend::SKILL,
        json!({"fail": false, "nothing": true}),
        meta("free"),
    )
    .await;
    assert_eq!(completed.cost(), None);
    assert_eq!(
        completed.into_document().unwrap(),
        r#"{"outputs":{},"cost":null}"#
    );
    let completed = call(
        spend::SKILL,
        json!({"fail": false, "nothing": false}),
        meta("spent"),
    )
    .await;
    assert_eq!(completed.cost().unwrap().to_string(), COST);
    assert_eq!(
        completed.into_document().unwrap(),
        format!(r#"{{"outputs":{{}},"cost":{COST}}}"#)
    );
}

#[tokio::test]
async fn the_cost_of_a_failed_call_is_logged() {
    let completed = call(
        spend::SKILL,
        json!({"fail": true, "nothing": false}),
        meta("lost"),
    )
    .await;
    assert_eq!(completed.cost().unwrap().to_string(), COST);
    let logged = log::of_call("lost");
    assert!(
        logged
            .iter()
            .any(|event| event.field("code") == "broke" && event.field("cost") == COST),
        "{logged:?}"
    );
    // The caller does not see the cost of a failed call.
    let document: Value = serde_json::from_str(&completed.into_document().unwrap_err()).unwrap();
    assert_eq!(
        document.as_object().unwrap().keys().collect::<Vec<_>>(),
        ["error"]
    );
}

/// Logs in an asynchronous function.
#[skill("context.speak", version = "1", side_effects = "none", risk = "low")]
async fn speak() {
    tracing::info!("before");
    tokio::task::yield_now().await;
    let inner = tracing::info_span!("inner");
    inner.in_scope(|| tracing::debug!("inside"));
    tracing::trace!("after");
}

/// Logs in a synchronous function.
#[skill("context.speak_sync", version = "1", side_effects = "none", risk = "low")]
fn speak_sync() {
    tracing::info!("before");
    tracing::debug!("inside");
    tracing::trace!("after");
}

#[tokio::test]
async fn every_event_of_a_call_has_skill_id_and_protocol() {
    for skill in [speak::SKILL, speak_sync::SKILL] {
        let id = format!("events-{}", skill.name());
        assert!(call(skill, json!({}), meta(&id)).await.result().is_ok());
        let events = log::of_call(&id);
        for message in ["before", "inside", "after"] {
            let event = events.iter().find(|event| event.message() == message);
            let event = event.unwrap_or_else(|| panic!("{message} of {}: {events:?}", skill.name()));
            let inherited = ["skill", "invocation_id", "protocol"].map(|name| event.inherited(name));
            assert_eq!(inherited, [skill.reference(), id.as_str(), "test"]);
        }
    }
    // Without an invocation id the other fields are still logged.
    assert!(
        call(speak::SKILL, json!({}), Meta::new("no-id"))
            .await
            .result()
            .is_ok()
    );
    assert!(log::text().contains("\"protocol\": \"no-id\""));
}

/// Handles values that must not be logged.
#[skill(
    "context.secretive", version = "1", side_effects = "none", risk = "low",
    outputs_schema = json!({"type": "object", "properties": {"kind": {"maxLength": 40}}}),
)]
async fn secretive(kind: String, ctx: &SkillContext) -> Result<Value, SkillError> {
    let secret = ctx.secret("confidential-token")?;
    match kind.as_str() {
        "good-PRIVATE1" => Ok(json!({"kind": format!("{}-PRIVATE2", secret.expose())})),
        "long-PRIVATE1" => Ok(json!({"kind": "PRIVATE2".repeat(9)})),
        "slow-PRIVATE1" => std::future::pending().await,
        _ => Err(SkillError::terminal("refused", "PRIVATE4").with_details(json!("PRIVATE5"))),
    }
}

#[tokio::test(start_paused = true)]
async fn inputs_outputs_settings_and_secrets_are_not_logged() {
    let known = |id: &str| {
        let mut meta = meta(id);
        let variable = ("confidential-token".to_owned(), "PRIVATE3".to_owned());
        meta.environment = Environment::from_vars([variable]);
        meta.settings = settings_values(Some(json!({"values": {"a": "PRIVATE6"}})));
        meta.idempotency_key = Some("PRIVATE7".to_owned());
        meta.timeout = Some(Duration::from_secs(1));
        meta
    };
    let quiet: &'static Skill = secretive::SKILL;
    let completed = call(quiet, json!({"kind": "good-PRIVATE1"}), known("quiet-0")).await;
    assert_eq!(completed.result().unwrap(), br#"{"kind":"PRIVATE3-PRIVATE2"}"#);
    let table = [
        (json!({"kind": "long-PRIVATE1"}), "output_contract_violation"),
        (json!({"kind": "slow-PRIVATE1"}), "timeout"),
        (json!({"kind": "other-PRIVATE1"}), "refused"),
        (json!({"kind": ["PRIVATE1"]}), "input_contract_violation"),
        (json!({"PRIVATE1": "PRIVATE1"}), "input_contract_violation"),
        (json!("PRIVATE1"), "input_contract_violation"),
    ];
    for (index, (inputs, code)) in table.into_iter().enumerate() {
        let error = failure(quiet, inputs, known(&format!("quiet-{}", index + 1))).await;
        assert_eq!(error.code(), code);
        assert!(!log::of_call(&format!("quiet-{}", index + 1)).is_empty());
    }
    let text = log::text();
    let told: Vec<_> = text.lines().filter(|line| line.contains("PRIVATE")).collect();
    assert!(told.is_empty(), "{told:#?}");
}
