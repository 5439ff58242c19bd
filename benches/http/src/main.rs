//! The driver: starts the servers in turn on a core of their own, loads them from another, prints what it saw.
//!
//! `--quick` takes less than a minute. Nothing is judged but by the reader: only ratios of one run mean anything.

mod driver;

use std::io;

use driver::plan::Plan;

fn main() -> io::Result<()> {
    let mut plan = Plan::full();
    for argument in std::env::args().skip(1) {
        match argument.as_str() {
            "--quick" => plan = Plan::quick(),
            other => {
                return Err(io::Error::other(format!(
                    "unknown argument `{other}`, expected --quick or nothing"
                )));
            }
        }
    }
    driver::run(&plan)
}
