//! Results on standard output.

use std::io::{self, ErrorKind, Write};

use super::Failure;

/// Writes a result to standard output. A reader that went away (`| head`) is no failure.
pub fn print(text: &str) -> Result<(), Failure> {
    // Not `print!`: it panics when the reader is gone.
    let mut out = io::stdout().lock();
    finish(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

fn finish(written: io::Result<()>) -> Result<(), Failure> {
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Failure::usage(format!(
            "could not write to standard output: {error}"
        ))),
        _ => Ok(()),
    }
}

/// A JSON document as it is printed: two spaces, a final newline.
pub fn json(document: &impl serde::Serialize) -> Result<String, Failure> {
    serde_json::to_string_pretty(document)
        .map(|text| text + "\n")
        .map_err(|error| Failure::usage(format!("the result cannot be written as JSON: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_broken_pipe_is_silent() {
        assert_eq!(finish(Err(ErrorKind::BrokenPipe.into())), Ok(()));
        assert!(finish(Err(ErrorKind::StorageFull.into())).is_err());
    }
}
