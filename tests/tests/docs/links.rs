//! Links lead somewhere, and the index names every page.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use super::{is_markdown, pages, prose, root, text};

const OTHER_PAGES: [&str; 6] = [
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "SECURITY.md",
    "skill-sdk/contract/README.md",
];

/// The targets of the links in a text, with the numbers of their lines.
fn links(text: &str) -> Vec<(usize, String)> {
    let mut links = Vec::new();
    for (number, line) in prose(text) {
        for rest in line.split("](").skip(1) {
            links.push((number, rest.split(')').next().unwrap().to_owned()));
        }
    }
    links
}

/// The anchors of the headings of a page, as GitHub makes them.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = prose(text).filter(|(_, line)| line.starts_with('#'));
    headings
        .map(|(_, line)| {
            let title = line.trim_start_matches('#').trim().to_lowercase();
            let kept = title
                .chars()
                .filter(|&letter| letter.is_alphanumeric() || " -_".contains(letter));
            kept.map(|letter| if letter == ' ' { '-' } else { letter })
                .collect()
        })
        .collect()
}

/// A path without `.` and `..`.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => assert!(normal.pop(), "{} leads out of the repository", path.display()),
            Component::Normal(part) => normal.push(part),
            _ => {}
        }
    }
    normal
}

#[test]
fn links_have_a_target() {
    let mut dead = Vec::new();
    for page in pages().into_iter().chain(OTHER_PAGES.map(str::to_owned)) {
        let source = text(&page);
        for (number, link) in links(&source) {
            if link.starts_with("http") {
                continue;
            }
            let (path, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = if path.is_empty() {
                PathBuf::from(&page)
            } else {
                normal(&Path::new(&page).parent().unwrap().join(path))
            };
            let exists = root().join(&target).exists();
            let target = target.to_str().unwrap();
            if !exists || !anchor.is_empty() && !anchors(&text(target)).contains(anchor) {
                dead.push(format!("{page}:{number}: {link}"));
            }
        }
    }
    assert!(dead.is_empty(), "{}", dead.join("\n"));
}

#[test]
fn the_index_names_every_page() {
    let listed: BTreeSet<String> = links(&text("docs/README.md"))
        .into_iter()
        .map(|(_, link)| format!("docs/{link}"))
        .collect();
    let orphans: Vec<_> = pages()
        .into_iter()
        .filter(|page| page != "docs/README.md" && !listed.contains(page))
        .collect();
    assert!(orphans.is_empty(), "docs/README.md does not link {orphans:?}");
}

#[test]
fn every_place_that_names_a_page_names_one_that_exists() {
    let mut wrong = Vec::new();
    let mut folders = vec![root()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            let has_text = [".rs", ".md", ".py", ".yaml", ".toml"]
                .iter()
                .any(|end| name.ends_with(end));
            if path.is_dir() && !["target", ".git", "node_modules"].contains(&name.as_str()) {
                folders.push(path);
            } else if has_text && path.is_file() {
                let text = std::fs::read_to_string(&path).unwrap();
                for rest in text.split("docs/").skip(1) {
                    let end =
                        rest.find(|letter: char| !(letter.is_ascii_alphanumeric() || "-/.".contains(letter)));
                    let page = rest[..end.unwrap_or(rest.len())].trim_end_matches('.');
                    let is_page = is_markdown(page)
                        && ["guides/", "reference/", "explanation/"]
                            .iter()
                            .any(|start| page.starts_with(start));
                    if is_page && !root().join("docs").join(page).exists() {
                        wrong.push(format!("{}: docs/{page}", path.display()));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
