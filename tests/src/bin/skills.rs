//! The skills of the tests as a binary, as an author would write it.

use skill_sdk_tests as _;

fn main() -> std::process::ExitCode {
    skill_sdk::host::main()
}
