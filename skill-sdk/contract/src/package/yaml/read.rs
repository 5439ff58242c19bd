//! Bytes of a file as a JSON value, refusing everything that two readers could understand
//! differently or that could cost more than the file's size.
//!
//! An event parser is the base, so that every refusal has a place and nothing is ever expanded:
//! memory and time grow with the file's size alone.

use std::collections::HashMap;

use granit_parser::{ErrorKind, Event, Marker, Parser, ScalarStyle, Span, StrInput, StructureStyle};
use serde_json::{Map, Value};

use super::error::{Position, ReadError};
use super::scalar::{Unclear, resolve};
use crate::rules::short;
use crate::text::kind;

/// The largest file that is read, in bytes (8 MiB).
pub const MAX_BYTES: usize = 8 * 1024 * 1024;

/// The deepest nesting of lists and mappings that is read. A contract may have 20 levels, and its
/// document adds two.
pub const MAX_DEPTH: usize = 64;

/// Reads the one mapping that `bytes` hold: what every document of a package is.
///
/// # Errors
/// As [`read`], and for a list, a scalar or an explicit null.
pub fn read_mapping(bytes: &[u8]) -> Result<Map<String, Value>, ReadError> {
    let (value, position) = read_at(bytes)?;
    match value {
        Value::Object(map) => Ok(map),
        other => Err(ReadError::new(
            format!(
                "the document is {}, expected a mapping (`key: value` lines)",
                kind(&other)
            ),
            position,
        )),
    }
}

/// Reads the one document that `bytes` hold. JSON is YAML, so JSON text is read too.
///
/// A byte order mark at the start and any kind of line break are fine.
///
/// # Errors
/// More than [`MAX_BYTES`]; not UTF-8; not exactly one document; nesting over [`MAX_DEPTH`]; anchors,
/// aliases, tags; a key twice in one mapping; a key that is not a string; a plain scalar or a
/// character on which YAML 1.1 and YAML 1.2 readers disagree; a number that JSON cannot hold.
pub fn read(bytes: &[u8]) -> Result<Value, ReadError> {
    read_at(bytes).map(|(value, _)| value)
}

/// The document and where it starts.
fn read_at(bytes: &[u8]) -> Result<(Value, Position), ReadError> {
    if bytes.len() > MAX_BYTES {
        return Err(ReadError {
            message: format!(
                "the file is larger than {} MiB, the most a package file may have",
                MAX_BYTES / (1024 * 1024)
            ),
            position: None,
        });
    }
    let text = text_of(bytes)?;
    if let Some((place, c)) = text.char_indices().find(|&(_, c)| !is_same_to_all(c)) {
        return Err(ReadError::new(
            format!(
                "the character U+{:04X} is not the same to every YAML reader: write it as an escape in double quotes",
                u32::from(c)
            ),
            position_at(&text[..place]),
        ));
    }

    let mut options = granit_parser::options! {
        // All aliases come here to be refused, also those to nothing.
        emit_unresolved_aliases: true,
        // As PyYAML reads a literal block that the end of the file cuts off.
        block_scalar_eof_without_line_feed: true,
        // Bounds for the parser's own memory; `Builder` refuses first, in its own words.
        flow_nesting_limit: 2 * MAX_DEPTH,
        block_nesting_limit: 2 * MAX_DEPTH,
    };
    options.set_emit_comments(false);
    let mut builder = Builder {
        text,
        open: Vec::new(),
        root: None,
    };
    for event in Parser::<StrInput<'_>>::new_from_str_with_options(text, options) {
        let (event, span) = event.map_err(|error| {
            let message = match error.kind() {
                // The parser looks ahead of its events, so it may meet its limit first.
                ErrorKind::RecursionLimitExceeded => too_deep(),
                _ => format!("not YAML: {}", error.info()),
            };
            ReadError::new(message, position_of(error.marker()))
        })?;
        builder.event(event, &span)?;
    }
    let start = Position { line: 1, column: 1 };
    builder
        .root
        .ok_or_else(|| ReadError::new("the file holds no document", start))
}

