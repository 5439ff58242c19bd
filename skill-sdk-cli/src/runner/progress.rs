//! What cargo is doing: one line that changes on a terminal, and elsewhere a new line from time to time.

use std::io::{self, IsTerminal, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

const FRAMES: [&str; 4] = ["|", "/", "-", "\\"];
const TICK: Duration = Duration::from_millis(120);
/// A build that is over sooner shows nothing: a line that only flickers is noise.
const PATIENCE: Duration = Duration::from_millis(300);
/// How often a line is written where standard error is not a terminal, such as the log of a CI job.
const INTERVAL: Duration = Duration::from_secs(10);
/// The longest text that is shown, in characters: a line that wraps cannot be taken back.
const WIDTH: usize = 70;

/// Where the lines go.
#[derive(Debug)]
pub(super) struct Progress {
    is_silent: bool,
    is_terminal: bool,
}

impl Progress {
    /// `replaced`: cargo's own output is shown instead.
    pub(super) fn new(replaced: bool) -> Self {
        Self {
            is_silent: replaced,
            is_terminal: io::stderr().is_terminal(),
        }
    }

    pub(super) fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// Shows the lines of cargo until there are no more.
    pub(super) fn follow(&self, lines: &Receiver<String>) {
        let started = Instant::now();
        let (mut text, mut frame, mut shown) = ("building".to_owned(), 0, None);
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
            let elapsed = started.elapsed();
            let since = elapsed.saturating_sub(shown.unwrap_or_default());
            if self.is_silent || since < if self.is_terminal { PATIENCE } else { INTERVAL } {
                continue;
            }
            if self.is_terminal {
                draw(&format!("\r\u{1b}[K{} {text}", FRAMES[frame]));
                shown.get_or_insert_default();
            } else {
                draw(&format!("building for {} s: {text}\n", elapsed.as_secs()));
                shown = Some(elapsed);
            }
        }
        if self.is_terminal && shown.is_some() {
            draw("\r\u{1b}[K");
        }
    }
}

/// Writes to standard error, which may be closed.
fn draw(text: &str) {
    let mut stderr = io::stderr().lock();
    drop(stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush()));
}

/// What cargo does now, if the line is a status line: `   Compiling acme v1.0.0 (/path)`.
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
