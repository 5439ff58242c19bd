//! A host that lives for one caller: it ends with the process that started it, and what it started ends with it.
//!
//! The host leads a group of processes of its own. Whatever a skill starts belongs to it, unless it leaves it on purpose,
//! and the last thing that the host does is to end it. A host that was killed cannot do that; the caller that is still there
//! then ends the group, whose number is that of the host.

#[cfg(unix)]
use rustix::process::Pid;

use super::Refusal;

/// The caller of a host, and the group that the host leads.
#[cfg(unix)]
#[derive(Debug, Clone, Copy)]
pub(super) struct Family {
    parent: u32,
    /// A group for which the host may leave its own. The leader of a session cannot.
    elsewhere: Option<Pid>,
}

#[cfg(unix)]
impl Family {
    /// Becomes the leader of a group of its own, and on Linux has the system tell this process to stop when `parent`, which
    /// started it, is gone.
    pub(super) fn of(parent: u32) -> Result<Self, Refusal> {
        use rustix::io::Errno;
        use rustix::process::{getpid, getppid, setpgid};

        let others = |group: &Pid| *group != getpid();
        let elsewhere = group_of(getpid()).filter(others);
        // Whoever started it may have made it the leader.
        let elsewhere = elsewhere.or_else(|| group_of(getppid()?).filter(others));
        match setpgid(None, None) {
            // The leader of a session leads its group too.
            Ok(()) | Err(Errno::PERM) => {}
            Err(error) => return Err(format!("cannot lead a group of processes: {error}")),
        }
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

/// The group of a process. It is asked of the files of the system, since `getpgid` cannot be asked for a group that began
/// outside of this process's namespace, as in some containers: its number is 0, which `Pid` cannot hold.
#[cfg(target_os = "linux")]
fn group_of(process: Pid) -> Option<Pid> {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", process.as_raw_nonzero())).ok()?;
    // Its name, in parentheses, may hold anything. State and parent come before the group.
    let (_, fields) = stat.rsplit_once(')')?;
    Pid::from_raw(fields.split_ascii_whitespace().nth(2)?.parse().ok()?)
}

/// The group of a process.
#[cfg(all(unix, not(target_os = "linux")))]
fn group_of(process: Pid) -> Option<Pid> {
    rustix::process::getpgid(Some(process)).ok()
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
