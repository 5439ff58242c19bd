//! The page `docs/providers.md` is the tables of rules. `UPDATE_SNAPSHOTS=1` writes it anew.

use std::fmt::Write;
use std::path::Path;

use crate::provider::Provider;
use crate::provider::rule::{Mode, Rule};
use skill_sdk::contract::check::Severity;

const INTRODUCTION: &str = "\
# What model providers refuse

A client that offers a skill to a model sends its name, its description and its input schema as a tool. Every provider takes
a subset of JSON Schema of its own, and most refuse the whole request, with all its tools, when one tool breaks a rule.

```text
skill-sdk check --provider openai,anthropic,gemini
```

says which rules the skills break. An **error** means that the provider refuses the tool; the command then exits with 1. A
**warning** means that a client can get around it, that the provider ignores a part of the schema, or that the rule holds in
one mode only. Warnings are no reason to make a contract weaker: a host checks each call against the whole schema, whatever
the model was told of it.

Skills are named with dots, and tools of some providers must not be. A client then calls the tool by another name: each
character that is refused becomes an underscore, so `git.merge` becomes `git_merge`.

The rules are of November 2026. They come from the client libraries of the vendors (openai 3.57.0, anthropic 2.14.0,
google-genai 3.6.1 for Python), which a test asks again, and from what users report of refusals and documentation; none was
tried against an API. They change, and the column on the right says what each one rests on.
";

fn heading(provider: Provider, mode: Mode) -> &'static str {
    match (provider, mode) {
        (Provider::OpenAi, Mode::Always) => "## OpenAI\n\nFor every tool:",
        (Provider::OpenAi, _) => {
            "With `strict: true`. The Responses API takes a tool for strict when the client does not send `strict: false`; \
             the Chat Completions API does not:"
        }
        (Provider::Anthropic, Mode::Always) => "## Anthropic\n\nFor every tool:",
        (Provider::Anthropic, _) => "With `strict: true`:",
        (Provider::Gemini, Mode::Always) => {
            "## Gemini\n\nFor every tool, with the schema in `parametersJsonSchema`, which is the door for JSON Schemas:"
        }
        (Provider::Gemini, _) => {
            "With the schema in `parameters`, the older door for a subset of OpenAPI 3.0, which many clients still use:"
        }
    }
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn page() -> String {
    let mut page = INTRODUCTION.to_owned();
    for provider in Provider::ALL {
        let mut modes: Vec<Mode> = provider.rules().iter().map(Rule::mode).collect();
        modes.dedup();
        for mode in modes {
            let heading = heading(*provider, mode);
            write!(
                page,
                "\n{heading}\n\n| rule | says | | what to do | known from |\n|---|---|---|---|---|\n"
            )
            .unwrap();
            for rule in provider.rules().iter().filter(|rule| rule.mode() == mode) {
                let severity = if rule.severity == Severity::Error {
                    "error"
                } else {
                    "warning"
                };
                let [summary, remedy, source] = [rule.summary, rule.remedy, rule.source].map(cell);
                writeln!(
                    page,
                    "| `{}` | {summary} | {severity} | {remedy} | {source} |",
                    rule.id
                )
                .unwrap();
            }
        }
    }
    page
}

#[test]
fn the_page_lists_every_rule() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/providers.md");
    let page = page();
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(
        written,
        page,
        "{} differs; set UPDATE_SNAPSHOTS=1 to write it anew",
        path.display()
    );
}
