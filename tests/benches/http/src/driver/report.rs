//! Prints the tables.

use std::fs;
use std::io;
use std::process::Command;
use std::time::Instant;

use skill_sdk_bench_http::body::Size;
use tokio::runtime::Runtime;

use super::issuer::Issuer;
use super::load::Load;
use super::plan::{BASE, Contender, HELLO, OURS, Plan, Program};
use super::server::{Memory, Server, path_of};
use super::{Round, to_f64};

/// One table: all contenders at one body size and number of connections.
pub(crate) fn table(size: Size, connections: usize, rounds: &[(Contender, Vec<Round>)]) {
    println!("\n{} body, {connections} connections", size.name());
    println!(
        "{:<24} {:>10} {:>9} {:>9} {:>9} {:>12} {:>12}",
        "", "req/s", "p50 us", "p99 us", "CPU us", "req/s to l1", "CPU to l1"
    );
    let Some((_, base)) = rounds.iter().find(|(contender, _)| contender.name == BASE) else {
        return;
    };
    for (contender, found) in rounds {
        let of = |figure: fn(&Round) -> f64| median(found.iter().map(figure));
        println!(
            "{:<24} {:>10.0} {:>9.0} {:>9.0} {:>9.2} {:>12.2} {:>12.2}",
            contender.name,
            of(Round::per_second),
            of(|round| round.outcome.percentile(50)),
            of(|round| round.outcome.percentile(99)),
            of(Round::cpu_per_request),
            ratio(found, base, Round::per_second),
            1.0 / ratio(found, base, Round::cpu_per_request),
        );
    }
}

/// The ratio of a contender to the base. It is taken round by round, so that other load on the machine affects both
/// alike.
fn ratio(found: &[Round], base: &[Round], figure: fn(&Round) -> f64) -> f64 {
    let neighbours = found.iter().zip(base);
    median(neighbours.map(|(round, base)| figure(round) / figure(base)))
}

/// The ratio of the CPU time of the base to the CPU time of a contender. The goals are set in it.
pub(crate) fn cpu_ratio(rounds: &[(Contender, Vec<Round>)], name: &str) -> f64 {
    let of = |name: &str| {
        let row = rounds.iter().find(|(contender, _)| contender.name == name);
        row.map_or(&[][..], |(_, found)| found)
    };
    1.0 / ratio(of(name), of(BASE), Round::cpu_per_request)
}

fn median(figures: impl Iterator<Item = f64>) -> f64 {
    let mut figures: Vec<_> = figures.collect();
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The time from spawning the process to its first response.
pub(crate) fn cold_start(
    runtime: &Runtime,
    plan: &Plan,
    core: Option<usize>,
    issuer: &Issuer,
) -> io::Result<()> {
    println!(
        "\ncold start: from spawn to the first response, in ms (median, worst of {})",
        plan.starts
    );
    let programs: [(Program, &str); 3] = [
        (
            Program {
                binary: "l1",
                arguments: &[],
            },
            "/skills/bench.derived@1",
        ),
        (HELLO, "/skills/hello.greet@1"),
        (OURS, "/skills/bench.ruled@1"),
    ];
    for (program, path) in programs {
        let mut times = Vec::new();
        for _ in 0..plan.starts {
            let began = Instant::now();
            let server = Server::start(program, core, issuer)?;
            let load = if program == HELLO {
                Load::with_inputs(&server, issuer, path, r#"{"name":"Ada"}"#)
            } else {
                Load::new(&server, issuer, path, Size::Small)?
            };
            runtime.block_on(load.calls(1, 1))?;
            times.push(began.elapsed().as_secs_f64() * 1000.0);
        }
        let worst = times.iter().copied().fold(0.0, f64::max);
        println!(
            "{:<24} {:>8.1} {worst:>8.1}",
            program.binary,
            median(times.into_iter())
        );
    }
    Ok(())
}

const MIB: f64 = 1024.0 * 1024.0;

/// Memory before and after the load.
pub(crate) fn memory(servers: &[(Program, Server)], idle: &[Memory]) {
    println!("\nmemory in MiB: idle, after the load, peak");
    for ((program, server), idle) in servers.iter().zip(idle) {
        let loaded = server.memory();
        println!(
            "{:<24} {:>8.1} {:>8.1} {:>8.1}",
            format!("{} {}", program.binary, program.arguments.join(" ")),
            to_f64(idle.now) / MIB,
            to_f64(loaded.now) / MIB,
            to_f64(loaded.peak) / MIB,
        );
    }
}

/// Memory growth over many calls.
pub(crate) fn growth(
    runtime: &Runtime,
    plan: &Plan,
    servers: &[(Program, Server)],
    issuer: &Issuer,
) -> io::Result<()> {
    for (program, server) in servers
        .iter()
        .filter(|(program, _)| program.binary == OURS.binary)
    {
        let load = Load::new(server, issuer, "/skills/bench.ruled@1", Size::Small)?;
        let before = server.memory().now;
        runtime.block_on(load.calls(64, plan.growth_calls))?;
        let grown = to_f64(server.memory().now) - to_f64(before);
        println!(
            "growth over {} calls of {}: {:.2} MiB",
            plan.growth_calls,
            format!("{} {}", program.binary, program.arguments.join(" ")).trim(),
            grown / MIB
        );
    }
    Ok(())
}

/// Sizes of the stripped binaries.
pub(crate) fn sizes(plan: &Plan) -> io::Result<()> {
    println!("\nstripped binary in MB");
    let mut binaries: Vec<_> = plan.programs().iter().map(|program| program.binary).collect();
    binaries.push(HELLO.binary);
    binaries.dedup();
    for binary in binaries {
        let path = path_of(binary)?;
        let stripped = path.with_extension("stripped");
        let done = Command::new("strip").arg("-o").arg(&stripped).arg(&path).status();
        if !done.is_ok_and(|status| status.success()) {
            println!("`strip` is not installed");
            return Ok(());
        }
        println!(
            "{binary:<24} {:>8.2}",
            to_f64(fs::metadata(&stripped)?.len()) / 1e6
        );
        fs::remove_file(&stripped)?;
    }
    Ok(())
}
