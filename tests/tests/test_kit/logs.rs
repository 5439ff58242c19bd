//! The log of one call.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use serde_json::json;
use skill_sdk::testing::{CallLog, LogEvent, invoke};
use skill_sdk::{SkillError, skill};
use skill_sdk_tests::log;
use tracing::level_filters::LevelFilter;
use tracing::{Instrument, Level};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;

/// Logs before and after an await point.
#[skill("kit.asynchronous", version = "1", side_effects = "none", risk = "low")]
async fn asynchronous(word: String) -> Result<(), SkillError> {
    tracing::trace!(word, "one");
    tokio::task::yield_now().await;
    let span = tracing::info_span!("inner", inner = word);
    span.in_scope(|| tracing::warn!(count = 2, "two"));
    tokio::task::yield_now().await;
    tracing::info!("three");
    if word == "fail" {
        return Err(SkillError::terminal("no", "never"));
    }
    Ok(())
}

/// Logs in a synchronous function.
#[skill("kit.blocking", version = "1", side_effects = "none", risk = "low")]
fn blocking(word: String) {
    tracing::info!(word, "on another thread");
}

/// Logs in tasks and on threads, with and without the span of the call.
#[skill("kit.spread", version = "1", side_effects = "none", risk = "low")]
async fn spread(word: String) {
    let log = |place: &'static str, word: &str| tracing::info!(place, word = word.to_owned());
    let (task, inner, thread, pool) = (word.clone(), word.clone(), word.clone(), word.clone());
    let in_task = async move {
        log("task", &task);
        tokio::task::yield_now().await;
        log("task, later", &task);
        let nested = tokio::spawn(async move { log("task of a task", &task) }.in_current_span());
        nested.await.unwrap();
    };
    let span = tracing::info_span!("inner", inner = "yes");
    let in_inner = async move { log("task in a span", &inner) };
    let lost = async { tracing::info!(place = "task without a span", word = "lost") };
    let tasks = [
        tokio::spawn(in_task.in_current_span()),
        tokio::spawn(in_inner.instrument(span)),
        tokio::spawn(lost),
    ];
    for task in tasks {
        task.await.unwrap();
    }
    let span = tracing::Span::current();
    let of_pool = span.clone();
    let pooled = move || of_pool.in_scope(|| log("pool", &pool));
    tokio::task::spawn_blocking(pooled).await.unwrap();
    let on_thread = move || {
        span.in_scope(|| log("thread", &thread));
        // The span is exited, so this event does not belong to the call.
        tracing::info!(place = "thread without the span", word = "lost");
    };
    std::thread::spawn(on_thread).join().unwrap();
    log("call", &word);
}

const SPREAD: [&str; 7] = [
    "task",
    "task, later",
    "task of a task",
    "task in a span",
    "pool",
    "thread",
    "call",
];

