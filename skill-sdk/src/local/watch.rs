//! Looks after threads that a call keeps.
//!
//! A thread that reads and runs calls itself may be kept, by a call or by a client that does not read: then another one gets
//! the turn to read. And a call that is over its time is answered although its code still runs, wherever it does.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use super::connection::Connection;
use crate::pipeline::timed_out;

/// How long a thread may be kept before another one reads on.
const TICK: Duration = Duration::from_millis(4);

/// After so many ticks calls are looked at.
const CALLS: u32 = 16;

/// After so many ticks without a call the watch sleeps.
const QUIET: u32 = 250;

/// Looks after all readers of a host.
pub(super) struct Watch {
    slots: Mutex<Vec<Arc<Slot>>>,
    connections: Mutex<Vec<Weak<Connection>>>,
    sleep: Arc<Sleep>,
}

struct Sleep {
    /// Something happened since the last look.
    active: AtomicBool,
    asleep: AtomicBool,
    state: Mutex<bool>,
    woken: Condvar,
}

/// What one thread that reads is doing.
pub(super) struct Slot {
    connection: Weak<Connection>,
    turn: u64,
    /// Since when it runs a call or writes, in nanoseconds of `epoch`; 0 while it reads.
    busy: AtomicU64,
    epoch: Instant,
    sleep: Arc<Sleep>,
}

impl Watch {
    /// Starts the watch. It ends when nobody holds it any more.
    pub(super) fn start() -> std::io::Result<Arc<Self>> {
        let watch = Arc::new(Self {
            slots: Mutex::default(),
            connections: Mutex::default(),
            sleep: Arc::new(Sleep {
                active: AtomicBool::new(false),
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
            busy: AtomicU64::new(0),
            epoch: Instant::now(),
            sleep: Arc::clone(&self.sleep),
        });
        self.slots().push(Arc::clone(&slot));
        SlotGuard { watch: self, slot }
    }

    /// Looks after the calls of a client too.
    pub(super) fn add(&self, connection: &Arc<Connection>) {
        self.connections().push(Arc::downgrade(connection));
    }

    /// Looks after a call that runs elsewhere.
    pub(super) fn stir(&self) {
        self.sleep.stir();
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

    /// Answers the calls that are over their time; says whether there are any calls.
    fn look_at_calls(&self) -> bool {
        let mut connections = Vec::new();
        self.connections().retain(|connection| {
            let there = connection.upgrade();
            let keep = there.is_some();
            connections.extend(there);
            keep
        });
        let mut any = false;
        for connection in connections {
            let (over, open) = connection.calls.over_time();
            any |= open;
            let late = !over.is_empty();
            for (accepted, context) in over {
                connection.calls.answer(&accepted, &timed_out(&context));
            }
            if late {
                connection.output.write_later();
            }
        }
        any
    }

    fn connections(&self) -> MutexGuard<'_, Vec<Weak<Connection>>> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
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
    let (mut quiet, mut ticks, mut open) = (0, 0, false);
    loop {
        {
            let Some(watch) = watch.upgrade() else {
                return;
            };
            let busy = watch.look();
            let active = sleep.active.swap(false, Ordering::SeqCst);
            ticks = (ticks + 1) % CALLS;
            if ticks == 0 {
                open = watch.look_at_calls();
            }
            quiet = if busy || active || open { 0 } else { quiet + 1 };
            if quiet > QUIET {
                quiet = 0;
                sleep.asleep.store(true, Ordering::SeqCst);
                // A call that began meanwhile did not see that it has to wake the watch.
                if sleep.active.load(Ordering::SeqCst) {
                    sleep.asleep.store(false, Ordering::SeqCst);
                }
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

    /// Sees to it that the watch looks.
    fn stir(&self) {
        // Most calls find it set: then the watch looks at least once more before it sleeps.
        if !self.active.load(Ordering::SeqCst) {
            self.active.store(true, Ordering::SeqCst);
        }
        if self.asleep.load(Ordering::SeqCst) {
            self.wake();
        }
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
    /// The thread runs a call or writes from now on.
    pub(super) fn busy(&self, since: Instant) {
        let since = since.saturating_duration_since(self.epoch).as_nanos();
        let since = u64::try_from(since).unwrap_or(u64::MAX);
        self.busy.store(since.max(1), Ordering::Release);
        self.sleep.stir();
    }

    /// The thread is not kept by anything.
    pub(super) fn idle(&self) {
        self.busy.store(0, Ordering::Release);
    }

    fn look(&self) -> bool {
        let since = self.busy.load(Ordering::Acquire);
        if since == 0 {
            return false;
        }
        let kept = self.epoch.elapsed().saturating_sub(Duration::from_nanos(since));
        if kept >= TICK
            && let Some(connection) = self.connection.upgrade()
        {
            connection.pass_turn(self.turn);
        }
        true
    }
}
