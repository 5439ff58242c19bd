//! The program that runs in production: the skills of this crate, with the commands `list`, `invoke`, `serve http`, ….
//!
//! ```text
//! cargo build --release --features serve
//! HELPDESK_URL=http://helpdesk.internal target/release/claims-skills serve http --host 0.0.0.0
//! ```

// A crate that nobody names is not linked, and its skills with it.
use claims as _;

fn main() -> std::process::ExitCode {
    skill_sdk::host::main()
}
