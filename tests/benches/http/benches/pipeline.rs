//! The cost of a call in the pipeline beside plain serde on the same types.
//!
//! It prints figures and judges nothing: only ratios within one run are meaningful.

#![allow(
    clippy::expect_used,
    reason = "a measurement that fails must stop the program"
)]
#![allow(
    clippy::unused_async,
    reason = "the signatures of the skills are what is measured"
)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skill_sdk::context::States;
use skill_sdk::pipeline::{Call, Meta, Runnable, SkillSet};
use skill_sdk::skill;

/// The duration of one measurement.
const ROUND: Duration = Duration::from_millis(400);

/// The number of rounds. Plain serde and the whole call take turns; the best round of each is reported.
const ROUNDS: usize = 5;

/// A point.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
struct Point {
    name: String,
    #[schemars(range(min = -180.0, max = 180.0))]
    x: f64,
    y: f64,
    tags: Vec<String>,
}

/// Points.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
struct Points {
    points: Vec<Point>,
}

/// Returns its input.
#[skill("bench.echo", version = "1", side_effects = "none", risk = "low")]
async fn echo(inputs: Points) -> Points {
    inputs
}

/// Returns its input, from a synchronous function.
#[skill("bench.blocking", version = "1", side_effects = "none", risk = "low")]
fn blocking(inputs: Points) -> Points {
    inputs
}

fn inputs(count: usize) -> Vec<u8> {
    let point = |index: usize| Point {
        name: format!("point {index}"),
        x: 1.5,
        y: -0.25,
        tags: vec!["a".to_owned(), "b".to_owned()],
    };
    let points = Points {
        points: (0..count).map(point).collect(),
    };
    serde_json::to_vec(&points).expect("points are JSON")
}

/// Nanoseconds per `work` in one round.
fn time(mut work: impl FnMut()) -> f64 {
    let start = Instant::now();
    let mut calls = 0_u32;
    while start.elapsed() < ROUND {
        for _ in 0..16 {
            work();
        }
        calls += 16;
    }
    start.elapsed().as_secs_f64() * 1e9 / f64::from(calls)
}

fn main() {
    let skills = [echo::SKILL, blocking::SKILL];
    let host = SkillSet::with_states(skills, States::default()).expect("the skills are sound");
    let hosted = |reference: &str| host.get(reference).expect("it is hosted").clone();
    let (runnable, blocking) = (hosted("bench.echo@1"), hosted("bench.blocking@1"));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let call_of = |runnable: &Runnable, body: &[u8]| {
        let call = Call::json(black_box(body.to_vec()), Meta::new("bench"));
        black_box(runtime.block_on(host.call(runnable, call)));
    };
    println!(
        "{:>10} {:>14} {:>14} {:>7} {:>18}",
        "bytes", "serde ns/call", "call ns/call", "ratio", "blocking ns/call"
    );
    for count in [1, 20, 200] {
        let body = inputs(count);
        let (mut plain, mut whole, mut moved) = (f64::INFINITY, f64::INFINITY, f64::INFINITY);
        for _ in 0..ROUNDS {
            plain = plain.min(time(|| {
                let points: Points = serde_json::from_slice(black_box(&body)).expect("points");
                black_box(serde_json::to_vec(&points).expect("points"));
            }));
            whole = whole.min(time(|| call_of(&runnable, &body)));
            moved = moved.min(time(|| call_of(&blocking, &body)));
        }
        println!(
            "{:>10} {plain:>14.0} {whole:>14.0} {:>7.2} {moved:>18.0}",
            body.len(),
            whole / plain
        );
    }
}
