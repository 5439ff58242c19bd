//! Values that all calls share.

use std::future::Future;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use serde_json::{Value, json};
use skill_sdk::context::States;
use skill_sdk::pipeline::{Meta, SkillSet};
use skill_sdk::{Environment, Registry, Skill, SkillContext, SkillError, skill, state};
use skill_sdk_tests::log;
use skill_sdk_tests::signs::{Body, Signs};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::{call_on, meta};

/// Counts how often a value was built, and lets tests say when it is ready.
struct Workshop {
    built: AtomicU32,
    /// A permit for each that was begun.
    begun: Semaphore,
    ready: Semaphore,
}

impl Workshop {
    const fn new() -> Self {
        Self {
            built: AtomicU32::new(0),
            begun: Semaphore::const_new(0),
            ready: Semaphore::const_new(0),
        }
    }

    /// Builds one more, once the test says so; gives its number.
    async fn build(&self) -> u32 {
        let number = self.built.fetch_add(1, SeqCst) + 1;
        self.begun.add_permits(1);
        self.ready.acquire().await.unwrap().forget();
        number
    }
}

/// A host of a skill with all states of this program, none of them built.
fn host(skill: &'static Skill) -> SkillSet {
    log::capture();
    SkillSet::new(&Registry::from_skills([skill]).unwrap()).unwrap()
}

/// Starts a call; gives the number or the failure as callers see it.
fn start(host: &SkillSet, skill: &'static Skill, id: &str) -> impl Future<Output = Value> + Send + use<> {
    let (host, meta) = (host.clone(), meta(id));
    async move {
        let completed = call_on(&host, skill, &json!({}), meta).await;
        match completed.into_parts().0 {
            Ok(outputs) => serde_json::from_slice::<Value>(&outputs).unwrap()["result"].clone(),
            Err(error) => json!([error.code(), error.is_retryable()]),
        }
    }
}

fn unavailable() -> Value {
    json!(["state_unavailable", true])
}

mod shared {
    use super::*;

    static WORKSHOP: Workshop = Workshop::new();
    struct Number(u32);

    #[state]
    async fn number() -> Number {
        Number(WORKSHOP.build().await)
    }

    /// The number of the shared value.
    #[skill("states.shared", version = "1", side_effects = "none", risk = "low")]
    async fn shared(ctx: SkillContext) -> Result<u32, SkillError> {
        let _body = Body::begins(&ctx);
        Ok(ctx.state::<Number>().await?.0)
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn fifty_callers_at_once_build_one_value() {
        let host = host(shared::SKILL);
        assert_eq!(
            WORKSHOP.built.load(SeqCst),
            0,
            "nothing is built before it is used"
        );
        let mut signs = Signs::of_call("fifty");
        let mut calls = JoinSet::new();
        for _ in 0..50 {
            calls.spawn(start(&host, shared::SKILL, "fifty"));
        }
        for _ in 0..50 {
            signs.started().await;
        }
        WORKSHOP.ready.add_permits(50);
        let numbers = calls.join_all().await;
        assert_eq!(numbers, vec![json!(1); 50]);
        assert_eq!(start(&host, shared::SKILL, "later").await, json!(1));
        assert_eq!(WORKSHOP.built.load(SeqCst), 1);
    }
}

mod failing {
    use super::*;

    static WORKSHOP: Workshop = Workshop::new();
    struct Number(u32);

    #[state]
    async fn number() -> Result<Number, std::io::Error> {
        match WORKSHOP.build().await {
            1 => Err(std::io::Error::other("hunter2")),
            number => Ok(Number(number)),
        }
    }

    /// The number of the shared value.
    #[skill("states.failing", version = "1", side_effects = "none", risk = "low")]
    async fn failing(ctx: SkillContext) -> Result<u32, SkillError> {
        let _body = Body::begins(&ctx);
        Ok(ctx.state::<Number>().await?.0)
    }

    #[tokio::test]
    async fn a_failure_is_shared_and_tried_again_later() {
        let host = host(failing::SKILL);
        let mut signs = Signs::of_call("failing");
        let mut calls = JoinSet::new();
        for _ in 0..10 {
            calls.spawn(start(&host, failing::SKILL, "failing"));
        }
        for _ in 0..10 {
            signs.started().await;
        }
        WORKSHOP.ready.add_permits(2);
        assert_eq!(calls.join_all().await, vec![unavailable(); 10]);
        assert_eq!(WORKSHOP.built.load(SeqCst), 1);
        assert_eq!(start(&host, failing::SKILL, "failing").await, json!(2));
        // The reason is for the log, at each of the calls.
        let logged = log::of_call("failing");
        let told = logged
            .iter()
            .filter(|event| event.field("source").contains("hunter2"));
        assert_eq!(told.count(), 10, "{logged:?}");
    }
}

mod slow {
    use super::*;

    static WORKSHOP: Workshop = Workshop::new();
    static WORKSHOP_SYNC: Workshop = Workshop::new();
    struct Number(u32);
    struct SyncNumber(u32);

    #[state]
    async fn number() -> Number {
        Number(WORKSHOP.build().await)
    }

    #[state]
    fn sync_number() -> SyncNumber {
        SyncNumber(tokio::runtime::Handle::current().block_on(WORKSHOP_SYNC.build()))
    }

