//! The plan of a run: rows, rounds and durations.

use std::time::Duration;

use skill_sdk_bench_http::body::Size;

/// A program with its arguments. Several contenders can share one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Program {
    /// The name of the binary.
    pub(crate) binary: &'static str,
    /// Its arguments.
    pub(crate) arguments: &'static [&'static str],
}

/// One row of a table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Contender {
    /// The name of the row.
    pub(crate) name: &'static str,
    /// The server.
    pub(crate) program: Program,
    /// The path of the request.
    pub(crate) path: &'static str,
}

/// The measurements of one run.
#[derive(Debug)]
pub(crate) struct Plan {
    /// The rows.
    pub(crate) contenders: &'static [Contender],
    /// The number of rounds after the warm-up.
    pub(crate) rounds: usize,
    /// The duration of a round.
    pub(crate) round: Duration,
    /// The duration of the warm-up.
    pub(crate) warm_up: Duration,
    /// The number of calls between two measurements of memory.
    pub(crate) growth_calls: u64,
    /// The number of starts that the cold start is measured with.
    pub(crate) starts: usize,
}

const fn program(binary: &'static str, arguments: &'static [&'static str]) -> Program {
    Program { binary, arguments }
}

/// The row that the others are compared with.
pub(crate) const BASE: &str = "l1";

/// The HTTP server of the SDK.
pub(crate) const OURS: Program = program("ours", &[]);

/// The same server as in production.
const PRODUCTION: Program = program("ours", &["serve", "http", "--port", "0"]);

/// The rows that have goals.
const TYPES: &str = "ours, types only";
const RULES: &str = "ours, rules on values";
const PRODUCTIVE: &str = "ours, production";

/// The goals at 64 connections: a row, a size, and the ratio of the CPU time of `l1` to the CPU time of the row.
pub(crate) const GOALS: [(&str, Size, f64); 5] = [
    (TYPES, Size::Small, 0.85),
    (RULES, Size::Small, 0.85),
    (PRODUCTIVE, Size::Small, 0.70),
    (TYPES, Size::Large, 0.70),
    (RULES, Size::Large, 0.50),
];

/// The fraction of a goal that must be reached on a busy machine too.
pub(crate) const MARGIN: f64 = 0.85;

/// The smallest server of the SDK.
pub(crate) const HELLO: Program = program("hello-http", &[]);

const CONTENDERS: &[Contender] = &[
    Contender {
        name: "l0",
        program: program("l0", &[]),
        path: "/skills/bench.derived@1",
    },
    Contender {
        name: BASE,
        program: program("l1", &[]),
        path: "/skills/bench.derived@1",
    },
    Contender {
        name: TYPES,
        program: OURS,
        path: "/skills/bench.derived@1",
    },
    Contender {
        name: RULES,
        program: OURS,
        path: "/skills/bench.ruled@1",
    },
    Contender {
        name: PRODUCTIVE,
        program: PRODUCTION,
        path: "/skills/bench.ruled@1",
    },
];

impl Plan {
    /// The full measurement.
    pub(crate) fn full() -> Self {
        Self {
            contenders: CONTENDERS,
            rounds: 5,
            round: Duration::from_secs(3),
            warm_up: Duration::from_secs(1),
            growth_calls: 1_000_000,
            starts: 20,
        }
    }

    /// A quick measurement.
    pub(crate) fn quick() -> Self {
        Self {
            rounds: 3,
            round: Duration::from_millis(400),
            warm_up: Duration::from_millis(200),
            growth_calls: 150_000,
            starts: 5,
            ..Self::full()
        }
    }

    /// The measurement that checks the goals.
    pub(crate) fn floor() -> Self {
        Self {
            contenders: CONTENDERS.split_at(1).1,
            rounds: 5,
            ..Self::quick()
        }
    }

    /// The servers to start, each once.
    pub(crate) fn programs(&self) -> Vec<Program> {
        let mut programs = Vec::new();
        for contender in self.contenders {
            if !programs.contains(&contender.program) {
                programs.push(contender.program);
            }
        }
        programs
    }
}
