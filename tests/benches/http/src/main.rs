//! The driver: starts the servers in turn on a core of their own, loads them from another, prints what it saw.
//!
//! `--quick` takes about a minute. `--floor` judges: it ends with exit code 3 when a ratio to `l1` is far below its goal.
//! Otherwise nothing is judged but by the reader: only ratios of one run mean anything. What cannot be measured ends with 1.

mod driver;

use std::io;
use std::process::ExitCode;

use driver::plan::Plan;

/// The exit code of a goal that is missed, which is no failure of the program.
const MISSED: u8 = 3;

fn main() -> io::Result<ExitCode> {
    let mut arguments = std::env::args().skip(1);
    let (argument, more) = (arguments.next(), arguments.next());
    match (argument.as_deref(), more) {
        (None, _) => driver::run(&Plan::full())?,
        (Some("--quick"), None) => driver::run(&Plan::quick())?,
        (Some("--floor"), None) => {
            if !driver::floor(&Plan::floor())? {
                println!("a goal is missed by more than the margin, again and again");
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
