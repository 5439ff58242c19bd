//! Accepting connections and serving them.

use std::error::Error;
use std::future::Future;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};

use super::connection::{Activity, Counted, Timeouts, Verdict};
use super::response::{Routes, respond};
use crate::serve::Limits;

/// How long the server waits after the system failed to accept a connection, for example because too many files are open.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// How many connections over the limit get a response at the same time, and for how long. Probes are served on them.
const CROWD: usize = 64;
const CROWD_TIME: Duration = Duration::from_secs(5);

/// When the system asks a silent peer whether it is still there, and how often until it gives up.
const PROBE_AFTER: Duration = Duration::from_mins(1);
const PROBE_EACH: Duration = Duration::from_secs(15);
const PROBES: u32 = 4;

/// How long HTTP/2 waits for the response to a ping, and how often it pings.
const PING_TIME: Duration = Duration::from_secs(20);

/// Streams of HTTP/2 that clients reset before they were served, and those that were reset for errors: more end the
/// connection.
const RESETS: usize = 20;
const ERRORS: usize = 128;

/// How many headers hyper takes by itself.
const HYPER_HEADERS: usize = 100;

/// The phase of the server, which every connection follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    Serving,
    /// The server is shutting down. Connections of HTTP/2 are told at once and lose nothing by it; those of HTTP/1 with
    /// their next response, since a connection that is closed may cross a request.
    Leaving,
    /// All requests have ended.
    Closing,
}

/// A server that accepts connections.
pub(super) struct Listening {
    listener: TcpListener,
    routes: Arc<Routes>,
    phase: watch::Sender<Phase>,
    /// Those that are left when this is dropped are aborted.
    running: JoinSet<()>,
}

impl Listening {
    pub(super) fn new(listener: TcpListener, routes: Routes) -> Self {
        Self {
            listener,
            routes: Arc::new(routes),
            phase: watch::Sender::new(Phase::Serving),
            running: JoinSet::new(),
        }
    }

    /// Accepts and serves connections until `end` resolves.
    pub(super) async fn until<F: Future>(&mut self, end: F) -> F::Output {
        let mut end = pin!(end);
        let mut pause = pin!(sleep(Duration::ZERO));
        loop {
            tokio::select! {
                biased;
                output = &mut end => return output,
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

    /// Tells clients to go elsewhere. Before this the shutdown must have begun.
    pub(super) fn leave(&self) {
        self.phase.send_replace(Phase::Leaving);
    }

    /// Stops listening; resolves when all connections are closed. Connections that the system accepted already are served for
    /// `grace`, so that their requests are rejected and not reset.
    pub(super) async fn close(mut self, grace: Duration) {
        for _ in 0..self.routes.service.limits().max_connections {
            match timeout(Duration::ZERO, self.listener.accept()).await {
                Ok(Ok((stream, _))) => self.take(stream),
                _ => break,
            }
        }
        let Self {
            listener,
            phase,
            mut running,
            ..
        } = self;
        drop(listener);
        sleep(grace).await;
        phase.send_replace(Phase::Closing);
        while running.join_next().await.is_some() {}
    }

    fn take(&mut self, stream: TcpStream) {
        let service = &self.routes.service;
        let open = Open::new(service.metrics());
        let over = open.number.saturating_sub(service.limits().max_connections);
        if over > 0 {
            service.metrics().connections_rejected.inc();
        }
        if over > CROWD {
            return;
        }
        if let Err(error) = prepare(&stream) {
            tracing::debug!(%error, "options of a connection were not set");
        }
        let served = serve(stream, Arc::clone(&self.routes), over > 0, self.phase.subscribe());
        self.running.spawn(async move {
            let served = if over == 0 {
                served.await
            } else {
                timeout(CROWD_TIME, served).await.unwrap_or(Ok(()))
            };
            if let Err(error) = served {
                tracing::debug!(error, "a connection ended early");
            }
            drop(open);
        });
    }
}

/// Serves a connection until its client or the server ends it.
pub(super) async fn serve<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    stream: S,
    routes: Arc<Routes>,
    crowded: bool,
    mut phase: watch::Receiver<Phase>,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    let activity = Arc::<Activity>::default();
    let mut timeouts = Timeouts::new(routes.service.limits());
    let mut checks = interval(timeouts.period());
    checks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let stream = TokioIo::new(Counted::new(stream, Arc::clone(&activity)));
    let builder = builder(routes.service.limits());
    let of_requests = Arc::clone(&activity);
    let responder =
        service_fn(move |request| respond(Arc::clone(&routes), Arc::clone(&of_requests), crowded, request));
    let mut connection = pin!(builder.serve_connection(stream, responder));
    let mut leaving = false;
    loop {
        tokio::select! {
            biased;
            served = connection.as_mut() => return served,
            _ = checks.tick() => match timeouts.check(&activity) {
                Verdict::Keep => continue,
                Verdict::Close => {}
                Verdict::Abort => return Err("its client did not get on".into()),
            },
            () = activity.leave.notified() => {}
            changed = phase.changed(), if !leaving => {
                let is_leaving = changed.is_ok() && *phase.borrow_and_update() == Phase::Leaving;
                if is_leaving && !activity.is_http2() {
                    continue;
                }
            }
        }
        // Requests that are in progress get their responses.
        if !leaving {
            connection.as_mut().graceful_shutdown();
            leaving = true;
        }
    }
}

/// A connection that is counted while it is open.
struct Open {
    connections: prometheus_client::metrics::gauge::Gauge,
    /// How many are open, with this one.
    number: usize,
}

impl Open {
    fn new(metrics: &crate::serve::Metrics) -> Self {
        metrics.connections_opened.inc();
        let before = metrics.connections.inc();
        Self {
            connections: metrics.connections.clone(),
            number: usize::try_from(before).unwrap_or_default() + 1,
        }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.connections.dec();
    }
}

fn builder(limits: &Limits) -> Builder<TokioExecutor> {
    let mut builder = Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        // `Timeouts` tells slow headers from an idle connection.
        .header_read_timeout(None)
        .max_buf_size(limits.max_header_bytes.max(Limits::LEAST_HEADER_BYTES));
    // Any number but hyper's own costs an allocation for each request.
    if limits.max_headers != HYPER_HEADERS {
        builder.http1().max_headers(limits.max_headers);
    }
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(limits.max_concurrent_streams)
        .max_header_list_size(u32::try_from(limits.max_header_bytes).unwrap_or(u32::MAX))
        .max_pending_accept_reset_streams(RESETS)
        .max_local_error_reset_streams(ERRORS)
        .keep_alive_interval(PING_TIME)
        .keep_alive_timeout(PING_TIME);
    builder
}

fn prepare(stream: &TcpStream) -> io::Result<()> {
    // Responses are small and complete: waiting to fill a packet only adds latency.
    stream.set_nodelay(true)?;
    // A peer that vanished is noticed also while a call runs.
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
    async fn responses_go_at_once_and_peers_that_vanished_are_noticed() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap());
        let (client, accepted) = tokio::join!(client, listener.accept());
        let (_client, (stream, _)) = (client.unwrap(), accepted.unwrap());
        prepare(&stream).unwrap();
        assert!(stream.nodelay().unwrap());
        assert!(SockRef::from(&stream).keepalive().unwrap());
    }
}
