//! Checks the architecture of the library on its sources.

#![allow(clippy::unwrap_used, reason = "a panic in a test is a failed test")]

use std::fs;
use std::path::{Path, PathBuf};

/// The layers from lowest to highest. Modules in the same row are in the same layer.
const LAYERS: &[&[&str]] = &[
    &["debug", "error"],
    &["environment"],
    // Both are in the inner crate `skill-sdk-contract`.
    &["contract", "package"],
    &["validation"],
    &["platform"],
    &["context"],
    &["handler"],
    &["registry"],
    &["pipeline"],
    &["auth", "serve"],
    &["http", "pipe"],
    &["local", "mcp"],
    &["host"],
    &["testing"],
];

/// The layers of the inner crate `skill-sdk-contract`.
const CONTRACT_LAYERS: &[&[&str]] = &[
    &["credential"],
    &["rules"],
    &[
        "description",
        "document",
        "implementation",
        "json",
        "origin",
        "policy",
        "text",
        "version",
    ],
    &["keywords", "types"],
    &["tree", "walk"],
    &["validation"],
    &["schema"],
    &["package"],
];

/// The layers within a folder. `SkillContext` itself is what the modules of `context` extend.
const INNER_LAYERS: &[(&str, &[&[&str]])] = &[
    (
        "platform",
        &[
            &["clock", "dates", "usage", "web"],
            &["cached"],
            &["core", "pii"],
            &["connections", "llm"],
        ],
    ),
    (
        "context",
        &[
            &["caller", "cost", "log_id", "report", "settings", "trace"],
            &["input", "state"],
            &["meta"],
            &["artifacts", "connection", "knowledge", "llm"],
        ],
    ),
];

/// Files that name all layers on purpose: the table of contents, and the items for the macros.
const EXEMPT: &[&str] = &["lib", "private"];

/// Test folders that use a higher layer, each with the reason.
const LOOKING_UP: &[(&str, &str)] = &[
    (
        "platform/connections/tests/",
        "the tests use connections through a context, as skills do",
    ),
    (
        "platform/core/tests/",
        "the tests use the core through a context, as skills do",
    ),
];

/// The maximum length of a file in lines.
const MAX_LINES: usize = 450;

#[test]
fn every_example_uses_the_test_kit() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let mut seen = 0;
    for example in fs::read_dir(examples).unwrap() {
        let example = example.unwrap().path();
        let mut files = Vec::new();
        walk(&example, &example.join("src"), &mut files);
        let text: String = files.into_iter().map(|(_, text)| text).collect();
        if !text.contains("#[skill(") {
            continue; // A program that uses the skills of another crate.
        }
        seen += 1;
        let name = example.display();
        assert!(text.contains("testing::"), "{name} is not tested with the kit");
        if example.join("package").exists() {
            let checks = text.contains("assert_package_matches(\"package\")");
            assert!(checks, "the tests of {name} do not check the package for drift");
        }
    }
    assert!(seen > 6, "the examples directory exists");
}

/// The sources of the library, by path below `src`.
fn sources() -> Vec<(String, String)> {
    sources_of("skill-sdk/src", 50)
}

/// The sources of the inner crate, by path below its `src`.
fn contract_sources() -> Vec<(String, String)> {
    sources_of("skill-sdk/contract/src", 30)
}

fn sources_of(folder: &str, at_least: usize) -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder);
    let mut found = Vec::new();
    walk(&root, &root, &mut found);
    assert!(found.len() > at_least, "the sources directory exists");
    found.sort();
    found
}

fn walk(root: &Path, folder: &Path, found: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path: PathBuf = entry.unwrap().path();
        if path.is_dir() {
            walk(root, &path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let parts: Vec<_> = path
                .strip_prefix(root)
                .unwrap()
                .iter()
                .map(|part| part.to_str().unwrap())
                .collect();
            found.push((parts.join("/"), fs::read_to_string(&path).unwrap()));
        }
    }
}

