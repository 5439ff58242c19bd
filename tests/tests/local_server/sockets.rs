//! The server on a Unix socket.

use std::fs;
use std::io::{self, Write};
use std::net::Shutdown;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::thread::{self, JoinHandle};

use serde_json::{Value, json};
use skill_sdk::local::serve_socket;
use skill_sdk_tests::skill_events::{SkillEvent, SkillEvents};
use tokio::runtime::Builder;
use tokio::sync::oneshot;

use super::client::{PATIENCE, call, lines, local_server, runtime};

struct Server {
    stop: oneshot::Sender<()>,
    done: JoinHandle<Result<(), io::Error>>,
}

/// Serves at a path. Fails if the server cannot start.
fn serve(path: &Path) -> Result<Server, io::Error> {
    let (bound, is_bound) = channel();
    let (stop, stopped) = oneshot::channel::<()>();
    let path = path.to_owned();
    let done = thread::spawn(move || {
        runtime().block_on(serve_socket(
            local_server(),
            path,
            move || bound.send(()).unwrap(),
            async {
                let _ = stopped.await;
            },
        ))
    });
    match is_bound.recv_timeout(PATIENCE) {
        Ok(()) => Ok(Server { stop, done }),
        Err(_) => Err(done.join().unwrap().unwrap_err()),
    }
}

impl Server {
    fn stop(self) {
        drop(self.stop);
        self.done.join().unwrap().unwrap();
    }
}

fn connect(path: &Path) -> (UnixStream, Receiver<String>) {
    let stream = UnixStream::connect(path).unwrap();
    let lines = lines(stream.try_clone().unwrap());
    (stream, lines)
}

fn send(stream: &mut UnixStream, id: u64, action: &str, invocation: &str) {
    let line = call(
        id,
        "local.act@1",
        &json!({"action": action}),
        &json!({"invocationId": invocation}),
    );
    stream.write_all((line + "\n").as_bytes()).unwrap();
}

fn take(lines: &Receiver<String>) -> Value {
    serde_json::from_str(&lines.recv_timeout(PATIENCE).expect("a line arrives in time")).unwrap()
}

#[test]
fn several_clients_are_served_and_only_the_owner_can_connect() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("skills.sock");
    let server = serve(&path).unwrap();
    let metadata = fs::symlink_metadata(&path).unwrap();
    assert!(metadata.file_type().is_socket());
    assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
    assert_eq!(
        fs::read_dir(directory.path()).unwrap().count(),
        1,
        "no other file is left"
    );

    let (mut one, one_lines) = connect(&path);
    let (mut two, two_lines) = connect(&path);
    let mut events = SkillEvents::of_call("socket");
    send(&mut one, 1, "hang", "socket");
    let waiting = Builder::new_current_thread().enable_all().build().unwrap();
    waiting.block_on(events.started());
    // The same id on another connection is another call.
    send(&mut two, 1, "go", "");
    assert_eq!(take(&two_lines)["outputs"]["result"], "go");
    // A client that closes only its sending half still gets responses.
    two.shutdown(Shutdown::Write).unwrap();
    assert!(two_lines.recv_timeout(PATIENCE).is_err());
    // A client that disconnects cancels its calls.
    one.shutdown(Shutdown::Both).unwrap();
    drop((one, one_lines));
    assert!(matches!(waiting.block_on(events.next()), SkillEvent::Dropped));

    // Closing the sending half does not cancel running calls.
    let (mut three, three_lines) = connect(&path);
    send(&mut three, 3, "yield", "");
    three.shutdown(Shutdown::Write).unwrap();
    assert_eq!(take(&three_lines)["outputs"]["result"], "yield");
    server.stop();
    assert!(!path.exists(), "the socket is removed");
}

