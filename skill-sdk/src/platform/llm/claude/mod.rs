//! Claude Code, as a child process for each reply.
//!
//! The prompt goes to standard input, never into the arguments. The child process runs in an empty directory of its own, without
//! tools, without MCP servers, and without API keys in its environment.
//!
//! - `process`: runs the CLI; `reply`: reads its output

mod process;
mod reply;

use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::time::timeout;

use super::client::DEFAULT_TIMEOUT;
use super::model::{Asked, ChatError, ChatModel, Correction, Prompt, Reply};
use super::request::Role;
use crate::environment::{Environment, Secret};
use crate::error::SkillError;

/// Replaces the system prompt of the CLI, which is for programmers.
const SYSTEM_PROMPT: &str = "You give structured output. Follow the instructions in the user's message and answer with \
                             exactly one JSON object, without explanations and without Markdown.";

/// The environment variable with the token of a subscription. It is passed to the CLI and never shown.
const TOKEN: &str = "CLAUDE_CODE_OAUTH_TOKEN";

/// Claude Code, the CLI.
#[must_use]
pub struct ClaudeCode {
    binary: PathBuf,
    /// The empty name is the default of the CLI.
    models: Vec<String>,
    timeout: Duration,
    environment: Environment,
    /// The token, which no message may contain. Trimmed, as the CLI does.
    token: Option<Secret>,
}

impl ClaudeCode {
    /// The program `binary`: a path, or a name on the search path. It gets the variables of `environment`. The timeout is 300 s,
    /// and the CLI chooses the model.
    pub fn new(binary: impl AsRef<Path>, environment: &Environment) -> Self {
        let mut binary = binary.as_ref().to_owned();
        // The child process has another working directory.
        if binary.components().count() > 1
            && let Ok(path) = std::path::absolute(&binary)
        {
            binary = path;
        }
        Self {
            binary,
            models: vec![String::new()],
            timeout: DEFAULT_TIMEOUT,
            environment: environment.clone(),
            token: environment.variable(TOKEN).map(Secret::new),
        }
    }

    /// Sets the models, in the order in which they are tried. An empty list leaves the choice to the CLI.
    pub fn models(mut self, models: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.models = models.into_iter().map(Into::into).collect();
        if self.models.is_empty() {
            self.models.push(String::new());
        }
        self
    }

    /// Sets the timeout of one reply. The default is 300 s.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    fn arguments(model: &str) -> Vec<&str> {
        let mut arguments = vec![
            "--print",
            "--output-format",
            "json",
            "--no-session-persistence",
            "--system-prompt",
            SYSTEM_PROMPT,
            "--strict-mcp-config",
            "--mcp-config",
            r#"{"mcpServers":{}}"#,
            "--tools",
            "",
        ];
        if !model.is_empty() {
            arguments.extend(["--model", model]);
        }
        arguments
    }

    async fn answer(&self, model: &str, prompt: &Prompt) -> Result<Reply, ChatError> {
        let input = rendered(prompt).into_bytes();
        let arguments = Self::arguments(model);
        let running = process::run(&self.binary, &arguments, input, &self.environment);
        match timeout(self.timeout, running).await {
            Ok(finished) => reply::read(model, &finished?, self.token.as_ref()),
            Err(_) => {
                let message = format!(
                    "Claude Code did not answer within {} s",
                    self.timeout.as_secs_f64()
                );
                Err(SkillError::retryable("llm_timeout", message).into())
            }
        }
    }
}

impl ChatModel for ClaudeCode {
    fn provider(&self) -> &'static str {
        "claude-code"
    }

    fn models(&self) -> Vec<String> {
        self.models.clone()
    }

    fn ask<'a>(&'a self, model: &'a str, prompt: &'a Prompt) -> Asked<'a> {
        Box::pin(self.answer(model, prompt))
    }
}

debug_fields!(ClaudeCode {
    binary,
    models,
    timeout
});

/// The whole prompt as one text with sections.
fn rendered(prompt: &Prompt) -> String {
    let mut text = format!("# Instructions\n\n{}", prompt.system_prompt);
    for message in &prompt.messages {
        let title = match message.role {
            Role::User => "Message",
            Role::Assistant => "Earlier answer",
        };
        text.push_str(&format!("\n\n# {title}\n\n{}", message.content));
    }
    text.push_str(&format!("\n\n# Format\n\n{}", prompt.format_in_words()));
    if let Some(Correction { why, .. }) = &prompt.correction {
        text.push_str(&format!(
            "\n\n# Correction\n\nThe last answer was not accepted: {why}. Give the corrected JSON object."
        ));
    }
    text
}
