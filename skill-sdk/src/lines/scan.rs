//! The id of a message whose text goes by.

/// The longest id that is looked for, in bytes.
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
                self.of_id = false;
                self.token.clear();
            }
            b'}' | b']' => {
                self.end_of_value();
                self.depth = self.depth.saturating_sub(1);
            }
            b',' => self.end_of_value(),
            b':' if self.depth == 1 => {
                self.of_id = self.token == b"\"id\"";
                self.token.clear();
            }
            b' ' | b'\t' | b'\r' | b'\n' => {}
            _ => self.keep(byte),
        }
    }

    fn keep(&mut self, byte: u8) {
        if self.depth == 1 && self.token.len() <= MAX_ID {
            self.token.push(byte);
        }
    }

    fn end_of_value(&mut self) {
        if self.depth == 1 {
            if self.of_id && self.token.len() <= MAX_ID {
                self.found = Some(std::mem::take(&mut self.token));
            }
            self.of_id = false;
            self.token.clear();
        }
    }

    /// The JSON text of the id, if it went by to its end and is UTF-8.
    pub(super) fn id(self) -> Option<String> {
        self.found.and_then(|id| String::from_utf8(id).ok())
    }
}
