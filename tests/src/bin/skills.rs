//! A program with the skills of the tests, as an author would write it.

use skill_sdk_tests as _;

fn main() -> std::process::ExitCode {
    skill_sdk::host::main()
}
