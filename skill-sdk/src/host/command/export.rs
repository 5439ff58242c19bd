//! `export`: the files of a catalog package, written or compared.

use serde_json::{Value, json};

use super::{Failure, check, exit, failure, output, select};
use crate::contract::package::{Drift, Finding, Outcome, PackageError, Plan};
use crate::contract::{Auth, Implementation, Severity, Spec};
use crate::host::args::{ExportArgs, Format, Protocol};
use crate::host::protocol::SkillEntry;

/// Writes the files of `skills`, or compares them with `--check`.
///
/// `known` are all skills that are known of, so that files of those that were not selected are not taken for leftovers. When
/// a file seems to be one all the same, `whole` is asked for every skill there is.
pub fn export(
    skills: &[&SkillEntry],
    known: &[SkillEntry],
    whole: impl FnOnce() -> Result<Vec<SkillEntry>, Failure>,
    args: &ExportArgs,
) -> Result<u8, Failure> {
    if skills.is_empty() {
        return Err(Failure::usage("the program has no skills to export"));
    }
    if args.protocol == Some(Protocol::Mcp) {
        select::reject_two_versions(skills)?;
    }
    let documents: Vec<_> = skills
        .iter()
        .map(|skill| document(skill, args))
        .collect::<Result<_, Failure>>()?;
    let plan = |all: &[SkillEntry]| {
        let selected = |other: &&SkillEntry| skills.iter().any(|skill| skill.reference == other.reference);
        let others = all.iter().filter(|other| !selected(other));
        let others: Vec<_> = others
            .map(|other| (other.name.as_str(), other.version.as_str()))
            .collect();
        Ok::<_, Failure>(Plan::new(&args.package, &documents, &others)?)
    };
    let mut planned = plan(known)?;
    if !planned.leftovers()?.is_empty() {
        planned = plan(&whole()?)?;
    }
    if args.check {
        compare(&planned, args.format)
    } else {
        write(&planned, args.format)
    }
}

/// The catalog object of a skill with the implementation that the arguments ask for.
fn document(skill: &SkillEntry, args: &ExportArgs) -> Result<Value, Failure> {
    if args.protocol == Some(Protocol::Local) && args.endpoint.is_some() {
        return Err(Failure::usage(
            "`--endpoint` is for `--protocol http` and `--protocol mcp`: a local implementation has none",
        ));
    }
    let mut spec = skill.spec.clone();
    if let Some(implementation) = implementation(skill, args) {
        spec["contract"]["implementation"] = json!(implementation);
    }
    // The same gate as that of `check`, for what is written.
    let exported = SkillEntry {
        spec,
        ..skill.clone()
    };
    let (broken, doubtful): (Vec<_>, Vec<_>) = check::violations(&exported)
        .into_iter()
        .partition(|found| found.severity == Severity::Error);
    for found in doubtful {
        failure::warn(&found.problem.to_string(), None);
    }
    if !broken.is_empty() {
        let lines: Vec<_> = broken.iter().map(|found| found.problem.to_string()).collect();
        let failure = Failure::usage(format!("`{}` cannot be exported this way", skill.reference));
        return Err(failure.detail(lines.join("\n")));
    }
    Ok(Spec::document(&skill.name, &exported.spec))
}

fn implementation(skill: &SkillEntry, args: &ExportArgs) -> Option<Implementation> {
    let endpoint = args.endpoint.as_deref().unwrap_or_default();
    let audience = args.audience.as_deref().unwrap_or_default();
    let auth = Auth::new(audience, args.scopes.iter().cloned());
    Some(match args.protocol? {
        Protocol::Local => Implementation::local(&skill.entrypoint),
        Protocol::Http => Implementation::http(endpoint, &skill.reference, auth),
        Protocol::Mcp => Implementation::mcp(endpoint, &skill.name, auth),
    })
}

fn write(plan: &Plan, format: Format) -> Result<u8, Failure> {
    let written = plan.write()?;
    let text = match format {
        Format::Json => output::json(&written)?,
        Format::Text => {
            let lines = written.files.iter().map(|file| match file.outcome {
                Outcome::Unchanged => format!("unchanged {}\n", file.path.display()),
                _ => format!("wrote {}\n", file.path.display()),
            });
            lines.collect()
        }
    };
    output::print(&text)?;
    for stale in &written.stale {
        failure::warn(&stale.to_string(), None);
    }
    Ok(exit::GOOD)
}

