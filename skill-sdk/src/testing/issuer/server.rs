//! The JWKS server, on a thread of its own.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::{oneshot, watch};

/// The largest request headers, in bytes.
const MAX_HEAD: usize = 16 * 1024;

/// The response of a [`TestIssuer`](super::TestIssuer) to a request for its keys.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeysAnswer {
    /// The keys: 200 with the document.
    Keys,
    /// 200 with another body instead of the document.
    Text(String),
    /// This status with an empty body.
    Status(u16),
    /// A redirect to the keys.
    Redirect,
    /// The connection is closed without a response.
    Closed,
    /// No response until another one is set.
    Held,
}

/// A server that runs until it is dropped.
pub(super) struct Server {
    pub(super) address: SocketAddr,
    pub(super) state: Arc<watch::Sender<State>>,
    /// The thread ends when it is dropped.
    _running: oneshot::Sender<()>,
}

pub(super) struct State {
    pub(super) answer: KeysAnswer,
    pub(super) fetches: usize,
}

impl Server {
    #[expect(clippy::expect_used, reason = "a test without a loopback address should stop")]
    pub(super) fn start(document: impl Fn() -> String + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        listener.set_nonblocking(true).expect("a socket does not block");
        let address = listener.local_addr().expect("a bound port has a number");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build();
        let runtime = runtime.expect("a thread can have a runtime");
        let (running, stopped) = oneshot::channel();
        let state = Arc::new(watch::Sender::new(State {
            answer: KeysAnswer::Keys,
            fetches: 0,
        }));
        let (shared, document) = (Arc::clone(&state), Arc::new(document));
        let serving = async move {
            let listener = tokio::net::TcpListener::from_std(listener).expect("a bound port listens");
            while let Ok((stream, _)) = listener.accept().await {
                let (state, document) = (Arc::clone(&shared), Arc::clone(&document));
                // A client may disconnect at any time.
                tokio::spawn(async move { serve(stream, &state, &*document).await });
            }
        };
        thread::spawn(move || {
            runtime.block_on(async {
                tokio::select! {
                    () = serving => {}
                    _ = stopped => {}
                }
            });
        });
        Self {
            address,
            state,
            _running: running,
        }
    }
}

async fn serve(
    mut stream: TcpStream,
    state: &watch::Sender<State>,
    document: &(impl Fn() -> String + Sync),
) -> io::Result<()> {
    let mut head = Vec::new();
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        if stream.read_buf(&mut head).await? == 0 || head.len() > MAX_HEAD {
            return Ok(());
        }
    }
    state.send_modify(|state| state.fetches += 1);
    let mut changes = state.subscribe();
    let answered = changes.wait_for(|state| state.answer != KeysAnswer::Held).await;
    let answer = answered.map_or(KeysAnswer::Closed, |state| state.answer.clone());
    let (status, more, body) = match answer {
        KeysAnswer::Keys => (200, "", document()),
        // A client that follows the redirect gets the keys.
        KeysAnswer::Redirect if head.starts_with(b"GET /moved ") => (200, "", document()),
        KeysAnswer::Redirect => (302, "Location: /moved\r\n", String::new()),
        KeysAnswer::Text(text) => (200, "", text),
        KeysAnswer::Status(status) => (status, "", String::new()),
        KeysAnswer::Closed | KeysAnswer::Held => return Ok(()),
    };
    let length = body.len();
    let response = format!(
        "HTTP/1.1 {status} Test\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\
         Connection: close\r\n{more}\r\n{body}"
    );
    stream.write_all(response.as_bytes()).await
}
