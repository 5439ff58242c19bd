//! The command line tool Claude Code, as a child process for each answer.
//!
//! The prompt goes over standard input, nothing of it into the arguments. The child works in an empty directory of its own,
//! without tools and without servers of tools, and with no key of an API in its environment.
//!
//! - `find`: the program on the search path
//! - `prompt`: what is written to it; `process`: running it; `reply`: what it says

mod find;
mod process;
mod prompt;
mod reply;

use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::time::timeout;

use super::model::{Asked, ChatError, ChatModel, Prompt, Reply};
use crate::environment::{Environment, Secret};
use crate::error::SkillError;

/// What the tool is told to be, in place of an assistant for programmers.
const SYSTEM_PROMPT: &str = "You give structured output. Follow the instructions in the user's message and answer with \
                             exactly one JSON object, without explanations and without Markdown.";

/// How long one answer may take unless it is set.
const TIMEOUT: Duration = Duration::from_mins(5);

/// The variable with the token of a subscription. It is handed on and never shown.
const TOKEN: &str = "CLAUDE_CODE_OAUTH_TOKEN";

/// The command line tool Claude Code.
pub struct ClaudeCode {
    binary: PathBuf,
    models: Vec<String>,
    timeout: Duration,
    environment: Environment,
    /// What stands in no message. Without the white space around it, which the tool drops as well.
    token: Option<Secret>,
}

impl ClaudeCode {
    /// The program at `binary`, which gets the variables of `environment`. One answer may take 300 seconds, and the tool
    /// chooses the model.
    pub fn new(binary: impl AsRef<Path>, environment: &Environment) -> Self {
        let binary = binary.as_ref();
        Self {
            // The child works in another directory.
            binary: std::path::absolute(binary).unwrap_or_else(|_| binary.to_owned()),
            models: Vec::new(),
            timeout: TIMEOUT,
            environment: environment.clone(),
            token: environment
                .config(TOKEN)
                .map(|token| token.trim().to_owned())
                .filter(|token| !token.is_empty())
                .map(Secret::new),
        }
    }

    /// The program `binary`, a path or a name on the search path of `environment`.
    ///
    /// The code of a failure is `llm_unavailable`.
    pub fn find(binary: &str, environment: &Environment) -> Result<Self, SkillError> {
        let search = environment.config("PATH").unwrap_or_default();
        match find::program(binary, &search) {
            Some(path) => Ok(Self::new(path, environment)),
            None => {
                let shown = binary.escape_debug();
                let message = format!(
                    "there is no program `{shown}` on the host; install Claude Code, or set SKILL_LLM_CLAUDE_BINARY to it"
                );
                Err(SkillError::retryable("llm_unavailable", message))
            }
        }
    }

    /// Names the models, in the order in which they are asked. Without any the tool chooses.
    #[must_use]
    pub fn models(mut self, models: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.models = models.into_iter().map(Into::into).collect();
        self
    }

    /// Sets how long one answer may take.
    #[must_use]
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
        let input = prompt::render(prompt).into_bytes();
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
        if self.models.is_empty() {
            vec![String::new()]
        } else {
            self.models.clone()
        }
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