fn layer(layers: &[&[&str]], name: &str) -> Option<usize> {
    layers.iter().position(|row| row.contains(&name))
}

/// The first segment of every path from the crate root, with its line. Comments are ignored.
fn paths_from_the_root(source: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (index, line) in source.lines().enumerate() {
        if line.trim_start().starts_with("//") {
            continue;
        }
        for (at, _) in line.match_indices("crate::") {
            // `$crate::` and `some_crate::` are other paths.
            let before = line[..at].chars().next_back();
            if before.is_some_and(|before| before == '_' || before.is_alphanumeric()) {
                continue;
            }
            let name: String = line[at + "crate::".len()..]
                .chars()
                .take_while(|c| *c == '_' || c.is_alphanumeric())
                .collect();
            found.push((index + 1, name));
        }
    }
    found
}

#[test]
fn layers_depend_on_lower_layers_only() {
    let mut wrong = upward_dependencies(sources(), LAYERS);
    wrong.extend(upward_dependencies(contract_sources(), CONTRACT_LAYERS));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn upward_dependencies(sources: Vec<(String, String)>, layers: &[&[&str]]) -> Vec<String> {
    let mut wrong = Vec::new();
    for (file, source) in sources {
        let folder = file.split('/').next().unwrap().trim_end_matches(".rs");
        if EXEMPT.contains(&folder) || LOOKING_UP.iter().any(|(looking, _)| file.starts_with(looking)) {
            continue;
        }
        let Some(own) = layer(layers, folder) else {
            wrong.push(format!("{file} is in no layer: name its folder in this test"));
            continue;
        };
        for (line, name) in paths_from_the_root(&source) {
            match layer(layers, &name) {
                Some(used) if used <= own => {}
                Some(_) => wrong.push(format!("{file}:{line} uses `{name}`, which is above `{folder}`")),
                None => wrong.push(format!(
                    "{file}:{line} names `crate::{name}`: write the path through its module"
                )),
            }
        }
    }
    wrong
}

/// The contract crate is plain data for every tool: it does not know the SDK, has no async code, and only its package
/// module does file I/O.
#[test]
fn the_contract_crate_is_plain_data() {
    for (file, source) in contract_sources() {
        if file.contains("tests") {
            continue;
        }
        let code: Vec<_> = source
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"))
            .collect();
        for word in ["skill_sdk::", "tokio", "async fn", "std::net"] {
            assert!(
                !code.iter().any(|line| line.contains(word)),
                "{file} names `{word}`"
            );
        }
        let files = code.iter().any(|line| line.contains("std::fs"));
        assert!(!files || file.starts_with("package/"), "{file} uses files");
    }
}

/// The names that a source file uses from the root of its folder, by `super::…` or `crate::folder::…`.
fn names_from_the_folder(file: &str, source: &str, folder: &str) -> Vec<String> {
    let mut own: Vec<&str> = file.trim_end_matches(".rs").split('/').collect();
    own.retain(|part| *part != "mod");
    let code = source.split("#[cfg(test)]\nmod tests {").next().unwrap();
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    let code: String = lines.collect::<Vec<_>>().join("\n");
    let absolute = format!("crate::{folder}::");
    let to_root = "super::".repeat(own.len() - 1);
    let mut found = Vec::new();
    for start in [absolute.as_str(), to_root.as_str()] {
        for (at, _) in code.match_indices(start) {
            let before = code[..at].chars().next_back();
            if before.is_some_and(|before| before == ':' || before == '_' || before.is_alphanumeric()) {
                continue;
            }
            let rest = &code[at + start.len()..];
            let names = match rest.strip_prefix('{') {
                Some(list) => list.split('}').next().unwrap(),
                None => rest.split([';', ',', ')']).next().unwrap(),
            };
            let first = |name: &str| words(name).find(|word| !word.is_empty()).map(str::to_owned);
            found.extend(names.split(',').filter_map(first));
        }
    }
    found
}

/// The identifiers and keywords of a piece of code.
fn words(code: &str) -> impl Iterator<Item = &str> {
    code.split(|c: char| c != '_' && !c.is_alphanumeric())
}

/// The modules of a folder, by the items that its `mod.rs` re-exports from them.
fn reexports(source: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for statement in source.split(';') {
        let Some((_, path)) = statement.split_once("use self::") else {
            continue;
        };
        let mut names = words(path).filter(|word| !word.is_empty());
        let module = names.next().unwrap();
        found.extend(names.map(|name| (name.to_owned(), module.to_owned())));
    }
    found
}

#[test]
fn modules_depend_on_lower_layers_only() {
    let sources = sources();
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for (folder, layers) in INNER_LAYERS {
        let place = |name: &str| layers.iter().position(|row| row.contains(&name));
        let root = format!("{folder}/mod.rs");
        let (_, root_source) = sources.iter().find(|(file, _)| *file == root).unwrap();
        let items = reexports(root_source);
        for (file, source) in &sources {
            let Some(rest) = file.strip_prefix(&format!("{folder}/")) else {
                continue;
            };
            let module = rest.split('/').next().unwrap().trim_end_matches(".rs");
            if ["mod", "tests"].contains(&module) || file.contains("/tests/") || file.ends_with("/tests.rs") {
                continue;
            }
            let Some(own) = place(module) else {
                wrong.push(format!(
                    "{file} is in no inner layer: name its module in this test"
                ));
                continue;
            };
            for name in names_from_the_folder(file, source, folder) {
                let used = items.iter().find(|(item, _)| *item == name);
                let used = used.map_or(name.as_str(), |(_, module)| module);
                seen += 1;
                if used != module && place(used).is_some_and(|used| used > own) {
                    wrong.push(format!(
                        "{file} uses `{name}` of `{used}`, which is above `{module}`"
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(seen > 30, "only {seen} names were found");
}

#[test]
fn files_are_short() {
    let long: Vec<_> = sources()
        .into_iter()
        .chain(contract_sources())
        .map(|(file, source)| (file, source.lines().count()))
        .filter(|(_, lines)| *lines > MAX_LINES)
        .collect();
    assert!(long.is_empty(), "{long:?}");
}

/// The files that contain `text`.
fn files_containing(text: &str) -> Vec<String> {
    sources()
        .into_iter()
        .filter(|(_, source)| source.contains(text))
        .map(|(file, _)| file)
        .collect()
}

#[test]
fn only_one_file_names_inventory() {
    assert_eq!(files_containing("inventory::"), ["registry/collect.rs"]);
    assert_eq!(files_containing("use inventory"), ["private.rs"]);
}

#[test]
fn the_platform_name_appears_in_one_file() {
    assert_eq!(files_containing("taimen"), [""; 0]);
    for (file, source) in contract_sources() {
        let code = source.split("#[cfg(test)]").next().unwrap();
        let expected = usize::from(file == "document.rs");
        if !file.contains("tests") {
            assert_eq!(code.matches("taimen").count(), expected, "{file}");
        }
    }
}

#[test]
fn the_check_finds_paths() {
    let source = "use crate::http::x;\n// use crate::testing;\n/// [`crate::host`]\nlet a = $crate::a(my_crate::b);\npub(in crate::package) fn";
    let found: Vec<_> = paths_from_the_root(source);
    assert_eq!(
        found,
        [
            (1, "http".to_owned()),
            (4, "a".to_owned()),
            (5, "package".to_owned())
        ]
    );
    let layer = |name| layer(LAYERS, name);
    assert!(layer("http") > layer("pipeline") && layer("testing") > layer("host"));
}

#[test]
fn the_library_does_not_use_rmcp() {
    assert_eq!(files_containing("rmcp"), [""; 0], "rmcp is for tests only");
}
