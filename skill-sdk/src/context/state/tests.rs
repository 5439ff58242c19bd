//! Who is told what, in orders that calls of a host reach by chance only.

use std::pin::pin;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::task::{Context, Poll, Waker};

use tokio::sync::Semaphore;
use tokio::time::Instant;

use super::*;

/// A builder that fails with the number of its try, once it is told to.
#[derive(Clone)]
struct Failing(Arc<Tries>);

struct Tries {
    begun: AtomicU32,
    each: Semaphore,
    go_on: Semaphore,
}

/// The slot of a value that cannot be built. Declarations last as long as the program.
fn failing() -> (Failing, Arc<Slot>) {
    let failing = Failing(Arc::new(Tries {
        begun: AtomicU32::new(0),
        each: Semaphore::new(0),
        go_on: Semaphore::new(0),
    }));
    let builder: &'static Failing = Box::leak(Box::new(failing.clone()));
    (failing, {
        let builder: Option<&'static dyn StateBuilder> = Some(builder);
        Arc::new(Slot {
            builder,
            ..Slot::default()
        })
    })
}

impl Failing {
    /// One more try began.
    async fn began(&self) {
        self.0.each.acquire().await.unwrap().forget();
    }
}

impl StateBuilder for Failing {
    fn type_id(&self) -> TypeId {
        TypeId::of::<u32>()
    }

    fn type_name(&self) -> &'static str {
        "Number"
    }

    fn build(&self, _: Environment) -> Build {
        let tries = Arc::clone(&self.0);
        Build::Asynchronous(Box::pin(async move {
            let number = tries.begun.fetch_add(1, SeqCst) + 1;
            tries.each.add_permits(1);
            tries.go_on.acquire().await.unwrap().forget();
            Err(SkillError::retryable("down", format!("try {number}")))
        }))
    }
}

fn polled(get: std::pin::Pin<&mut impl Future<Output = Result<Shared, SkillError>>>) -> Option<String> {
    match get.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(ended) => Some(ended.unwrap_err().message().to_owned()),
        Poll::Pending => None,
    }
}

#[tokio::test]
async fn a_failure_reaches_those_who_waited_also_when_the_next_try_began_before_they_looked() {
    let (failing, slot) = failing();
    let environment = Environment::process();
    let mut builds = pin!(slot.get("Number", &environment));
    let mut waits = pin!(slot.get("Number", &environment));
    assert_eq!((polled(builds.as_mut()), polled(waits.as_mut())), (None, None));
    failing.began().await;
    failing.0.go_on.add_permits(1);
    // Both were woken, and somebody else was faster.
    let mut next = pin!(slot.get("Number", &environment));
    while slot.is_building() {
        tokio::task::yield_now().await;
    }
    assert_eq!(polled(next.as_mut()), None);
    failing.began().await;
    for told in [polled(builds.as_mut()), polled(waits.as_mut())] {
        let told = told.unwrap();
        assert!(told.contains("try 1"), "{told}");
    }
    // An old failure is not that of the new try.
    assert_eq!(polled(next.as_mut()), None);
    failing.0.go_on.add_permits(1);
    let told = next.await.unwrap_err();
    assert!(told.message().contains("try 2"), "{told}");
}

#[tokio::test(start_paused = true)]
async fn a_build_that_hangs_is_given_up_and_tried_again() {
    let (failing, slot) = failing();
    for number in 1..=2 {
        let began = Instant::now();
        let error = slot.get("Number", &Environment::process()).await.unwrap_err();
        assert_eq!((error.code(), error.is_retryable()), ("state_unavailable", true));
        assert!(error.message().contains("longer than 10 minutes"), "{error}");
        assert_eq!(began.elapsed().as_secs(), 600);
        assert_eq!(failing.0.begun.load(SeqCst), number);
    }
}
