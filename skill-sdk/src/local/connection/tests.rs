//! A client when there is no thread.

use std::io::PipeWriter;
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::time::Duration;

use super::*;
use crate::context::Environment;
use crate::local::LocalServer;
use crate::pipeline::SkillSet;
use crate::registry::Registry;

const PATIENCE: Duration = Duration::from_mins(1);

/// Says that somebody reads.
struct Told(std::io::PipeReader, SyncSender<()>);

impl Read for Told {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let _ = self.1.try_send(());
        self.0.read(buffer)
    }
}

/// Says what it writes, and keeps its thread until it may go on.
struct Gated(SyncSender<usize>, Receiver<()>);

impl Write for Gated {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.send(bytes.len()).map_err(io::Error::other)?;
        self.1.recv().map_err(io::Error::other)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn say(input: &mut PipeWriter) {
    input.write_all(b"x\n").unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn without_another_thread_the_one_that_is_kept_reads_on() {
    let host = SkillSet::new(&Registry::from_skills([]).unwrap()).unwrap();
    let host = LocalServer::new(host).environment(Environment::from_vars([]));
    let shared = Shared::new(host, tokio::runtime::Handle::current()).unwrap();
    let (reads, mut input) = io::pipe().unwrap();
    let (reading, is_reading) = sync_channel(1);
    let (wrote, written) = sync_channel(8);
    let (open, gate) = sync_channel(8);
    let (asked, refusals) = channel();
    let (threads, again) = (AtomicU64::new(0), Mutex::new(is_reading));
    let spawn = move |_: &str, work: Work| {
        // The two that every connection begins with.
        if threads.fetch_add(1, Ordering::Relaxed) < 2 {
            return thread::Builder::new().spawn(work).map(drop);
        }
        let again = again.lock().unwrap();
        let _ = again.try_recv();
        // The thread that is kept goes on just now: it reads again, or it is gone.
        open.send(()).unwrap();
        let _ = again.recv_timeout(Duration::from_secs(2));
        let _ = asked.send(());
        Err(io::ErrorKind::WouldBlock.into())
    };
    let input_of_host = Box::new(Told(reads, reading));
    let connection = Connection::with_threads(
        shared,
        input_of_host,
        Box::new(Gated(wrote, gate)),
        Box::new(spawn),
    );
    connection.start().unwrap();
    for _ in 0..2 {
        say(&mut input);
        written.recv_timeout(PATIENCE).expect("somebody reads");
        refusals.recv_timeout(PATIENCE).unwrap();
        // What the refusal leads to is done as well.
        while connection.begun.load(Ordering::Relaxed) != 0 {
            thread::yield_now();
        }
    }
    drop(input);
    tokio::time::timeout(PATIENCE, connection.ended()).await.unwrap();
    connection.close();
}
