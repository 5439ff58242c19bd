//! Taking connections and serving them.

use std::error::Error;
use std::future::Future;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::conn::auto::{Builder, Connection};
use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::edge::{Edge, Traffic};
use super::stream::{Guarded, Patience};
use super::streams::Streams;
use crate::http::Limits;
use crate::serve::Service;

/// How long the server waits after the system refused a connection, for example because it has too many files open.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// How many connections over the limit are told that they are, at the same time. Those of probes get their answers.
const TOLD: usize = 64;

/// How long a connection over the limit is open.
const TOLD_TIME: Duration = Duration::from_secs(5);

/// When the system asks a silent peer whether it is still there, and how often until it gives up.
const PROBE_AFTER: Duration = Duration::from_mins(1);
const PROBE_EACH: Duration = Duration::from_secs(15);
const PROBES: u32 = 4;

/// How long HTTP/2 waits for the answer to a ping, and how often it pings.
const PING_TIME: Duration = Duration::from_secs(20);

/// Streams of HTTP/2 that clients reset before they were served, and those that were reset for errors: more end the
/// connection.
const RESETS: usize = 20;
const ERRORS: usize = 128;

/// How many headers hyper takes by itself.
const HYPER_HEADERS: usize = 100;

/// What connections are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    Serving,
    /// Clients should go elsewhere with their next requests. Those of HTTP/2 are told at once and lose nothing by it; those
    /// of HTTP/1 with their next answer, since a connection that closes may cross a request.
    Leaving,
    /// There are no requests any more.
    Closing,
}

/// A server that takes connections.
pub(super) struct Listening {
    listener: TcpListener,
    router: Router,
    service: Service,
    builder: Builder<Streams>,
    phase: watch::Sender<Phase>,
    /// Those that are left when this is dropped are given up.
    running: JoinSet<()>,
}

impl Listening {
    pub(super) fn new(listener: TcpListener, router: Router, service: Service) -> Self {
        Self {
            builder: builder(service.limits()),
            listener,
            router,
            service,
            phase: watch::Sender::new(Phase::Serving),
            running: JoinSet::new(),
        }
    }

    /// Takes and serves connections until `end` resolves.
    pub(super) async fn until(&mut self, end: impl Future<Output = ()>) {
        let mut end = pin!(end);
        let mut pause = pin!(sleep(Duration::ZERO));
        loop {
            tokio::select! {
                biased;
                () = &mut end => break,
                Some(_) = self.running.join_next() => {}
                accepted = self.listener.accept(), if pause.is_elapsed() => match accepted {
                    Ok((stream, _)) => self.take(stream),
                    Err(error) => {
                        tracing::warn!(%error, "a connection was not accepted");
                        pause.set(sleep(ACCEPT_PAUSE));
                    }
                },
                () = &mut pause, if !pause.is_elapsed() => {}
            }
        }
    }

    /// Tells clients to go elsewhere with their next requests. Before this the lifecycle must say that the host is stopping.
    pub(super) fn leave(&self) {
        self.phase.send_replace(Phase::Leaving);
    }

    /// Stops to take connections; resolves when all are closed.
    pub(super) fn close(self) -> impl Future<Output = ()> {
        let Self {
            phase, mut running, ..
        } = self;
        async move {
            phase.send_replace(Phase::Closing);
            while running.join_next().await.is_some() {}
        }
    }

