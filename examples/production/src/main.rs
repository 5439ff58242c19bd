//! The skills of a claims department as a server for production.
//!
//! `docs/guides/deploying.md` explains how to build the image, deploy it and monitor it. The program itself has three lines.

use std::process::ExitCode;

// Every crate with skills must be named, or the linker drops it.
use claims as _;

fn main() -> ExitCode {
    skill_sdk::host::main()
}

#[cfg(test)]
mod tests {
    use skill_sdk::Registry;

    #[test]
    fn the_skills_are_registered() {
        let registry = Registry::collect().unwrap();
        let references: Vec<_> = registry.iter().map(skill_sdk::Skill::reference).collect();
        assert_eq!(references, ["claims.classify@1", "helpdesk.reply@1"]);
    }
}
