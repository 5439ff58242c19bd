//! Bytes of a file as a JSON value. Everything that two readers could understand differently is rejected.
//!
//! An event parser is the base, so that every error has a place and nothing is ever expanded: memory and time grow with the
//! file's size alone.

use std::collections::HashMap;

use granit_parser::{ErrorKind, Event, Marker, Parser, ScalarStyle, Span, StrInput, StructureStyle};
use serde_json::{Map, Value};

use super::error::ReadError;
use super::scalar::resolve;
use crate::rules::short;

/// The largest file that is read, in bytes (8 MiB).
pub(crate) const MAX_BYTES: usize = 8 * 1024 * 1024;

/// The deepest nesting of lists and mappings that is read. A contract may have 20 levels, and its
/// document adds two.
pub(crate) const MAX_DEPTH: usize = 64;

/// Reads the one document that `bytes` hold. JSON is YAML, so JSON text is read too.
///
/// A byte order mark at the start and any kind of line break are fine.
///
/// # Errors
/// More than 8 MiB; not UTF-8; not exactly one document; nesting over 64 levels; anchors,
/// aliases, tags; a key twice in one mapping; a key that is not a string; a plain scalar or a
/// character on which YAML 1.1 and YAML 1.2 readers may disagree; a number that JSON cannot hold.
pub fn read(bytes: &[u8]) -> Result<Value, ReadError> {
    if bytes.len() > MAX_BYTES {
        return Err(ReadError {
            message: "the file is larger than 8 MiB, the most a package file may have".to_owned(),
            position: None,
        });
    }
    let text = text_of(bytes)?;
    if let Some((before, c)) = text.char_indices().find(|&(_, c)| !is_same_to_all(c)) {
        let code = u32::from(c);
        let message = format!(
            "the character U+{code:04X} is not the same to every YAML reader: write it as an escape in double quotes"
        );
        return Err(at(place_behind(&text[..before]), message));
    }
    let mut options = granit_parser::options! {
        // All aliases are rejected here, also those without an anchor.
        emit_unresolved_aliases: true,
        // As PyYAML reads a literal block that the end of the file cuts off.
        block_scalar_eof_without_line_feed: true,
        // Bounds for the parser's own memory; `Reader` has a smaller bound and a better message.
        flow_nesting_limit: 2 * MAX_DEPTH,
        block_nesting_limit: 2 * MAX_DEPTH,
    };
    options.set_emit_comments(false);
    let mut reader = Reader {
        text,
        events: Parser::new_from_str_with_options(text, options),
    };
    let mut root = None;
    while let Some((event, span)) = reader.next()? {
        let here = place_of(&span.start);
        match event {
            Event::DocumentStart(..) if root.is_some() => {
                return Err(at(
                    here,
                    "a second document starts here: a package file holds exactly one",
                ));
            }
            event if event.is_node() => root = Some(reader.value(event, &span, 0, true)?),
            _ => {}
        }
    }
    root.ok_or_else(|| at((1, 1), "the file holds no document"))
}

/// A line and a character in it, both from 1.
type Place = (usize, usize);

fn at(place: Place, message: impl Into<String>) -> ReadError {
    ReadError {
        message: message.into(),
        position: Some(place),
    }
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
        at(
            place_behind(&before),
            format!("the file is not UTF-8 at byte {good}: save it as UTF-8"),
        )
    })
}

/// False for what `PyYAML` rejects (control characters) or takes for a line break where YAML 1.2
/// sees text (U+0085, U+2028, U+2029), and for a byte order mark inside a file.
fn is_same_to_all(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r')
        || !(c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{FEFF}' | '\u{FFFE}' | '\u{FFFF}'))
}

/// The place right after `before`.
fn place_behind(before: &str) -> Place {
    let breaks = before.replace("\r\n", "\n").replace('\r', "\n");
    let last = breaks.rsplit('\n').next().unwrap_or_default();
    (breaks.matches('\n').count() + 1, last.chars().count() + 1)
}

fn place_of(marker: &Marker) -> Place {
    (marker.line().max(1), marker.col() + 1)
}

/// Builds values from the parser's events.
struct Reader<'t> {
    text: &'t str,
    events: Parser<'t, StrInput<'t>>,
}

impl<'t> Reader<'t> {
    fn next(&mut self) -> Result<Option<(Event<'t>, Span)>, ReadError> {
        self.events.next().transpose().map_err(|error| {
            let message = match error.kind() {
                // The parser looks ahead of its events, so it may meet its limit first.
                ErrorKind::RecursionLimitExceeded => too_deep(),
                _ => format!("not YAML: {}", error.info()),
            };
            at(place_of(error.marker()), message)
        })
    }

