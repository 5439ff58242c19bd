//! Slow clients, by a clock that is paused, over connections in memory: nothing is on its way where no task sees it.

use std::io::Cursor;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::http::Request;
use axum::routing::get;
use h2::client::{ResponseFuture, SendRequest};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, copy, duplex, split};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};

use super::listen::{Phase, serve};
use super::response::Routes;
use crate::context::{Environment, States};
use crate::http::Limits;
use crate::pipeline::SkillSet;
use crate::serve::Service;

/// How much a large answer holds.
const LARGE: usize = 300_000;

/// How much one of many answers holds: a little more than HTTP/2 gets at once.
const MEDIUM: usize = 20_000;

/// How much a connection holds that its client did not read.
const WIRE: usize = 1024;

/// A server with one connection.
struct Served {
    routes: Arc<Routes>,
    requests: usize,
    phase: watch::Sender<Phase>,
    connection: JoinHandle<()>,
}

impl Served {
    fn start(change: impl FnOnce(&mut Limits)) -> (Self, DuplexStream) {
        let mut limits = Limits::default();
        change(&mut limits);
        let host = SkillSet::with_states([], States::default()).unwrap();
        let service = Service::new(host, &limits, Environment::from_vars([]), Vec::new());
        let paths = Router::new()
            .route("/large", get(|| async { "a".repeat(LARGE) }))
            .route("/medium", get(|| async { "a".repeat(MEDIUM) }))
            .route("/small", get(|| async { "small" }))
            .route("/tiny", get(|| async { "abc" }));
        let (client, server) = duplex(WIRE);
        let routes = Arc::new(Routes {
            router: TowerToHyperService::new(paths),
            service,
            guard: None,
            requests: Arc::new(Semaphore::new(limits.max_requests)),
        });
        let phase = watch::Sender::new(Phase::Serving);
        let connection = serve(server, Arc::clone(&routes), false, phase.subscribe());
        let connection = tokio::spawn(async move { drop(connection.await) });
        let running = Self {
            requests: limits.max_requests,
            routes,
            phase,
            connection,
        };
        (running, client)
    }

    /// Whether all responses of HTTP/2 are written.
    fn is_quiet(&self) -> bool {
        self.routes.requests.available_permits() == self.requests
    }
}

/// A client of HTTP/2.
struct Http2(SendRequest<Cursor<Vec<u8>>>);

impl Http2 {
    /// A client that has room for so many bytes of each answer.
    async fn new(stream: DuplexStream, window: u32) -> Self {
        let connected = h2::client::Builder::new()
            .initial_window_size(window)
            .initial_connection_window_size(1 << 20)
            .handshake(stream)
            .await;
        let (requests, connection) = connected.unwrap();
        tokio::spawn(connection);
        Self(requests)
    }

    async fn get(&self, path: &str) -> ResponseFuture {
        let mut requests = self.0.clone().ready().await.unwrap();
        let request = Request::get(format!("http://a{path}")).body(()).unwrap();
        requests.send_request(request, true).unwrap().0
    }

