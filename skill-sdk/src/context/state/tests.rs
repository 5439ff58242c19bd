//! What callers get from a build that fails.

use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::task::{Context, Poll, Waker};

use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::time::Instant;

use super::*;

/// Builds that fail with their number once a test lets them.
struct Builds {
    started: AtomicU32,
    may_end: Semaphore,
}

impl Builds {
    const fn new() -> Self {
        Self {
            started: AtomicU32::new(0),
            may_end: Semaphore::const_new(0),
        }
    }

    fn build(&'static self) -> Build<u32> {
        state_asynchronous(async {
            let number = self.started.fetch_add(1, SeqCst) + 1;
            self.may_end.acquire().await.unwrap().forget();
            Err(SkillError::retryable("down", format!("build {number}")))
        })
    }

    /// Waits until this many builds have started.
    async fn started(&self, number: u32) {
        while self.started.load(SeqCst) < number {
            tokio::task::yield_now().await;
        }
    }
}

fn states(build: fn(Environment) -> Build<u32>) -> States {
    let origin = Origin {
        package: "a",
        package_version: "0",
        module: "a",
        function: "number",
        file: "a.rs",
        line: 1,
        column: 1,
    };
    let declaration = StateDeclaration::new(origin, Box::leak(Box::new(build)));
    States::new([&*Box::leak(Box::new(declaration))])
}

/// The failure of a caller, if it has one by now.
fn failure(get: Pin<&mut impl Future<Output = Result<Arc<u32>, SkillError>>>) -> Option<String> {
    match get.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(ended) => Some(ended.unwrap_err().message().to_owned()),
        Poll::Pending => None,
    }
}

#[tokio::test]
async fn callers_get_the_failure_of_the_build_that_they_waited_for() {
    static BUILDS: Builds = Builds::new();
    let states = states(|_| BUILDS.build());
    let environment = Environment::process();
    let mut first = pin!(states.get::<u32>(&environment));
    let mut second = pin!(states.get::<u32>(&environment));
    assert_eq!((failure(first.as_mut()), failure(second.as_mut())), (None, None));
    BUILDS.started(1).await;
    BUILDS.may_end.add_permits(1);
    // The first build has ended, and a later caller starts the next one before the others are polled again.
    while Handle::current().metrics().num_alive_tasks() > 0 {
        tokio::task::yield_now().await;
    }
    let mut third = pin!(states.get::<u32>(&environment));
    assert_eq!(failure(third.as_mut()), None);
    BUILDS.started(2).await;
    for failed in [failure(first.as_mut()), failure(second.as_mut())] {
        let failed = failed.unwrap();
        assert!(failed.contains("build 1"), "{failed}");
    }
    assert_eq!(failure(third.as_mut()), None);
    BUILDS.may_end.add_permits(1);
    let failed = third.await.unwrap_err();
    assert!(failed.message().contains("build 2"), "{failed}");
}

#[tokio::test(start_paused = true)]
async fn a_build_that_hangs_fails_after_10_minutes_and_is_tried_again() {
    static BUILDS: Builds = Builds::new();
    let states = states(|_| BUILDS.build());
    for number in 1..=2 {
        let started = Instant::now();
        let error = states.get::<u32>(&Environment::process()).await.unwrap_err();
        assert_eq!((error.code(), error.is_retryable()), ("state_unavailable", true));
        assert!(error.message().contains("longer than 10 minutes"), "{error}");
        assert_eq!(started.elapsed().as_secs(), 600);
        assert_eq!(BUILDS.started.load(SeqCst), number);
    }
}
