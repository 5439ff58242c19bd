//! Numbers as they are written.

use super::reader::{Reader, Sure};

/// The most digits of an integer that fits 64 bits whatever the digits are.
const MAX_DIGITS: usize = 18;

/// The most characters of a number without exponent that is surely no larger than a double can be.
const MAX_PLAIN: usize = 300;

/// A number of a text.
#[derive(Debug)]
pub(super) enum Scanned<'a> {
    /// An integer that is written plainly and fits 64 bits.
    Integer(i64),
    /// Any other number that a double can hold, as it is written.
    Other(&'a str),
}

impl Scanned<'_> {
    /// The value as the parser of values reads it.
    pub(super) fn double(&self) -> Option<f64> {
        match self {
            Self::Integer(_) => None,
            Self::Other(text) => double(text),
        }
    }
}

fn double(text: &str) -> Option<f64> {
    let double: f64 = serde_json::from_str(text).ok()?;
    double.is_finite().then_some(double)
}

impl<'a> Reader<'a> {
    /// Reads a number.
    pub(super) fn number(&mut self) -> Option<Scanned<'a>> {
        let start = self.at;
        let negative = self.take(b'-');
        let digits_start = self.at;
        let mut integer = 0_i64;
        while let Some(digit @ b'0'..=b'9') = self.peek() {
            integer = integer.wrapping_mul(10).wrapping_add(i64::from(digit - b'0'));
            self.at += 1;
        }
        let digits = self.at - digits_start;
        if digits == 0 || (digits > 1 && self.bytes[digits_start] == b'0') {
            return None;
        }
        let has_fraction = self.take(b'.');
        if has_fraction {
            self.digits()?;
        }
        let has_exponent = self.take(b'e') || self.take(b'E');
        if has_exponent {
            let _sign = self.take(b'+') || self.take(b'-');
            self.digits()?;
        }
        // The parser of values reads `-0` as a double.
        let is_negative_zero = negative && integer == 0;
        if digits <= MAX_DIGITS && !(has_fraction || has_exponent || is_negative_zero) {
            return Some(Scanned::Integer(if negative { -integer } else { integer }));
        }
        let text = self.text.get(start..self.at)?;
        if has_exponent || text.len() > MAX_PLAIN {
            double(text)?;
        }
        Some(Scanned::Other(text))
    }

    fn digits(&mut self) -> Sure {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        (self.at > start).then_some(())
    }
}
