//! What a call allocates that uses no service: the same number with all services compiled in as with none.
//!
//! The number below is asserted in each build that runs this test, and there are two: one with the feature `runtime` alone, one with
//! all features. So what a service would allocate beside calls that do not use it makes one of the two fail.

#![cfg(feature = "runtime")]
#![allow(clippy::unwrap_used, reason = "a panic of a test program is a failed test")]
#![allow(
    clippy::unused_async,
    clippy::needless_pass_by_value,
    reason = "the skill has the shape that is measured"
)]

use allocation_counter::{AllocationInfo, measure};
use skill_sdk::context::States;
use skill_sdk::pipeline::{Call, Meta, SkillSet};
use skill_sdk::{Environment, SkillContext, skill};
use tokio::runtime::{Builder, Runtime};

/// How often the smallest call allocates: the inputs, the context, the future, the outputs. A change of the pipeline may
/// change it, in both builds.
const OF_A_CALL: u64 = 6;

/// Adds two numbers.
#[skill("sum.add", version = "1", side_effects = "none", risk = "low")]
async fn add(left: i64, right: i64, ctx: &SkillContext) -> i64 {
    let _ = ctx;
    left + right
}

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

fn call(host: &SkillSet, runtime: &Runtime, meta: Meta) {
    let runnable = host.get("sum.add@1").unwrap();
    let call = Call::json(&b"{\"left\": 1, \"right\": 2}"[..], meta);
    let completed = runtime.block_on(host.call(runnable, call));
    assert_eq!(completed.result().unwrap(), b"{\"result\":3}");
}

/// What one call takes, when all that is made once is there.
fn measured(host: &SkillSet, runtime: &Runtime, meta: impl Fn() -> Meta) -> AllocationInfo {
    for _ in 0..3 {
        call(host, runtime, meta());
    }
    let meta = meta();
    measure(|| call(host, runtime, meta))
}

#[test]
fn services_that_are_not_used_allocate_nothing() {
    let host = SkillSet::with_states([add::SKILL], States::default()).unwrap();
    let runtime = runtime();
    let plain = measured(&host, &runtime, || Meta::new("test"));
    assert_eq!(plain.count_total, OF_A_CALL, "{plain:?}");
    assert_eq!(plain.count_current, 0, "all of it is given back: {plain:?}");

    // A host that has a model, a core and a store configured makes no client for a call that asks for none.
    let variables = [
        ("SKILL_LLM_BASE_URL", "http://127.0.0.1:9/v1"),
        ("SKILL_LLM_API_KEY", "key"),
        ("SKILL_LLM_MODELS", "a"),
        ("CONTROL_PLANE_URL", "http://127.0.0.1:9"),
        ("CONTROL_PLANE_API_KEY", "key"),
        ("SKILL_SDK_SECRET_STORE_URL", "http://127.0.0.1:9"),
    ];
    let configured = measured(&host, &runtime, || {
        let mut meta = Meta::new("test");
        let owned = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        meta.environment = Environment::from_vars(owned);
        meta
    });
    assert_eq!(configured.count_total, plain.count_total, "{configured:?}");
    assert_eq!(configured.bytes_total, plain.bytes_total, "{configured:?}");
}

/// Once a service was used, calls that do not use it cost what they did before.
#[cfg(all(feature = "llm", feature = "connections"))]
#[test]
fn services_that_others_use_allocate_nothing() {
    /// Makes every client.
    #[skill("clients.make", version = "1", side_effects = "none", risk = "low")]
    async fn make(ctx: &SkillContext) -> bool {
        let llm = ctx.llm().is_err();
        let artifact = ctx.artifacts().read("a").await.is_err();
        llm && artifact && ctx.connection("crm").await.is_err()
    }

    let host = SkillSet::with_states([add::SKILL, make::SKILL], States::default()).unwrap();
    let runtime = runtime();
    let before = measured(&host, &runtime, || Meta::new("test"));
    let mut meta = Meta::new("test");
    meta.environment =
        Environment::from_vars([("CONTROL_PLANE_URL".to_owned(), "http://127.0.0.1:9".to_owned())]);
    let runnable = host.get("clients.make@1").unwrap();
    let completed = runtime.block_on(host.call(runnable, Call::json(&b"{}"[..], meta)));
    assert_eq!(completed.result().unwrap(), b"{\"result\":true}");
    let after = measured(&host, &runtime, || Meta::new("test"));
    assert_eq!(after.count_total, before.count_total);
    assert_eq!(after.bytes_total, before.bytes_total);
}
