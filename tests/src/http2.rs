//! An HTTP/2 client built on the `h2` crate, independent of the SDK.

use std::io::Cursor;
use std::net::SocketAddr;
use std::time::Duration;

use h2::client::{Builder, ResponseFuture, SendRequest};
use h2::{Error, RecvStream};
use http::{HeaderName, HeaderValue, Request};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::raw_http::Response;

/// The time limit for things that should happen at once, or by a paused clock.
const PATIENCE: Duration = Duration::from_mins(1);

/// One connection.
#[derive(Debug)]
pub struct Http2 {
    requests: SendRequest<Cursor<Vec<u8>>>,
    connection: JoinHandle<Result<(), Error>>,
}

impl Http2 {
    /// Connects.
    pub async fn connect(address: SocketAddr) -> Self {
        Self::with(address, &Builder::new()).await
    }

    /// Connects with a window of zero bytes, so the server cannot send a response body.
    pub async fn connect_without_window(address: SocketAddr) -> Self {
        Self::with(address, Builder::new().initial_window_size(0)).await
    }

    async fn with(address: SocketAddr, builder: &Builder) -> Self {
        let stream = TcpStream::connect(address).await.expect("the server listens");
        let connected = builder.handshake(stream).await;
        let (requests, connection) = connected.expect("it speaks HTTP/2");
        Self {
            requests,
            connection: tokio::spawn(connection),
        }
    }

    /// Sends a request as soon as the server accepts another stream.
    pub async fn send(&mut self, method: &str, path: &str, body: &str) -> Result<Sent, Error> {
        let mut requests = self.requests.clone().ready().await?;
        let request = Request::builder()
            .method(method)
            .uri(format!("http://localhost{path}"))
            .header("content-type", "application/json")
            .body(())
            .expect("it is a request");
        let (response, mut stream) = requests.send_request(request, body.is_empty())?;
        if !body.is_empty() {
            stream.send_data(Cursor::new(body.as_bytes().to_vec()), true)?;
        }
        Ok(Sent(response))
    }

    /// Sends a request and receives the response.
    pub async fn ask(&mut self, method: &str, path: &str, body: &str) -> Result<Response, Error> {
        self.send(method, path, body).await?.response().await
    }

    /// Waits until the server closes the connection, and returns its error, if there was one.
    pub async fn closed(&mut self) -> Result<(), Error> {
        let closed = timeout(PATIENCE, &mut self.connection).await;
        let closed = closed.expect("the server closes the connection");
        closed.expect("the client does not panic")
    }
}

/// A request that was sent.
#[derive(Debug)]
pub struct Sent(ResponseFuture);

impl Sent {
    /// The status of the response; its body is not read yet.
    pub async fn head(self) -> Result<(u16, RecvStream), Error> {
        let response = timeout(PATIENCE, self.0).await;
        let (head, body) = response.expect("the server responds in time")?.into_parts();
        Ok((head.status.as_u16(), body))
    }

    /// The whole response.
    pub async fn response(self) -> Result<Response, Error> {
        let whole = async {
            let (head, mut body) = self.0.await?.into_parts();
            let mut bytes = Vec::new();
            while let Some(part) = body.data().await {
                let part = part?;
                body.flow_control().release_capacity(part.len())?;
                bytes.extend_from_slice(&part);
            }
            let header = |(name, value): (&HeaderName, &HeaderValue)| {
                let value = value.to_str().expect("the headers are text");
                (name.to_string(), value.to_owned())
            };
            Ok(Response {
                status: head.status.as_u16(),
                headers: head.headers.iter().map(header).collect(),
                body: String::from_utf8(bytes).expect("bodies are UTF-8"),
            })
        };
        timeout(PATIENCE, whole)
            .await
            .expect("the server responds in time")
    }
}
