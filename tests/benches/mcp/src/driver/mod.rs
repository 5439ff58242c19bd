//! Runs the programs, and prints tables.

mod http;
mod ndjson;
mod program;

use std::io;
use std::time::Duration;

use skill_sdk_bench_mcp::{INPUTS, pin_to};

use self::http::Web;
use self::ndjson::Pipe;
use self::program::cores;

/// The duration of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    /// The duration of one round.
    pub(crate) round: Duration,
    /// The number of rounds. The contenders take turns.
    pub(crate) rounds: usize,
}

/// The measurements of one round.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// Responses per second.
    pub(crate) per_second: f64,
    /// The latency of each response, sorted. Empty if only the rate was measured.
    pub(crate) latencies: Vec<Duration>,
}

impl Outcome {
    fn new(answers: usize, mut latencies: Vec<Duration>, time: Duration) -> Self {
        latencies.sort_unstable();
        let count = u32::try_from(answers).unwrap_or(u32::MAX);
        Self {
            per_second: f64::from(count) / time.as_secs_f64(),
            latencies,
        }
    }

    /// A quantile in microseconds. NaN if only the rate was measured.
    fn percentile(&self, part: usize) -> f64 {
        let place = (self.latencies.len() * part / 100).min(self.latencies.len().saturating_sub(1));
        self.latencies
            .get(place)
            .map_or(f64::NAN, |time| time.as_secs_f64() * 1e6)
    }
}

/// A client of one contender.
pub(crate) trait Client {
    /// Sends calls for this long, with this many in flight.
    fn load(&mut self, in_flight: usize, time: Duration) -> io::Result<Outcome>;
}

/// A contender and its rounds.
struct Entry {
    name: &'static str,
    client: Box<dyn Client>,
    rounds: Vec<Outcome>,
}

/// Runs all measurements.
pub(crate) fn run(plan: &Plan) -> io::Result<()> {
    let (server, own) = match cores().as_slice() {
        [first, second, ..] => (Some(*first), Some(*second)),
        _ => {
            println!("only one core: the driver and the programs share it");
            (None, None)
        }
    };
    if let Some(core) = own {
        pin_to(core)?;
    }
    let lines = |program, how, skill| Pipe::local(program, how, skill, server);
    let mut group: Vec<(&'static str, Box<dyn Client>)> = vec![
        ("plain loop", Box::new(lines("plain-lines", "", "bench.quote@1")?)),
        (
            "serve local, async fn",
            Box::new(lines("sdk-servers", "local", "bench.quote@1")?),
        ),
        (
            "serve local, fn",
            Box::new(lines("sdk-servers", "local", "bench.blocking@1")?),
        ),
    ];
    measure("lines over pipes", plan, &[1, 16], &mut group)?;
    let mut group: Vec<(&'static str, Box<dyn Client>)> = vec![
        (
            "rmcp",
            Box::new(Pipe::mcp("plain-rmcp", "stdio", "bench.quote", server)?),
        ),
        (
            "mcp-stdio, async fn",
            Box::new(Pipe::mcp("sdk-servers", "mcp-stdio", "bench.quote", server)?),
        ),
        (
            "mcp-stdio, fn",
            Box::new(Pipe::mcp("sdk-servers", "mcp-stdio", "bench.blocking", server)?),
        ),
    ];
    measure("MCP over stdio", plan, &[1, 16], &mut group)?;
    let mut group: Vec<(&'static str, Box<dyn Client>)> = vec![
        (
            "rmcp",
            Box::new(Web::start("plain-rmcp", "http", "bench.quote", server)?),
        ),
        (
            "mcp-http, async fn",
            Box::new(Web::start("sdk-servers", "mcp-http", "bench.quote", server)?),
        ),
        (
            "mcp-http, fn",
            Box::new(Web::start("sdk-servers", "mcp-http", "bench.blocking", server)?),
        ),
    ];
    measure("MCP over HTTP", plan, &[1, 16], &mut group)?;
    crowd(plan)
}