    /// The number of the shared value.
    #[skill("states.slow", version = "1", side_effects = "none", risk = "low")]
    async fn slow(ctx: SkillContext) -> Result<u32, SkillError> {
        let _body = Body::begins(&ctx);
        Ok(ctx.state::<Number>().await?.0)
    }

    /// The number of the shared value.
    #[skill("states.slow_sync", version = "1", side_effects = "none", risk = "low")]
    async fn slow_sync(ctx: SkillContext) -> Result<u32, SkillError> {
        let _body = Body::begins(&ctx);
        Ok(ctx.state::<SyncNumber>().await?.0)
    }

    #[tokio::test]
    async fn a_value_that_is_slower_than_its_calls_is_built_once_all_the_same() {
        for (skill, workshop) in [(slow::SKILL, &WORKSHOP), (slow_sync::SKILL, &WORKSHOP_SYNC)] {
            let (host, id) = (host(skill), skill.name());
            let mut signs = Signs::of_call(id);
            for call in 0..3 {
                let given_up = tokio::spawn(start(&host, skill, id));
                signs.started().await;
                if call == 0 {
                    let begun =
                        tokio::time::timeout(std::time::Duration::from_mins(1), workshop.begun.acquire());
                    begun.await.unwrap().unwrap().forget();
                }
                given_up.abort();
                signs.dropped().await;
            }
            let waiter = tokio::spawn(start(&host, skill, id));
            signs.started().await;
            workshop.ready.add_permits(10);
            assert_eq!(waiter.await.unwrap(), json!(1), "{id}");
            assert_eq!(start(&host, skill, id).await, json!(1), "{id}");
            assert_eq!(workshop.built.load(SeqCst), 1, "{id}");
        }
    }
}

mod panicking {
    use super::*;

    static BUILT: AtomicU32 = AtomicU32::new(0);
    static BUILT_SYNC: AtomicU32 = AtomicU32::new(0);
    struct Number(u32);
    struct SyncNumber(u32);

    fn build(built: &AtomicU32) -> u32 {
        let number = built.fetch_add(1, SeqCst) + 1;
        assert!(number > 1, "hunter2");
        number
    }

    #[state]
    async fn number() -> Number {
        tokio::task::yield_now().await;
        Number(build(&BUILT))
    }

    #[state]
    fn sync_number() -> SyncNumber {
        SyncNumber(build(&BUILT_SYNC))
    }

    /// The number of the shared value.
    #[skill("states.panicking", version = "1", side_effects = "none", risk = "low")]
    async fn panicking(ctx: SkillContext) -> Result<u32, SkillError> {
        Ok(ctx.state::<Number>().await?.0)
    }

    /// The number of the shared value.
    #[skill("states.panicking_sync", version = "1", side_effects = "none", risk = "low")]
    async fn panicking_sync(ctx: SkillContext) -> Result<u32, SkillError> {
        Ok(ctx.state::<SyncNumber>().await?.0)
    }

    #[tokio::test]
    async fn a_panic_is_a_failure_like_others() {
        skill_sdk::pipeline::install_panic_hook();
        for skill in [panicking::SKILL, panicking_sync::SKILL] {
            let host = host(skill);
            let id = format!("panic-{}", skill.name());
            assert_eq!(start(&host, skill, &id).await, unavailable(), "{id}");
            let logged = log::of_call(&id);
            assert!(
                logged
                    .iter()
                    .any(|event| event.field("source").contains("hunter2")),
                "{id}: {logged:?}"
            );
            assert_eq!(start(&host, skill, &id).await, json!(2), "{id}");
        }
    }
}

mod from_environment {
    use super::*;

    struct Greeting(String);

    #[state]
    fn greeting(environment: &Environment) -> Result<Greeting, SkillError> {
        tracing::info!("built");
        Ok(Greeting(environment.config("GREETING").unwrap_or_default()))
    }

    /// The greeting.
    #[skill("states.greeting", version = "1", side_effects = "none", risk = "low")]
    async fn greet(ctx: &SkillContext) -> Result<String, SkillError> {
        Ok(ctx.state::<Greeting>().await?.0.clone())
    }

    fn greeted(environment: Environment) -> Meta {
        let mut meta = meta("greeted");
        meta.environment = environment;
        meta
    }

    #[tokio::test]
    async fn it_is_built_from_the_environment_of_the_call_and_logs_within_it() {
        let environment = Environment::from_vars([("GREETING".to_owned(), "hello".to_owned())]);
        let completed = call_on(
            &host(greet::SKILL),
            greet::SKILL,
            &json!({}),
            greeted(environment),
        )
        .await;
        assert_eq!(completed.result().unwrap(), br#"{"result":"hello"}"#);
        let logged = log::of_call("greeted");
        assert!(
            logged.iter().any(|event| event.message() == "built"),
            "{logged:?}"
        );
    }

    #[tokio::test]
    async fn a_value_may_be_given_and_a_missing_one_is_unavailable() {
        log::capture();
        let given = States::default().with(Greeting("given".to_owned()));
        let host = SkillSet::with_states([greet::SKILL], given).unwrap();
        assert_eq!(start(&host, greet::SKILL, "given").await, json!("given"));
        let host = SkillSet::with_states([greet::SKILL], States::default()).unwrap();
        assert_eq!(start(&host, greet::SKILL, "missing").await, unavailable());
    }
}
