//! `list` and `contract`: what there is.

use serde_json::{Value, json};

use super::{Failure, output, select};
use crate::host::args::{Format, FormatArgs};
use crate::host::protocol::SkillEntry;

/// The text of `list`: `ref <TAB> entrypoint <TAB> side_effects/risk` a line, or a JSON array, sorted by ref.
pub fn list(skills: &[&SkillEntry], args: &FormatArgs) -> Result<String, Failure> {
    let mut skills = skills.to_vec();
    skills.sort_by_key(|skill| &skill.reference);
    match args.format {
        Format::Json => output::json(&skills.into_iter().map(row).collect::<Vec<_>>()),
        Format::Text => Ok(skills.into_iter().map(line).collect()),
    }
}

fn line(skill: &SkillEntry) -> String {
    let policy = |key| skill.spec[key].as_str().unwrap_or_default();
    let (effects, risk) = (policy("sideEffects"), policy("riskLevel"));
    format!("{}\t{}\t{effects}/{risk}\n", skill.reference, skill.entrypoint)
}

/// A skill without its contract and examples, with its metadata.
fn row(skill: &SkillEntry) -> Value {
    let mut row = json!({
        "ref": skill.reference,
        "name": skill.name,
        "version": skill.version,
        "entrypoint": skill.entrypoint,
        "sideEffects": skill.spec["sideEffects"],
        "riskLevel": skill.spec["riskLevel"],
        "package": skill.package,
        "file": skill.file,
        "line": skill.line,
    });
    for (key, value) in skill.metadata.iter().filter(|(key, _)| *key != "examples") {
        row[key] = value.clone();
    }
    row
}

/// The text of `contract`: the v1 contract of the one selected skill as indented JSON.
pub fn contract(skills: &[&SkillEntry]) -> Result<String, Failure> {
    output::json(&select::exactly_one(skills, "contract")?.spec["contract"])
}

#[cfg(test)]
mod tests {
    use super::super::tests::skill;
    use super::*;

    #[test]
    fn both_formats_are_sorted_by_ref() {
        let (b, a) = (skill("b.b@1", "x::b"), skill("a.a@1", "x::y::a"));
        let text = list(&[&b, &a], &FormatArgs { format: Format::Text }).unwrap();
        assert_eq!(text, "a.a@1\tx.y:a\tnone/low\nb.b@1\tx:b\tnone/low\n");
        let json: Value =
            serde_json::from_str(&list(&[&b, &a], &FormatArgs { format: Format::Json }).unwrap()).unwrap();
        assert_eq!(json[0]["ref"], "a.a@1");
        assert_eq!(json[1]["sideEffects"], "none");
    }

    #[test]
    fn the_contract_is_indented_json() {
        let one = skill("a.a@1", "x::a");
        assert_eq!(contract(&[&one]).unwrap(), "{\n  \"timeoutSeconds\": 60\n}\n");
        assert!(contract(&[&one, &one]).is_err());
    }
}