/// Measures one group. The others are compared with its first entry.
fn measure(
    title: &str,
    plan: &Plan,
    loads: &[usize],
    group: &mut Vec<(&'static str, Box<dyn Client>)>,
) -> io::Result<()> {
    let mut entries: Vec<Entry> = group
        .drain(..)
        .map(|(name, client)| Entry {
            name,
            client,
            rounds: Vec::new(),
        })
        .collect();
    for &in_flight in loads {
        println!("\n{title}, {in_flight} in flight");
        println!(
            "{:<24} {:>10} {:>9} {:>9} {:>10}",
            "", "calls/s", "p50 us", "p99 us", "to first"
        );
        for round in 0..=plan.rounds {
            for entry in &mut entries {
                let outcome = entry.client.load(in_flight, plan.round)?;
                // The first round is a warm-up.
                if round > 0 {
                    entry.rounds.push(outcome);
                }
            }
        }
        let Some((first, _)) = entries.split_first() else {
            return Ok(());
        };
        for entry in &entries {
            let of = |figure: fn(&Outcome) -> f64| median(entry.rounds.iter().map(figure));
            // The ratio is taken round by round, so that other load on the machine affects both alike.
            let pairs = entry.rounds.iter().zip(&first.rounds);
            let ratio = median(pairs.map(|(own, first)| own.per_second / first.per_second));
            println!(
                "{:<24} {:>10.0} {:>9.0} {:>9.0} {ratio:>10.2}",
                entry.name,
                of(|outcome| outcome.per_second),
                of(|outcome| outcome.percentile(50)),
                of(|outcome| outcome.percentile(99)),
            );
        }
        for entry in &mut entries {
            entry.rounds.clear();
        }
    }
    Ok(())
}

/// The latency of a quick call beside one that waits, one that blocks a worker and one that blocks its own thread.
fn crowd(plan: &Plan) -> io::Result<()> {
    println!("\na quick call alone, and beside a slow, a spinning and a blocking one");
    println!(
        "{:<24} {:>9} {:>9} {:>9} {:>9}",
        "", "p50 us", "p99 us", "beside", "beside"
    );
    let local = || Pipe::local("sdk-servers", "local", "bench.quote@1", None);
    let mcp = || Pipe::mcp("sdk-servers", "mcp-stdio-crowd", "bench.quote", None);
    for (name, mut alone, mut crowded) in [("serve local", local()?, local()?), ("mcp-stdio", mcp()?, mcp()?)]
    {
        for skill in ["bench.slow", "bench.spin", "bench.block"] {
            crowded.begin(skill)?;
        }
        let (mut quiet, mut crowd) = (Vec::new(), Vec::new());
        for _ in 0..plan.rounds {
            quiet.extend(alone.load(1, plan.round)?.latencies);
            crowd.extend(crowded.load(1, plan.round)?.latencies);
        }
        let (quiet, crowd) = (
            Outcome::new(quiet.len(), quiet, plan.round),
            Outcome::new(crowd.len(), crowd, plan.round),
        );
        println!(
            "{name:<24} {:>9.0} {:>9.0} {:>9.0} {:>9.0}",
            quiet.percentile(50),
            quiet.percentile(99),
            crowd.percentile(50),
            crowd.percentile(99),
        );
    }
    Ok(())
}

fn median(figures: impl Iterator<Item = f64>) -> f64 {
    let mut figures: Vec<_> = figures.collect();
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or(f64::NAN)
}

/// A `tools/call` message.
fn tool_call(tool: &str, inputs: &str) -> String {
    format!(r#""method":"tools/call","params":{{"name":"{tool}","arguments":{inputs}}}"#)
}

/// The `tools/call` message that is measured.
fn measured(tool: &str) -> String {
    tool_call(tool, INPUTS)
}
