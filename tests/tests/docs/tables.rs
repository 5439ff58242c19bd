//! The tables of `docs/` say what the code says: environment variables, exit codes, error codes, features.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::{root, rows, text};

/// Words in capitals that are no variables: a place for a name in a message, values of YAML, a method of HTTP, starts of credentials, a duration,
/// algorithms of signatures.
const NO_VARIABLES: [&str; 14] = [
    "AKIA", "ASIA", "FALSE", "HS256", "HS384", "HS512", "NAME", "NULL", "POST", "PT1H", "RS256", "RS384",
    "RS512", "TRUE",
];

/// The calls that make an error, and which of their arguments is the code.
const MAKERS: [(&str, usize); 5] = [
    ("terminal(", 0),
    ("retryable(", 0),
    ("failure(", 0),
    ("refusal(", 1),
    ("reject(", 1),
];

/// The code of all files below a directory of the repository, without comments and tests.
fn code(directory: &str) -> String {
    let mut text = String::new();
    read(&root().join(directory), &mut text);
    assert!(!text.is_empty(), "there is no code in {directory}");
    text
}

fn read(directory: &Path, text: &mut String) {
    let entries = fs::read_dir(directory).unwrap();
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && name != "tests" {
            read(&path, text);
        } else if path.extension().is_some_and(|extension| extension == "rs") && name != "tests.rs" {
            let file = fs::read_to_string(&path).unwrap();
            // The tests of a file stand at its end.
            let tests = file
                .match_indices("#[cfg(test)]\nmod tests {")
                .next()
                .map_or(file.len(), |(at, _)| at);
            let lines = file[..tests]
                .lines()
                .filter(|line| !line.trim_start().starts_with("//"));
            lines.for_each(|line| text.extend([line, "\n"]));
        }
    }
}

/// The first cells of the tables in a page whose first column is `column`; none is there twice.
fn first(page: &str, column: &str) -> BTreeSet<String> {
    let rows = rows(page, column);
    let names: BTreeSet<_> = rows.iter().map(|row| row[0].clone()).collect();
    assert_eq!(names.len(), rows.len(), "{page} lists something twice");
    names
}

/// All texts between double quotes; escapes do not matter for what is looked for here.
fn literals(line: &str) -> impl Iterator<Item = &str> {
    line.split('"').skip(1).step_by(2)
}

fn is_in_capitals(word: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    word.len() >= 4 && word.as_bytes()[0].is_ascii_uppercase() && word.bytes().all(allowed)
}

#[test]
fn environment_variables() {
    let code = code("skill-sdk/src") + &code("skill-sdk-cli/src");
    let found: BTreeSet<String> = code
        .lines()
        // Names of values in help texts, and what is read when the SDK is compiled.
        .filter(|line| !line.contains("value_name") && !line.contains("env!("))
        .flat_map(literals)
        .filter(|word| is_in_capitals(word) && !NO_VARIABLES.contains(word))
        .map(str::to_owned)
        .collect();
    let mut documented = first("docs/reference/environment-variables.md", "variable");
    for row in rows("docs/reference/configuration.md", "setting") {
        assert!(documented.insert(row[1].clone()), "{} is listed twice", row[1]);
    }
    assert_eq!(documented, found);
}

#[test]
fn exit_codes() {
    let commands = code("skill-sdk/src/host/command");
    let mut found: BTreeSet<String> = commands
        .lines()
        .filter_map(|line| line.strip_prefix("pub const ")?.split_once(": u8 = "))
        .map(|(_, value)| value.trim_end_matches(';').to_owned())
        .collect();
    let host = code("skill-sdk/src/host");
    found.extend(host.lines().filter_map(|line| {
        let (number, _) = line.split_once("_u8")?;
        number.rsplit(' ').next().map(str::to_owned)
    }));
    assert_eq!(first("docs/reference/cli.md", "exit code"), found);
}

#[test]
fn error_codes() {
    let code = code("skill-sdk/src");
    let mut found = BTreeSet::new();
    for (maker, argument) in MAKERS {
        for (at, _) in code.match_indices(maker) {
            if code[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_') {
                continue;
            }
            let argument = code[at + maker.len()..].split(',').nth(argument).unwrap().trim();
            if let Some(literal) = argument.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
                found.insert(literal.to_owned());
            } else if is_in_capitals(argument) {
                found.insert(constant(&code, argument));
            }
        }
    }
    // Codes that a table or an enum holds until an error is made of them.
    for line in code.lines().map(|line| line.trim().trim_end_matches(',')) {
        let value = ["violated: ", "too_complex: "]
            .iter()
            .find_map(|field| line.strip_prefix(field));
        let value = value.or_else(|| {
            line.strip_prefix("Self::")?
                .split_once(" => ")
                .map(|(_, value)| value)
        });
        let Some(value) = value else { continue };
        if let Some(literal) = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
            if literal.contains('_') {
                found.insert(literal.to_owned());
            }
        } else if let Some(name) = value.strip_prefix("super::").filter(|name| is_in_capitals(name)) {
            found.insert(constant(&code, name));
        }
    }
    // The core gives this one, and a type here tells it from others.
    assert!(code.contains("error.code() == \"snapshot_stale\""));
    found.insert("snapshot_stale".to_owned());
    assert!(
        found.len() > 10,
        "the codes are made in another way now: {found:?}"
    );
    // It has a section of its own.
    assert!(found.remove("invalid_skill_contract"));
    assert_eq!(first("docs/reference/error-codes.md", "code"), found);
}

