//! The examples at the top of each help page.

use clap::Command;

/// The help of a command, with its examples above its usage.
const TEMPLATE: &str = "{about-with-newline}\n{before-help}{usage-heading} {usage}\n\n{all-args}{after-help}";

/// The examples of each command, without the name of the program.
const EXAMPLES: [(&[&str], &[&str]); 14] = [
    (
        &[],
        &[
            "list",
            r#"invoke invoice.total --input '{"lines": [1000, 250]}'"#,
            "serve http --allow-anonymous",
        ],
    ),
    (&["list"], &["list", "list --format json"]),
    (&["contract"], &["contract invoice.total"]),
    (&["check"], &["check", "check --format json"]),
    (
        &["export"],
        &["export --package catalog", "export --package catalog --check"],
    ),
    (
        &["invoke"],
        &[
            r#"invoke invoice.total --input '{"lines": [1000, 250]}'"#,
            "invoke invoice.total --input @inputs.json --env TAX=20",
        ],
    ),
    (&["serve"], &["serve http --allow-anonymous", "serve mcp-stdio"]),
    (
        &["serve", "http"],
        &[
            "serve http --allow-anonymous --port 0",
            "serve http --host 0.0.0.0 --ops-addr 127.0.0.1:9090",
        ],
    ),
    (
        &["serve", "mcp-stdio"],
        &["serve mcp-stdio", "serve mcp-stdio --notices invoice.total"],
    ),
    (
        &["serve", "mcp-http"],
        &[
            "serve mcp-http --allow-anonymous",
            "serve mcp-http --public-url https://skills.example.com",
        ],
    ),
    (
        &["serve", "local"],
        &["serve local", "serve local --socket /run/skills.sock"],
    ),
    (
        &["mcp-config"],
        &[
            "mcp-config --client claude-desktop",
            "mcp-config --url https://skills.example.com/mcp --token-variable SKILLS_TOKEN",
        ],
    ),
    (&["bridge"], &["bridge python --out bridge"]),
    (
        &["bridge", "python"],
        &["bridge python --out bridge", "bridge python --out bridge --check"],
    ),
];

/// Adds the examples to the help of `command` and of its subcommands, as calls of `program`.
pub fn with_examples(command: Command, program: &str) -> Command {
    add(command, program, &mut Vec::new())
}

fn add(mut command: Command, program: &str, path: &mut Vec<String>) -> Command {
    let names: Vec<String> = command
        .get_subcommands()
        .map(|known| known.get_name().to_owned())
        .collect();
    for name in names {
        path.push(name.clone());
        command = command.mut_subcommand(name, |known| add(known, program, path));
        path.pop();
    }
    let Some((_, lines)) = EXAMPLES.iter().find(|(of, _)| of == path) else {
        return command;
    };
    let text: Vec<String> = lines.iter().map(|line| format!("  {program} {line}")).collect();
    command
        .help_template(TEMPLATE)
        .before_help(format!("Examples:\n{}", text.join("\n")))
}
