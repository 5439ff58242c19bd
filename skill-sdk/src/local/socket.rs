//! Serving over a Unix socket that only the user of the host can reach.

use std::error::Error;
use std::fmt;
use std::fs::{self, DirBuilder, File, Permissions};
use std::future::Future;
use std::io::{self, Write};
use std::net::Shutdown;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{SocketAddr, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use rustix::process::geteuid;
use tokio::net::UnixListener;
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::connection::Connection;
use super::serve::{Skills, nobody_reads, serve_connection};
use super::shared::Shared;
use super::{LocalServer, answer};
use crate::error::SkillError;

/// How many clients may be connected at the same time.
const MAX_CLIENTS: usize = 128;

/// How long the host waits after the system refused a connection, for example because it has too many files open.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// How long a host that starts waits for the lock of its directory. Other hosts keep it for a moment only.
const LOCK_PATIENCE: Duration = Duration::from_secs(5);

/// How long it waits before it tries again.
const LOCK_PAUSE: Duration = Duration::from_millis(10);

/// So many bytes of a path fit on all systems, with another name in the same directory for the time in which the socket is
/// made.
const SURE_PATH: usize = 90;

/// Why a host does not serve at a path.
#[derive(Debug)]
#[non_exhaustive]
pub enum SocketError {
    /// Another host serves there.
    InUse(PathBuf),
    /// There is something that is not a socket of this user.
    Occupied(PathBuf),
    /// The path is too long for the address of a socket.
    TooLong(PathBuf),
    /// Another program keeps the directory locked, so that no host can start there.
    Locked {
        /// Where the socket was to be.
        path: PathBuf,
        /// The directory.
        directory: PathBuf,
    },
    /// The socket cannot be made.
    Io {
        /// Where it was to be.
        path: PathBuf,
        /// Why it cannot be.
        source: io::Error,
    },
}

impl fmt::Display for SocketError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InUse(path) => write!(
                f,
                "another host serves at {}; stop it, or take another path",
                path.display()
            ),
            Self::Occupied(path) => write!(
                f,
                "{} exists and is not a socket of this user; remove it, or take another path",
                path.display()
            ),
            Self::TooLong(path) => write!(
                f,
                "cannot serve at {}: the path is too long for a socket; take one of at most {SURE_PATH} bytes, for example \
                 relative to the working directory",
                path.display(),
            ),
            Self::Locked { path, directory } => write!(
                f,
                "cannot serve at {}: another program has kept the directory {} locked for {} seconds; end it, or take a \
                 path in another directory",
                path.display(),
                directory.display(),
                LOCK_PATIENCE.as_secs(),
            ),
            Self::Io { path, source } => write!(f, "cannot serve at {}: {source}", path.display()),
        }
    }
}

impl Error for SocketError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}

/// Serves at `path` until `stop` resolves, then lets running calls finish within the drain time.
///
/// The socket has the mode 0600, and clients of other users are refused. A socket that a dead host left is replaced; one
/// that is served is not, nor is anything else. `bound` is called once when clients can connect.
pub async fn serve_socket(
    host: LocalServer,
    path: impl Into<PathBuf>,
    bound: impl FnOnce(),
    stop: impl Future<Output = ()>,
) -> Result<(), SocketError> {
    let path = path.into();
    let failed = |source| SocketError::Io {
        path: path.clone(),
        source,
    };
    let skills = Skills::start(host.concurrency).map_err(failed)?;
    let drain = host.drain;
    let shared = Shared::new(host, skills.handle()).map_err(failed)?;
    let mut stop = std::pin::pin!(stop);
    let socket = tokio::select! {
        socket = Socket::bind(&path) => socket?,
        () = &mut stop => return Ok(()),
    };
    bound();

    let (stopping, stopped) = watch::channel(false);
    let clients = Arc::new(AtomicUsize::new(0));
    // Those that are left when this function ends are given up.
    let mut served = JoinSet::new();
    loop {
        let stream = tokio::select! {
            accepted = socket.listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                Err(error) => {
                    tracing::warn!(%error, "a connection was not accepted");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                    continue;
                }
            },
            Some(_) = served.join_next() => continue,
            () = &mut stop => break,
        };
        match stream.peer_cred() {
            Ok(peer) if peer.uid() == geteuid().as_raw() => {}
            _ => {
                tracing::warn!("a client of another user was refused");
                continue;
            }
        }
        let stream = stream.into_std().and_then(|stream| {
            stream.set_nonblocking(false)?;
            Ok(stream)
        });
        let stream = match stream {
            Ok(stream) => stream,
            Err(error) => {
                tracing::warn!(%error, "a connection was not accepted");
                continue;
            }
        };
        if clients.fetch_add(1, Ordering::AcqRel) >= MAX_CLIENTS {
            clients.fetch_sub(1, Ordering::AcqRel);
            refuse(&stream);
            continue;
        }
        let client = Client(Arc::clone(&clients));
        let shared = Arc::clone(&shared);
        let mut stopped = stopped.clone();
        served.spawn(async move {
            let _client = client;
            let stop = async move {
                // An error says that the host itself is gone.
                drop(stopped.wait_for(|stopped| *stopped).await);
            };
            if let Err(error) = serve_client(shared, stream, drain, stop).await {
                tracing::warn!(%error, "a client is not served");
            }
        });
    }
    drop(socket);
    stopping.send_replace(true);
    while served.join_next().await.is_some() {}
    Ok(())
}