#[test]
fn all_requests_work_on_a_socket() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("s");
    let server = serve(&path).unwrap();
    let (mut stream, lines) = connect(&path);
    let mut say = |line: &str| stream.write_all((line.to_owned() + "\n").as_bytes()).unwrap();
    let act = |id: u64, action: &str, invocation: &str| {
        let meta = json!({"invocationId": invocation, "notices": "info"});
        call(id, "local.act@1", &json!({"action": action}), &meta)
    };

    say(r#"{"list": true, "id": "l"}"#);
    let listed = take(&lines);
    assert_eq!(listed["id"], "l");
    assert_eq!(listed["skills"].as_array().unwrap().len(), super::SKILLS.len());
    for (line, id, code) in [
        ("{\"id\": 1", json!(null), "bad_request"),
        (
            r#"{"id": 1, "skill": "local.none@1", "inputs": {}}"#,
            json!(1),
            "skill_not_hosted",
        ),
    ] {
        say(line);
        let refused = take(&lines);
        assert_eq!(
            (&refused["id"], &refused["error"]["code"]),
            (&id, &json!(code)),
            "{line}"
        );
    }
    say(&act(2, "progress", ""));
    assert_eq!(take(&lines)["progress"]["message"], "half");
    assert_eq!(take(&lines)["progress"]["done"], 2.0);
    assert_eq!(take(&lines)["outputs"]["result"], "progress");
    say(&act(3, "notify", ""));
    assert_eq!(take(&lines)["notice"]["message"], "busy");
    assert_eq!(take(&lines)["notice"]["level"], "error");
    assert_eq!(take(&lines)["outputs"]["result"], "notify");
    let mut events = SkillEvents::of_call("socket-cancel");
    say(&act(4, "hang", "socket-cancel"));
    let waiting = Builder::new_current_thread().enable_all().build().unwrap();
    waiting.block_on(events.started());
    say(r#"{"cancel": 4}"#);
    let cancelled = take(&lines);
    assert_eq!(
        (&cancelled["id"], &cancelled["error"]["code"]),
        (&json!(4), &json!("cancelled"))
    );
    waiting.block_on(events.dropped());
    server.stop();
    assert!(lines.recv_timeout(PATIENCE).is_err());
}

#[test]
fn shutdown_disconnects_idle_clients() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("s");
    let server = serve(&path).unwrap();
    let (mut stream, lines) = connect(&path);
    send(&mut stream, 1, "go", "");
    take(&lines);
    server.stop();
    assert!(lines.recv_timeout(PATIENCE).is_err());
}

#[test]
fn only_a_stale_socket_is_replaced() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("s");
    drop(UnixListener::bind(&path).unwrap());
    let server = serve(&path).unwrap();

    let error = serve(&path).err().unwrap();
    assert!(error.kind() == io::ErrorKind::AddrInUse, "{error}");
    assert!(error.to_string().contains("another server"), "{error}");
    let (mut stream, lines) = connect(&path);
    send(&mut stream, 1, "go", "");
    assert_eq!(take(&lines)["id"], 1);
    server.stop();

    for make in [
        |path: &Path| fs::write(path, "precious").unwrap(),
        |path: &Path| fs::create_dir(path).unwrap(),
        |path: &Path| std::os::unix::fs::symlink("precious", path).unwrap(),
    ] {
        make(&path);
        let error = serve(&path).err().unwrap();
        assert!(error.kind() == io::ErrorKind::AlreadyExists, "{error}");
        assert!(fs::symlink_metadata(&path).is_ok());
        let _ = fs::remove_dir(&path).or_else(|_| fs::remove_file(&path));
    }
    let error = serve(&directory.path().join("missing/s")).err().unwrap();
    assert_eq!(error.kind(), io::ErrorKind::NotFound, "{error}");
}

#[test]
fn a_too_long_path_is_reported() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x".repeat(120));
    let error = serve(&path).err().unwrap();
    assert!(error.to_string().contains("path must be shorter"), "{error}");
}

#[test]
fn a_server_that_does_not_accept_is_still_running() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("s");
    let mut waiting = Vec::new();
    // Connections that the server does not accept, until the backlog is full.
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let _busy = runtime.block_on(async {
        let socket = tokio::net::UnixSocket::new_stream().unwrap();
        socket.bind(&path).unwrap();
        let busy = socket.listen(1).unwrap();
        while let Ok(stream) = tokio::net::UnixStream::connect(&path).await {
            waiting.push(stream);
        }
        busy
    });
    let error = serve(&path).err().unwrap();
    assert!(error.kind() == io::ErrorKind::AddrInUse, "{error}");
}
