//! Standard input and output as the two ends of a protocol.
//!
//! Whatever a skill prints (`println!`, a child process, a raw write to descriptor 1) would break a protocol on standard
//! output, and code that reads standard input would take a part of it. So both move to descriptors that no other code knows:
//! after [`take`] descriptor 1 is standard error and descriptor 0 is empty, for this process and for its children.
//!
//! ```no_run
//! use std::io::Write;
//!
//! use skill_sdk::host::stdio;
//!
//! # fn main() -> std::io::Result<()> {
//! let mut protocol = stdio::take()?;
//! println!("this goes to standard error");
//! protocol.output.write_all(b"this goes to the client\n")?;
//! # Ok(())
//! # }
//! ```
//!
//! Guide: `docs/guides/embedding.md`.

use std::fs::File;
use std::io::{self, Write};

/// The two ends of a protocol.
#[derive(Debug)]
#[non_exhaustive]
pub struct ProtocolStdio {
    /// The standard input of the process. Reads block.
    pub input: File,
    /// The standard output of the process, unbuffered. Writes block.
    pub output: File,
}

/// Takes standard input and output for a protocol; call it before any code of a skill runs.
///
/// From then on what is printed goes to standard error and standard input is at its end. A second call gives those.
///
/// On systems other than Unix descriptors stay as they are: there a skill must not print.
///
/// # Errors
///
/// Standard output cannot be flushed, or a descriptor cannot be copied.
#[cfg(unix)]
pub fn take() -> io::Result<ProtocolStdio> {
    use std::os::fd::AsFd;

    // Earlier output belongs to the caller of the program.
    io::stdout().flush()?;
    // The copies are closed in children.
    let input = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let output = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
    rustix::stdio::dup2_stdout(io::stderr())?;
    Ok(ProtocolStdio { input, output })
}

/// Takes standard input and output for a protocol. Descriptors stay as they are here: a skill must not print.
///
/// # Errors
///
/// Standard output cannot be flushed, or a handle cannot be copied.
#[cfg(windows)]
pub fn take() -> io::Result<ProtocolStdio> {
    use std::os::windows::io::AsHandle;

    io::stdout().flush()?;
    Ok(ProtocolStdio {
        input: File::from(io::stdin().as_handle().try_clone_to_owned()?),
        output: File::from(io::stdout().as_handle().try_clone_to_owned()?),
    })
}

/// Runs code of authors with standard output pointed at standard error, so that what a command answers stands alone there.
#[cfg(feature = "host")]
pub(super) fn aside<T>(work: impl FnOnce() -> T) -> T {
    #[cfg(unix)]
    let _back = Aside::begin().ok();
    work()
}

/// Standard output as it was, which comes back with the end of this.
#[cfg(all(feature = "host", unix))]
struct Aside(std::os::fd::OwnedFd);

#[cfg(all(feature = "host", unix))]
impl Aside {
    fn begin() -> io::Result<Self> {
        use std::os::fd::AsFd;

        io::stdout().flush()?;
        let before = io::stdout().as_fd().try_clone_to_owned()?;
        rustix::stdio::dup2_stdout(io::stderr())?;
        Ok(Self(before))
    }
}

#[cfg(all(feature = "host", unix))]
impl Drop for Aside {
    fn drop(&mut self) {
        // Output that is still in the buffer belongs to standard error too.
        drop(io::stdout().flush());
        let _ = rustix::stdio::dup2_stdout(&self.0);
    }
}