#[test]
fn whether_a_code_is_retryable() {
    let code = code("skill-sdk/src");
    let made = |maker: &str| -> BTreeSet<String> {
        let calls = code.split(maker).skip(1);
        let literal = |rest: &str| {
            rest.trim_start()
                .strip_prefix('"')?
                .split('"')
                .next()
                .map(str::to_owned)
        };
        calls.filter_map(literal).collect()
    };
    let (terminal, retryable) = (made("terminal("), made("retryable("));
    assert!(
        terminal.len() > 10 && retryable.len() > 5,
        "errors are made in another way now"
    );
    for row in rows("docs/reference/error-codes.md", "code") {
        let expected = match (terminal.contains(&row[0]), retryable.contains(&row[0])) {
            (true, false) => "no",
            (false, true) => "yes",
            // A code that is both is explained in words.
            _ => continue,
        };
        assert_eq!(row[2], expected, "whether {} is retryable", row[0]);
    }
}

/// The value of a constant text.
fn constant(code: &str, name: &str) -> String {
    let start = format!("const {name}: &str = \"");
    let (_, rest) = code.split_once(&start).unwrap();
    rest.split('"').next().unwrap().to_owned()
}

#[test]
fn features() {
    let manifest = fs::read_to_string(root().join("skill-sdk/Cargo.toml")).unwrap();
    let (_, features) = manifest.split_once("[features]\n").unwrap();
    let found: BTreeSet<String> = features
        .lines()
        .take_while(|line| !line.starts_with('['))
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once(" = "))
        .map(|(name, _)| match name {
            "default" => "(none)".to_owned(),
            name => name.to_owned(),
        })
        .collect();
    assert_eq!(first("docs/reference/features.md", "feature"), found);
}

/// The words by which calls say how they came, each between backticks in the row of `protocol()`.
#[test]
fn protocols() {
    let code = code("skill-sdk/src");
    let named = |after: &str| after.split('"').next().unwrap().to_owned();
    let mut found: BTreeSet<String> = code.split("Meta::new(\"").skip(1).map(named).collect();
    found.insert(constant(&code, "PROTOCOL"));
    let page = text("docs/reference/context.md");
    let row = page
        .lines()
        .find(|line| line.starts_with("| `protocol()` |"))
        .unwrap();
    let told = row.split('|').nth(2).unwrap().split('`').skip(1).step_by(2);
    let commands = |word: &&str| *word != "invoke";
    assert_eq!(
        told.filter(commands).map(str::to_owned).collect::<BTreeSet<_>>(),
        found
    );
}

#[test]
fn the_example_of_the_contract_format_is_an_exported_file() {
    let page = text("docs/reference/contract.md");
    let file = text("examples/git/package/skills/git.merge.yaml");
    let (before, rest) = page.split_once("```yaml\n").unwrap();
    let (shown, after) = rest.split_once("```\n").unwrap();
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        let page = format!("{before}```yaml\n{file}```\n{after}");
        fs::write(root().join("docs/reference/contract.md"), page).unwrap();
    } else {
        assert_eq!(shown, file, "`UPDATE_SNAPSHOTS=1` writes it");
    }
}

/// The text of the literal that `code` begins with, with `…` for what is filled in.
fn message(code: &str) -> Option<String> {
    let rest = code.trim_start();
    let rest = rest
        .strip_prefix("format!(")
        .unwrap_or(rest)
        .trim_start()
        .strip_prefix('"')?;
    let (mut text, mut letters) = (String::new(), rest.chars());
    loop {
        match letters.next()? {
            '"' => break,
            '\\' => match letters.next()? {
                // The line goes on behind the indentation of the next one.
                '\n' => letters = letters.as_str().trim_start().chars(),
                escaped => text.push(escaped),
            },
            '{' => {
                let inside = letters.as_str();
                let end = inside.find('}')?;
                letters = inside[end + 1..].chars();
                text.push('…');
            }
            letter => text.push(letter),
        }
    }
    let words = text
        .split(' ')
        .filter(|word| word.contains(char::is_alphabetic))
        .count();
    (words > 1).then(|| text.replace(['`', '|'], ""))
}

#[test]
fn messages_lead_to_their_code() {
    let code = code("skill-sdk/src");
    let mut found = BTreeSet::new();
    for (maker, _) in MAKERS {
        for rest in code.split(maker).skip(1) {
            let Some((status, rest)) = rest.trim_start().split_once('"') else {
                continue;
            };
            let Some((name, rest)) = rest.split_once('"') else {
                continue;
            };
            // The code is the first text, at most behind a status.
            let is_code = status.len() < 60 && !status.contains([')', ';']) && rest.starts_with(',');
            let is_name =
                !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
            if is_code
                && is_name
                && let Some(message) = message(&rest[1..])
            {
                found.insert(format!("| `{message}` | `{name}` |\n"));
            }
        }
    }
    assert!(found.len() > 40, "errors are made in another way now: {found:?}");
    let rows: String = found.into_iter().collect();
    let page = text("docs/reference/error-codes.md");
    let (before, after) = page.split_once("| message | code |\n|---|---|\n").unwrap();
    let (shown, after) = after
        .split_once("\n\n")
        .map_or((after, ""), |(shown, after)| (shown, after));
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        let page = format!("{before}| message | code |\n|---|---|\n{rows}\n{after}");
        fs::write(root().join("docs/reference/error-codes.md"), page).unwrap();
    } else {
        assert_eq!(format!("{shown}\n"), rows, "`UPDATE_SNAPSHOTS=1` writes it");
    }
}
