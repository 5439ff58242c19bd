//! The id of a message whose text goes by.

use serde_json::value::RawValue;

/// The longest id that is taken, in bytes of its JSON text.
const MAX_ID: usize = 256;

/// Looks for the member `id` of an object whose text goes by.
#[derive(Debug, Default)]
pub(super) struct IdScan {
    depth: u32,
    in_string: bool,
    escaped: bool,
    /// A name or a value at the top, as far as it went by.
    token: Vec<u8>,
    /// Whether the token is the value of `id`.
    of_id: bool,
    found: Option<Vec<u8>>,
}

impl IdScan {
    /// The next bytes of the text.
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.step(byte);
        }
    }

    fn step(&mut self, byte: u8) {
        if self.in_string {
            self.keep(byte);
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_string = false,
                _ => {}
            }
            return;
        }
        match byte {
            b'"' => {
                self.in_string = true;
                self.keep(byte);
            }
            b'{' | b'[' => {
                self.depth = self.depth.saturating_add(1);
                // No id is an object or an array.
                if self.of_id {
                    self.found = None;
                }
                self.next_token(false);
            }
            b'}' | b']' => {
                self.end_of_value();
                self.depth = self.depth.saturating_sub(1);
            }
            b',' => self.end_of_value(),
            b':' if self.depth == 1 => {
                self.next_token(self.token.trim_ascii_end() == b"\"id\"");
            }
            // What has a gap is no token, and must not look like one.
            b' ' | b'\t' | b'\r' | b'\n' => {
                if self.token.last().is_some_and(|last| *last != b' ') {
                    self.keep(b' ');
                }
            }
            _ => self.keep(byte),
        }
    }

    fn keep(&mut self, byte: u8) {
        if self.depth == 1 && self.token.len() <= MAX_ID {
            self.token.push(byte);
        }
    }

    fn next_token(&mut self, of_id: bool) {
        self.of_id = of_id;
        self.token.clear();
    }

    fn end_of_value(&mut self) {
        if self.depth == 1 {
            if self.of_id {
                let token = self.token.trim_ascii_end();
                self.found = (token.len() <= MAX_ID).then(|| token.to_vec());
            }
            self.next_token(false);
        }
    }

    /// The JSON text of the id, if it went by to its end. Answers repeat it, so nothing else may come of it.
    pub(super) fn id(self) -> Option<String> {
        let id = String::from_utf8(self.found?).ok()?;
        serde_json::from_str::<&RawValue>(&id).is_ok().then_some(id)
    }
}
