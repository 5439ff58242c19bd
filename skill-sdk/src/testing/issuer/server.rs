//! The server of keys: one thread that accepts, one for each request.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use tokio::sync::watch;

/// The largest head of a request that is read.
const MAX_HEAD: usize = 16 * 1024;

/// How long a client may take to send its request.
const PATIENCE: Duration = Duration::from_secs(10);

/// What those get who ask a [`TestIssuer`](super::TestIssuer) for its keys.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeysAnswer {
    /// The keys: 200 with the document.
    Keys,
    /// 200 with another text in place of the document.
    Text(String),
    /// This status with an empty body.
    Status(u16),
    /// A redirect to where the keys are.
    Redirect,
    /// The connection is closed without an answer.
    Closed,
    /// Nothing yet: the answer waits until another one is set.
    Held,
}

/// A server that runs until it is dropped.
pub(super) struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    fetches: watch::Receiver<usize>,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    fetches: watch::Sender<usize>,
    document: Box<dyn Fn() -> String + Send + Sync>,
}

struct State {
    answer: KeysAnswer,
    stopped: bool,
}

impl Server {
    #[expect(clippy::expect_used, reason = "a test without a loopback address should stop")]
    pub(super) fn start(document: impl Fn() -> String + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let address = listener.local_addr().expect("a bound port has a number");
        let (sender, fetches) = watch::channel(0);
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                answer: KeysAnswer::Keys,
                stopped: false,
            }),
            changed: Condvar::new(),
            fetches: sender,
            document: Box::new(document),
        });
        let accepting = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming() {
                if accepting.state().stopped {
                    break;
                }
                let shared = Arc::clone(&accepting);
                // A client that goes away is its own business.
                thread::spawn(move || stream.and_then(|stream| shared.serve(stream)));
            }
        });
        Self {
            address,
            shared,
            fetches,
        }
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(super) fn answer_with(&self, answer: KeysAnswer) {
        self.shared.state().answer = answer;
        self.shared.changed.notify_all();
    }

    pub(super) fn fetches(&self) -> usize {
        *self.fetches.borrow()
    }

    pub(super) async fn fetched(&self, times: usize) {
        let mut fetches = self.fetches.clone();
        // The other end lives as long as this.
        drop(fetches.wait_for(|fetches| *fetches >= times).await);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.state().stopped = true;
        self.shared.changed.notify_all();
        // Wakes the thread that accepts.
        drop(TcpStream::connect(self.address));
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn serve(&self, mut stream: TcpStream) -> std::io::Result<()> {
        stream.set_read_timeout(Some(PATIENCE))?;
        let mut head = Vec::new();
        let mut part = [0; 1024];
        while !head.windows(4).any(|end| end == b"\r\n\r\n") {
            let count = stream.read(&mut part)?;
            if count == 0 || head.len() > MAX_HEAD {
                return Ok(());
            }
            head.extend_from_slice(&part[..count]);
        }
        self.fetches.send_modify(|fetches| *fetches += 1);
        // Where a redirect leads, the keys are: whoever follows it gets them.
        let answer = match self.answer() {
            KeysAnswer::Redirect if head.starts_with(b"GET /moved ") => KeysAnswer::Keys,
            answer => answer,
        };
        let (status, more, body) = match answer {
            KeysAnswer::Keys => (200, "", (self.document)()),
            KeysAnswer::Text(text) => (200, "", text),
            KeysAnswer::Status(status) => (status, "", String::new()),
            KeysAnswer::Redirect => (302, "Location: /moved\r\n", String::new()),
            KeysAnswer::Closed | KeysAnswer::Held => return Ok(()),
        };
        let length = body.len();
        write!(
            stream,
            "HTTP/1.1 {status} Test\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\
             Connection: close\r\n{more}\r\n{body}"
        )
    }

    /// The answer that is set; waits while it is [`KeysAnswer::Held`].
    fn answer(&self) -> KeysAnswer {
        let held = |state: &mut State| state.answer == KeysAnswer::Held && !state.stopped;
        let state = self
            .changed
            .wait_while(self.state(), held)
            .unwrap_or_else(PoisonError::into_inner);
        state.answer.clone()
    }
}
