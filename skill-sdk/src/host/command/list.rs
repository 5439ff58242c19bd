//! `list` and `contract`: what there is.

use std::io::{self, IsTerminal};
use std::iter;

use serde_json::{Value, json};

use super::{Failure, output, select};
use crate::host::args::{Format, FormatArgs};
use crate::host::protocol::SkillEntry;

/// The text of `list`, sorted by ref: a JSON array, a table on a terminal, or else `ref <TAB> entrypoint <TAB>
/// side_effects/risk` a line.
pub fn list(skills: &[&SkillEntry], args: &FormatArgs) -> Result<String, Failure> {
    let mut skills = skills.to_vec();
    skills.sort_by_key(|skill| &skill.reference);
    match args.format {
        Format::Json => output::json(&skills.into_iter().map(row).collect::<Vec<_>>()),
        Format::Text => Ok(lines(&skills, io::stdout().is_terminal())),
    }
}

fn lines(skills: &[&SkillEntry], aligned: bool) -> String {
    if !aligned {
        return skills
            .iter()
            .map(|skill| cells(skill).join("\t") + "\n")
            .collect();
    }
    let head = ["Ref", "Entrypoint", "Side effects/risk"].map(str::to_owned);
    let rows: Vec<[String; 3]> = iter::once(head)
        .chain(skills.iter().map(|skill| cells(skill)))
        .collect();
    let width = |column: usize| {
        rows.iter()
            .map(|row| row[column].chars().count())
            .max()
            .unwrap_or_default()
    };
    let (first, second) = (width(0), width(1));
    rows.iter()
        .map(|[reference, entrypoint, policy]| {
            format!("{reference:first$}  {entrypoint:second$}  {policy}\n")
        })
        .collect()
}

fn cells(skill: &SkillEntry) -> [String; 3] {
    let policy = |key| skill.spec[key].as_str().unwrap_or_default();
    let (effects, risk) = (policy("sideEffects"), policy("riskLevel"));
    [
        skill.reference.clone(),
        skill.entrypoint.clone(),
        format!("{effects}/{risk}"),
    ]
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
    fn a_table_is_aligned() {
        let (long, short) = (skill("a.long.name@1", "x::a"), skill("b@1", "x::y::b"));
        assert_eq!(
            lines(&[&long, &short], true),
            "Ref            Entrypoint  Side effects/risk\n\
             a.long.name@1  x:a         none/low\n\
             b@1            x.y:b       none/low\n"
        );
    }

    #[test]
    fn the_contract_is_indented_json() {
        let one = skill("a.a@1", "x::a");
        assert_eq!(contract(&[&one]).unwrap(), "{\n  \"timeoutSeconds\": 60\n}\n");
        assert!(contract(&[&one, &one]).is_err());
    }
}
