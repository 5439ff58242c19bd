//! From the secrets directory to an open file, one path component at a time. Links are resolved here and not by the kernel.
//!
//! Every component is inspected, then opened relative to the descriptor of its directory, without following links. So the opened
//! file is inside the directory, even if the directory changes meanwhile. If a component was exchanged between inspection and
//! opening, the walk starts again. `..` goes back to the descriptor of the parent, never through the file system.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Stat, fstat, openat, readlinkat, statat};
use rustix::io::{Errno, retry_on_intr};

use super::file::read_bounded;
use super::rejection::Rejection;

/// How often a walk is tried if the directory changes.
const ATTEMPTS: usize = 3;

/// The most links in one walk. Linux has the same limit.
const MAX_LINKS: usize = 40;

/// The content of the file `name` in `dir`; `None` if it does not exist.
pub(super) fn read(dir: &Path, name: &str) -> Result<Option<Vec<u8>>, Rejection> {
    read_watched(dir, name, &mut |_| ())
}

/// Like [`read`]; `looked` is called between the inspection and the opening of a component, so that a test can exchange it.
pub(super) fn read_watched(
    dir: &Path,
    name: &str,
    looked: &mut dyn FnMut(&OsStr),
) -> Result<Option<Vec<u8>>, Rejection> {
    let mut outcome = Ok(None);
    for _ in 0..ATTEMPTS {
        outcome = match attempt(dir, name, looked) {
            Ok(content) => return Ok(Some(content)),
            Err(Stop::Absent) => return Ok(None),
            Err(Stop::Rejected(rejection)) => return Err(rejection),
            Err(Stop::Vanished) => Ok(None),
            Err(Stop::Swapped) => Err(Rejection::rejected(
                "symlink_swapped",
                "a part of its path was exchanged during each attempt to open it; \
                 find out what changes the secrets directory",
            )),
        };
    }
    outcome
}

/// Why a walk stopped.
enum Stop {
    /// The file does not exist.
    Absent,
    /// The target of a link, or a component that was inspected, does not exist any more.
    Vanished,
    /// A component changed after its inspection.
    Swapped,
    Rejected(Rejection),
}

impl From<Rejection> for Stop {
    fn from(rejection: Rejection) -> Self {
        Self::Rejected(rejection)
    }
}

fn attempt(dir: &Path, name: &str, looked: &mut dyn FnMut(&OsStr)) -> Result<Vec<u8>, Stop> {
    let mut walk = Walk::start(dir, name, looked)?;
    while let Some(component) = walk.pending.pop_front() {
        if let Some(file) = walk.step(&component, looked)? {
            return Ok(read_bounded(file)?);
        }
    }
    // The path ends in a directory.
    Err(Rejection::not_regular().into())
}

struct Walk {
    root: OwnedFd,
    /// The paths of the secrets directory, which an absolute link may start with.
    prefixes: [PathBuf; 2],
    /// The open directories between `root` and the current one.
    below: Vec<OwnedFd>,
    /// The remaining components, without `.` and empty ones.
    pending: VecDeque<OsString>,
    links: usize,
}

impl Walk {
    /// Opens the secrets directory, which may be a link that the operator configured.
    fn start(dir: &Path, name: &str, looked: &mut dyn FnMut(&OsStr)) -> Result<Self, Stop> {
        let real = dir.canonicalize().map_err(|error| match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Stop::Absent,
            _ => Rejection::from_io(&error).into(),
        })?;
        let given = std::path::absolute(dir).map_err(|error| Rejection::from_io(&error))?;

        let before = look(CWD, real.as_os_str()).map_err(on_open)?;
        match FileType::from_raw_mode(before.st_mode) {
            FileType::Directory => {}
            FileType::Symlink => return Err(Stop::Swapped),
            _ => return Err(Stop::Absent),
        }
        looked(real.as_os_str());
        let root = open_directory(CWD, real.as_os_str()).map_err(on_open)?;
        // `NOFOLLOW` covers the last component only; this covers the components before it.
        let after = fstat(&root).map_err(reject)?;
        if (before.st_dev, before.st_ino) != (after.st_dev, after.st_ino) {
            return Err(Stop::Swapped);
        }