fn compare(plan: &Plan, format: Format) -> Result<u8, Failure> {
    let drift = plan.check()?;
    output::print(&match format {
        Format::Json => output::json(&json!({"ok": drift.is_empty(), "drift": drift}))?,
        Format::Text if drift.is_empty() => "ok\n".to_owned(),
        Format::Text => drift.iter().map(readable).collect(),
    })?;
    // What brings code and files together again.
    let help = if drift.is_empty() {
        return Ok(exit::GOOD);
    } else if drift
        .iter()
        .all(|drift| matches!(drift.finding, Finding::Missing | Finding::Differs { .. }))
    {
        "run the same command without `--check` to write the files, and commit them"
    } else {
        "delete the files that are left over or cannot be read, then run the same command without `--check`"
    };
    Err(Failure::no("the files do not agree with the code").help(help))
}

/// A line, the differences, and the diff.
fn readable(drift: &Drift) -> String {
    match &drift.finding {
        Finding::Differs { diff, .. } if !diff.is_empty() => format!("{drift}\n{}\n", diff.trim_end()),
        _ => format!("{drift}\n"),
    }
}

impl From<PackageError> for Failure {
    fn from(error: PackageError) -> Self {
        Self::usage(error)
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::super::tests::skill;
    use super::*;

    fn entry() -> SkillEntry {
        let mut skill = skill("math.add@1", "x::add");
        skill.spec = json!({
            "version": "1", "description": "", "sideEffects": "none", "riskLevel": "low",
            "contract": {
                "inputs": {"type": "object"}, "outputs": {"type": "object"},
                "idempotency": "none", "timeoutSeconds": 60,
                "retryPolicy": {"maxAttempts": 1, "backoffSeconds": 0},
                "implementation": {"protocol": "local", "entrypoint": "x:add"},
            },
        });
        skill
    }

    fn args(protocol: Option<Protocol>, endpoint: &str) -> ExportArgs {
        ExportArgs {
            package: PathBuf::from("unused"),
            check: false,
            protocol,
            endpoint: Some(endpoint.to_owned()),
            audience: Some("acme".to_owned()),
            scopes: vec!["a:b".to_owned()],
            format: Format::Text,
        }
    }

    #[test]
    fn the_arguments_choose_the_implementation() {
        let made = document(&entry(), &args(Some(Protocol::Http), "${SVC}//")).unwrap();
        assert_eq!(
            made["spec"]["contract"]["implementation"],
            json!({
                "protocol": "http", "endpoint": "${SVC}/skills/math.add@1",
                "auth": {"audience": "acme", "scopes": ["a:b"]},
            })
        );
        let made = document(&entry(), &args(Some(Protocol::Mcp), "stdio:acme")).unwrap();
        assert_eq!(
            made["spec"]["contract"]["implementation"]["entrypoint"],
            "math.add"
        );
        let made = document(&entry(), &args(None, "")).unwrap();
        assert_eq!(made["spec"]["contract"]["implementation"]["protocol"], "local");
    }

    #[test]
    fn a_local_implementation_has_no_endpoint() {
        let failure = document(&entry(), &args(Some(Protocol::Local), "https://x")).unwrap_err();
        assert_eq!(failure.code, exit::USAGE);
    }

    #[test]
    fn an_endpoint_that_would_be_refused_is_refused() {
        let failure = document(&entry(), &args(Some(Protocol::Http), "ftp://x")).unwrap_err();
        assert_eq!(failure.code, exit::USAGE);
    }

    #[test]
    fn what_check_refuses_is_not_exported() {
        let mut entry = entry();
        entry.spec["contract"]["inputs"]["properties"] = json!({"a": {"pattern": "^(?>a|ab)c$"}});
        let failure = document(&entry, &args(None, "")).unwrap_err();
        assert!(
            format!("{failure:?}").contains("invalid_json_schema"),
            "{failure:?}"
        );
    }
}
