//! Violations of a schema, in the form of the wire.

use std::fmt::{self, Write};

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind;
use jsonschema::paths::LocationSegment;
use serde::Serialize;
use serde_json::{Map, Value};

use super::MAX_VIOLATIONS;

/// The longest message, in characters. One that quotes a value that is too large does without the value.
const MAX_MESSAGE: usize = 500;

/// The longest path, in characters. It quotes names, which may be large.
const MAX_PATH: usize = 500;

/// One violation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Violation {
    /// `/` and the parts of the path, joined by `/`.
    pub(crate) path: String,
    /// The problem.
    pub(crate) message: String,
}

impl Violation {
    /// A violation at a path. A long path or message is cut.
    pub(crate) fn at(path: String, message: String) -> Self {
        Self {
            path: cut(path, MAX_PATH),
            message: cut(message, MAX_MESSAGE),
        }
    }
}

fn cut(mut text: String, characters: usize) -> String {
    if let Some((end, _)) = text.char_indices().nth(characters) {
        text.truncate(end);
    }
    text
}

/// One part of a path. Below one parent all parts are of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part<'a> {
    Index(usize),
    Name(&'a str),
}

/// The text of a path.
pub(super) fn path(parts: &[Part<'_>]) -> String {
    let mut path = String::new();
    for part in parts {
        path.push('/');
        match part {
            Part::Index(index) => path.push_str(&index.to_string()),
            Part::Name(name) => path.push_str(name),
        }
    }
    if path.is_empty() { "/".to_owned() } else { path }
}

/// The text of a path at which reading failed.
pub(super) fn path_of_error(path: &serde_path_to_error::Path) -> String {
    use serde_path_to_error::Segment;
    let parts: Vec<_> = path
        .iter()
        .filter_map(|segment| match segment {
            Segment::Seq { index } => Some(Part::Index(*index)),
            Segment::Map { key } => Some(Part::Name(key)),
            // A variant is not a part of the document; what is unknown has no name.
            Segment::Enum { .. } | Segment::Unknown => None,
        })
        .collect();
    self::path(&parts)
}

/// The message for a value, by a schema whose keywords look at one value only.
pub(super) fn message(members: &Map<String, Value>, error: &ValidationError<'_>) -> String {
    const MASK: &str = "the value";
    match (error.kind(), members.get("pattern").and_then(Value::as_str)) {
        // The validator knows the pattern in its own dialect only.
        (ValidationErrorKind::Pattern { .. }, Some(pattern)) => short(format_args!(
            "{} does not match the pattern {pattern}",
            error.instance()
        ))
        .unwrap_or_else(|| format!("{MASK} does not match the pattern {pattern}")),
        _ => short(format_args!("{error}")).unwrap_or_else(|| error.masked_with(MASK).to_string()),
    }
}

/// The position of an error's keyword in its schema.
pub(super) fn position(members: &Map<String, Value>, error: &ValidationError<'_>) -> usize {
    let path = error.evaluation_path().as_str();
    let keyword = path.split('/').nth(1).unwrap_or_default();
    members
        .keys()
        .position(|name| name == keyword)
        .unwrap_or(usize::MAX)
}

/// The errors of a whole document as violations, ordered by path: indexes as numbers.
pub(super) fn of_errors<'i>(errors: impl Iterator<Item = ValidationError<'i>>) -> Vec<Violation> {
    let part = |part: LocationSegment<'_>| match part {
        LocationSegment::Index(index) => (index, String::new()),
        LocationSegment::Property(name) => (usize::MAX, name.into_owned()),
    };
    let mut errors: Vec<_> = errors.collect();
    errors.sort_by_cached_key(|error| error.instance_path().segments().map(part).collect::<Vec<_>>());
    let violation = |error: &ValidationError<'_>| {
        let path = error
            .instance_path()
            .as_str()
            .replace("~1", "/")
            .replace("~0", "~");
        let path = if path.is_empty() { "/".to_owned() } else { path };
        Violation::at(path, message(&Map::new(), error))
    };
    let mut found: Vec<_> = errors.iter().map(violation).collect();
    found.dedup();
    found.truncate(MAX_VIOLATIONS);
    found
}

/// A message, unless it is too long; then its end is not even written.
fn short(message: fmt::Arguments<'_>) -> Option<String> {
    struct Short(String);

    impl Write for Short {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            if self.0.len() + text.len() > MAX_MESSAGE {
                return Err(fmt::Error);
            }
            self.0.push_str(text);
            Ok(())
        }
    }

    let mut short = Short(String::new());
    short.write_fmt(message).is_ok().then_some(short.0)
}
