//! The driver: calls the programs in turn over pipes and over HTTP, and prints measurements.
//!
//! `--quick` takes ten seconds. Nothing is judged: only ratios within one run are meaningful.

mod driver;

use std::io;
use std::time::Duration;

fn main() -> io::Result<()> {
    let mut plan = driver::Plan {
        round: Duration::from_secs(1),
        rounds: 7,
    };
    for argument in std::env::args().skip(1) {
        match argument.as_str() {
            "--quick" => {
                plan = driver::Plan {
                    round: Duration::from_millis(200),
                    rounds: 3,
                };
            }
            other => {
                let message = format!("unknown argument `{other}`, expected --quick or nothing");
                return Err(io::Error::other(message));
            }
        }
    }
    driver::run(&plan)
}
