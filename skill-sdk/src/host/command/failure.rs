//! An error as the user sees it.

use std::fmt;
use std::io::Write as _;

use anstyle::{AnsiColor, Style};

use super::exit;

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const HELP: Style = AnsiColor::Cyan.on_default().bold();

/// Why a command failed, what to do about it, and the exit code it ends with.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "a failure that is not reported is lost"]
pub struct Failure {
    pub(super) code: u8,
    message: String,
    help: Vec<String>,
    detail: String,
}

impl Failure {
    /// Wrong usage, a build that failed or a configuration that is missing: exit code [`exit::USAGE`].
    pub fn usage(message: impl fmt::Display) -> Self {
        Self {
            code: exit::USAGE,
            message: message.to_string(),
            help: Vec::new(),
            detail: String::new(),
        }
    }

    /// The result is negative: exit code [`exit::NO`].
    pub fn no(message: impl fmt::Display) -> Self {
        Self {
            code: exit::NO,
            ..Self::usage(message)
        }
    }

    /// Adds a line that says what to do.
    pub fn help(mut self, line: impl Into<String>) -> Self {
        self.help.push(line.into());
        self
    }

    /// Adds the words of another program, printed as they are before the error.
    pub fn detail(mut self, text: impl Into<String>) -> Self {
        self.detail = text.into();
        self
    }

    /// Prints the failure to standard error, with colours on a terminal without `NO_COLOR`; gives the exit code.
    pub fn report(&self) -> u8 {
        let mut text = self.detail.trim_end().to_owned();
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&labelled(ERROR, "error", &self.message));
        for line in &self.help {
            text.push_str(&labelled(HELP, "help", line));
        }
        to_stderr(&text);
        self.code
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.message)?;
        self.help.iter().try_for_each(|line| write!(f, "\nhelp: {line}"))
    }
}

/// Prints a warning to standard error, and what to do about it.
pub fn warn(message: &str, help: Option<&str>) {
    let help = help.map(|line| labelled(HELP, "help", line));
    to_stderr(&(labelled(WARNING, "warning", message) + &help.unwrap_or_default()));
}

fn labelled(style: Style, label: &str, text: &str) -> String {
    format!("{style}{label}{style:#}: {text}\n")
}

fn to_stderr(text: &str) {
    // Standard error may be closed.
    drop(anstream::stderr().write_all(text.as_bytes()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_reads_as_an_error_and_its_help() {
        let failure = Failure::usage("no such thing").help("try this").help("or that");
        assert_eq!(
            failure.to_string(),
            "error: no such thing\nhelp: try this\nhelp: or that"
        );
        assert_eq!((failure.code, Failure::no("x").code), (exit::USAGE, exit::NO));
    }
}
