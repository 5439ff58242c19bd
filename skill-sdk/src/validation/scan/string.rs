//! Strings as they are written.

use std::borrow::Cow;

use super::reader::{Reader, Sure};

/// A string of a text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Written<'a> {
    /// With its quotes.
    quoted: &'a str,
    escaped: bool,
}

impl<'a> Written<'a> {
    /// What the string says.
    pub(super) fn content(self) -> Option<Cow<'a, str>> {
        if self.escaped {
            return serde_json::from_str(self.quoted).ok().map(Cow::Owned);
        }
        self.raw().map(Cow::Borrowed)
    }

    /// How many characters it has.
    pub(super) fn length(self) -> Option<usize> {
        if self.escaped {
            return self.content().map(|content| content.chars().count());
        }
        self.raw().map(|raw| raw.chars().count())
    }

    fn raw(self) -> Option<&'a str> {
        self.quoted.get(1..self.quoted.len() - 1)
    }
}

const ONES: u64 = u64::from_ne_bytes([1; 8]);
const HIGH_BITS: u64 = ONES << 7;

/// The highest bits of those bytes that end a run of plain characters: quote, backslash, control characters. Only the
/// first of them is sure.
fn stops(chunk: u64) -> u64 {
    let zero = |bytes: u64| bytes.wrapping_sub(ONES) & !bytes;
    let control = chunk.wrapping_sub(ONES * 0x20) & !chunk;
    (control | zero(chunk ^ (ONES * u64::from(b'"'))) | zero(chunk ^ (ONES * u64::from(b'\\')))) & HIGH_BITS
}

impl<'a> Reader<'a> {
    /// Reads a string.
    pub(super) fn string(&mut self) -> Option<Written<'a>> {
        let start = self.at;
        if !self.take(b'"') {
            return None;
        }
        let mut escaped = false;
        loop {
            self.plain_characters();
            match self.peek()? {
                b'"' => break,
                b'\\' => {
                    escaped = true;
                    self.escape()?;
                }
                // A control character.
                _ => return None,
            }
        }
        self.at += 1;
        let quoted = self.text.get(start..self.at)?;
        Some(Written { quoted, escaped })
    }

    /// Goes to the next character that is not plain.
    fn plain_characters(&mut self) {
        while let Some(chunk) = self.bytes[self.at..].first_chunk::<8>() {
            let stops = stops(u64::from_le_bytes(*chunk));
            if stops != 0 {
                self.at += stops.trailing_zeros() as usize / 8;
                return;
            }
            self.at += 8;
        }
        while let Some(byte) = self.peek() {
            if byte == b'"' || byte == b'\\' || byte < 0x20 {
                return;
            }
            self.at += 1;
        }
    }

    /// Reads an escape that stands for a character, or two that stand for one together.
    fn escape(&mut self) -> Sure {
        self.at += 1;
        match self.peek()? {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => {
                self.at += 1;
                Some(())
            }
            b'u' => match self.unit()? {
                0xd800..=0xdbff => {
                    if !(self.take(b'\\') && self.peek() == Some(b'u')) {
                        return None;
                    }
                    matches!(self.unit()?, 0xdc00..=0xdfff).then_some(())
                }
                0xdc00..=0xdfff => None,
                _ => Some(()),
            },
            _ => None,
        }
    }

    /// Reads the four digits behind an `u`.
    fn unit(&mut self) -> Option<u32> {
        let digits = self.bytes.get(self.at + 1..self.at + 5)?;
        let mut unit = 0;
        for digit in digits {
            unit = unit * 16 + char::from(*digit).to_digit(16)?;
        }
        self.at += 5;
        Some(unit)
    }
}