fn too_deep() -> String {
    format!("the document is deeper than {MAX_DEPTH} levels")
}

/// Text of a file inside a message: as JSON writes it, at most 60 characters.
fn json(text: &str) -> String {
    Value::String(short(text)).to_string()
}

/// UTF-8 text without a byte order mark.
fn text_of(bytes: &[u8]) -> Result<&str, ReadError> {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    std::str::from_utf8(bytes).map_err(|error| {
        let good = error.valid_up_to();
        let before = String::from_utf8_lossy(&bytes[..good]);
        ReadError::new(
            format!("the file is not UTF-8 at byte {good}: save it as UTF-8"),
            position_at(&before),
        )
    })
}

/// False for what `PyYAML` refuses (control characters) or takes for a line break where YAML 1.2
/// sees text (U+0085, U+2028, U+2029), and for a byte order mark inside a file.
fn is_same_to_all(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r')
        || !(c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{FEFF}' | '\u{FFFE}' | '\u{FFFF}'))
}

/// The place right after `before`.
fn position_at(before: &str) -> Position {
    let breaks = before.replace("\r\n", "\n").replace('\r', "\n");
    let last = breaks.rsplit('\n').next().unwrap_or_default();
    Position {
        line: breaks.matches('\n').count() + 1,
        column: last.chars().count() + 1,
    }
}

fn position_of(marker: &Marker) -> Position {
    Position {
        line: marker.line().max(1),
        column: marker.col() + 1,
    }
}

/// A list or mapping whose end has not come yet.
enum Open {
    List {
        items: Vec<Value>,
        start: Position,
        block: bool,
    },
    Mapping(OpenMapping),
}

struct OpenMapping {
    map: Map<String, Value>,
    /// The key whose value comes next.
    key: Option<String>,
    /// Where each key was, to name both places of one that comes twice.
    places: HashMap<String, Position>,
    start: Position,
    block: bool,
}

/// Builds the value from the parser's events.
struct Builder<'t> {
    text: &'t str,
    open: Vec<Open>,
    root: Option<(Value, Position)>,
}

