//! One shared value: who builds it, and who waits for it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use tracing::Instrument;

use super::{StateDeclaration, Value, Work, unavailable};
use crate::environment::Environment;
use crate::error::SkillError;

/// How long an asynchronous build may take. Without a limit a build that hangs would keep the value from all calls for ever.
const MAX_BUILD_TIME: Duration = Duration::from_mins(10);

/// A build and its result, for all who wait for it.
type Building = Shared<BoxFuture<'static, Result<Value, SkillError>>>;

/// One shared value.
pub(super) enum Slot {
    /// A value that was given.
    Given(Value),
    /// A value that is built on first use.
    Declared(&'static StateDeclaration, Mutex<Option<Building>>),
}

impl Slot {
    pub(super) async fn get(&self, environment: &Environment) -> Result<Value, SkillError> {
        let building = match self {
            Self::Given(value) => return Ok(Arc::clone(value)),
            Self::Declared(declaration, building) => {
                let mut building = building.lock().unwrap_or_else(PoisonError::into_inner);
                // A build that failed is tried again. Those who waited for it still get its failure.
                building.take_if(|known| matches!(known.clone().now_or_never(), Some(Err(_))));
                building
                    .get_or_insert_with(|| start(declaration, environment.clone()))
                    .clone()
            }
        };
        building.await
    }
}

/// Starts to build in a task, so that the build goes on when the call that started it ends. Its events belong to that call.
fn start(declaration: &'static StateDeclaration, environment: Environment) -> Building {
    let task = match declaration.builder.build(environment).0 {
        Work::Asynchronous(work) => {
            let limited = async {
                let built = tokio::time::timeout(MAX_BUILD_TIME, work).await;
                built.unwrap_or_else(|_| {
                    let minutes = MAX_BUILD_TIME.as_secs() / 60;
                    let message = format!("it took longer than {minutes} minutes");
                    Err(SkillError::retryable("timeout", message))
                })
            };
            tokio::spawn(limited.in_current_span())
        }
        // No limit: a thread cannot be stopped, and a second build would run beside it.
        Work::Blocking(work) => {
            let span = tracing::Span::current();
            tokio::task::spawn_blocking(move || span.in_scope(work))
        }
    };
    let name = declaration.type_name();
    let built = task.map(move |ended| {
        let built = ended.unwrap_or_else(|panic| Err(SkillError::crash("panic").with_source(panic)));
        built.map_err(|error| failed(name, error))
    });
    built.boxed().shared()
}

/// An error that the author classified is meant for callers; any other error is for the log.
fn failed(name: &str, error: SkillError) -> SkillError {
    let why = if error.is_crash() {
        "building it failed".to_owned()
    } else {
        format!("building it failed: {error}")
    };
    unavailable(name, &why).with_source(error)
}
