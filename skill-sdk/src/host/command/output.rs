//! Results on standard output.

use std::io::{self, ErrorKind, Write};

use super::{Failure, exit};

/// Writes a result to standard output; gives the exit code. A reader that went away (`| head`) is no failure.
pub fn print(text: &str) -> Result<u8, Failure> {
    // Not `print!`: it panics when the reader is gone.
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Failure::usage(format!(
            "could not write to standard output: {error}"
        ))),
        _ => Ok(exit::GOOD),
    }
}

/// A JSON document as it is printed: two spaces, a final newline.
pub fn json(document: &impl serde::Serialize) -> Result<String, Failure> {
    serde_json::to_string_pretty(document)
        .map(|text| text + "\n")
        .map_err(|error| Failure::usage(format!("the result cannot be written as JSON: {error}")))
}
