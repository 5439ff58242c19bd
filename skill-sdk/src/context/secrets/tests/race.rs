//! A writer that never rests. Every read gives one of the writer's values whole, or a reason; nothing from outside.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use super::layout::Layout;
use super::reason;
use crate::context::secrets::file::MAX_BYTES;
use crate::context::secrets::{Secret, read_secret_file};
use crate::error::SkillError;

const READS: usize = 500;

/// Stops the writer, also when the reader's assertions fail.
struct StopOnDrop<'a>(&'a AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Reads `t` again and again while `write` is called with 0, 1, 2, …
fn race(
    layout: &Layout,
    write: impl Fn(usize) + Sync,
    mut read: impl FnMut(Result<Option<Secret>, SkillError>),
) {
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let _stop = StopOnDrop(&stop);
        scope.spawn(|| {
            let mut turn = 0;
            while !stop.load(Ordering::Relaxed) {
                write(turn);
                turn += 1;
            }
        });
        for _ in 0..READS {
            read(read_secret_file(&layout.run(), "t"));
        }
    });
}

/// The largest value there can be, of one letter.
fn large(letter: &str) -> String {
    letter.repeat(MAX_BYTES)
}

/// Asserts without showing 64 KiB on failure.
fn assert_whole(secret: &Secret) {
    let value = secret.expose();
    let first = value.chars().next().unwrap();
    assert!(
        value.len() == MAX_BYTES && "ab".contains(first) && value.chars().all(|c| c == first),
        "a torn value"
    );
}

#[test]
fn kubernetes_exchanges_data() {
    let layout = Layout::with_run();
    layout.file("run/..0/t", large("a"));
    layout.file("run/..1/t", large("b"));
    layout.link("run/..data", "..0");
    layout.link("run/t", "..data/t");
    // Both targets stay, and the link is exchanged at once: there is no moment without a value.
    race(
        &layout,
        |turn| layout.relink("run/..data", &format!("..{}", turn % 2)),
        |got| {
            assert_whole(&got.unwrap().unwrap());
        },
    );
}

#[test]
fn kubernetes_removes_what_was() {
    let layout = Layout::with_run();
    layout.file("run/..first/t", large("a"));
    layout.link("run/..data", "..first");
    layout.link("run/t", "..data/t");
    let write = |turn: usize| {
        let was = fs::read_link(layout.path("run/..data")).unwrap();
        layout.file(&format!("run/..{turn}/t"), large(["b", "a"][turn % 2]));
        layout.relink("run/..data", &format!("..{turn}"));
        fs::remove_dir_all(layout.run().join(was)).unwrap();
    };
    // The target may be gone at each of the three attempts; what is read is whole all the same.
    race(&layout, write, |got| match got {
        Ok(secret) => secret.iter().for_each(assert_whole),
        Err(error) => assert_eq!(reason(&error), "symlink_swapped", "{error}"),
    });
}

#[test]
fn somebody_points_outside() {
    let layout = Layout::with_run();
    layout.file("outside/t", "hunter2");
    layout.file("run/sub/t", large("a"));
    layout.link("run/t", "sub/t");
    let write = |turn: usize| {
        if turn.is_multiple_of(2) {
            fs::rename(layout.path("run/sub"), layout.path("spare")).unwrap();
            layout.link("run/sub", "<root>/outside");
        } else {
            fs::remove_file(layout.path("run/sub")).unwrap();
            fs::rename(layout.path("spare"), layout.path("run/sub")).unwrap();
        }
    };
    race(&layout, write, |got| match got {
        Ok(secret) => secret.iter().for_each(assert_whole),
        Err(error) => assert!(
            ["outside_secrets_dir", "symlink_swapped"].contains(&reason(&error)),
            "{error}"
        ),
    });
}