        let pending = VecDeque::from([OsString::from(name)]);
        Ok(Self {
            root,
            prefixes: [given, real],
            below: Vec::new(),
            pending,
            links: 0,
        })
    }

    /// Follows one component. Returns the file after the last one.
    fn step(&mut self, component: &OsStr, looked: &mut dyn FnMut(&OsStr)) -> Result<Option<File>, Stop> {
        if component == ".." {
            return match self.below.pop() {
                Some(_) => Ok(None),
                None => Err(Rejection::outside().into()),
            };
        }
        let stat = look(self.here(), component).map_err(|errno| match errno {
            Errno::NOENT | Errno::NOTDIR if self.links == 0 => Stop::Absent,
            other => on_open(other),
        })?;
        looked(component);
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Symlink => self.follow(component).map(|()| None),
            // A file in the middle of the path.
            kind if !self.pending.is_empty() && kind != FileType::Directory => Err(Stop::Absent),
            FileType::Directory => {
                if self.pending.is_empty() {
                    return Err(Rejection::not_regular().into());
                }
                let next = open_directory(self.here(), component).map_err(on_open)?;
                self.below.push(next);
                Ok(None)
            }
            FileType::RegularFile => self.open_file(component).map(Some),
            // A socket cannot be opened as a file.
            FileType::Socket => {
                let why = "it is a socket; put the value into a regular file";
                Err(Rejection::rejected("unreadable", why).into())
            }
            // Never opened: opening a device can have effects, and the other end of a FIFO notices.
            _ => Err(Rejection::not_regular().into()),
        }
    }

    /// Puts the target of a link in front of the remaining components.
    fn follow(&mut self, link: &OsStr) -> Result<(), Stop> {
        let target =
            retry_on_intr(|| readlinkat(self.here(), link, Vec::new())).map_err(|errno| match errno {
                // It is no longer a link.
                Errno::INVAL => Stop::Swapped,
                other => on_open(other),
            })?;
        self.links += 1;
        if self.links > MAX_LINKS {
            let why =
                format!("its path has more than {MAX_LINKS} symbolic links; look for links that form a loop");
            return Err(Rejection::rejected("unreadable", why).into());
        }
        let target = PathBuf::from(OsString::from_vec(target.into_bytes()));
        let inside = if target.is_absolute() {
            let inside = self
                .prefixes
                .iter()
                .find_map(|prefix| target.strip_prefix(prefix).ok());
            self.below.clear();
            inside.ok_or_else(Rejection::outside)?
        } else {
            &target
        };
        for component in inside.as_os_str().as_bytes().split(|byte| *byte == b'/').rev() {
            if !matches!(component, b"" | b".") {
                self.pending.push_front(OsStr::from_bytes(component).to_owned());
            }
        }
        Ok(())
    }

    fn open_file(&self, name: &OsStr) -> Result<File, Stop> {
        // Non-blocking, because it may be a FIFO by now.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = retry_on_intr(|| openat(self.here(), name, flags, Mode::empty())).map_err(on_open)?;
        match FileType::from_raw_mode(fstat(&file).map_err(reject)?.st_mode) {
            FileType::RegularFile => Ok(File::from(file)),
            _ => Err(Stop::Swapped),
        }
    }

    /// The current directory of the walk.
    fn here(&self) -> &OwnedFd {
        self.below.last().unwrap_or(&self.root)
    }
}

fn look(at: impl AsFd, name: &OsStr) -> Result<Stat, Errno> {
    retry_on_intr(|| statat(&at, name, AtFlags::SYMLINK_NOFOLLOW))
}

fn open_directory(at: impl AsFd, name: &OsStr) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    retry_on_intr(|| openat(&at, name, flags, Mode::empty()))
}

/// What an error means for a component that was inspected just now.
fn on_open(errno: Errno) -> Stop {
    match errno {
        Errno::NOENT => Stop::Vanished,
        // The component is a link (MLINK on FreeBSD), a file or a socket now, or the file server replaced it.
        Errno::LOOP | Errno::MLINK | Errno::NOTDIR | Errno::NXIO | Errno::STALE => Stop::Swapped,
        other => reject(other),
    }
}

fn reject(errno: Errno) -> Stop {
    let error = io::Error::from(errno);
    Stop::Rejected(match errno {
        Errno::ACCESS | Errno::PERM => Rejection::not_permitted(),
        Errno::MFILE | Errno::NFILE => Rejection::not_now(&error),
        _ => Rejection::from_io(&error),
    })
}
