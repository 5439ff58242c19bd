//! A server that lives for one caller: it ends with the process that started it, and what its skills started ends with it.
//!
//! The server leads a process group of its own. Whatever a skill starts belongs to the group, unless it leaves it on purpose.
//! The last thing that the server does is to end the group. A server that was killed cannot do that: its caller, or the end
//! of the caller's own process group, then ends what is left.

/// The process group that this server leads for its caller.
#[cfg(unix)]
#[derive(Debug, Clone, Copy)]
pub(super) struct ProcessGroup {
    parent: u32,
}

#[cfg(unix)]
impl ProcessGroup {
    /// Becomes the leader of a process group. On Linux the system sends SIGTERM to this process when `parent` dies.
    pub(super) fn lead(parent: u32) -> Result<Self, String> {
        use rustix::io::Errno;
        use rustix::process::setpgid;

        match setpgid(None, None) {
            // The leader of a session leads its group already.
            Ok(()) | Err(Errno::PERM) => {}
            Err(error) => return Err(format!("cannot lead a process group: {error}")),
        }
        #[cfg(target_os = "linux")]
        rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::TERM))
            .map_err(|error| format!("cannot follow the process {parent}: {error}"))?;
        let group = Self { parent };
        // The parent may have died before.
        if group.lost_its_parent() {
            return Err(format!(
                "the process {parent}, for which this server was started, is gone"
            ));
        }
        Ok(group)
    }

    /// Whether the process that started this one is gone.
    pub(super) fn lost_its_parent(self) -> bool {
        let parent = rustix::process::getppid();
        parent.is_none_or(|pid| pid.as_raw_nonzero().get().cast_unsigned() != self.parent)
    }

    /// Ends the processes of the group. The exit code of this process counts while its parent lives, so then it asks the
    /// others to end with SIGTERM, which this process listens to; else it kills the group with itself.
    pub(super) fn end(self) {
        use rustix::process::{Signal, getpid, kill_process_group};

        let signal = if self.lost_its_parent() {
            Signal::KILL
        } else {
            Signal::TERM
        };
        // It fails without another process.
        let _ = kill_process_group(getpid(), signal);
    }
}

/// The process group of a server. On this system the end of the input tells when the caller is gone.
#[cfg(not(unix))]
#[derive(Debug, Clone, Copy)]
pub(super) struct ProcessGroup;

#[cfg(not(unix))]
impl ProcessGroup {
    pub(super) fn lead(_: u32) -> Result<Self, String> {
        Ok(Self)
    }

    pub(super) fn lost_its_parent(self) -> bool {
        false
    }

    pub(super) fn end(self) {}
}
