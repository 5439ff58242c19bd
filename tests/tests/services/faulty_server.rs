//! A server with faults that real servers have only when they break.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// One request.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    /// The names are in lower case.
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Value,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }
}

/// The behavior of the server.
#[derive(Debug, Clone)]
pub(crate) enum Reply {
    /// Responds.
    Http {
        status: u16,
        headers: Vec<(&'static str, String)>,
        body: Vec<u8>,
    },
    /// Announces this many bytes in `Content-Length` and sends fewer.
    Announce(u64),
    /// Sends bytes forever.
    Flood,
    /// Closes the connection.
    Drop,
    /// Never responds.
    Hang,
}

impl Reply {
    pub(crate) fn json(status: u16, document: &Value) -> Self {
        Self::Http {
            status,
            headers: vec![("content-type", "application/json".to_owned())],
            body: document.to_string().into_bytes(),
        }
    }
}

/// Serves on a free port of the loopback address until the runtime ends. Each connection handles one request.
pub(crate) async fn serve(answer: Arc<dyn Fn(Request) -> Reply + Send + Sync>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let answer = Arc::clone(&answer);
            tokio::spawn(async move { one(stream, &*answer).await });
        }
    });
    address
}

async fn one(stream: TcpStream, answer: &(dyn Fn(Request) -> Reply + Send + Sync)) -> Option<()> {
    let mut stream = BufReader::new(stream);
    let request = read(&mut stream).await?;
    match answer(request) {
        Reply::Http {
            status,
            headers,
            body,
        } => {
            let mut head = format!(
                "HTTP/1.1 {status} -\r\nconnection: close\r\ncontent-length: {}\r\n",
                body.len()
            );
            for (name, value) in headers {
                head.push_str(&format!("{name}: {value}\r\n"));
            }
            head.push_str("\r\n");
            stream.write_all(head.as_bytes()).await.ok()?;
            stream.write_all(&body).await.ok()?;
            stream.shutdown().await.ok()
        }
        Reply::Announce(length) => {
            let head = format!("HTTP/1.1 200 -\r\nconnection: close\r\ncontent-length: {length}\r\n\r\nfew");
            stream.write_all(head.as_bytes()).await.ok()?;
            stream.shutdown().await.ok()
        }
        Reply::Flood => {
            let head = "HTTP/1.1 200 -\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n";
            stream.write_all(head.as_bytes()).await.ok()?;
            let chunk = format!("{:x}\r\n{}\r\n", 1 << 20, " ".repeat(1 << 20));
            loop {
                stream.write_all(chunk.as_bytes()).await.ok()?;
            }
        }
        Reply::Drop => Some(()),
        Reply::Hang => std::future::pending().await,
    }
}

async fn read(stream: &mut BufReader<TcpStream>) -> Option<Request> {
    let mut line = String::new();
    stream.read_line(&mut line).await.ok()?;
    let mut words = line.split_whitespace().map(str::to_owned);
    let (method, path) = (words.next()?, words.next()?);
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await.ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else {
            break;
        };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let length = headers
        .get("content-length")
        .map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    let body = serde_json::from_slice(&body).unwrap_or_default();
    Some(Request {
        method,
        path,
        headers,
        body,
    })
}
