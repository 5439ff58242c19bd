//! States: values that all calls share.

use std::future::Future;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use serde_json::{Value, json};
use skill_sdk::context::States;
use skill_sdk::pipeline::{Meta, SkillSet};
use skill_sdk::{Environment, Registry, Skill, SkillContext, SkillError, skill, state};
use skill_sdk_tests::log;
use skill_sdk_tests::skill_events::{Body, SkillEvents};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::{call_on, meta};

/// Counts how often a state is built, and lets the test decide when it is ready.
struct Builder {
    built: AtomicU32,
    /// A permit for each build that was started.
    begun: Semaphore,
    ready: Semaphore,
}

impl Builder {
    const fn new() -> Self {
        Self {
            built: AtomicU32::new(0),
            begun: Semaphore::const_new(0),
            ready: Semaphore::const_new(0),
        }
    }

    /// Builds one more once the test allows it, and returns its number.
    async fn build(&self) -> u32 {
        let number = self.built.fetch_add(1, SeqCst) + 1;
        self.begun.add_permits(1);
        self.ready.acquire().await.unwrap().forget();
        number
    }
}

/// A skill set with one skill and all states of this program, none of them built.
fn skill_set(skill: &'static Skill) -> SkillSet {
    log::capture();
    SkillSet::new(&Registry::from_skills([skill]).unwrap()).unwrap()
}

