//! Untrusted input: the seeds of the fuzzer and small mutations of them.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a panic in a test is a failed test"
)]

#[path = "../fuzz/harness.rs"]
mod harness;

use std::fs;
use std::path::Path;

use harness::Target;
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
fn seeds_get_valid_responses() {
    let target = Target::start();
    for (name, seed) in seeds() {
        println!("{name}");
        target.send(&seed);
    }
}

/// Combines parts of two seeds and changes a byte, as a fuzzer does. The sequence is deterministic.
#[test]
fn mutated_seeds_get_valid_responses() {
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
            target.send(&bytes);
            Ok(())
        })
        .unwrap();
}
