//! `contract`: the contract of one skill.

use super::{Failure, output, select};
use crate::host::protocol::SkillEntry;

/// The text of `contract`: the v1 contract of the one selected skill as indented JSON.
pub fn contract(skills: &[&SkillEntry]) -> Result<String, Failure> {
    let skill = select::exactly_one(skills, "contract")?;
    match skill.spec.get("contract") {
        Some(contract) => output::json(contract),
        None => Err(Failure::usage(format!(
            "the program did not describe the contract of `{}`",
            skill.reference
        ))
        .help("build the program with the same version of skill-sdk as this tool")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::skill;
    use super::*;

    #[test]
    fn the_contract_is_indented_json() {
        let one = skill("a.a@1", "x::a");
        assert_eq!(contract(&[&one]).unwrap(), "{\n  \"timeoutSeconds\": 60\n}\n");
        assert!(contract(&[&one, &one]).is_err());
    }
}
