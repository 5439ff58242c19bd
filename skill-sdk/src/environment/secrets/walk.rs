//! From the secrets directory to an open file, one component at a time, links resolved here and not by the kernel.
//!
//! Every component is looked at, then opened relative to the descriptor of its directory and without following a link.
//! What is opened therefore lies in the directory, whoever changes the directory meanwhile; if something was exchanged
//! between the look and the opening, the walk starts again. `..` goes back on the descriptors that the walk came by,
//! never through the file system.

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
use super::refusal::Refusal;

/// How often a walk is tried when the directory changes under it.
const ATTEMPTS: usize = 3;

/// How many links are followed in one walk. Linux has the same limit.
const MAX_LINKS: usize = 40;

/// The content of the file `name` in `dir`, or `None` when there is none.
pub(super) fn read(dir: &Path, name: &str) -> Result<Option<Vec<u8>>, Refusal> {
    read_watched(dir, name, &mut |_| ())
}

/// As [`read`]; `looked` is called with a component when it was looked at and is about to be opened or read as a link,
/// which is the moment for a test to exchange it.
pub(super) fn read_watched(
    dir: &Path,
    name: &str,
    looked: &mut dyn FnMut(&OsStr),
) -> Result<Option<Vec<u8>>, Refusal> {
    let mut outcome = Ok(None);
    for _ in 0..ATTEMPTS {
        outcome = match attempt(dir, name, looked) {
            Ok(content) => return Ok(Some(content)),
            Err(Stop::Absent) => return Ok(None),
            Err(Stop::Refused(refusal)) => return Err(refusal),
            Err(Stop::Vanished) => Ok(None),
            Err(Stop::Swapped) => Err(Refusal::rejected(
                "symlink_swapped",
                "a part of its path was exchanged while it was being opened, time after time; \
                 find out what keeps changing the secrets directory",
            )),
        };
    }
    outcome
}

/// Why a walk did not arrive.
enum Stop {
    /// There is no such file.
    Absent,
    /// Something that a link pointed to, or that was there just now, is not there.
    Vanished,
    /// A component is not what it was when it was looked at.
    Swapped,
    Refused(Refusal),
}

impl From<Refusal> for Stop {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

fn attempt(dir: &Path, name: &str, looked: &mut dyn FnMut(&OsStr)) -> Result<Vec<u8>, Stop> {
    let mut walk = Walk::start(dir, name, looked)?;
    while let Some(component) = walk.pending.pop_front() {
        if let Some(file) = walk.step(&component, looked)? {
            return Ok(read_bounded(file)?);
        }
    }
    // Nothing is left to go to, and the walk stands in a directory.
    Err(Refusal::not_regular().into())
}

struct Walk {
    root: OwnedFd,
    /// The paths of the secrets directory that an absolute link may begin with.
    prefixes: [PathBuf; 2],
    /// The directories below `root` that the walk came by.
    below: Vec<OwnedFd>,
    /// What is still to be gone, without `.` and empty components.
    pending: VecDeque<OsString>,
    links: usize,
}

impl Walk {
    /// Opens the secrets directory, which may be a link: whoever configured it chose what it is.
    fn start(dir: &Path, name: &str, looked: &mut dyn FnMut(&OsStr)) -> Result<Self, Stop> {
        let real = dir.canonicalize().map_err(|error| match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Stop::Absent,
            _ => Refusal::from_io(&error).into(),
        })?;
        let given = std::path::absolute(dir).map_err(|error| Refusal::from_io(&error))?;

        let before = look(CWD, real.as_os_str()).map_err(on_open)?;
        match FileType::from_raw_mode(before.st_mode) {
            FileType::Directory => {}
            FileType::Symlink => return Err(Stop::Swapped),
            _ => return Err(Stop::Absent),
        }
        looked(real.as_os_str());
        let root = open_directory(CWD, real.as_os_str()).map_err(on_open)?;
        // The flag against links covers the last component only; this covers the ones before it.
        let after = fstat(&root).map_err(refuse)?;
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

    /// Goes one component on. Gives the file when that was the last one.
    fn step(&mut self, component: &OsStr, looked: &mut dyn FnMut(&OsStr)) -> Result<Option<File>, Stop> {
        if component == ".." {
            return match self.below.pop() {
                Some(_) => Ok(None),
                None => Err(Refusal::outside().into()),
            };
        }
        let stat = look(self.here(), component).map_err(|errno| match errno {
            Errno::NOENT | Errno::NOTDIR if self.links == 0 => Stop::Absent,
            other => on_open(other),
        })?;
        looked(component);
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Symlink => self.follow(component).map(|()| None),
            // A file on the way to something else: nothing can be behind it.
            kind if !self.pending.is_empty() && kind != FileType::Directory => Err(Stop::Absent),
            FileType::Directory => {
                if self.pending.is_empty() {
                    return Err(Refusal::not_regular().into());
                }
                let next = open_directory(self.here(), component).map_err(on_open)?;
                self.below.push(next);
                Ok(None)
            }
            FileType::RegularFile => self.open_file(component).map(Some),
            // A socket has a name in the file system but cannot be opened there, whatever the rights.
            FileType::Socket => {
                let why = "it is a socket; put the value into a regular file";
                Err(Refusal::rejected("unreadable", why).into())
            }
            // Not even opened: opening a device can do things, and opening a FIFO is seen at its other end.
            _ => Err(Refusal::not_regular().into()),
        }
    }

    /// Puts what a link points to in front of what is still to be gone.
    fn follow(&mut self, link: &OsStr) -> Result<(), Stop> {
        let target =
            retry_on_intr(|| readlinkat(self.here(), link, Vec::new())).map_err(|errno| match errno {
                // It is no longer a link.
                Errno::INVAL => Stop::Swapped,
                other => on_open(other),
            })?;
        self.links += 1;
        if self.links > MAX_LINKS {
            let why = format!(
                "more than {MAX_LINKS} symbolic links lie on the way to it; look for links that go in a circle"
            );
            return Err(Refusal::rejected("unreadable", why).into());
        }
        let target = PathBuf::from(OsString::from_vec(target.into_bytes()));
        let inside = if target.is_absolute() {
            let inside = self
                .prefixes
                .iter()
                .find_map(|prefix| target.strip_prefix(prefix).ok());
            self.below.clear();
            inside.ok_or_else(Refusal::outside)?
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
        // Without waiting, for it may have become a FIFO since it was looked at.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = retry_on_intr(|| openat(self.here(), name, flags, Mode::empty())).map_err(on_open)?;
        match FileType::from_raw_mode(fstat(&file).map_err(refuse)?.st_mode) {
            FileType::RegularFile => Ok(File::from(file)),
            _ => Err(Stop::Swapped),
        }
    }

    /// The directory that the walk stands in.
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

/// What an error means for a component that was there a moment ago.
fn on_open(errno: Errno) -> Stop {
    match errno {
        Errno::NOENT => Stop::Vanished,
        // A link (FreeBSD says MLINK), a file or a socket stands where something else was; or the file server has
        // another file there now.
        Errno::LOOP | Errno::MLINK | Errno::NOTDIR | Errno::NXIO | Errno::STALE => Stop::Swapped,
        other => refuse(other),
    }
}

fn refuse(errno: Errno) -> Stop {
    let error = io::Error::from(errno);
    Stop::Refused(match errno {
        Errno::ACCESS | Errno::PERM => Refusal::not_permitted(),
        Errno::MFILE | Errno::NFILE => Refusal::not_now(&error),
        _ => Refusal::from_io(&error),
    })
}
