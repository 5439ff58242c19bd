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
    /// Groups for which the host may leave its own: the one that it was in, and that of its parent. The leader of a session
    /// cannot.
    elsewhere: [Option<Pid>; 2],
}

#[cfg(unix)]
impl Family {
    /// Becomes the leader of a group of its own, and on Linux has the system tell this process to stop when `parent`, which
    /// started it, is gone.
    pub(super) fn of(parent: u32) -> Result<Self, Refusal> {
        use rustix::io::Errno;
        use rustix::process::{getpid, setpgid};

        // Whoever started it may have made it the leader.
        let elsewhere = groups().map(|group| group.filter(|group| *group != getpid()));
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

        // A group is gone with its last member.
        let left = (self.elsewhere.into_iter().flatten()).any(|group| setpgid(None, Some(group)).is_ok());
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

/// The groups of this process and of its parent. They are asked of the files of the system, since `getpgid` cannot be asked
/// for a group that began outside of this process's namespace, as in some containers: its number is 0, which `Pid` cannot
/// hold.
#[cfg(target_os = "linux")]
fn groups() -> [Option<Pid>; 2] {
    use rustix::process::{getpid, getppid};

    let number = |pid: Pid| pid.as_raw_nonzero().get();
    let read = |process: &str| Stat::read(&std::fs::read(format!("/proc/{process}/stat")).ok()?);
    let parent = getppid().map_or(0, number);
    // The files may be about the numbers of another namespace, where those of this one are somebody else's.
    let own = read("self").filter(|stat| stat.process == number(getpid()) && stat.parent == parent);
    let group = |stat: Stat| {
        Some(stat.group)
            .filter(|group| *group > 0)
            .and_then(Pid::from_raw)
    };
    let of_parent = own
        .and_then(|_| read(&parent.to_string()))
        .filter(|stat| stat.process == parent);
    [own.and_then(group), of_parent.and_then(group)]
}

/// The groups of this process and of its parent.
#[cfg(all(unix, not(target_os = "linux")))]
fn groups() -> [Option<Pid>; 2] {
    use rustix::process::{getpgid, getppid};

    let of_parent = getppid().and_then(|parent| getpgid(Some(parent)).ok());
    [getpgid(None).ok(), of_parent]
}

/// What the system says about a process.
#[cfg(target_os = "linux")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stat {
    process: i32,
    parent: i32,
    /// 0 when it began outside of the namespace.
    group: i32,
}

#[cfg(target_os = "linux")]
impl Stat {
    /// Reads the line `number (name) state parent group …`. The name may hold anything, also half a character.
    fn read(line: &[u8]) -> Option<Self> {
        let name_ends = line.iter().rposition(|byte| *byte == b')')?;
        let number = |word: &[u8]| std::str::from_utf8(word).ok()?.parse().ok();
        let mut fields = line.get(name_ends + 2..)?.split(u8::is_ascii_whitespace).skip(1);
        Some(Self {
            process: number(line.split(u8::is_ascii_whitespace).next()?)?,
            parent: number(fields.next()?)?,
            group: number(fields.next()?)?,
        })
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

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_process_may_have_any_name() {
        let read = |process, parent, group| {
            Some(Stat {
                process,
                parent,
                group,
            })
        };
        for (line, expected) in [
            (&b"7 (cat) S 1 5 5 0 -1 4194560"[..], read(7, 1, 5)),
            (b"7 (a) R 9 9 (b c)) S 1 0 0 0 -1", read(7, 1, 0)),
            (b"7 (\xd0) S 1 5\n", read(7, 1, 5)),
            (b"7 () S 1 -1 0", read(7, 1, -1)),
            (b"7 (cat)", None),
            (b"7 (cat) S", None),
            (b"7 (cat) S one 5 5", None),
            (b"", None),
        ] {
            assert_eq!(Stat::read(line), expected, "{}", line.escape_ascii());
        }
    }
}
