//! The platform services of the context: over real HTTP to a mock of the platform, and with the fakes.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a panic in a test is a failed test"
)]

mod artifacts;
mod connections;
mod credential_leaks;
mod fakes;
mod faulty_server;
mod knowledge;
mod mock_platform;
mod mock_secret_store;

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::json;
use skill_sdk::context::Meta;
use skill_sdk::testing::{Invoke, invoke};
use skill_sdk::{Environment, SkillContext, skill};
use tokio::sync::oneshot;

/// The context of a call with only these environment variables.
fn context(variables: impl IntoIterator<Item = (String, String)>) -> SkillContext {
    within(variables, None)
}

/// The context of a call with this timeout.
fn within(variables: impl IntoIterator<Item = (String, String)>, time: Option<Duration>) -> SkillContext {
    let mut meta = Meta::new("test");
    meta.environment = Environment::from_vars(variables);
    meta.timeout = time;
    SkillContext::new("a@1", meta)
}

/// The tests that wait for the context of a call, by its number.
static BORROWERS: Mutex<Option<HashMap<u64, oneshot::Sender<SkillContext>>>> = Mutex::new(None);

/// Sends its context to the test, and keeps running until the test ends.
#[skill("services.lend", version = "1", side_effects = "none", risk = "low")]
async fn lend(number: u64, ctx: SkillContext) {
    let borrower = BORROWERS.lock().unwrap().as_mut().unwrap().remove(&number);
    borrower.unwrap().send(ctx).unwrap();
    std::future::pending::<()>().await;
}

/// The context of a call with fakes, which is valid until the end of the test.
async fn borrowed_context(prepare: impl FnOnce(Invoke) -> Invoke) -> SkillContext {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let (borrower, context) = oneshot::channel();
    BORROWERS
        .lock()
        .unwrap()
        .get_or_insert_default()
        .insert(number, borrower);
    let call = invoke(lend::SKILL, json!({"number": number})).timeout(Duration::from_hours(1));
    tokio::spawn(prepare(call).into_future());
    context.await.unwrap()
}
