//! The clients: a number of connections, each with one request at a time.

use std::cell::Cell;
use std::io;
use std::rc::Rc;
use std::time::{Duration, Instant};

use skill_sdk_bench_http::body::{self, Size};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::LocalSet;

use super::issuer::Issuer;
use super::server::Server;

/// The request that every connection repeats.
#[derive(Debug)]
pub(crate) struct Load {
    address: String,
    request: Rc<[u8]>,
}

/// The measurements of the clients.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// The number of responses.
    pub(crate) requests: u64,
    /// The duration in seconds.
    pub(crate) seconds: f64,
    /// The latency of each response in nanoseconds, sorted.
    latencies: Vec<u64>,
}

impl Outcome {
    /// The latency at the quantile `part`, in microseconds.
    pub(crate) fn percentile(&self, part: u64) -> f64 {
        let place = self.latencies.len() * usize::try_from(part).unwrap_or(100) / 100;
        let found = self
            .latencies
            .get(place.min(self.latencies.len().saturating_sub(1)));
        super::to_f64(found.copied().unwrap_or_default()) / 1000.0
    }
}

/// When the clients stop.
#[derive(Debug, Clone, Copy)]
enum Until {
    Time(Instant),
    Calls(u64),
}

impl Load {
    /// Calls of a skill.
    pub(crate) fn new(server: &Server, issuer: &Issuer, path: &str, size: Size) -> io::Result<Self> {
        let body = body::body(size).map_err(io::Error::other)?;
        Ok(Self::with_body(server, issuer, path, &body))
    }

    /// Calls of a skill with these inputs.
    pub(crate) fn with_inputs(server: &Server, issuer: &Issuer, path: &str, inputs: &str) -> Self {
        Self::with_body(
            server,
            issuer,
            path,
            format!(r#"{{"inputs":{inputs}}}"#).as_bytes(),
        )
    }

    fn with_body(server: &Server, issuer: &Issuer, path: &str, body: &[u8]) -> Self {
        // All servers get the same bytes; only the production row reads the token.
        let token = issuer.token();
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\nauthorization: Bearer {token}\r\ncontent-length: {}\r\n\r\n",
            server.address,
            body.len(),
        );
        Self {
            address: server.address.clone(),
            request: [head.as_bytes(), body].concat().into(),
        }
    }

    /// Sends requests for this long.
    pub(crate) async fn run(&self, connections: usize, time: Duration) -> io::Result<Outcome> {
        self.clients(connections, Until::Time(Instant::now() + time))
            .await
    }

    /// Sends this many requests.
    pub(crate) async fn calls(&self, connections: usize, calls: u64) -> io::Result<Outcome> {
        self.clients(connections, Until::Calls(calls)).await
    }

    async fn clients(&self, connections: usize, until: Until) -> io::Result<Outcome> {
        let made = Rc::new(Cell::new(0));
        let began = Instant::now();
        let clients = LocalSet::new();
        let mut running = Vec::new();
        for _ in 0..connections {
            let (request, made) = (Rc::clone(&self.request), Rc::clone(&made));
            let stream = TcpStream::connect(&self.address).await?;
            stream.set_nodelay(true)?;
            running.push(clients.spawn_local(client(stream, request, until, made)));
        }
        clients.await;
        let mut latencies = Vec::new();
        for client in running {
            latencies.extend(client.await.map_err(io::Error::other)??);
        }
        latencies.sort_unstable();
        Ok(Outcome {
            requests: latencies.len() as u64,
            seconds: began.elapsed().as_secs_f64(),
            latencies,
        })
    }
}

async fn client(
    mut stream: TcpStream,
    request: Rc<[u8]>,
    until: Until,
    made: Rc<Cell<u64>>,
) -> io::Result<Vec<u64>> {
    let mut latencies = Vec::new();
    let mut buffer = vec![0; 64 * 1024];
    // All requests are the same, so every response is as long as the first.
    let mut length = None;
    loop {
        let began = Instant::now();
        match until {
            Until::Time(end) if began >= end => break,
            Until::Calls(calls) if made.get() >= calls => break,
            _ => made.set(made.get() + 1),
        }
        stream.write_all(&request).await?;
        let mut filled = 0;
        loop {
            let (_, free) = buffer.split_at_mut(filled);
            let read = stream.read(free).await?;
            if read == 0 {
                return Err(io::Error::other("the server closed a connection"));
            }
            filled += read;
            if length.is_none() {
                length = response_length(buffer.get(..filled).unwrap_or_default());
            }
            if length.is_some_and(|length| filled >= length) {
                break;
            }
        }
        if !buffer.starts_with(b"HTTP/1.1 200") {
            let text = String::from_utf8_lossy(buffer.get(..filled).unwrap_or_default()).into_owned();
            return Err(io::Error::other(format!("the server responded: {text}")));
        }
        latencies.push(u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX));
    }
    Ok(latencies)
}

/// The length of a response, headers included, once its headers are complete.
fn response_length(answer: &[u8]) -> Option<usize> {
    let head = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n")? + 4;
    let text = std::str::from_utf8(answer.get(..head)?).ok()?;
    let length: usize = text
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "))?
        .trim()
        .parse()
        .ok()?;
    Some(head + length)
}
