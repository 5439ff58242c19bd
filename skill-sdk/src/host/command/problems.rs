//! What makes the skills of a program unusable.

use super::Failure;
use crate::host::protocol::{Envelope, Problem};

/// A failure that shows every problem of the program, if there is one: nothing else may be done then.
pub fn refuse(envelope: &Envelope) -> Result<(), Failure> {
    if envelope.problems.is_empty() {
        return Ok(());
    }
    let count = envelope.problems.len();
    let lines: Vec<_> = envelope.problems.iter().map(line).collect();
    let things = if count == 1 {
        "1 problem".to_owned()
    } else {
        format!("{count} problems")
    };
    Err(Failure::no(format!("the skills cannot be used: {things}")).detail(lines.join("\n")))
}

/// A problem as people read it.
pub fn line(problem: &Problem) -> String {
    let Problem {
        code,
        reference,
        pointer,
        origin,
        message,
    } = problem;
    let mut line = String::new();
    for place in [reference, pointer]
        .into_iter()
        .flatten()
        .filter(|place| !place.is_empty())
    {
        line.push_str(place);
        line.push_str(": ");
    }
    line.push_str(&format!("{message} [{code}]"));
    if let Some(origin) = origin {
        line.push_str(&format!("\n  at {origin}"));
    }
    line
}
