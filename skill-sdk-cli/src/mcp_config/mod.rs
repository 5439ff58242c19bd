//! `mcp-config`: the configuration of an MCP client.

use std::collections::BTreeMap;
use std::path::Path;

use clap::{Args, ValueEnum};
use serde::Serialize;
use serde_json::{Map, Value, json};
use skill_sdk::host::command::{Failure, output};

/// A client that can be configured by a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum McpClient {
    /// Claude Desktop
    ClaudeDesktop,
    /// Claude Code
    ClaudeCode,
    /// Cursor
    Cursor,
    /// Visual Studio Code
    Vscode,
    /// Any other client
    Generic,
}

/// The arguments of `mcp-config`.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct McpConfigArgs {
    /// Print only the configuration of this client, as JSON
    #[arg(long, value_enum, value_name = "CLIENT")]
    pub(crate) client: Option<McpClient>,

    /// Name of the server in the client [default: name of the package or program]
    #[arg(long, value_name = "NAME", value_parser = server_name)]
    pub(crate) name: Option<String>,

    /// URL of a running `serve mcp-http`; the client then starts no program
    #[arg(long, value_name = "URL", value_parser = endpoint)]
    pub(crate) url: Option<String>,

    /// Environment variable from which the client reads the token for the URL
    #[arg(long, value_name = "VARIABLE", requires = "url", value_parser = variable)]
    pub(crate) token_variable: Option<String>,
}

/// The URL of an MCP endpoint. Clients report nothing when the path is wrong.
fn endpoint(url: &str) -> Result<String, String> {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (host, path) = rest.split_at(end);
    let is_http = ["http", "https"]
        .iter()
        .any(|known| scheme.eq_ignore_ascii_case(known));
    if !is_http || host.is_empty() || url.contains(char::is_whitespace) {
        return Err("the URL must be complete, such as https://skills.example.com/mcp".to_owned());
    }
    if !path.starts_with('/') {
        return Err(format!(
            "the path must be that of the endpoint of `serve mcp-http`: write {scheme}://{host}/mcp"
        ));
    }
    Ok(url.to_owned())
}

/// The name of a server: Claude Code takes no others.
fn server_name(name: &str) -> Result<String, String> {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if name.is_empty() || !name.chars().all(is_allowed) {
        return Err("a name must contain only letters, digits, `-` and `_`".to_owned());
    }
    Ok(name.to_owned())
}

/// The name of a variable. Most configurations write it in braces.
fn variable(name: &str) -> Result<String, String> {
    let is_name = |text: &str| {
        text.bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    if name.is_empty() || name.starts_with(|first: char| first.is_ascii_digit()) || !is_name(name) {
        return Err("the name of a variable must contain only letters, digits and `_`, and must not start with a digit".to_owned());
    }
    Ok(name.to_owned())
}

/// How a client starts the program with the skills.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct Launch {
    /// The absolute path of the program: clients do not run in a directory or with a path of the user.
    pub(crate) command: String,
    /// Its arguments.
    pub(crate) args: Vec<String>,
    /// What it needs in its environment.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) env: BTreeMap<String, String>,
}

impl Launch {
    /// A program whose `main` is `skill_sdk::host::main`, with the skills of these names; none takes all.
    pub(crate) fn of_program(program: &Path, names: &[String]) -> Self {
        let mut args = vec!["serve".to_owned(), "mcp-stdio".to_owned()];
        args.extend_from_slice(names);
        Self {
            command: program.to_string_lossy().into_owned(),
            args,
            env: BTreeMap::new(),
        }
    }
}

/// Prints the configuration of one client, or of each with where it goes.
pub(crate) fn print(name: &str, launch: &Launch, args: &McpConfigArgs) -> Result<u8, Failure> {
    output::print(&render(name, launch, args)?)
}

