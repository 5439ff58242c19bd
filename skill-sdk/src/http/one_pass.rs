//! Reading a body in one pass: the envelope, the nesting of the inputs, and whether they keep the contract.
//!
//! Bodies that are unusual in any way, and inputs of which the pass is not sure, are left to the readers that tell what is
//! wrong. What the pass gives is what they would give.

use super::request::Envelope;
use crate::contract::json;
use crate::validation::value_prefix;

/// The envelope of a call. `accepts` gives the length of inputs that surely keep the contract.
pub(super) fn envelope(body: &str, accepts: impl Fn(&str) -> Option<usize>) -> Option<Envelope<'_>> {
    let mut cursor = Cursor { text: body, at: 0 };
    let mut envelope = Envelope::default();
    cursor.space();
    cursor.take(b'{')?;
    loop {
        cursor.space();
        let name = cursor.plain_string()?;
        cursor.space();
        cursor.take(b':')?;
        cursor.space();
        match name {
            "invocationId" => cursor.id(&mut envelope.invocation_id)?,
            "idempotencyKey" => cursor.id(&mut envelope.idempotency_key)?,
            "settings" => {
                let settings = cursor.value(value_prefix)?;
                envelope.settings = Some(json::parse(settings.as_bytes()).ok()?);
            }
            // The last of several counts, and the others are not looked at.
            "inputs" if envelope.inputs.is_some() => return None,
            "inputs" => envelope.inputs = Some(cursor.value(&accepts)?),
            _ => drop(cursor.value(value_prefix)?),
        }
        cursor.space();
        if cursor.take(b'}').is_some() {
            break;
        }
        cursor.take(b',')?;
    }
    cursor.space();
    envelope.inputs_are_checked = true;
    (cursor.at == body.len() && envelope.inputs.is_some()).then_some(envelope)
}

/// A place in a text.
struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    fn rest(&self) -> Option<&'a str> {
        self.text.get(self.at..)
    }

    fn space(&mut self) {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        self.at += rest
            .iter()
            .take_while(|byte| matches!(byte, b' ' | b'\n' | b'\t' | b'\r'))
            .count();
    }

    fn take(&mut self, byte: u8) -> Option<()> {
        (self.text.as_bytes().get(self.at) == Some(&byte)).then(|| self.at += 1)
    }

    /// A string without escapes.
    fn plain_string(&mut self) -> Option<&'a str> {
        self.take(b'"')?;
        let rest = self.rest()?;
        let end = rest
            .bytes()
            .position(|byte| byte == b'"' || byte == b'\\' || byte < 0x20)?;
        self.at += end;
        self.take(b'"')?;
        rest.get(..end)
    }

    /// Reads an id that is a string without escapes, or null.
    fn id(&mut self, id: &mut Option<String>) -> Option<()> {
        if self.rest()?.starts_with("null") {
            self.at += "null".len();
            *id = None;
        } else {
            *id = Some(self.plain_string()?.to_owned());
        }
        Some(())
    }

    /// A value whose length `measure` knows.
    fn value(&mut self, measure: impl FnOnce(&str) -> Option<usize>) -> Option<&'a str> {
        let rest = self.rest()?;
        let length = measure(rest)?;
        self.at += length;
        rest.get(..length)
    }
}
