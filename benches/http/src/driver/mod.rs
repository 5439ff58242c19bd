//! Servers, load, tables.

pub(crate) mod issuer;
pub(crate) mod load;
pub(crate) mod plan;
pub(crate) mod report;
pub(crate) mod server;

use std::io;
use std::time::Instant;

use skill_sdk_bench_http::body::Size;
use skill_sdk_bench_http::start;

use self::issuer::Issuer;
use self::load::{Load, Outcome};
use self::plan::{Contender, Plan};
use self::server::Server;

/// What one contender did in one round.
#[derive(Debug)]
pub(crate) struct Round {
    /// What the clients saw.
    pub(crate) outcome: Outcome,
    /// What the server's processor time was.
    pub(crate) cpu_nanoseconds: u64,
}

impl Round {
    /// Processor time of one request, in microseconds.
    pub(crate) fn cpu_per_request(&self) -> f64 {
        to_f64(self.cpu_nanoseconds) / 1000.0 / to_f64(self.outcome.requests)
    }

    /// Requests per second.
    pub(crate) fn per_second(&self) -> f64 {
        to_f64(self.outcome.requests) / self.outcome.seconds
    }
}

/// A count as a number to divide by.
pub(crate) fn to_f64(count: u64) -> f64 {
    // Counts of one run are far below 2^32 in thousands.
    f64::from(u32::try_from(count / 1000).unwrap_or(u32::MAX)) * 1000.0
        + f64::from(u32::try_from(count % 1000).unwrap_or(0))
}

/// Measures all that the plan names.
pub(crate) fn run(plan: &Plan) -> io::Result<()> {
    let began = Instant::now();
    let cores = server::cores();
    let (server_core, load_core) = match cores.as_slice() {
        [first, second, ..] => (Some(*first), Some(*second)),
        _ => {
            println!("one core only: the load and the servers share it");
            (None, None)
        }
    };
    if let Some(core) = load_core {
        start::pin_to(core)?;
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;

    let issuer = Issuer::start()?;
    report::cold_start(&runtime, plan, server_core, &issuer)?;

    let mut servers = Vec::new();
    for program in plan.programs() {
        servers.push((program, Server::start(program, server_core, &issuer)?));
    }
    let idle: Vec<_> = servers.iter().map(|(_, server)| server.memory()).collect();
    for size in [Size::Small, Size::Large] {
        for connections in [64, 1] {
            let mut rounds: Vec<(Contender, Vec<Round>)> = plan
                .contenders
                .iter()
                .map(|contender| (*contender, Vec::new()))
                .collect();
            for round in 0..=plan.rounds {
                for (contender, found) in &mut rounds {
                    let Some((_, server)) = servers.iter().find(|(program, _)| *program == contender.program)
                    else {
                        continue;
                    };
                    let load = Load::new(server, &issuer, contender.path, size)?;
                    // The first round only warms up.
                    let time = if round == 0 { plan.warm_up } else { plan.round };
                    let before = server.cpu()?;
                    let outcome = runtime.block_on(load.run(connections, time))?;
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
        }
    }
    report::memory(&servers, &idle);
    report::growth(&runtime, plan, &servers, &issuer)?;
    report::sizes(plan)?;
    println!("\nmeasured in {} s", began.elapsed().as_secs());
    Ok(())
}
