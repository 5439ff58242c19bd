//! The skills as a server: `everything-skills serve mcp-http`.

use std::process::ExitCode;

use everything_skills as _;

fn main() -> ExitCode {
    skill_sdk::host::main()
}