fn render(name: &str, launch: &Launch, args: &McpConfigArgs) -> Result<String, Failure> {
    let name = args.name.as_deref().unwrap_or(name);
    if let Some(client) = args.client {
        return match client.config(name, launch, args) {
            Some(config) => text(&config),
            None => {
                Err(Failure::usage(format!("{} takes no URL from a file", client.title())).help(DESKTOP_URL))
            }
        };
    }
    let mut all = String::new();
    for client in McpClient::value_variants() {
        let config = match client.config(name, launch, args) {
            Some(config) => text(&config)?,
            None => format!("{DESKTOP_URL}\n"),
        };
        all.push_str(&format!("{}: {}\n{config}\n", client.title(), client.place()));
    }
    all.pop();
    Ok(all)
}

/// Where Claude Desktop takes URLs.
const DESKTOP_URL: &str = "add the URL in Settings, Connectors, Add custom connector";

fn text(config: &Value) -> Result<String, Failure> {
    serde_json::to_string_pretty(config)
        .map(|json| json + "\n")
        .map_err(|error| Failure::usage(format!("the configuration cannot be written: {error}")))
}

impl McpClient {
    fn title(self) -> &'static str {
        match self {
            Self::ClaudeDesktop => "Claude Desktop",
            Self::ClaudeCode => "Claude Code",
            Self::Cursor => "Cursor",
            Self::Vscode => "VS Code",
            Self::Generic => "Other clients",
        }
    }

    /// Where the configuration goes.
    fn place(self) -> &'static str {
        match self {
            Self::ClaudeDesktop => "claude_desktop_config.json, opened by Settings, Developer, Edit Config",
            Self::ClaudeCode => ".mcp.json in the project",
            Self::Cursor => ".cursor/mcp.json in the project, or ~/.cursor/mcp.json",
            Self::Vscode => ".vscode/mcp.json in the project",
            Self::Generic => "the form that most take",
        }
    }

    /// The configuration; none where the client takes no URL.
    fn config(self, name: &str, launch: &Launch, args: &McpConfigArgs) -> Option<Value> {
        let mut server = match &args.url {
            None => serde_json::to_value(launch).unwrap_or_default(),
            Some(_) if self == Self::ClaudeDesktop => return None,
            Some(url) => json!({"url": url}),
        };
        if let (Some(variable), Some(server)) = (&args.token_variable, server.as_object_mut()) {
            let token = match self {
                Self::Cursor => format!("${{env:{variable}}}"),
                Self::Vscode => "${input:token}".to_owned(),
                Self::ClaudeDesktop | Self::ClaudeCode | Self::Generic => format!("${{{variable}}}"),
            };
            server.insert(
                "headers".into(),
                json!({"Authorization": format!("Bearer {token}")}),
            );
        }
        // These two name the way; the others tell it by what is there.
        if matches!(self, Self::ClaudeCode | Self::Vscode)
            && let Value::Object(members) = server
        {
            let way = if args.url.is_some() { "http" } else { "stdio" };
            let mut named = Map::from_iter([("type".to_owned(), Value::from(way))]);
            named.extend(members);
            server = named.into();
        }
        let servers = Map::from_iter([(name.to_owned(), server)]);
        Some(match self {
            Self::Vscode => match &args.token_variable {
                None => json!({"servers": servers}),
                Some(variable) => json!({
                    "inputs": [{
                        "type": "promptString", "id": "token", "password": true,
                        "description": format!("Token for {name} ({variable})"),
                    }],
                    "servers": servers,
                }),
            },
            _ => json!({"mcpServers": servers}),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(
        client: Option<McpClient>,
        url: Option<&str>,
        token: Option<&str>,
    ) -> Result<String, Failure> {
        let launch = Launch {
            command: "/opt/acme-skills".to_owned(),
            args: vec!["serve".to_owned(), "mcp-stdio".to_owned()],
            env: BTreeMap::new(),
        };
        let args = McpConfigArgs {
            client,
            name: None,
            url: url.map(str::to_owned),
            token_variable: token.map(str::to_owned),
        };
        render("acme", &launch, &args)
    }

    #[test]
    fn every_client_has_its_form() {
        let program = json!({"command": "/opt/acme-skills", "args": ["serve", "mcp-stdio"]});
        let typed = json!({"type": "stdio", "command": "/opt/acme-skills", "args": ["serve", "mcp-stdio"]});
        let url = Some("https://skills.example.com/mcp");
        for (client, with_program, with_url) in [
            (
                McpClient::ClaudeDesktop,
                json!({"mcpServers": {"acme": program}}),
                None,
            ),
            (
                McpClient::ClaudeCode,
                json!({"mcpServers": {"acme": typed}}),
                Some(json!({"mcpServers": {"acme": {
                    "type": "http", "url": url, "headers": {"Authorization": "Bearer ${ACME}"}}}})),
            ),
            (
                McpClient::Cursor,
                json!({"mcpServers": {"acme": program}}),
                Some(json!({"mcpServers": {"acme": {
                    "url": url, "headers": {"Authorization": "Bearer ${env:ACME}"}}}})),
            ),
            (
                McpClient::Vscode,
                json!({"servers": {"acme": typed}}),
                Some(json!({
                    "inputs": [{"type": "promptString", "id": "token", "password": true,
                                "description": "Token for acme (ACME)"}],
                    "servers": {"acme": {
                        "type": "http", "url": url, "headers": {"Authorization": "Bearer ${input:token}"}}}})),
            ),
            (
                McpClient::Generic,
                json!({"mcpServers": {"acme": program}}),
                Some(json!({"mcpServers": {"acme": {
                    "url": url, "headers": {"Authorization": "Bearer ${ACME}"}}}})),
            ),
        ] {
            let parsed = |text: String| serde_json::from_str::<Value>(&text).unwrap();
            assert_eq!(parsed(rendered(Some(client), None, None).unwrap()), with_program);
            let by_url = rendered(Some(client), url, Some("ACME"));
            assert_eq!(by_url.ok().map(parsed), with_url, "{client:?}");
        }
    }

    #[test]
    fn all_of_them_are_told_with_their_places() {
        for url in [None, Some("http://127.0.0.1:8081/mcp")] {
            let text = rendered(None, url, None).unwrap();
            for client in McpClient::value_variants() {
                assert!(
                    text.contains(&format!("{}: {}", client.title(), client.place())),
                    "{text}"
                );
            }
            assert_eq!(text.contains("Connectors"), url.is_some());
        }
    }

    #[test]
    fn what_no_client_could_use_is_refused() {
        for good in [
            "https://skills.example.com/mcp",
            "HTTPS://skills.example.com/mcp?a=b",
            "http://127.0.0.1:8081/mcp",
            "http://[::1]:80/",
        ] {
            assert_eq!(endpoint(good), Ok(good.to_owned()));
        }
        for bad in [
            "",
            "nope",
            "skills.example.com/mcp",
            "ftp://a/mcp",
            "http://",
            "http:///mcp",
            "https://a b/mcp",
        ] {
            assert!(endpoint(bad).unwrap_err().contains("must be complete"), "{bad}");
        }
        let without_path = endpoint("http://127.0.0.1:8081").unwrap_err();
        assert!(
            without_path.ends_with("write http://127.0.0.1:8081/mcp"),
            "{without_path}"
        );
        assert_eq!(variable("ACME_TOKEN_2"), Ok("ACME_TOKEN_2".to_owned()));
        for bad in ["", "2A", "ACME TOKEN", "A-B", "A}", "É"] {
            assert!(variable(bad).is_err(), "{bad}");
        }
        assert_eq!(server_name("acme-skills_2"), Ok("acme-skills_2".to_owned()));
        for bad in ["", "my skills!", "a.b", "é"] {
            assert!(server_name(bad).is_err(), "{bad}");
        }
    }
}
