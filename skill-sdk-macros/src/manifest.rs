//! The name that the manifest of the author's crate gives the library.
//!
//! Read line by line and not by `proc-macro-crate`: its parser of TOML would add five crates to every build that declares
//! skills. A name that the root of a workspace gives is not found; `crate = path` is there for it.

use std::env;
use std::fs;
use std::path::Path;

use syn::Ident;

/// The package that is looked for.
const PACKAGE: &str = "skill-sdk";

/// The name of the library in the code that is compiled, when its manifest renames it.
pub(crate) fn renamed() -> Option<Ident> {
    let directory = env::var_os("CARGO_MANIFEST_DIR")?;
    let manifest = fs::read_to_string(Path::new(&directory).join("Cargo.toml")).ok()?;
    syn::parse_str(&renamed_in(&manifest)?).ok()
}

fn renamed_in(manifest: &str) -> Option<String> {
    let mut section = String::new();
    let mut found = None;
    for line in manifest.lines() {
        let line: String = line.split_whitespace().collect();
        if let Some(header) = line.strip_prefix('[') {
            header
                .split(']')
                .next()
                .unwrap_or_default()
                .clone_into(&mut section);
        }
        let Some((_, rest)) = section.split_once("dependencies") else {
            continue;
        };
        // `[dependencies.name]`, or `name = …` below `[dependencies]`.
        let (name, value) = match rest.strip_prefix('.') {
            Some(name) => (name, line.as_str()),
            None => line.split_once('=').unwrap_or((&line, "")),
        };
        let name = name.split('.').next().unwrap_or_default().trim_matches('"');
        if name == PACKAGE {
            return None;
        }
        let renames = format!("package=\"{PACKAGE}\"");
        let is_key = |before: &str| before.is_empty() || before.ends_with(['{', ',']);
        if value
            .find(&renames)
            .is_some_and(|at| is_key(value.get(..at).unwrap_or_default()))
        {
            found = Some(name.replace('-', "_"));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::renamed_in;

    #[test]
    fn a_renamed_dependency_is_found() {
        for (manifest, expected) in [
            (
                "[dependencies]\nskill = { package = \"skill-sdk\", path = \"x\" }",
                Some("skill"),
            ),
            (
                "[dependencies]\nmy-skills = {version=\"1\",package=\"skill-sdk\"} # renamed",
                Some("my_skills"),
            ),
            (
                "[dependencies.skill]\nversion = \"1\"\npackage = \"skill-sdk\"",
                Some("skill"),
            ),
            (
                "[target.'cfg(unix)'.dependencies]\nskill = { package = \"skill-sdk\" }",
                Some("skill"),
            ),
            (
                "[dev-dependencies]\nskill = { package = \"skill-sdk\" }",
                Some("skill"),
            ),
            // Under its own name as well.
            (
                "[dependencies]\nskill = { package = \"skill-sdk\" }\nskill-sdk = \"1\"",
                None,
            ),
            ("[dependencies]\nskill-sdk.workspace = true", None),
            ("[dependencies.skill-sdk]\nversion = \"1\"", None),
            (
                "[dependencies]\nskill = { package = \"skill-sdk-contract\" }",
                None,
            ),
            ("[dependencies]\n# skill = 1\nserde = \"1\"", None),
            (
                "[package]\nname = \"skill-sdk\"\n[package.metadata]\nskill = { package = \"skill-sdk\" }",
                None,
            ),
            ("", None),
        ] {
            assert_eq!(renamed_in(manifest).as_deref(), expected, "{manifest}");
        }
    }
}