impl Builder<'_> {
    fn event(&mut self, event: Event<'_>, span: &Span) -> Result<(), ReadError> {
        let here = position_of(&span.start);
        match &event {
            Event::DocumentStart(..) if self.root.is_some() => {
                let message = "a second document starts here: a package file holds exactly one";
                return Err(ReadError::new(message, here));
            }
            Event::Alias(_) | Event::UnresolvedAlias(_) => {
                let message = "aliases (`*name`) are refused: write the value out";
                return Err(ReadError::new(message, here));
            }
            _ => {}
        }
        if let Some(tag) = event.tag() {
            let place = span.tag_start.as_ref().map_or(here, position_of);
            let message = format!(
                "the tag {} is refused: the file holds plain data; quote a value that is text",
                json(&tag.original())
            );
            return Err(ReadError::new(message, place));
        }
        if event.anchor_id().is_some() {
            let message = "anchors (`&name`) are refused: write the value out";
            return Err(ReadError::new(message, here));
        }
        if event.is_node() && self.has_tab_before(span) {
            let message = "not YAML: a tab indents this line: use spaces";
            return Err(ReadError::new(message, here));
        }
        match event {
            Event::Scalar(text, style, ..) => self.scalar(&text, style, span, here),
            Event::SequenceStart(style, ..) => {
                let block = style == StructureStyle::Block;
                self.start(
                    here,
                    Open::List {
                        items: Vec::new(),
                        start: here,
                        block,
                    },
                )
            }
            Event::MappingStart(style, ..) => self.start(
                here,
                Open::Mapping(OpenMapping {
                    map: Map::new(),
                    key: None,
                    places: HashMap::new(),
                    start: here,
                    block: style == StructureStyle::Block,
                }),
            ),
            Event::SequenceEnd | Event::MappingEnd => {
                match self.open.pop() {
                    Some(Open::List { items, start, .. }) => self.value(Value::Array(items), start),
                    Some(Open::Mapping(m)) => self.value(Value::Object(m.map), m.start),
                    None => {}
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn start(&mut self, here: Position, open: Open) -> Result<(), ReadError> {
        if matches!(
            self.open.last(),
            Some(Open::Mapping(OpenMapping { key: None, .. }))
        ) {
            let message = "a list or mapping as a key: keys are text";
            return Err(ReadError::new(message, here));
        }
        if self.open.len() >= MAX_DEPTH {
            return Err(ReadError::new(too_deep(), here));
        }
        self.open.push(open);
        Ok(())
    }

    fn scalar(
        &mut self,
        text: &str,
        style: ScalarStyle,
        span: &Span,
        here: Position,
    ) -> Result<(), ReadError> {
        if style == ScalarStyle::DoubleQuoted && self.has_surrogate_pair(text, span) {
            let message =
                "YAML does not join a pair of \\u escapes to one character: write the character itself";
            return Err(ReadError::new(message, here));
        }
        let resolved = match style {
            ScalarStyle::Plain => resolve(text),
            _ => Ok(Value::String(text.to_owned())),
        };
        if let Some(Open::Mapping(OpenMapping {
            key: key @ None,
            places,
            ..
        })) = self.open.last_mut()
        {
            let Ok(Value::String(name)) = resolved else {
                let key = short(text);
                let message = format!("the key {key} is not text to every YAML reader: quote it ('{key}')");
                return Err(ReadError::new(message, here));
            };
            if let Some(first) = places.insert(name.clone(), here) {
                let message = format!("the key {} is already in this mapping, on {first}", json(&name));
                return Err(ReadError::new(message, here));
            }
            *key = Some(name);
            return Ok(());
        }
        let value = resolved.map_err(|unclear| {
            let text = short(text);
            let message = match unclear {
                Unclear::Differs => format!(
                    "YAML 1.1 and YAML 1.2 readers take {text} for different values: quote it if it is text \
                     ('{text}'), else write it as JSON does"
                ),
                Unclear::NotJson => format!("{text} is not a number of JSON: quote it if it is text"),
            };
            ReadError::new(message, here)
        })?;
        self.value(value, here);
        Ok(())
    }

    /// Puts a finished value where it belongs.
    fn value(&mut self, value: Value, start: Position) {
        match self.open.last_mut() {
            None => self.root = Some((value, start)),
            Some(Open::List { items, .. }) => items.push(value),
            Some(Open::Mapping(mapping)) => {
                if let Some(key) = mapping.key.take() {
                    mapping.map.insert(key, value);
                }
            }
        }
    }

    /// Whether a tab stands between the start of the line and a key or list entry in block style.
    /// This parser is lenient there; the standard forbids it and `PyYAML` stops.
    fn has_tab_before(&self, span: &Span) -> bool {
        let starts_a_line = match self.open.last() {
            None => true,
            Some(Open::List { block, .. }) => *block,
            Some(Open::Mapping(mapping)) => mapping.block && mapping.key.is_none(),
        };
        if !starts_a_line {
            return false;
        }
        let start = span.start.byte_offset().unwrap_or_default();
        let before = self.text.get(..start).unwrap_or_default();
        let line = before.rfind(['\n', '\r']).map_or(0, |at| at + 1);
        before[line..].contains('\t')
    }

    /// JSON writes characters beyond U+FFFF as two escapes. This parser joins them, `PyYAML` keeps
    /// two broken halves.
    fn has_surrogate_pair(&self, text: &str, span: &Span) -> bool {
        if !text.chars().any(|c| u32::from(c) > 0xFFFF) {
            return false;
        }
        let source = span.slice(self.text).unwrap_or_default();
        let mut rest = source;
        while let Some(at) = rest.find('\\') {
            let escape = &rest[at + 1..];
            let mut chars = escape.chars();
            let kind = chars.next();
            let is_high = matches!(chars.next(), Some('d' | 'D'))
                && matches!(chars.next(), Some('8' | '9' | 'a' | 'A' | 'b' | 'B'));
            if kind == Some('u') && is_high {
                return true;
            }
            rest = &escape[kind.map_or(0, char::len_utf8)..];
        }
        false
    }
}
