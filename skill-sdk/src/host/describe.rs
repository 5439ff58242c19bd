//! The action `describe`: all skills of the program as data.

use super::protocol::{
    DESCRIBE, Envelope, INVOKE, PROTOCOL, Problem, SERVE_HTTP, SERVE_LOCAL, SERVE_MCP_HTTP, SERVE_MCP_STDIO,
    SkillEntry,
};
use crate::registry::{Registry, RegistryProblem, Skill, SkillDescription};

/// What the program has to offer.
pub(super) fn envelope() -> Envelope {
    let problems = match Registry::collect() {
        Ok(_) => Vec::new(),
        Err(error) => error.problems().iter().map(problem).collect(),
    };
    // Those that are sound are described beside the problems of others, so that all can be checked at once.
    let skills = Registry::sound()
        .into_iter()
        .filter_map(|skill| skill.described().ok().map(|described| entry(skill, described)))
        .collect();
    Envelope {
        protocol: PROTOCOL,
        sdk: env!("CARGO_PKG_VERSION").to_owned(),
        skills,
        problems,
        actions: actions().map(str::to_owned).collect(),
    }
}

/// What the program can be asked for.
fn actions() -> impl Iterator<Item = &'static str> {
    [
        (true, DESCRIBE),
        (cfg!(feature = "runtime"), INVOKE),
        (cfg!(feature = "runtime"), SERVE_LOCAL),
        (cfg!(feature = "http"), SERVE_HTTP),
        (cfg!(feature = "mcp"), SERVE_MCP_STDIO),
        (cfg!(feature = "mcp-http"), SERVE_MCP_HTTP),
    ]
    .into_iter()
    .filter_map(|(known, action)| known.then_some(action))
}

fn entry(skill: &Skill, described: &SkillDescription) -> SkillEntry {
    let origin = skill.declaration().origin();
    SkillEntry {
        reference: skill.reference().to_owned(),
        name: skill.name().to_owned(),
        version: skill.version().to_owned(),
        entrypoint: origin.entrypoint(),
        path: origin.path(),
        package: origin.package.to_owned(),
        package_version: origin.package_version.to_owned(),
        file: origin.file.to_owned(),
        line: origin.line,
        spec: described.document().clone(),
        metadata: described.metadata().clone(),
    }
}

fn problem(problem: &RegistryProblem) -> Problem {
    Problem {
        code: problem.code.clone(),
        reference: problem.reference.clone(),
        pointer: problem.pointer.clone(),
        origin: problem.origin.clone(),
        message: problem.message.clone(),
    }
}
