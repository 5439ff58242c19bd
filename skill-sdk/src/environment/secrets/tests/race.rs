//! A writer that never rests. Every read gives one of the writer's values whole, or a reason; nothing from outside.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use super::layout::Layout;
use super::reason;
use crate::environment::secrets::file::MAX_BYTES;
use crate::environment::secrets::{Secret, read_secret_file};
use crate::error::SkillError;

/// Of the largest values there can be.
const READS: usize = 500;

/// Of small values, unless the variable says another number: the whole check asks for a million, which takes a minute.
const MANY_READS: usize = 50_000;
const MANY_READS_VARIABLE: &str = "SKILL_SDK_TEST_SECRET_READS";

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
    reads: usize,
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
        for _ in 0..reads {
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
    // Both targets remain, and the link is replaced atomically: the value is always available.
    race(
        &layout,
        READS,
        |turn| layout.relink("run/..data", &format!("..{}", turn % 2)),
        |got| {
            assert_whole(&got.unwrap().unwrap());
        },
    );
}

#[test]
fn many_reads_meet_every_exchange() {
    let reads = std::env::var(MANY_READS_VARIABLE).map_or(MANY_READS, |number| number.parse().unwrap());
    let layout = Layout::with_run();
    let values = ["a", "b"].map(|letter| letter.repeat(100));
    layout.file("run/..0/t", &values[0]);
    layout.file("run/..1/t", &values[1]);
    layout.file("outside/t", "hunter2");
    layout.link("run/..data", "..0");
    layout.link("run/t", "..data/t");
    let write = |turn: usize| match turn % 3 {
        2 => layout.relink("run/..data", "<root>/outside"),
        own => layout.relink("run/..data", &format!("..{own}")),
    };
    let mut seen = [0; 3];
    race(&layout, reads, write, |got| match got {
        Ok(secret) => {
            let secret = secret.expect("there is a value at every moment");
            let which = values.iter().position(|value| value == secret.expose());
            seen[which.expect("a value of the writer's, whole")] += 1;
        }
        Err(error) => {
            assert!(
                ["outside_secrets_dir", "symlink_swapped"].contains(&reason(&error)),
                "{error}"
            );
            seen[2] += 1;
        }
    });
    assert!(seen.iter().all(|count| *count > 0), "{seen:?}");
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
    assert_whole(&read_secret_file(&layout.run(), "t").unwrap().unwrap());
    // The target may be gone at each of the three attempts; what is read is whole all the same.
    race(&layout, READS, write, |got| match got {
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
    assert_whole(&read_secret_file(&layout.run(), "t").unwrap().unwrap());
    race(&layout, READS, write, |got| match got {
        Ok(secret) => secret.iter().for_each(assert_whole),
        Err(error) => assert!(
            ["outside_secrets_dir", "symlink_swapped"].contains(&reason(&error)),
            "{error}"
        ),
    });
}
