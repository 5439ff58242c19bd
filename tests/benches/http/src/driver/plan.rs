//! What is measured, and for how long.

use std::time::Duration;

use skill_sdk_bench_http::body::Size;

/// A program with its arguments, which one contender or several use.
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
    /// The path that is called.
    pub(crate) path: &'static str,
}

/// What is measured.
#[derive(Debug)]
pub(crate) struct Plan {
    /// The rows.
    pub(crate) contenders: &'static [Contender],
    /// How many rounds count.
    pub(crate) rounds: usize,
    /// How long one takes.
    pub(crate) round: Duration,
    /// How long the round before them takes.
    pub(crate) warm_up: Duration,
    /// How many calls are made to see whether memory grows.
    pub(crate) growth_calls: u64,
    /// How often a program is started to see how long it takes.
    pub(crate) starts: usize,
}

const fn program(binary: &'static str, arguments: &'static [&'static str]) -> Program {
    Program { binary, arguments }
}

/// The row that the others are compared with.
pub(crate) const BASE: &str = "l1";

/// The host of the SDK.
pub(crate) const OURS: Program = program("ours", &[]);

/// The same with what production has.
const PRODUCTION: Program = program("ours", &["serve", "http", "--port", "0"]);

/// The rows that goals are set for.
const TYPES: &str = "ours, types only";
const RULES: &str = "ours, rules on values";
const PRODUCTIVE: &str = "ours, production";

/// What is asked for at 64 connections: a row, a size, and the ratio of `l1` to it in processor time.
pub(crate) const GOALS: [(&str, Size, f64); 5] = [
    (TYPES, Size::Small, 0.85),
    (RULES, Size::Small, 0.85),
    (PRODUCTIVE, Size::Small, 0.70),
    (TYPES, Size::Large, 0.70),
    (RULES, Size::Large, 0.50),
];

/// The part of a goal below which a machine that is busy with something else is no excuse.
pub(crate) const MARGIN: f64 = 0.85;

/// The smallest host of the SDK.
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
    /// For people who want figures.
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

    /// For a look in between.
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

    /// For a check whether the goals are kept.
    pub(crate) fn floor() -> Self {
        Self {
            contenders: CONTENDERS.split_at(1).1,
            rounds: 5,
            ..Self::quick()
        }
    }

    /// The servers that are started, each once.
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
