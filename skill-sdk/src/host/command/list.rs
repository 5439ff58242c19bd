//! `list`: the skills, one a line.

use serde::Serialize;
use serde_json::{Map, Value};

use super::{Failure, output};
use crate::host::args::{Format, FormatArgs};
use crate::host::protocol::SkillEntry;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Row<'a> {
    #[serde(rename = "ref")]
    reference: &'a str,
    name: &'a str,
    version: &'a str,
    entrypoint: &'a str,
    side_effects: &'a str,
    risk_level: &'a str,
    package: &'a str,
    file: &'a str,
    line: u32,
    /// What stands beside the contract, examples apart.
    #[serde(flatten)]
    metadata: Map<String, Value>,
}

/// The text of `list`: `ref <TAB> entrypoint <TAB> side_effects/risk` a line, or a JSON array, sorted by ref.
pub fn list(skills: &[&SkillEntry], args: &FormatArgs) -> Result<String, Failure> {
    let mut rows: Vec<Row<'_>> = skills.iter().copied().map(row).collect();
    rows.sort_by_key(|row| row.reference);
    match args.format {
        Format::Json => output::json(&rows),
        Format::Text => Ok(rows
            .iter()
            .map(|row| {
                format!(
                    "{}\t{}\t{}/{}\n",
                    row.reference, row.entrypoint, row.side_effects, row.risk_level
                )
            })
            .collect()),
    }
}

fn row(skill: &SkillEntry) -> Row<'_> {
    let policy = |key| skill.spec.get(key).and_then(Value::as_str).unwrap_or_default();
    Row {
        reference: &skill.reference,
        name: &skill.name,
        version: &skill.version,
        entrypoint: &skill.entrypoint,
        side_effects: policy("sideEffects"),
        risk_level: policy("riskLevel"),
        package: &skill.package,
        file: &skill.file,
        line: skill.line,
        metadata: skill
            .metadata
            .iter()
            .filter(|(key, _)| *key != "examples")
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect(),
    }
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
}
