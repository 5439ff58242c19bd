//! Calls over HTTP: one call at a time on each connection.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use super::ndjson::address;
use super::program::{Program, missing_pipe};
use super::{Client, Outcome, measured};

/// A program that serves HTTP.
#[derive(Debug)]
pub(crate) struct Web {
    address: String,
    request: Vec<u8>,
    connections: Vec<Connection>,
    _program: Program,
}

#[derive(Debug)]
struct Connection {
    stream: TcpStream,
    reader: BufReader<TcpStream>,
    sent: Instant,
}

impl Web {
    /// Starts a program that serves MCP over HTTP.
    pub(crate) fn start(binary: &str, how: &str, tool: &str, core: Option<usize>) -> io::Result<Self> {
        let mut program = Program::start(binary, how, core)?;
        let address = address(program.0.stdout.take().ok_or_else(missing_pipe)?)?;
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,{}}}"#, measured(tool));
        let request = format!(
            "POST /mcp HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n\
             accept: application/json, text/event-stream\r\nmcp-protocol-version: 2025-06-18\r\n\
             content-length: {}\r\n\r\n{body}",
            body.len(),
        );
        Ok(Self {
            address,
            request: request.into_bytes(),
            connections: Vec::new(),
            _program: program,
        })
    }
}

impl Connection {
    fn send(&mut self, request: &[u8]) -> io::Result<()> {
        self.sent = Instant::now();
        self.stream.write_all(request)
    }

    fn receive(&mut self, body: &mut Vec<u8>) -> io::Result<Duration> {
        let mut length = 0;
        let mut line = String::new();
        loop {
            line.clear();
            self.reader.read_line(&mut line)?;
            let text = line.trim_end();
            if text.is_empty() {
                break;
            }
            if let Some((name, value)) = text.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse().map_err(io::Error::other)?;
            }
        }
        if length == 0 {
            return Err(io::Error::other("a response without a length"));
        }
        body.resize(length, 0);
        self.reader.read_exact(body)?;
        Ok(self.sent.elapsed())
    }
}

impl Client for Web {
    fn load(&mut self, in_flight: usize, time: Duration) -> io::Result<Outcome> {
        while self.connections.len() < in_flight {
            let stream = TcpStream::connect(&self.address)?;
            stream.set_nodelay(true)?;
            let reader = BufReader::new(stream.try_clone()?);
            self.connections.push(Connection {
                stream,
                reader,
                sent: Instant::now(),
            });
        }
        let connections = &mut self.connections[..in_flight];
        let (mut body, mut latencies) = (Vec::new(), Vec::new());
        let start = Instant::now();
        for connection in connections.iter_mut() {
            connection.send(&self.request)?;
        }
        let mut last = false;
        while !last {
            last = start.elapsed() >= time;
            for connection in connections.iter_mut() {
                latencies.push(connection.receive(&mut body)?);
                if !last {
                    connection.send(&self.request)?;
                }
            }
        }
        let took = start.elapsed();
        // Check one response, so that errors are not measured as fast calls.
        let answer = String::from_utf8_lossy(&body);
        if !answer.contains("3750") {
            return Err(io::Error::other(format!("not the expected response: {answer}")));
        }
        Ok(Outcome::new(latencies.len(), latencies, took))
    }
}
