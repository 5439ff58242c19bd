//! The driver: runs the servers in turn on one core and the load on the others, and prints measurements.
//!
//! `--quick` takes about a minute. `--floor` checks the goals and exits with code 3 if a ratio to `l1` is far below its
//! goal. Otherwise nothing is judged: only ratios within one run are meaningful. A measurement that fails exits with code
//! 1.

mod driver;

use std::io;
use std::process::ExitCode;

use driver::plan::Plan;

/// The exit code for a missed goal. The program itself did not fail.
const MISSED: u8 = 3;

fn main() -> io::Result<ExitCode> {
    let mut arguments = std::env::args().skip(1);
    let (argument, more) = (arguments.next(), arguments.next());
    match (argument.as_deref(), more) {
        (None, _) => driver::run(&Plan::full())?,
        (Some("--quick"), None) => driver::run(&Plan::quick())?,
        (Some("--floor"), None) => {
            if !driver::floor(&Plan::floor())? {
                println!("a goal is missed by more than the margin in every attempt");
                return Ok(ExitCode::from(MISSED));
            }
        }
        (Some(other), more) => {
            let unknown = more.unwrap_or_else(|| other.to_owned());
            return Err(io::Error::other(format!(
                "unknown argument `{unknown}`, expected --quick, --floor or nothing"
            )));
        }
    }
    Ok(ExitCode::SUCCESS)
}