    /// How many bytes of the body arrived, and the reset reason if it did not arrive whole. The body is read at 10 000 bytes a
    /// second, or not at all.
    async fn slowly(answer: ResponseFuture, reads: bool) -> (usize, Option<h2::Reason>) {
        let mut body = answer.await.unwrap().into_body();
        let mut came = 0;
        while let Some(part) = body.data().await {
            match part {
                Ok(part) => {
                    came += part.len();
                    if reads {
                        sleep(Duration::from_micros(100) * u32::try_from(part.len()).unwrap()).await;
                        body.flow_control().release_capacity(part.len()).unwrap();
                    }
                }
                Err(error) => return (came, error.reason()),
            }
        }
        (came, None)
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_waits_is_no_idle_connection() {
    let (_served, mut client) = Served::start(|limits| {
        limits.idle_timeout = Duration::from_secs(1);
        limits.write_timeout = Duration::from_secs(30);
    });
    client
        .write_all(b"GET /large HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        .await
        .unwrap();
    sleep(Duration::from_secs(20)).await;
    let mut answer = Vec::new();
    client.read_to_end(&mut answer).await.unwrap();
    assert!(answer.len() > LARGE, "{} bytes came", answer.len());
}

#[tokio::test(start_paused = true)]
async fn a_slow_client_of_http_1_gets_all_and_the_host_waits_for_it() {
    let (served, mut client) = Served::start(|limits| {
        limits.idle_timeout = Duration::from_secs(2);
        limits.write_timeout = Duration::from_secs(2);
    });
    client
        .write_all(b"GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
        .await
        .unwrap();
    let mut came = Vec::new();
    let mut part = [0; 10_000];
    while came.len() < LARGE {
        let count = client.read(&mut part).await.unwrap();
        assert!(count > 0, "it is closed after {} bytes", came.len());
        came.extend_from_slice(&part[..count]);
        // Much longer than a connection may be idle, in all.
        sleep(Duration::from_millis(500)).await;
    }
    client.read_to_end(&mut came).await.unwrap();
    assert!(came.ends_with(&vec![b'a'; LARGE]));
    assert!(served.is_quiet());
    served.connection.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_client_of_http_1_that_reads_nothing_is_given_up() {
    let (served, mut client) = Served::start(|_| {});
    client
        .write_all(b"GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
        .await
        .unwrap();
    let began = Instant::now();
    served.connection.await.unwrap();
    assert!((30..=32).contains(&began.elapsed().as_secs()));
    let mut came = Vec::new();
    client.read_to_end(&mut came).await.unwrap();
    assert_eq!(came.len(), WIRE);
}

#[tokio::test(start_paused = true)]
async fn a_slow_client_of_http_2_gets_all_and_the_host_waits_for_it() {
    let (served, stream) = Served::start(|limits| {
        limits.idle_timeout = Duration::from_secs(2);
        limits.write_timeout = Duration::from_secs(5);
    });
    let client = Http2::new(stream, 20_000).await;
    let answer = client.get("/large").await;
    let slow = tokio::spawn(Http2::slowly(answer, true));
    sleep(Duration::from_secs(10)).await;
    assert!(!served.is_quiet());
    // It is told to go elsewhere, and gets its answer all the same.
    served.phase.send_replace(Phase::Closing);
    assert_eq!(slow.await.unwrap(), (LARGE, None));
    let Served {
        routes,
        requests,
        connection,
        ..
    } = served;
    connection.await.unwrap();
    assert_eq!(routes.requests.available_permits(), requests);
}

#[tokio::test(start_paused = true)]
async fn a_client_of_http_2_that_reads_nothing_is_given_up() {
    // The whole response, a part of it, or its end finds no room in the window.
    for (path, window) in [
        ("/large", 0),
        ("/large", 1000),
        ("/small", 3),
        ("/large", u32::try_from(LARGE - 1).unwrap()),
    ] {
        let (served, stream) = Served::start(|_| {});
        let client = Http2::new(stream, window).await;
        let response = client.get(path).await;
        let began = Instant::now();
        // The client is not idle meanwhile.
        let busy = async {
            loop {
                sleep(Duration::from_secs(7)).await;
                drop(client.get("/tiny").await.await);
            }
        };
        let ended = async {
            let (came, _) = Http2::slowly(response, false).await;
            assert_eq!(came, window as usize);
        };
        tokio::select! {
            () = ended => {}
            () = busy => {}
        }
        let waited = began.elapsed().as_secs();
        // Of the large one much is taken in the first half minute.
        assert!(
            (30..=92).contains(&waited),
            "{path}: closed after {waited} seconds"
        );
        served.connection.await.unwrap();
        assert_eq!(served.routes.requests.available_permits(), served.requests);
    }
}

#[tokio::test(start_paused = true)]
async fn requests_over_the_limit_are_reset() {
    let (served, stream) = Served::start(|limits| limits.max_requests = 1);
    let client = Http2::new(stream, 1).await;
    let first = client.get("/small").await;
    let first = first.await.unwrap();
    assert_eq!(first.status(), 200);
    let error = client.get("/small").await.await.unwrap_err();
    assert_eq!(error.reason(), Some(h2::Reason::INTERNAL_ERROR));
    assert!(!served.is_quiet());
    drop(first);
}

/// A connection over which 5000 bytes come from the server in a second.
fn slow(stream: DuplexStream) -> DuplexStream {
    let (client, relay) = duplex(WIRE);
    let (mut from_server, mut to_server) = split(stream);
    let (mut from_client, mut to_client) = split(relay);
    tokio::spawn(async move { copy(&mut from_client, &mut to_server).await });
    tokio::spawn(async move {
        let mut part = [0; WIRE];
        while let Ok(count @ 1..) = from_server.read(&mut part).await {
            to_client.write_all(&part[..count]).await.unwrap();
            sleep(Duration::from_micros(200) * u32::try_from(count).unwrap()).await;
        }
    });
    client
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_goes_on_its_way_slowly_arrives() {
    // All of it is handed out at once, since the window has room for all of it.
    let (served, stream) = Served::start(|_| {});
    let client = Http2::new(slow(stream), 1 << 20).await;
    let began = Instant::now();
    let answer = client.get("/large").await;
    assert_eq!(Http2::slowly(answer, false).await, (LARGE, None));
    assert!(began.elapsed().as_secs() > 50);
    assert!(!served.connection.is_finished());
}

#[tokio::test(start_paused = true)]
async fn many_answers_that_share_a_slow_way_arrive() {
    // They take turns, so that most get nothing for longer than a client may take nothing.
    let (served, stream) = Served::start(|_| {});
    let client = Http2::new(slow(stream), 1 << 20).await;
    let began = Instant::now();
    let mut answers = Vec::new();
    for _ in 0..40 {
        answers.push(tokio::spawn(Http2::slowly(client.get("/medium").await, false)));
    }
    for answer in answers {
        let answer = timeout(Duration::from_mins(10), answer).await;
        assert_eq!(answer.expect("it arrives").unwrap(), (MEDIUM, None));
    }
    assert!(began.elapsed().as_secs() > 120);
    assert!(!served.connection.is_finished());
}

#[tokio::test(start_paused = true)]
async fn a_client_of_http_2_that_answers_pings_and_wants_nothing_is_idle() {
    let (served, stream) = Served::start(|_| {});
    let client = Http2::new(stream, 1000).await;
    let answer = client.get("/small").await;
    assert_eq!(Http2::slowly(answer, true).await, (5, None));
    let began = Instant::now();
    served.connection.await.unwrap();
    let waited = began.elapsed().as_secs();
    assert!((75..=150).contains(&waited), "closed after {waited} seconds");
}
