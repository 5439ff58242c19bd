//! Which skills a name means.

use super::Failure;
use crate::host::protocol::SkillEntry;

/// How many skills an error lists before it only counts the rest.
const LISTED: usize = 20;

/// Whether `name` means the skill: a ref (`git.merge@2`), a skill name (`git.merge`, all versions), an entrypoint
/// (`acme_skills.reports:build`), a Rust path (`acme_skills::reports`, all below it), or its cargo package.
pub fn matches(skill: &SkillEntry, name: &str) -> bool {
    let names = [&skill.reference, &skill.name, &skill.entrypoint, &skill.package];
    let below = skill.path.strip_prefix(name);
    names.iter().any(|own| *own == name)
        || below.is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

/// The skills that the names mean, in the order of `skills`; without names all of them.
///
/// A name that matches nothing is an error that lists what there is.
pub fn select<'a>(skills: &'a [SkillEntry], names: &[String]) -> Result<Vec<&'a SkillEntry>, Failure> {
    for name in names {
        if !skills.iter().any(|skill| matches(skill, name)) {
            return Err(unknown(name, skills.iter()));
        }
    }
    let wanted = |skill: &&SkillEntry| names.is_empty() || names.iter().any(|name| matches(skill, name));
    Ok(skills.iter().filter(wanted).collect())
}

/// The one skill that a command is about.
pub fn exactly_one<'a>(skills: &[&'a SkillEntry], command: &str) -> Result<&'a SkillEntry, Failure> {
    match skills {
        [skill] => Ok(skill),
        _ => Err(Failure::usage(format!(
            "`{command}` is about exactly one skill, and {} were selected",
            skills.len()
        ))
        .help(format!("name one of them: {}", listed(skills.iter().copied())))),
    }
}

/// Rejects skills that one MCP server cannot serve together: a tool has the name of its skill, so two versions would be
/// one tool. The client would only see that the program ends.
pub fn reject_two_versions(skills: &[&SkillEntry]) -> Result<(), Failure> {
    for (index, skill) in skills.iter().enumerate() {
        if let Some(other) = skills[..index].iter().find(|other| other.name == skill.name) {
            let (first, second) = (&other.reference, &skill.reference);
            return Err(
                Failure::usage(format!("{first} and {second} would be one tool of an MCP server")).help(
                    format!("name the skills to host, with one of the two: `{second}`"),
                ),
            );
        }
    }
    Ok(())
}

/// The error for a name that matches no skill.
pub fn unknown<'a>(name: &str, skills: impl Iterator<Item = &'a SkillEntry>) -> Failure {
    Failure::usage(format!("no skill matches `{name}`")).help(format!("the skills are: {}", listed(skills)))
}

/// The refs of skills in one line.
pub fn listed<'a>(skills: impl Iterator<Item = &'a SkillEntry>) -> String {
    let refs: Vec<&str> = skills.map(|skill| skill.reference.as_str()).collect();
    match refs.len() {
        0 => "none".to_owned(),
        count if count > LISTED => format!("{} and {} more", refs[..LISTED].join(", "), count - LISTED),
        _ => refs.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::skill;
    use super::*;

    #[test]
    fn a_name_means_what_the_user_can_point_at() {
        let skills = [
            skill("git.merge@1", "acme_skills::git::merge"),
            skill("git.merge@2", "acme_skills::git::merge_again"),
            skill("report.build@1", "acme_skills::reports::build"),
        ];
        for (name, expected) in [
            ("git.merge@2", vec!["git.merge@2"]),
            ("git.merge", vec!["git.merge@1", "git.merge@2"]),
            ("acme_skills.reports:build", vec!["report.build@1"]),
            ("acme_skills::git", vec!["git.merge@1", "git.merge@2"]),
            ("acme_skills::git::merge", vec!["git.merge@1"]),
            (
                "acme_skills",
                vec!["git.merge@1", "git.merge@2", "report.build@1"],
            ),
            (
                "acme-skills",
                vec!["git.merge@1", "git.merge@2", "report.build@1"],
            ),
        ] {
            let found = select(&skills, &[name.to_owned()]).unwrap();
            assert_eq!(
                found
                    .iter()
                    .map(|skill| skill.reference.as_str())
                    .collect::<Vec<_>>(),
                expected,
                "{name}"
            );
        }
        for name in [
            "git",
            "git.merge@3",
            "acme_skills::gi",
            "acme_skills.reports",
            "",
            "acme",
        ] {
            let failure = select(&skills, &[name.to_owned()]).unwrap_err();
            assert_eq!(failure.code, super::super::exit::USAGE);
            assert!(
                failure
                    .to_string()
                    .contains("git.merge@1, git.merge@2, report.build@1"),
                "{failure}"
            );
        }
    }

    #[test]
    fn two_versions_are_not_served_together() {
        let skills = ["a.b@1", "c.d@1", "a.b@2"].map(|reference| skill(reference, "x::a"));
        let [first, other, second] = skills.each_ref();
        assert!(reject_two_versions(&[first, other]).is_ok());
        let failure = reject_two_versions(&[first, other, second])
            .unwrap_err()
            .to_string();
        assert!(
            failure.contains("a.b@1 and a.b@2") && failure.contains("name the skills"),
            "{failure}"
        );
    }

    #[test]
    fn one_skill_is_one_skill() {
        let skills = [skill("a.b@1", "x::a"), skill("a.b@2", "x::b")];
        let all = select(&skills, &[]).unwrap();
        assert!(
            exactly_one(&all, "contract")
                .unwrap_err()
                .to_string()
                .contains("a.b@1, a.b@2")
        );
        assert!(exactly_one(&[], "contract").is_err());
        assert_eq!(exactly_one(&all[1..], "contract").unwrap().reference, "a.b@2");
    }
}
