//! The skills of a claims department as a program of their own.
//!
//! `docs/production.md` says how it is built into an image, deployed and watched. The program itself is three lines.

use std::process::ExitCode;

// Every crate that declares skills must be named, or the linker leaves it out.
use claims as _;

fn main() -> ExitCode {
    skill_sdk::host::main()
}

#[cfg(test)]
mod tests {
    use skill_sdk::Registry;

    #[test]
    fn it_hosts_the_skills_of_the_department() {
        let registry = Registry::collect().unwrap();
        let references: Vec<_> = registry.iter().map(skill_sdk::Skill::reference).collect();
        assert_eq!(references, ["claims.classify@1", "helpdesk.reply@1"]);
    }
}