fn assert_spread(events: &[LogEvent], word: &str) {
    let of_skill = events.iter().filter(|event| event.fields.contains_key("place"));
    let places: BTreeSet<_> = of_skill
        .clone()
        .filter_map(|event| event.field("place"))
        .collect();
    assert_eq!(places, BTreeSet::from(SPREAD));
    for event in of_skill {
        assert_eq!(event.field("word"), Some(word), "{event}");
        assert_eq!(event.field("invocation_id"), Some("test"), "{event}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn tasks_and_threads_with_the_span_belong_to_the_call() {
    let calls: Vec<_> = (0..16)
        .map(|number| {
            let word = number.to_string();
            let call = invoke(spread::SKILL, json!({"word": word}));
            tokio::spawn(async move { (word, call.await.unwrap()) })
        })
        .collect();
    for call in calls {
        let (word, result) = call.await.unwrap();
        assert_spread(&result.logs, &word);
    }
    // Two calls that alternate on one thread.
    let [one, two] = ["one", "two"].map(|word| invoke(spread::SKILL, json!({"word": word})));
    let (one, two) = tokio::join!(one, two);
    assert_spread(&one.unwrap().logs, "one");
    assert_spread(&two.unwrap().logs, "two");
}

/// Calls another skill as a test does.
#[skill("kit.outer", version = "1", side_effects = "none", risk = "low")]
async fn outer() -> Result<usize, SkillError> {
    tracing::info!("before");
    let inner = invoke(asynchronous::SKILL, json!({"word": "inner"})).await?;
    let pooled = invoke(blocking::SKILL, json!({"word": "pooled"})).await?;
    tracing::info!("behind");
    Ok(inner.logs.len() + pooled.logs.len())
}

#[tokio::test]
async fn a_nested_call_has_its_own_log_and_the_outer_one_has_both() {
    let result = invoke(outer::SKILL, json!({})).await.unwrap();
    assert_eq!(result.outputs["result"], 6, "{result:?}");
    let logs: Vec<_> = result.logs.iter().map(|event| event.message.as_str()).collect();
    let ended = "the call succeeded";
    let expected = [
        "before",
        "one",
        "two",
        "three",
        ended,
        "on another thread",
        ended,
        "behind",
        ended,
    ];
    assert_eq!(logs, expected);
}

#[test]
fn tasks_and_threads_of_a_synchronous_call_belong_to_it() {
    let result = invoke(spread::SKILL, json!({"word": "alone"}))
        .blocking()
        .unwrap();
    assert_spread(&result.logs, "alone");
    let inner = result
        .logs
        .iter()
        .find(|event| event.field("inner") == Some("yes"));
    assert_eq!(inner.unwrap().field("place"), Some("task in a span"));
}

#[tokio::test]
async fn events_have_their_fields_and_spans() {
    let result = invoke(asynchronous::SKILL, json!({"word": "a"})).await.unwrap();
    let events: Vec<_> = result
        .logs
        .iter()
        .filter(|event| event.target.starts_with("test_kit"))
        .map(|event| (event.level, event.message.as_str()))
        .collect();
    assert_eq!(
        events,
        [
            (Level::TRACE, "one"),
            (Level::WARN, "two"),
            (Level::INFO, "three")
        ]
    );
    let two = result.logs.iter().find(|event| event.message == "two").unwrap();
    assert_eq!((two.field("count"), two.field("inner")), (Some("2"), Some("a")));
    assert_eq!(two.field("invocation_id"), Some("test"));
    assert_eq!(
        two.spans.iter().map(|span| span.name).collect::<Vec<_>>(),
        ["skill", "inner"]
    );
    assert_eq!(two.to_string(), "WARN two count=2");
    let shown = format!("{result:?}");
    let start = "Invoked { outputs: {}, attachments: [], cost: null, logs: [\"TRACE one word=a\", \"WARN two count=2\", ";
    assert!(shown.starts_with(start), "{shown}");
    assert_eq!(result.logs.last().unwrap().message, "the call succeeded");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn logs_of_concurrent_calls_are_separate() {
    let calls: Vec<_> = (0..32)
        .map(|number| {
            tokio::spawn(async move {
                let word = number.to_string();
                let skill = if number % 2 == 0 {
                    asynchronous::SKILL
                } else {
                    blocking::SKILL
                };
                (word.clone(), invoke(skill, json!({"word": word})).await.unwrap())
            })
        })
        .collect();
    for call in calls {
        let (word, result) = call.await.unwrap();
        let words: BTreeSet<_> = result
            .logs
            .iter()
            .filter_map(|event| event.fields.get("word"))
            .collect();
        assert_eq!(words, BTreeSet::from([&word]));
    }
}

#[test]
fn a_failed_call_has_a_log() {
    let log = CallLog::new();
    let call = invoke(asynchronous::SKILL, json!({"word": "fail"})).log(&log);
    call.blocking().unwrap_err();
    let events = log.events();
    let last = events.last().unwrap();
    assert_eq!(
        (last.message.as_str(), last.field("code")),
        ("the call failed", Some("no"))
    );
    assert!(format!("{log:?}").contains("WARN two count=2"), "{log:?}");
}

#[test]
fn a_subscriber_of_the_test_receives_all_events() {
    log::capture();
    let result = invoke(asynchronous::SKILL, json!({"word": "forwarded"}))
        .blocking()
        .unwrap();
    let text = log::text();
    assert!(text.contains("forwarded"), "{text}");
    let two = result.logs.iter().find(|event| event.message == "two").unwrap();
    assert_eq!(two.spans.len(), 2);
    let seen = log::of_call("test");
    let two = seen
        .iter()
        .find(|event| event.inherited("inner") == "forwarded")
        .unwrap();
    assert_eq!(
        (two.message(), two.inherited("skill")),
        ("two", "kit.asynchronous@1")
    );
}

/// Logs in a span with an explicit parent that the subscriber filters out.
#[skill("kit.named_parent", version = "1", side_effects = "none", risk = "low")]
fn named_parent() {
    let unwanted = tracing::debug_span!("unwanted");
    let inner = tracing::info_span!(parent: &unwanted, "inner");
    let clone = inner.clone();
    clone.in_scope(|| tracing::info!("in the inner one"));
    let alone = tracing::debug_span!(parent: None, "alone");
    tracing::info_span!(parent: &alone, "of it").in_scope(|| tracing::info!("in a root"));
}

#[test]
fn a_subscriber_can_filter_out_the_parent_of_a_span() {
    /// The names of the enclosing spans of each event.
    #[derive(Clone, Default)]
    struct Around(Arc<Mutex<Vec<Vec<&'static str>>>>);
    impl<S: tracing::Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Around {
        fn on_event(&self, event: &tracing::Event<'_>, context: Context<'_, S>) {
            let spans = context.event_scope(event).into_iter().flatten();
            let names = spans.map(|span| span.name()).collect();
            self.0.lock().unwrap().push(names);
        }
    }
    let around = Around::default();
    let wanted = LevelFilter::INFO;
    let subscriber = tracing_subscriber::registry().with(wanted).with(around.clone());
    let result =
        tracing::subscriber::with_default(subscriber, || invoke(named_parent::SKILL, json!({})).blocking());
    let names = |message| {
        let logs = &result.as_ref().unwrap().logs;
        let event = logs.iter().find(|event| event.message == message).unwrap();
        event.spans.iter().map(|span| span.name).collect::<Vec<_>>()
    };
    assert!(names("in the inner one").ends_with(&["unwanted", "inner"]));
    assert_eq!(names("in a root"), ["alone", "of it"]);
    // A span that the subscriber filters out is skipped; its events are kept.
    let seen = around.0.lock().unwrap();
    assert_eq!(seen.len(), 2, "{seen:?}");
    assert!(seen.iter().flatten().all(|name| *name == "skill"), "{seen:?}");
}
