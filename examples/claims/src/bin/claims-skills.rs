//! The binary for production: the skills of this crate with the commands `list`, `invoke`, `serve http` and others.
//!
//! ```text
//! cargo build --release --features serve
//! HELPDESK_URL=http://helpdesk.internal target/release/claims-skills serve http --host 0.0.0.0
//! ```

// The linker drops a crate that is never named, together with its skills.
use claims as _;

fn main() -> std::process::ExitCode {
    skill_sdk::host::main()
}
