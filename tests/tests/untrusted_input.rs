//! Requests that mean harm: the seeds of the fuzzer, and small changes of them.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a panic of a test program is a failed test"
)]

#[path = "../fuzz/attack.rs"]
mod attack;

use std::fs;
use std::path::Path;

use attack::Target;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

fn seeds() -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds");
    let mut seeds: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| {
            (
                path.file_name().unwrap().to_str().unwrap().to_owned(),
                fs::read(path).unwrap(),
            )
        })
        .collect();
    seeds.sort();
    assert!(seeds.len() > 30, "only {} seeds were found", seeds.len());
    seeds
}

#[test]
fn the_seeds_are_answered() {
    let target = Target::start();
    for (name, seed) in seeds() {
        println!("{name}");
        target.attack(&seed);
    }
}

/// Parts of two seeds, with a byte changed: what a fuzzer does, for a moment and always the same.
#[test]
fn what_is_made_of_the_seeds_is_answered() {
    let target = Target::start();
    let seeds = seeds();
    let seed = || any::<Index>().prop_map(|at| at.get(&seeds).1.clone());
    let config = Config {
        cases: 300,
        failure_persistence: None,
        ..Config::default()
    };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let strategy = (seed(), seed(), any::<[Index; 3]>(), any::<u8>());
    runner
        .run(&strategy, |(one, other, [cut, from, at], byte)| {
            let mut bytes = one[..=cut.index(one.len())].to_vec();
            bytes.extend(&other[from.index(other.len())..]);
            let at = at.index(bytes.len());
            bytes[at] = byte;
            target.attack(&bytes);
            Ok(())
        })
        .unwrap();
}
