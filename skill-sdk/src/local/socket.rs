//! Serving over a Unix socket that only the user of the server can reach.

use std::fs::{self, Permissions};
use std::future::Future;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::geteuid;
use tokio::net::{UnixListener, UnixStream};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::{LocalServer, message, serve_client};
use crate::error::SkillError;
use crate::pipe::peer_closed;
use crate::serve::Service;

/// How many clients may be connected at the same time.
const MAX_CLIENTS: usize = 128;

/// How long the server waits after the system did not accept a connection, for example because too many files are open.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Serves at `path` until `stop` resolves, then lets running calls finish within the drain timeout.
///
/// The socket has the mode 0600, and clients of other users are rejected. A socket that a crashed server left behind is
/// replaced; a socket that is served and anything else is not. `bound` is called once when clients can connect.
///
/// # Errors
///
/// - `AddrInUse`: another server listens at `path`
/// - `AlreadyExists`: the file at `path` is not a socket
/// - any other error of the system when it creates the socket
///
/// An error of one client is logged and does not end the server.
pub async fn serve_socket(
    server: LocalServer,
    path: impl Into<PathBuf>,
    bound: impl FnOnce(),
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let socket = Socket::bind(path.into()).await?;
    bound();
    let service = server.service();
    let stopping = CancellationToken::new();
    // Clients that are left when this future is dropped are disconnected.
    let mut clients = JoinSet::new();
    let mut stop = std::pin::pin!(stop);
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
            Some(_) = clients.join_next() => continue,
            () = &mut stop => break,
        };
        if stream
            .peer_cred()
            .map_or(true, |peer| peer.uid() != geteuid().as_raw())
        {
            tracing::warn!("a client of another user was rejected");
        } else if clients.len() >= MAX_CLIENTS {
            reject(&stream);
        } else {
            clients.spawn(serve_stream(
                server.clone(),
                service.clone(),
                stream,
                stopping.clone(),
            ));
        }
    }
    drop(socket);
    stopping.cancel();
    while clients.join_next().await.is_some() {}
    Ok(())
}

async fn serve_stream(
    server: LocalServer,
    service: Service,
    stream: UnixStream,
    stopping: CancellationToken,
) {
    let client = async {
        let probe = stream.as_fd().try_clone_to_owned()?;
        let (input, output) = stream.into_split();
        let (stop, gone) = (stopping.cancelled(), peer_closed(probe));
        serve_client(server, service, input, output, stop, gone).await
    };
    if let Err(error) = client.await {
        tracing::warn!(%error, "a client cannot be served");
    }
}

/// Tells a client that there are too many. It just connected, so there is room for one line.
fn reject(stream: &UnixStream) {
    let error = SkillError::retryable("overloaded", "too many clients are connected, try again later");
    drop(stream.try_write(&message::failure(None, &error)));
}

/// A socket at a path. Dropping it removes it.
struct Socket {
    listener: UnixListener,
    path: PathBuf,
}

impl Socket {
    async fn bind(path: PathBuf) -> io::Result<Self> {
        remove_stale(&path).await?;
        let listener = UnixListener::bind(&path)?;
        // A client of another user that connects before this is rejected by its credentials.
        fs::set_permissions(&path, Permissions::from_mode(0o600))?;
        Ok(Self { listener, path })
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        drop(fs::remove_file(&self.path));
    }
}

/// Removes a socket of this user that no server listens at.
async fn remove_stale(path: &Path) -> io::Result<()> {
    let metadata = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        metadata => metadata?,
    };
    if !metadata.file_type().is_socket() || metadata.uid() != geteuid().as_raw() {
        let message = "the path exists and is not a socket of this user; remove it, or use another path";
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, message));
    }
    match UnixStream::connect(path).await {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => fs::remove_file(path),
        // Another error, such as a full queue, also means that a server is there.
        _ => {
            let message = "another server serves there; stop it, or use another path";
            Err(io::Error::new(io::ErrorKind::AddrInUse, message))
        }
    }
}