async fn serve_client(
    shared: Arc<Shared>,
    stream: UnixStream,
    drain: Duration,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let (input, output, probe) = (stream.try_clone()?, stream.try_clone()?, stream.try_clone()?);
    let _hung_up = HangUpOnDrop(stream);
    let connection = Connection::new(shared, Box::new(input), Box::new(output));
    serve_connection(&connection, drain, move || nobody_reads(&probe), stop).await
}

/// Ends the reads and writes that threads of a client are kept by.
struct HangUpOnDrop(UnixStream);

impl Drop for HangUpOnDrop {
    fn drop(&mut self) {
        // The client may have done it before.
        drop(self.0.shutdown(Shutdown::Both));
    }
}

struct Client(Arc<AtomicUsize>);

impl Drop for Client {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Tells a client that there are too many. It just connected, so there is room for one line.
fn refuse(mut stream: &UnixStream) {
    let error = SkillError::retryable("overloaded", "too many clients are connected, try again later");
    let mut line = Vec::new();
    answer::failure(&mut line, None, &error);
    drop(stream.write_all(&line));
}

/// A socket at a path; removed when it is dropped.
struct Socket {
    listener: UnixListener,
    path: PathBuf,
    /// Device and inode: what stands at the path later may be somebody else's.
    identity: (u64, u64),
}

impl Socket {
    async fn bind(path: &Path) -> Result<Self, SocketError> {
        let failed = |source| SocketError::Io {
            path: path.to_owned(),
            source,
        };
        // It is made under another name, so nobody else says that clients could not use this one.
        if !fits(path) {
            return Err(SocketError::TooLong(path.to_owned()));
        }
        let directory = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        // Two hosts that start at the same time must not take the socket of each other for a stale one.
        let lock = File::open(directory).map_err(failed)?;
        let begun = Instant::now();
        while let Err(error) = flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            if error != Errno::WOULDBLOCK && error != Errno::INTR {
                return Err(failed(error.into()));
            }
            // Anybody who can read the directory can lock it, and for ever.
            if begun.elapsed() >= LOCK_PATIENCE {
                return Err(SocketError::Locked {
                    path: path.to_owned(),
                    directory: directory.to_owned(),
                });
            }
            tokio::time::sleep(LOCK_PAUSE).await;
        }
        clear(path).await?;
        // Made in a directory that nobody else can enter: the socket is never open to others, not even for a moment.
        let nursery = Nursery::new(directory).map_err(failed)?;
        let born = nursery.0.join("s");
        // That name may be longer. The system has a short one for whatever lies in a directory that is open.
        let short = PathBuf::from(format!("/proc/self/fd/{}", lock.as_raw_fd()));
        let address = match nursery.0.file_name() {
            Some(name) if !fits(&born) && short.exists() => short.join(name).join("s"),
            _ => born.clone(),
        };
        if !fits(&address) {
            return Err(SocketError::TooLong(path.to_owned()));
        }
        let bind = || -> io::Result<Self> {
            let listener = UnixListener::bind(&address)?;
            fs::set_permissions(&born, Permissions::from_mode(0o600))?;
            fs::rename(&born, path)?;
            let metadata = fs::symlink_metadata(path)?;
            Ok(Self {
                listener,
                path: path.to_owned(),
                identity: (metadata.dev(), metadata.ino()),
            })
        };
        bind().map_err(failed)
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        let own = fs::symlink_metadata(&self.path)
            .is_ok_and(|metadata| (metadata.dev(), metadata.ino()) == self.identity);
        if own {
            drop(fs::remove_file(&self.path));
        }
    }
}

/// Whether a path can be the address of a socket.
fn fits(path: &Path) -> bool {
    SocketAddr::from_pathname(path).is_ok()
}

/// Makes room for a socket: removes one that a dead host of this user left.
async fn clear(path: &Path) -> Result<(), SocketError> {
    let failed = |source| SocketError::Io {
        path: path.to_owned(),
        source,
    };
    let metadata = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(error)),
    };
    if !metadata.file_type().is_socket() || metadata.uid() != geteuid().as_raw() {
        return Err(SocketError::Occupied(path.to_owned()));
    }
    // It does not wait for room in the queue of a host that accepts nobody.
    match tokio::net::UnixStream::connect(path).await {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            fs::remove_file(path).map_err(failed)
        }
        // Also when it fails in another way, for example since its queue is full: somebody is there.
        _ => Err(SocketError::InUse(path.to_owned())),
    }
}

/// A private directory for the time in which a socket is made.
struct Nursery(PathBuf);

impl Nursery {
    fn new(directory: &Path) -> io::Result<Self> {
        for attempt in 0_u32..64 {
            let path = directory.join(format!(".{:x}.{attempt:x}", std::process::id()));
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Self(path)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }
}

impl Drop for Nursery {
    fn drop(&mut self) {
        drop(fs::remove_file(self.0.join("s")));
        drop(fs::remove_dir(&self.0));
    }
}