    fn take(&mut self, stream: TcpStream) {
        let open = Open::new(&self.service);
        let over = open.number.saturating_sub(self.service.limits().connections);
        if over > 0 {
            open.service.metrics().connections_rejected.inc();
        }
        if over > TOLD {
            return;
        }
        if let Err(error) = prepare(&stream) {
            tracing::debug!(%error, "options of a connection were not set");
        }
        let traffic = Arc::new(Traffic::new(self.service.clone()));
        let patience = Patience::of(self.service.limits());
        let stream = TokioIo::new(Guarded::new(stream, patience, Arc::clone(&traffic)));
        let edge = Edge::new(self.router.clone(), Arc::clone(&traffic), over > 0);
        let connection = self.builder.serve_connection(stream, edge).into_owned();
        let connection = attended(connection, traffic, self.phase.subscribe());
        self.running.spawn(async move {
            let served = if over == 0 {
                connection.await
            } else {
                timeout(TOLD_TIME, connection).await.unwrap_or(Ok(()))
            };
            if let Err(error) = served {
                tracing::debug!(error, "a connection ended early");
            }
            drop(open);
        });
    }
}

/// Serves a connection until its client or the server ends it.
pub(super) async fn attended<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    connection: Connection<'static, TokioIo<Guarded<S>>, Edge, Streams>,
    traffic: Arc<Traffic>,
    mut phase: watch::Receiver<Phase>,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    let mut connection = pin!(connection);
    let told = async {
        loop {
            tokio::select! {
                () = traffic.leaves() => return,
                changed = phase.changed() => match (changed, *phase.borrow_and_update()) {
                    (Ok(()), Phase::Leaving) if !traffic.is_multiplexed() => {}
                    _ => return,
                }
            }
        }
    };
    tokio::select! {
        biased;
        served = connection.as_mut() => return served,
        () = told => {}
    }
    // What is being served is answered.
    connection.as_mut().graceful_shutdown();
    tokio::select! {
        biased;
        served = connection.as_mut() => served,
        () = traffic.given_up() => Err("its client did not take the end of an answer".into()),
    }
}

/// A connection that is counted while it is open.
struct Open {
    service: Service,
    /// How many are open, with this one.
    number: usize,
}

impl Open {
    fn new(service: &Service) -> Self {
        service.metrics().connections_opened.inc();
        let before = service.metrics().connections.inc();
        Self {
            number: usize::try_from(before).unwrap_or_default() + 1,
            service: service.clone(),
        }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.service.metrics().connections.dec();
    }
}

pub(super) fn builder(limits: &Limits) -> Builder<Streams> {
    let mut builder = Builder::new(Streams {
        patience: limits.write_time,
    });
    builder
        .http1()
        .timer(TokioTimer::new())
        // The stream has a clock of its own, which tells a slow head from a connection that waits.
        .header_read_timeout(None)
        .max_buf_size(limits.head.max(Limits::LEAST_HEAD));
    // Any number but hyper's own costs an allocation for each request.
    if limits.headers != HYPER_HEADERS {
        builder.http1().max_headers(limits.headers);
    }
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(limits.streams)
        .max_header_list_size(u32::try_from(limits.head).unwrap_or(u32::MAX))
        .max_pending_accept_reset_streams(RESETS)
        .max_local_error_reset_streams(ERRORS)
        .keep_alive_interval(PING_TIME)
        .keep_alive_timeout(PING_TIME);
    builder
}

fn prepare(stream: &TcpStream) -> io::Result<()> {
    // Answers are small and complete: waiting to fill a packet only adds latency.
    stream.set_nodelay(true)?;
    // A peer that vanished without a word is noticed also while a call runs.
    let probes = TcpKeepalive::new()
        .with_time(PROBE_AFTER)
        .with_interval(PROBE_EACH);
    #[cfg(any(target_os = "linux", target_os = "macos", target_os = "windows"))]
    let probes = probes.with_retries(PROBES);
    SockRef::from(stream).set_tcp_keepalive(&probes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn answers_go_at_once_and_peers_that_vanished_are_noticed() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap());
        let (client, accepted) = tokio::join!(client, listener.accept());
        let (_client, (stream, _)) = (client.unwrap(), accepted.unwrap());
        prepare(&stream).unwrap();
        assert!(stream.nodelay().unwrap());
        assert!(SockRef::from(&stream).keepalive().unwrap());
    }
}
