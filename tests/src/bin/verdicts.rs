//! A program with the skills of all examples and of the test types.

#[path = "../verdicts.rs"]
mod verdicts;

fn main() -> std::process::ExitCode {
    skill_sdk::host::main()
}
