//! A host that lives for one caller: it ends with the process that started it, and what it started ends with it.
//!
//! The host leads a group of processes of its own. Whatever a skill starts belongs to it, unless it leaves it on purpose,
//! and the last thing that the host does is to end it. A host that was killed cannot do that; the caller that is still there
//! then ends the group, whose number is that of the host.

use super::Refusal;

/// The caller of a host, and the group that the host leads.
#[cfg(unix)]
#[derive(Debug, Clone, Copy)]
pub(super) struct Family {
    parent: u32,
    /// A group that the host can leave its own for; the leader of a session has none.
    elsewhere: Option<rustix::process::Pid>,
}

#[cfg(unix)]
impl Family {
    /// Becomes the leader of a group of its own, and on Linux has the system tell this process to stop when `parent`, which
    /// started it, is gone.
    pub(super) fn of(parent: u32) -> Result<Self, Refusal> {
        use rustix::process::{getpgid, getpgrp, getpid, getppid, getsid, setpgid};

        let before = getpgrp();
        let elsewhere = if before != getpid() {
            setpgid(None, None).map_err(|error| format!("cannot lead a group of processes: {error}"))?;
            Some(before)
        } else if getsid(None) == Ok(before) {
            None
        } else {
            // Whoever started it made it the leader.
            getpgid(getppid()).ok()
        };
        follow(parent)?;
        let family = Self { parent, elsewhere };
        // It may have gone before.
        if family.lost_its_parent() {
            return Err(format!(
                "the process {parent}, for which this host was started, is gone"
            ));
        }
        Ok(family)
    }

    /// Whether the process that started this one is gone.
    pub(super) fn lost_its_parent(self) -> bool {
        let parent = rustix::process::getppid();
        parent.is_none_or(|pid| pid.as_raw_nonzero().get().cast_unsigned() != self.parent)
    }

    /// Ends all other processes of the group. Where it cannot leave them, as the leader of a session, it asks them to end,
    /// which is nothing to itself, since it listens to that signal.
    pub(super) fn end(self) {
        use rustix::process::{Signal, getpid, kill_process_group, setpgid};

        let left = self
            .elsewhere
            .is_some_and(|group| setpgid(None, Some(group)).is_ok());
        // When nobody is left to see how this process ends, it may end with the others.
        let signal = if left || self.lost_its_parent() {
            Signal::KILL
        } else {
            Signal::TERM
        };
        // There may be none. As long as this process lives, nobody else's group has its number.
        let _ = kill_process_group(getpid(), signal);
    }
}

#[cfg(target_os = "linux")]
fn follow(parent: u32) -> Result<(), Refusal> {
    use rustix::process::{Signal, set_parent_process_death_signal};

    set_parent_process_death_signal(Some(Signal::TERM))
        .map_err(|error| format!("cannot follow the process {parent}: {error}"))
}

/// The end of the input tells as much.
#[cfg(all(unix, not(target_os = "linux")))]
fn follow(_: u32) -> Result<(), Refusal> {
    Ok(())
}

/// The caller of a host.
#[cfg(not(unix))]
#[derive(Debug, Clone, Copy)]
pub(super) struct Family;

#[cfg(not(unix))]
impl Family {
    /// The end of the input tells when the caller is gone.
    pub(super) fn of(_: u32) -> Result<Self, Refusal> {
        Ok(Self)
    }

    pub(super) fn lost_its_parent(self) -> bool {
        false
    }

    pub(super) fn end(self) {}
}
