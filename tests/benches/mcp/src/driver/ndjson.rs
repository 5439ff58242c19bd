//! Calls over pipes, as newline-delimited JSON.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{ChildStdin, ChildStdout};
use std::time::{Duration, Instant};

use skill_sdk_bench_mcp::INPUTS;

use super::program::{Program, missing_pipe};
use super::{Client, Outcome, measured, tool_call};

/// A program that reads calls from a pipe.
#[derive(Debug)]
pub(crate) struct Pipe {
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    /// The parts of a call before and after its id.
    head: &'static str,
    tail: String,
    next: u64,
    mcp: bool,
    _program: Program,
}

impl Pipe {
    /// A program with the local protocol.
    pub(crate) fn local(binary: &str, how: &str, skill: &str, core: Option<usize>) -> io::Result<Self> {
        let tail = format!(r#","skill":"{skill}","inputs":{INPUTS},"meta":{{"invocationId":"i-1"}}}}"#);
        Self::start(binary, how, core, r#"{"id":"#, tail + "\n", false)
    }

    /// A program with MCP over stdio.
    pub(crate) fn mcp(binary: &str, how: &str, tool: &str, core: Option<usize>) -> io::Result<Self> {
        let tail = format!(",{}}}\n", measured(tool));
        let mut pipe = Self::start(binary, how, core, r#"{"jsonrpc":"2.0","id":"#, tail, true)?;
        let hello = r#"{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}"#;
        pipe.input.write_all(format!("{hello}\n").as_bytes())?;
        pipe.line()?;
        let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        pipe.input.write_all(format!("{ready}\n").as_bytes())?;
        Ok(pipe)
    }

    fn start(
        binary: &str,
        how: &str,
        core: Option<usize>,
        head: &'static str,
        tail: String,
        mcp: bool,
    ) -> io::Result<Self> {
        let mut program = Program::start(binary, how, core)?;
        let input = program.0.stdin.take().ok_or_else(missing_pipe)?;
        let output = program.0.stdout.take().ok_or_else(missing_pipe)?;
        Ok(Self {
            input,
            output: BufReader::with_capacity(64 * 1024, output),
            head,
            tail,
            next: 0,
            mcp,
            _program: program,
        })
    }

    /// Starts a call that never returns.
    pub(crate) fn begin(&mut self, skill: &str) -> io::Result<()> {
        let id = self.next;
        self.next += 1;
        let line = if self.mcp {
            format!("{}{id},{}}}\n", self.head, tool_call(skill, "{}"))
        } else {
            format!("{}{id},\"skill\":\"{skill}@1\",\"inputs\":{{}}}}\n", self.head)
        };
        self.input.write_all(line.as_bytes())
    }

    fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        Ok(line)
    }

    fn add_call(&mut self, buffer: &mut Vec<u8>) -> io::Result<()> {
        write!(buffer, "{}{}{}", self.head, self.next, self.tail)?;
        self.next += 1;
        Ok(())
    }
}

impl Client for Pipe {
    fn load(&mut self, in_flight: usize, time: Duration) -> io::Result<Outcome> {
        let start = Instant::now();
        let mut calls = Vec::new();
        // Check one response, so that errors are not measured as fast calls.
        self.add_call(&mut calls)?;
        self.input.write_all(&calls)?;
        let answer = self.line()?;
        if !answer.contains("3750") {
            return Err(io::Error::other(format!("not the expected response: {answer}")));
        }
        calls.clear();
        for _ in 0..in_flight {
            self.add_call(&mut calls)?;
        }
        let mut sent = Instant::now();
        self.input.write_all(&calls)?;
        let (mut answers, mut latencies) = (0, Vec::new());
        let mut left = in_flight;
        while left > 0 {
            let bytes = self.output.fill_buf()?;
            if bytes.is_empty() {
                return Err(io::Error::other("the program ended"));
            }
            let answered = bytes.split(|byte| *byte == b'\n').count() - 1;
            let length = bytes.len();
            self.output.consume(length);
            let now = Instant::now();
            answers += answered;
            // With several calls in flight, responses from one read have no latency of their own.
            if in_flight == 1 && answered == 1 {
                latencies.push(now - sent);
            }
            left -= answered;
            if now - start < time {
                calls.clear();
                for _ in 0..answered {
                    self.add_call(&mut calls)?;
                }
                sent = Instant::now();
                self.input.write_all(&calls)?;
                left += answered;
            }
        }
        Ok(Outcome::new(answers, latencies, start.elapsed()))
    }
}

/// Reads the address that a program prints first.
pub(crate) fn address(output: impl Read) -> io::Result<String> {
    for line in BufReader::new(output).lines() {
        if let Some(address) = line?.strip_prefix("listening on http://") {
            return Ok(address.to_owned());
        }
    }
    Err(io::Error::other("the program did not print its address"))
}