/// Starts a call. It returns the number, or the failure as callers see it.
fn start(
    skill_set: &SkillSet,
    skill: &'static Skill,
    id: &str,
) -> impl Future<Output = Value> + Send + use<> {
    let (skill_set, meta) = (skill_set.clone(), meta(id));
    async move {
        let completed = call_on(&skill_set, skill, &json!({}), meta).await;
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

    static WORKSHOP: Builder = Builder::new();
    struct Number(u32);

    #[state]
    async fn number() -> Number {
        Number(WORKSHOP.build().await)
    }

    /// Returns the number of the state.
    #[skill("states.shared", version = "1", side_effects = "none", risk = "low")]
    async fn shared(ctx: SkillContext) -> Result<u32, SkillError> {
        let _body = Body::begins(&ctx);
        Ok(ctx.state::<Number>().await?.0)
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn concurrent_callers_build_one_value() {
        let skill_set = skill_set(shared::SKILL);
        assert_eq!(WORKSHOP.built.load(SeqCst), 0, "a state is built on first use");
        let mut events = SkillEvents::of_call("fifty");
        let mut calls = JoinSet::new();
        for _ in 0..50 {
            calls.spawn(start(&skill_set, shared::SKILL, "fifty"));
        }
        for _ in 0..50 {
            events.started().await;
        }
        WORKSHOP.ready.add_permits(50);
        let numbers = calls.join_all().await;
        assert_eq!(numbers, vec![json!(1); 50]);
        assert_eq!(start(&skill_set, shared::SKILL, "later").await, json!(1));
        assert_eq!(WORKSHOP.built.load(SeqCst), 1);
    }
}

mod failing {
    use super::*;

    static WORKSHOP: Builder = Builder::new();
    struct Number(u32);

    #[state]
    async fn number() -> Result<Number, std::io::Error> {
        match WORKSHOP.build().await {
            1 => Err(std::io::Error::other("hunter2")),
            number => Ok(Number(number)),
        }
    }

    /// Returns the number of the state.
    #[skill("states.failing", version = "1", side_effects = "none", risk = "low")]
    async fn failing(ctx: SkillContext) -> Result<u32, SkillError> {
        let _body = Body::begins(&ctx);
        Ok(ctx.state::<Number>().await?.0)
    }

    #[tokio::test]
    async fn a_failed_build_is_shared_and_retried_later() {
        let skill_set = skill_set(failing::SKILL);
        let mut events = SkillEvents::of_call("failing");
        let mut calls = JoinSet::new();
        for _ in 0..10 {
            calls.spawn(start(&skill_set, failing::SKILL, "failing"));
        }
        for _ in 0..10 {
            events.started().await;
        }
        WORKSHOP.ready.add_permits(2);
        assert_eq!(calls.join_all().await, vec![unavailable(); 10]);
        assert_eq!(WORKSHOP.built.load(SeqCst), 1);
        assert_eq!(start(&skill_set, failing::SKILL, "failing").await, json!(2));
        // The reason is logged for each of the calls.
        let logged = log::of_call("failing");
        let told = logged
            .iter()
            .filter(|event| event.field("source").contains("hunter2"));
        assert_eq!(told.count(), 10, "{logged:?}");
    }
}

mod slow {
    use super::*;

    static WORKSHOP: Builder = Builder::new();
    static WORKSHOP_SYNC: Builder = Builder::new();
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

    /// Returns the number of the state.
    #[skill("states.slow", version = "1", side_effects = "none", risk = "low")]
    async fn slow(ctx: SkillContext) -> Result<u32, SkillError> {
        let _body = Body::begins(&ctx);
        Ok(ctx.state::<Number>().await?.0)
    }

    /// Returns the number of the state.
    #[skill("states.slow_sync", version = "1", side_effects = "none", risk = "low")]
    async fn slow_sync(ctx: SkillContext) -> Result<u32, SkillError> {
        let _body = Body::begins(&ctx);
        Ok(ctx.state::<SyncNumber>().await?.0)
    }

    #[tokio::test]
    async fn a_slow_build_outlives_the_calls_that_wait_for_it() {
        for (skill, workshop) in [(slow::SKILL, &WORKSHOP), (slow_sync::SKILL, &WORKSHOP_SYNC)] {
            let (skill_set, id) = (skill_set(skill), skill.name());
            let mut events = SkillEvents::of_call(id);
            for call in 0..3 {
                let given_up = tokio::spawn(start(&skill_set, skill, id));
                events.started().await;
                if call == 0 {
                    let begun =
                        tokio::time::timeout(std::time::Duration::from_mins(1), workshop.begun.acquire());
                    begun.await.unwrap().unwrap().forget();
                }
                given_up.abort();
                events.dropped().await;
            }
            let waiter = tokio::spawn(start(&skill_set, skill, id));
            events.started().await;
            workshop.ready.add_permits(10);
            assert_eq!(waiter.await.unwrap(), json!(1), "{id}");
            assert_eq!(start(&skill_set, skill, id).await, json!(1), "{id}");
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

    /// Returns the number of the state.
    #[skill("states.panicking", version = "1", side_effects = "none", risk = "low")]
    async fn panicking(ctx: SkillContext) -> Result<u32, SkillError> {
        Ok(ctx.state::<Number>().await?.0)
    }

    /// Returns the number of the state.
    #[skill("states.panicking_sync", version = "1", side_effects = "none", risk = "low")]
    async fn panicking_sync(ctx: SkillContext) -> Result<u32, SkillError> {
        Ok(ctx.state::<SyncNumber>().await?.0)
    }

    #[tokio::test]
    async fn a_panic_is_a_failed_build() {
        skill_sdk::pipeline::install_panic_hook();
        for skill in [panicking::SKILL, panicking_sync::SKILL] {
            let skill_set = skill_set(skill);
            let id = format!("panic-{}", skill.name());
            assert_eq!(start(&skill_set, skill, &id).await, unavailable(), "{id}");
            let logged = log::of_call(&id);
            assert!(
                logged
                    .iter()
                    .any(|event| event.field("source").contains("hunter2")),
                "{id}: {logged:?}"
            );
            assert_eq!(start(&skill_set, skill, &id).await, json!(2), "{id}");
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

    /// Returns the greeting.
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
    async fn a_build_sees_the_environment_and_the_span_of_the_call() {
        let environment = Environment::from_vars([("GREETING".to_owned(), "hello".to_owned())]);
        let completed = call_on(
            &skill_set(greet::SKILL),
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
    async fn states_can_be_provided_and_missing_ones_fail() {
        log::capture();
        let given = States::default().with(Greeting("given".to_owned()));
        let skill_set = SkillSet::with_states([greet::SKILL], given).unwrap();
        assert_eq!(start(&skill_set, greet::SKILL, "given").await, json!("given"));
        let skill_set = SkillSet::with_states([greet::SKILL], States::default()).unwrap();
        assert_eq!(start(&skill_set, greet::SKILL, "missing").await, unavailable());
    }
}
