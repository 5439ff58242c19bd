//! Runs the servers and the load, and prints tables.

pub(crate) mod issuer;
pub(crate) mod load;
pub(crate) mod plan;
pub(crate) mod report;
pub(crate) mod server;

use std::io;
use std::time::Instant;

use skill_sdk_bench_http::body::Size;
use skill_sdk_bench_http::start;

use tokio::runtime::{Builder, Runtime};

use self::issuer::Issuer;
use self::load::{Load, Outcome};
use self::plan::{BASE, Contender, GOALS, MARGIN, Plan, Program};
use self::server::Server;

/// The measurements of one contender in one round.
#[derive(Debug)]
pub(crate) struct Round {
    /// The measurements of the clients.
    pub(crate) outcome: Outcome,
    /// The CPU time of the server.
    pub(crate) cpu_nanoseconds: u64,
}

impl Round {
    /// CPU time per request in microseconds.
    pub(crate) fn cpu_per_request(&self) -> f64 {
        to_f64(self.cpu_nanoseconds) / 1000.0 / to_f64(self.outcome.requests)
    }

    /// Requests per second.
    pub(crate) fn per_second(&self) -> f64 {
        to_f64(self.outcome.requests) / self.outcome.seconds
    }
}

/// A count as a divisor.
pub(crate) fn to_f64(count: u64) -> f64 {
    // The counts of one run are far below 2^32 thousands.
    f64::from(u32::try_from(count / 1000).unwrap_or(u32::MAX)) * 1000.0
        + f64::from(u32::try_from(count % 1000).unwrap_or(0))
}

/// Shared by all measurements: the servers and the cores of the clients.
struct Bench<'a> {
    plan: &'a Plan,
    runtime: Runtime,
    issuer: Issuer,
    server_core: Option<usize>,
}

impl<'a> Bench<'a> {
    fn new(plan: &'a Plan) -> io::Result<Self> {
        let cores = server::cores();
        let (server_core, load_core) = match cores.as_slice() {
            [first, second, ..] => (Some(*first), Some(*second)),
            _ => {
                println!("only one core: the load and the servers share it");
                (None, None)
            }
        };
        if let Some(core) = load_core {
            start::pin_to(core)?;
        }
        Ok(Self {
            plan,
            runtime: Builder::new_current_thread().enable_all().build()?,
            issuer: Issuer::start()?,
            server_core,
        })
    }

    fn servers(&self) -> io::Result<Vec<(Program, Server)>> {
        let programs = self.plan.programs().into_iter();
        programs
            .map(|program| {
                let server = Server::start(program, self.server_core, &self.issuer)?;
                Ok((program, server))
            })
            .collect()
    }

    /// One table: all contenders take turns.
    fn rounds(
        &self,
        servers: &[(Program, Server)],
        size: Size,
        connections: usize,
    ) -> io::Result<Vec<(Contender, Vec<Round>)>> {
        let contenders = self.plan.contenders.iter();
        let mut rounds: Vec<_> = contenders.map(|contender| (*contender, Vec::new())).collect();
        for round in 0..=self.plan.rounds {
            for (contender, found) in &mut rounds {
                let of_contender = servers.iter().find(|(program, _)| *program == contender.program);
                let Some((_, server)) = of_contender else {
                    continue;
                };
                let load = Load::new(server, &self.issuer, contender.path, size)?;
                // The first round is a warm-up.
                let time = if round == 0 {
                    self.plan.warm_up
                } else {
                    self.plan.round
                };
                let before = server.cpu()?;
                let outcome = self.runtime.block_on(load.run(connections, time))?;
                let cpu_nanoseconds = server.cpu()? - before;
                if round > 0 {
                    found.push(Round {
                        outcome,
                        cpu_nanoseconds,
                    });
                }
            }
        }
        report::table(size, connections, &rounds);
        Ok(rounds)
    }
}

/// Measures everything in the plan.
pub(crate) fn run(plan: &Plan) -> io::Result<()> {
    let began = Instant::now();
    let bench = Bench::new(plan)?;
    report::cold_start(&bench.runtime, plan, bench.server_core, &bench.issuer)?;
    let servers = bench.servers()?;
    let idle: Vec<_> = servers.iter().map(|(_, server)| server.memory()).collect();
    for size in [Size::Small, Size::Large] {
        for connections in [64, 1] {
            bench.rounds(&servers, size, connections)?;
        }
    }
    report::memory(&servers, &idle);
    report::growth(&bench.runtime, plan, &servers, &bench.issuer)?;
    report::sizes(plan)?;
    println!("\nmeasured in {} s", began.elapsed().as_secs());
    Ok(())
}

/// How often a size is measured before a goal counts as missed: other load on the machine may spoil one measurement, but
/// hardly three.
const TRIES: usize = 3;

/// Whether the goals are met within the margin. A missed goal is measured again.
pub(crate) fn floor(plan: &Plan) -> io::Result<bool> {
    let bench = Bench::new(plan)?;
    report::cold_start(&bench.runtime, plan, bench.server_core, &bench.issuer)?;
    let servers = bench.servers()?;
    let idle: Vec<_> = servers.iter().map(|(_, server)| server.memory()).collect();
    let mut kept = true;
    for size in [Size::Small, Size::Large] {
        let mut open: Vec<_> = GOALS.iter().filter(|(_, of, _)| *of == size).collect();
        for _ in 0..TRIES {
            if open.is_empty() {
                break;
            }
            let rounds = bench.rounds(&servers, size, 64)?;
            open.retain(|(name, _, goal)| {
                let found = report::cpu_ratio(&rounds, name);
                let floor = goal * MARGIN;
                let verdict = if found >= floor { "is kept" } else { "is MISSED" };
                println!(
                    "{name}, {} body: {found:.2} of {BASE}; the floor {floor:.2} (goal {goal:.2}) {verdict}",
                    size.name()
                );
                // NaN never meets a goal.
                found < floor || found.is_nan()
            });
        }
        kept &= open.is_empty();
    }
    report::memory(&servers, &idle);
    report::sizes(plan)?;
    Ok(kept)
}
