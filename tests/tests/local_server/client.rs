//! A server on its own thread, and a client that is connected by two pipes.

use std::io::{self, BufRead, BufReader, PipeReader, PipeWriter, Write, pipe};
use std::os::fd::OwnedFd;
use std::sync::mpsc::{Receiver, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::{Value, json};
use skill_sdk::Environment;
use skill_sdk::context::States;
use skill_sdk::local::{LocalServer, serve};
use skill_sdk::pipeline::SkillSet;
use tokio::fs::File;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;

use super::SKILLS;

/// The time limit for things that should happen at once.
pub(super) const PATIENCE: Duration = Duration::from_mins(1);

/// A server of the skills of these tests.
pub(super) fn local_server() -> LocalServer {
    let host = SkillSet::with_states(SKILLS.iter().copied(), States::default());
    LocalServer::new(host.unwrap()).environment(Environment::from_vars([]))
}

/// A server, and the client's ends of its pipes.
pub(super) struct Running {
    pub(super) input: PipeWriter,
    pub(super) output: PipeReader,
    pub(super) stop: oneshot::Sender<()>,
    pub(super) done: Done,
}

/// The result of `serve`.
pub(super) struct Done(JoinHandle<io::Result<()>>);

impl Done {
    /// Waits until the server has stopped.
    pub(super) fn wait(self) {
        let (sender, ended) = channel();
        thread::spawn(move || sender.send(self.0.join()));
        ended
            .recv_timeout(PATIENCE)
            .expect("the server stops in time")
            .expect("the server does not panic")
            .expect("the host ends well");
    }
}

/// The runtime of a server.
pub(super) fn runtime() -> Runtime {
    Builder::new_multi_thread()
        .worker_threads(4)
        .enable_all()
        .build()
        .unwrap()
}

fn file(pipe: impl Into<OwnedFd>) -> File {
    File::from_std(std::fs::File::from(pipe.into()))
}

/// Starts a server.
pub(super) fn start(host: LocalServer) -> Running {
    let (host_reads, input) = pipe().unwrap();
    let (output, host_writes) = pipe().unwrap();
    let (stop, stopped) = oneshot::channel();
    let stopped = async {
        if stopped.await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    let done = thread::spawn(move || {
        let runtime = runtime();
        let served = runtime.block_on(serve(host, file(host_reads), file(host_writes), stopped));
        // A read of the input may still be blocked.
        runtime.shutdown_background();
        served
    });
    Running {
        input,
        output,
        stop,
        done: Done(done),
    }
}

/// A client that sends and receives lines.
pub(super) struct Client {
    pub(super) input: Option<PipeWriter>,
    pub(super) stop: Option<oneshot::Sender<()>>,
    pub(super) done: Done,
    lines: Receiver<String>,
}

impl Client {
    /// A client of a server with default limits.
    pub(super) fn new() -> Self {
        Self::of(local_server())
    }

    /// A client of this server.
    pub(super) fn of(host: LocalServer) -> Self {
        let Running {
            input,
            output,
            stop,
            done,
        } = start(host);
        Self {
            input: Some(input),
            stop: Some(stop),
            done,
            lines: lines(output),
        }
    }

    /// Sends a line.
    pub(super) fn send(&mut self, line: &(impl AsRef<[u8]> + ?Sized)) {
        let input = self.input.as_mut().unwrap();
        input.write_all(&[line.as_ref(), b"\n"].concat()).unwrap();
    }

    /// Calls the skill `act` with an action.
    pub(super) fn act(&mut self, id: impl Into<Value>, action: &str) {
        self.send(&call(id, "local.act@1", &json!({"action": action}), &Value::Null));
    }

    /// The next line as text.
    pub(super) fn line(&self) -> String {
        self.lines.recv_timeout(PATIENCE).expect("a line arrives in time")
    }

    /// The next line as JSON.
    pub(super) fn take(&self) -> Value {
        serde_json::from_str(&self.line()).unwrap()
    }

    /// The next line, which must be a failure: its id and its code.
    pub(super) fn take_failure(&self) -> (Value, String) {
        let line = self.take();
        let keys: Vec<_> = line.as_object().unwrap().keys().cloned().collect();
        assert_eq!(keys, ["id", "error"], "{line}");
        let error = line["error"].as_object().unwrap();
        let keys: Vec<_> = error.keys().cloned().collect();
        assert_eq!(keys, ["code", "message", "retryable", "details"], "{line}");
        (line["id"].clone(), error["code"].as_str().unwrap().to_owned())
    }

    /// Closes the input, and returns all lines until the server stops.
    pub(super) fn end(mut self) -> Vec<Value> {
        drop(self.input.take());
        self.rest()
    }

    /// All lines until the server stops.
    pub(super) fn rest(self) -> Vec<Value> {
        let mut rest = Vec::new();
        while let Ok(line) = self.lines.recv_timeout(PATIENCE) {
            rest.push(serde_json::from_str(&line).unwrap());
        }
        self.done.wait();
        rest
    }
}

/// The lines of a pipe.
pub(super) fn lines(output: impl io::Read + Send + 'static) -> Receiver<String> {
    let (sender, lines) = channel();
    thread::spawn(move || {
        for line in BufReader::new(output).lines() {
            if sender.send(line.unwrap()).is_err() {
                return;
            }
        }
    });
    lines
}

/// A line with a call.
pub(super) fn call(id: impl Into<Value>, skill: &str, inputs: &Value, meta: &Value) -> String {
    json!({"id": id.into(), "skill": skill, "inputs": inputs, "meta": meta}).to_string()
}
