//! All skills of the program as data.

use std::ffi::OsStr;
use std::fs;

use super::protocol::{Envelope, PROTOCOL, SkillEntry};
use crate::registry::{Registry, Skill, SkillDescription};

/// Writes what the program has to offer into a file.
pub(super) fn write(out: &OsStr) -> Result<(), String> {
    let text = serde_json::to_vec(&envelope()).map_err(|error| error.to_string())?;
    fs::write(out, text).map_err(|error| format!("cannot write {}: {error}", out.to_string_lossy()))
}

/// What the program has to offer.
pub(super) fn envelope() -> Envelope {
    let problems = match Registry::collect() {
        Ok(_) => Vec::new(),
        Err(error) => error.problems().to_vec(),
    };
    // Those that are sound are described beside the problems of others, so that all can be checked at once.
    let skills = Registry::sound()
        .map(|(skill, described)| entry(skill, described))
        .collect();
    Envelope {
        protocol: PROTOCOL,
        sdk: env!("CARGO_PKG_VERSION").to_owned(),
        skills,
        problems,
        features: features().map(str::to_owned).collect(),
    }
}

/// The features that the program was built with, of those that a command needs.
fn features() -> impl Iterator<Item = &'static str> {
    [
        (cfg!(feature = "host"), "host"),
        (cfg!(feature = "http"), "http"),
        (cfg!(feature = "mcp"), "mcp"),
        (cfg!(feature = "mcp-http"), "mcp-http"),
    ]
    .into_iter()
    .filter_map(|(present, feature)| present.then_some(feature))
}

fn entry(skill: &Skill, described: &SkillDescription) -> SkillEntry {
    let origin = skill.declaration().origin;
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
        inputs_given: skill.declaration().inputs_schema.is_some(),
        metadata: described.metadata().clone(),
    }
}