    /// The next node of a list or mapping; `None` at its end.
    fn inner(&mut self) -> Result<Option<(Event<'t>, Span)>, ReadError> {
        let next = self.next()?;
        Ok(next.filter(|(event, _)| !matches!(event, Event::SequenceEnd | Event::MappingEnd)))
    }

    /// The value that begins with an event, inside of `depth` others. `starts_line` is whether it may be the first of a line.
    fn value(
        &mut self,
        event: Event<'t>,
        span: &Span,
        depth: usize,
        starts_line: bool,
    ) -> Result<Value, ReadError> {
        let here = place_of(&span.start);
        self.check(&event, span, starts_line)?;
        if depth >= MAX_DEPTH && !matches!(event, Event::Scalar(..)) {
            return Err(at(here, too_deep()));
        }
        match event {
            Event::SequenceStart(style, ..) => {
                let mut items = Vec::new();
                while let Some((event, span)) = self.inner()? {
                    items.push(self.value(event, &span, depth + 1, style == StructureStyle::Block)?);
                }
                Ok(items.into())
            }
            Event::MappingStart(style, ..) => self.mapping(style == StructureStyle::Block, depth + 1),
            Event::Scalar(text, style, ..) => scalar(&text, style).ok_or_else(|| {
                let text = short(&text);
                let message = format!(
                    "YAML 1.1 and YAML 1.2 readers may take {text} for different values: quote it if it is text ('{text}'), \
                     else write it as JSON does"
                );
                at(here, message)
            }),
            _ => Ok(Value::Null),
        }
    }

    fn mapping(&mut self, is_block: bool, depth: usize) -> Result<Value, ReadError> {
        let mut map = Map::new();
        // Where each key was, to name both places of one that comes twice.
        let mut places = HashMap::new();
        while let Some((event, span)) = self.inner()? {
            let here = place_of(&span.start);
            self.check(&event, &span, is_block)?;
            let Event::Scalar(key, style, ..) = event else {
                return Err(at(here, "a list or mapping as a key: keys must be text"));
            };
            let Some(Value::String(name)) = scalar(&key, style) else {
                let key = short(&key);
                let message = format!("the key {key} is not text to every YAML reader: quote it ('{key}')");
                return Err(at(here, message));
            };
            if let Some((line, column)) = places.insert(name.clone(), here) {
                let name = json(&name);
                let message =
                    format!("the key {name} is already in this mapping, on line {line}, column {column}");
                return Err(at(here, message));
            }
            if let Some((event, span)) = self.next()? {
                map.insert(name, self.value(event, &span, depth, false)?);
            }
        }
        Ok(map.into())
    }

    /// Rejects everything but plain data, and what not all readers accept.
    fn check(&self, event: &Event<'_>, span: &Span, starts_line: bool) -> Result<(), ReadError> {
        let here = place_of(&span.start);
        if let Some(tag) = event.tag() {
            let tag_place = span.tag_start.as_ref().map_or(here, place_of);
            let tag = json(&tag.original());
            let message =
                format!("the tag {tag} is rejected: the file holds plain data; quote a value that is text");
            return Err(at(tag_place, message));
        }
        let message = match event {
            Event::Alias(_) | Event::UnresolvedAlias(_) => {
                "aliases (`*name`) are rejected: write the value out"
            }
            event if event.anchor_id().is_some() => "anchors (`&name`) are rejected: write the value out",
            _ if starts_line && self.is_indented_by_tab(span) => {
                "not YAML: a tab indents this line: use spaces"
            }
            _ => return Ok(()),
        };
        Err(at(here, message))
    }

    /// Whether a tab stands between the start of the line and a key or list entry in block style.
    /// This parser is lenient there; the standard forbids it and `PyYAML` stops.
    fn is_indented_by_tab(&self, span: &Span) -> bool {
        let start = span.start.byte_offset().unwrap_or_default();
        let before = self.text.get(..start).unwrap_or_default();
        let line = before.rfind(['\n', '\r']).map_or(0, |at| at + 1);
        before[line..].contains('\t')
    }
}

/// What a scalar says to all readers.
fn scalar(text: &str, style: ScalarStyle) -> Option<Value> {
    match style {
        ScalarStyle::Plain => resolve(text),
        _ => Some(text.into()),
    }
}
