//! Looks after threads that read and run calls themselves.
//!
//! Such a thread may be kept, by a call or by a client that does not read. Then another one gets the turn to read; and a
//! call that is over its time is answered although its code still runs.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use super::calls::Accepted;
use super::connection::Connection;
use crate::context::SkillContext;
use crate::pipeline::timed_out;

/// How long a thread may be kept before another one reads on.
const TICK: Duration = Duration::from_millis(4);

/// After so many ticks without a call the watch sleeps.
const QUIET: u32 = 250;

/// Looks after all readers of a host.
pub(super) struct Watch {
    slots: Mutex<Vec<Arc<Slot>>>,
    /// A thread was busy since the last look.
    active: Arc<AtomicBool>,
    sleep: Arc<Sleep>,
}

struct Sleep {
    asleep: AtomicBool,
    state: Mutex<bool>,
    woken: Condvar,
}

/// What one thread that reads is doing.
pub(super) struct Slot {
    connection: Weak<Connection>,
    turn: u64,
    doing: Mutex<Doing>,
    active: Arc<AtomicBool>,
    sleep: Arc<Sleep>,
}

enum Doing {
    /// Reading, or nothing any more.
    Idle,
    Writing(Instant),
    Running {
        since: Instant,
        accepted: Arc<Accepted>,
        context: SkillContext,
        timed_out: bool,
    },
}

impl Watch {
    /// Starts the watch. It ends when nobody holds it any more.
    pub(super) fn start() -> std::io::Result<Arc<Self>> {
        let watch = Arc::new(Self {
            slots: Mutex::default(),
            active: Arc::new(AtomicBool::new(false)),
            sleep: Arc::new(Sleep {
                asleep: AtomicBool::new(false),
                state: Mutex::new(false),
                woken: Condvar::new(),
            }),
        });
        let (weak, sleep) = (Arc::downgrade(&watch), Arc::clone(&watch.sleep));
        thread::Builder::new()
            .name("skill-local-watch".into())
            .spawn(move || watch_over(&weak, &sleep))?;
        Ok(watch)
    }

    /// A place for a thread that reads.
    pub(super) fn slot(&self, connection: &Arc<Connection>, turn: u64) -> SlotGuard<'_> {
        let slot = Arc::new(Slot {
            connection: Arc::downgrade(connection),
            turn,
            doing: Mutex::new(Doing::Idle),
            active: Arc::clone(&self.active),
            sleep: Arc::clone(&self.sleep),
        });
        self.slots().push(Arc::clone(&slot));
        SlotGuard { watch: self, slot }
    }

    /// Looks at all threads once; says whether any is busy.
    fn look(&self) -> bool {
        let slots: Vec<Arc<Slot>> = self.slots().clone();
        let mut busy = false;
        for slot in slots {
            busy |= slot.look();
        }
        busy
    }

    fn slots(&self) -> MutexGuard<'_, Vec<Arc<Slot>>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.sleep.wake();
    }
}

fn watch_over(watch: &Weak<Watch>, sleep: &Sleep) {
    let mut quiet = 0;
    loop {
        {
            let Some(watch) = watch.upgrade() else {
                return;
            };
            let busy = watch.look();
            let active = watch.active.swap(false, Ordering::SeqCst);
            quiet = if busy || active { 0 } else { quiet + 1 };
            if quiet > QUIET {
                sleep.asleep.store(true, Ordering::SeqCst);
                // A call that began meanwhile did not see that it has to wake the watch.
                if watch.active.load(Ordering::SeqCst) {
                    sleep.asleep.store(false, Ordering::SeqCst);
                }
                quiet = 0;
            }
        }
        sleep.pause();
    }
}

impl Sleep {
    /// One tick, or until somebody wakes the watch.
    fn pause(&self) {
        let mut woken = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if self.asleep.load(Ordering::SeqCst) {
            while !*woken {
                woken = self.woken.wait(woken).unwrap_or_else(PoisonError::into_inner);
            }
        } else if !*woken {
            woken = self
                .woken
                .wait_timeout(woken, TICK)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
        *woken = false;
        self.asleep.store(false, Ordering::SeqCst);
    }

    fn wake(&self) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.woken.notify_one();
    }
}

/// The place of a thread, until it ends.
pub(super) struct SlotGuard<'a> {
    watch: &'a Watch,
    slot: Arc<Slot>,
}

impl std::ops::Deref for SlotGuard<'_> {
    type Target = Slot;

    fn deref(&self) -> &Slot {
        &self.slot
    }
}

impl Drop for SlotGuard<'_> {
    fn drop(&mut self) {
        self.watch.slots().retain(|slot| !Arc::ptr_eq(slot, &self.slot));
    }
}

impl Slot {
    /// The thread runs a call from now on.
    pub(super) fn running(&self, since: Instant, accepted: &Arc<Accepted>, context: SkillContext) {
        self.begin(Doing::Running {
            since,
            accepted: Arc::clone(accepted),
            context,
            timed_out: false,
        });
    }

    /// The thread writes from now on.
    pub(super) fn writing(&self) {
        self.begin(Doing::Writing(Instant::now()));
    }

    /// The thread is not kept by anything.
    pub(super) fn idle(&self) {
        let before = std::mem::replace(&mut *self.doing(), Doing::Idle);
        // Not under the lock: a context may hold the last of what an author made.
        drop(before);
    }

    fn begin(&self, doing: Doing) {
        *self.doing() = doing;
        self.active.store(true, Ordering::SeqCst);
        if self.sleep.asleep.load(Ordering::SeqCst) {
            self.sleep.wake();
        }
    }

    fn look(&self) -> bool {
        let mut over = None;
        let since = match &mut *self.doing() {
            Doing::Idle => return false,
            Doing::Writing(since) => *since,
            Doing::Running {
                since,
                accepted,
                context,
                timed_out,
            } => {
                if !*timed_out && context.remaining() == Some(Duration::ZERO) {
                    *timed_out = true;
                    over = Some((Arc::clone(accepted), context.clone()));
                }
                *since
            }
        };
        let Some(connection) = self.connection.upgrade() else {
            return true;
        };
        if since.elapsed() >= TICK && connection.has_turn(self.turn) {
            connection.pass_turn(self.turn);
        }
        if let Some((accepted, context)) = over {
            connection.calls.answer(&accepted, &timed_out(&context));
            connection.output.write_later();
        }
        true
    }

    fn doing(&self) -> MutexGuard<'_, Doing> {
        self.doing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
