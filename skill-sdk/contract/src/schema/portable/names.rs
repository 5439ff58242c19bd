//! Names of tools.

use std::collections::BTreeMap;

/// Which names tools have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolNames {
    /// Names that every client and model takes: `git_merge`.
    #[default]
    Portable,
    /// The names of the skills as they are written: `git.merge`.
    Contract,
}

/// A skill that is to be a tool.
#[derive(Debug, Clone, Copy)]
pub struct ToolSkill<'a> {
    /// The name of the skill.
    pub name: &'a str,
    /// Its version.
    pub version: &'a str,
    /// The name of the tool in its contract, if it is called over MCP.
    pub declared: Option<&'a str>,
}

/// The most characters that every client and model takes.
const MAX_CHARS: usize = 64;

/// The name of the tool of each skill; `None` for an older version that is not served. Skills are sorted by name and version.
///
/// # Errors
///
/// Two skills would be one tool: their indexes.
pub fn tool_names(
    skills: &[ToolSkill<'_>],
    names: ToolNames,
    all_versions: bool,
) -> Result<Vec<Option<String>>, (usize, usize)> {
    let mut taken = BTreeMap::new();
    let mut given = Vec::new();
    for (index, skill) in skills.iter().enumerate() {
        let newest = skills
            .iter()
            .rfind(|other| other.name == skill.name)
            .unwrap_or(skill);
        let is_newest = newest.version == skill.version;
        if !is_newest && !all_versions {
            given.push(None);
            continue;
        }
        let mut name = skill.tool_name(names);
        if !is_newest && name == newest.tool_name(names) {
            name = skill.own(names, &format!("_v{}", skill.version));
        }
        if let Some(other) = taken.insert(name.clone(), index) {
            return Err((other, index));
        }
        given.push(Some(name));
    }
    Ok(given)
}

impl ToolSkill<'_> {
    /// The name of the tool, whatever other skills there are: the one that the contract declares, else the one of the skill.
    pub fn tool_name(&self, names: ToolNames) -> String {
        self.own(names, "")
    }

    fn own(&self, names: ToolNames, suffix: &str) -> String {
        // Without a declared name the contract has the name of the skill there.
        let declared = self.declared.filter(|tool| *tool != self.name);
        match (declared, names) {
            (Some(tool), _) => format!("{tool}{suffix}"),
            (None, ToolNames::Contract) => format!("{}{suffix}", self.name),
            (None, ToolNames::Portable) => portable(self.name, suffix),
        }
    }
}

/// `name` with `suffix` in letters, digits, `-` and single `_`: not first, not last. What has none of them is a `skill`.
fn portable(name: &str, suffix: &str) -> String {
    let words = |text: &str, max: usize| {
        let mut tool = String::new();
        for c in text.chars() {
            let c = if c.is_ascii_alphanumeric() || c == '-' {
                c
            } else {
                '_'
            };
            if tool.len() < max && !(c == '_' && (tool.is_empty() || tool.ends_with('_'))) {
                tool.push(c);
            }
        }
        tool.truncate(tool.trim_end_matches('_').len());
        tool
    };
    let suffix = words(suffix, MAX_CHARS / 2);
    let most = MAX_CHARS - suffix.len();
    let tool = match words(name, if suffix.is_empty() { most } else { most - 1 }) {
        empty if empty.is_empty() => "skill".to_owned(),
        tool => tool,
    };
    if suffix.is_empty() {
        tool
    } else {
        format!("{tool}_{suffix}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(
        skills: &[(&str, &str, Option<&str>)],
        all: bool,
    ) -> Result<Vec<Option<String>>, (usize, usize)> {
        let skills: Vec<_> = skills
            .iter()
            .map(|&(name, version, declared)| ToolSkill {
                name,
                version,
                declared,
            })
            .collect();
        tool_names(&skills, ToolNames::Portable, all)
    }

    #[test]
    fn names_are_those_that_every_client_takes() {
        let long = "a".repeat(150);
        for (name, expected) in [
            ("git.merge", "git_merge"),
            ("git_merge", "git_merge"),
            ("Mixed-Case.2", "Mixed-Case_2"),
            ("grüße.sagen", "gr_e_sagen"),
            ("weird!name#1", "weird_name_1"),
            ("_a.__b.", "a_b"),
            ("名前", "skill"),
            (&long, &long[..64]),
        ] {
            assert_eq!(
                names(&[(name, "1", None)], false),
                Ok(vec![Some(expected.to_owned())])
            );
        }
    }

    #[test]
    fn a_declared_name_is_served_as_it_is() {
        assert_eq!(
            names(&[("git.merge", "1", Some("merge.It"))], false),
            Ok(vec![Some("merge.It".to_owned())])
        );
        let skill = ToolSkill {
            name: "git.merge",
            version: "1",
            declared: Some("git.merge"),
        };
        for (style, expected) in [
            (ToolNames::Portable, "git_merge"),
            (ToolNames::Contract, "git.merge"),
        ] {
            assert_eq!(
                tool_names(&[skill], style, false),
                Ok(vec![Some(expected.to_owned())])
            );
        }
    }

    #[test]
    fn the_newest_version_has_the_plain_name() {
        let long = "a".repeat(150);
        let skills = [
            ("a.b", "1", None),
            ("a.b", "2.0", None),
            ("a.b", "10", None),
            (&long, "1", None),
            (&long, "2", None),
        ];
        let some = |name: &str| Some(name.to_owned());
        assert_eq!(
            names(&skills, false),
            Ok(vec![None, None, some("a_b"), None, some(&long[..64])])
        );
        let cut = format!("{}_v1", &long[..61]);
        assert_eq!(
            names(&skills, true),
            Ok(vec![
                some("a_b_v1"),
                some("a_b_v2_0"),
                some("a_b"),
                some(&cut),
                some(&long[..64])
            ])
        );
        // A version with a name of its own keeps it.
        let skills = [
            ("a.b", "1", Some("old")),
            ("a.b", "2", Some("new")),
            ("a.b", "3", Some("new")),
        ];
        assert_eq!(
            names(&skills, true),
            Ok(vec![some("old"), some("new_v2"), some("new")])
        );
    }

    #[test]
    fn two_skills_are_not_one_tool() {
        assert_eq!(
            names(&[("git.merge", "1", None), ("git_merge", "1", None)], false),
            Err((0, 1))
        );
        assert_eq!(
            names(&[("a", "1", Some("x")), ("b", "1", Some("x"))], false),
            Err((0, 1))
        );
        assert_eq!(
            names(
                &[("a.b", "1", None), ("a.b", "2", None), ("a_b_v1", "1", None)],
                true
            ),
            Err((0, 2))
        );
    }
}
