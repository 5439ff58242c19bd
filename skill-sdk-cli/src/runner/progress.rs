//! One line on a terminal that says what cargo is doing.

use std::io::{self, IsTerminal, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

const FRAMES: [&str; 4] = ["|", "/", "-", "\\"];
const TICK: Duration = Duration::from_millis(120);
/// A build that is over sooner shows nothing: a line that only flickers is noise.
const PATIENCE: Duration = Duration::from_millis(300);
/// The longest text that is shown, in characters: a line that wraps cannot be taken back.
const WIDTH: usize = 70;

/// The line, or nothing when standard error is no terminal.
#[derive(Debug)]
pub(super) struct Progress {
    visible: bool,
}

impl Progress {
    /// `replaced`: cargo's own output is shown instead.
    pub(super) fn new(replaced: bool) -> Self {
        Self {
            visible: !replaced && io::stderr().is_terminal(),
        }
    }

    pub(super) fn is_visible(&self) -> bool {
        self.visible
    }

    /// Shows the lines of cargo until there are no more.
    pub(super) fn follow(&self, lines: &Receiver<String>) {
        let started = Instant::now();
        let (mut text, mut frame, mut shown) = ("building".to_owned(), 0, false);
        loop {
            match lines.recv_timeout(TICK) {
                Ok(line) => {
                    if let Some(status) = status(&line) {
                        text = status;
                    }
                }
                Err(RecvTimeoutError::Timeout) => frame = (frame + 1) % FRAMES.len(),
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if self.visible && started.elapsed() > PATIENCE {
                shown = true;
                draw(&format!("{} {text}", FRAMES[frame]));
            }
        }
        if shown {
            draw("");
        }
    }
}

/// Replaces the line. A standard error that is closed shows nothing.
fn draw(text: &str) {
    let mut stderr = io::stderr().lock();
    drop(write!(stderr, "\r\u{1b}[K{text}").and_then(|()| stderr.flush()));
}

/// What cargo does now, when a line says so: `   Compiling acme v1.0.0 (/path)`.
fn status(line: &str) -> Option<String> {
    let plain = anstream::adapter::strip_str(line).to_string();
    let text = plain.trim();
    let (verb, rest) = text.split_once(' ')?;
    // Cargo indents its verbs to column 12; the lines of a diagnostic start otherwise.
    let is_status = plain.starts_with(' ') && plain.find(verb).is_some_and(|at| at + verb.len() == 12);
    let known = is_status && verb.starts_with(char::is_uppercase);
    let rest = rest.split(" (").next().unwrap_or(rest);
    known.then(|| format!("{verb} {rest}").chars().take(WIDTH).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_cargo_does_is_shown() {
        for (line, expected) in [
            (
                "   Compiling acme v1.0.0 (/w/acme)\n",
                Some("Compiling acme v1.0.0"),
            ),
            (
                "\u{1b}[1m\u{1b}[32m   Compiling\u{1b}[0m serde v1.0.0\n",
                Some("Compiling serde v1.0.0"),
            ),
            (
                "    Blocking waiting for file lock on build directory\n",
                Some("Blocking waiting for file lock on build directory"),
            ),
            ("error[E0432]: unresolved import\n", None),
            ("  --> src/lib.rs:1:1\n", None),
            ("\n", None),
        ] {
            assert_eq!(status(line).as_deref(), expected, "{line:?}");
        }
    }
}
