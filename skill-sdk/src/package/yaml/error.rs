//! Why a file is not a document, and where.

use std::fmt;

use serde::Serialize;

/// A place in a file: both numbers count from 1, the column in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The character in the line.
    pub column: usize,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// A file that cannot be read as one document of plain data.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadError {
    /// What is wrong.
    pub kind: ReadErrorKind,
    /// Where; none when the file as a whole is at fault.
    pub position: Option<Position>,
}

impl ReadError {
    pub(super) fn new(kind: ReadErrorKind, position: Position) -> Self {
        Self {
            kind,
            position: Some(position),
        }
    }

    pub(super) fn whole_file(kind: ReadErrorKind) -> Self {
        Self { kind, position: None }
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(position) = self.position {
            write!(f, "{position}: ")?;
        }
        self.kind.fmt(f)
    }
}

impl std::error::Error for ReadError {}

/// What is wrong with a file. Texts taken from the file are quoted as JSON and shortened.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReadErrorKind {
    /// More bytes than [`MAX_BYTES`](super::MAX_BYTES).
    TooLarge,
    /// Not UTF-8; the number of good bytes before the first bad one.
    NotUtf8(usize),
    /// A character that some reader refuses or takes for a line break.
    Character(char),
    /// No document: an empty file, or only comments.
    Empty,
    /// More than one document.
    SeveralDocuments,
    /// The root is not a mapping but this (`a list`, `a string` …).
    NotMapping(&'static str),
    /// Not YAML; the parser's words.
    Malformed(String),
    /// A tab before a key or list entry.
    TabIndentation,
    /// An anchor (`&name`).
    Anchor,
    /// An alias (`*name`).
    Alias,
    /// An explicit tag, as written.
    Tag(String),
    /// Deeper than [`MAX_DEPTH`](super::MAX_DEPTH).
    TooDeep,
    /// A key that its mapping holds already, and where it was first.
    DuplicateKey(String, Position),
    /// A key that is not a string, as written.
    NotStringKey(String),
    /// A list or mapping as a key.
    CollectionKey,
    /// A plain scalar that YAML 1.1 and YAML 1.2 readers take for different values.
    Unclear(String),
    /// A number that JSON cannot hold.
    NotJsonNumber(String),
    /// A character written as a pair of `\u` escapes, which YAML does not join.
    SurrogatePair,
}

impl fmt::Display for ReadErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge => write!(
                f,
                "the file is larger than {} MiB, the most a package file may have",
                super::MAX_BYTES / (1024 * 1024)
            ),
            Self::NotUtf8(offset) => {
                write!(f, "the file is not UTF-8 at byte {offset}: save it as UTF-8")
            }
            Self::Character(c) => {
                let code = u32::from(*c);
                write!(
                    f,
                    "the character U+{code:04X} is not the same to every YAML reader: write it as an \
                     escape in double quotes"
                )
            }
            Self::Empty => f.write_str("the file holds no document"),
            Self::SeveralDocuments => {
                f.write_str("a second document starts here: a package file holds exactly one")
            }
            Self::NotMapping(found) => {
                write!(
                    f,
                    "the document is {found}, expected a mapping (`key: value` lines)"
                )
            }
            Self::Malformed(words) => write!(f, "not YAML: {words}"),
            Self::TabIndentation => f.write_str("not YAML: a tab indents this line: use spaces"),
            Self::Anchor => f.write_str("anchors (`&name`) are refused: write the value out"),
            Self::Alias => f.write_str("aliases (`*name`) are refused: write the value out"),
            Self::Tag(tag) => write!(
                f,
                "the tag {} is refused: the file holds plain data; quote a value that is text",
                quoted(tag)
            ),
            Self::TooDeep => {
                write!(f, "the document is deeper than {} levels", super::MAX_DEPTH)
            }
            Self::DuplicateKey(key, first) => {
                write!(
                    f,
                    "the key {} is already in this mapping, on {first}",
                    quoted(key)
                )
            }
            Self::NotStringKey(key) => write!(
                f,
                "the key {key} is not text to every YAML reader: quote it ('{key}')",
                key = bare(key)
            ),
            Self::CollectionKey => f.write_str("a list or mapping as a key: keys are text"),
            Self::Unclear(text) => write!(
                f,
                "YAML 1.1 and YAML 1.2 readers take {text} for different values: quote it if it is \
                 text ('{text}'), else write it as JSON does",
                text = bare(text)
            ),
            Self::NotJsonNumber(text) => {
                write!(
                    f,
                    "{} is not a number of JSON: quote it if it is text",
                    bare(text)
                )
            }
            Self::SurrogatePair => f.write_str(
                "YAML does not join a pair of \\u escapes to one character: write the character itself",
            ),
        }
    }
}

/// Text of a file inside a message: as JSON writes it, at most 60 characters.
fn quoted(text: &str) -> String {
    let short = shorten(text);
    serde_json::Value::String(short).to_string()
}

/// The same without quotes, for plain scalars, which hold no control characters.
fn bare(text: &str) -> String {
    shorten(text)
}

fn shorten(text: &str) -> String {
    const MOST: usize = 60;
    match text.char_indices().nth(MOST) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}
