//! Lines of input, of bounded length.

use std::io::{self, BufRead, BufReader, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::patience::Patience;
use super::scan::IdScan;

/// How much is read at a time.
const CHUNK: usize = 64 * 1024;

/// The largest buffer of a line that is kept for the next one, in bytes.
const KEPT: usize = 4 * CHUNK;

/// One line. It has no `Debug`: its text is for nobody's log.
pub(crate) enum Line<'a> {
    /// Without its end.
    Text(&'a [u8]),
    /// It was read to its end and thrown away, but for the JSON text of its member `id`.
    TooLong { id: Option<String>, bytes: u64 },
    /// There are no more, or nobody wants them.
    End,
}

/// The lines of a reader.
pub(crate) struct Lines<R> {
    reader: BufReader<R>,
    limit: usize,
    line: Vec<u8>,
    patience: Patience,
    over: Arc<AtomicBool>,
}

impl<R: Read> Lines<R> {
    /// Lines of at most `limit` bytes. Once `over` is set, nothing more is waited for where reading does not block.
    pub(crate) fn new(reader: R, limit: usize, over: Arc<AtomicBool>) -> Self {
        Self {
            patience: Patience::new(),
            over,
            reader: BufReader::with_capacity(CHUNK, reader),
            limit,
            line: Vec::new(),
        }
    }

    /// The next line; blocks until there is one.
    pub(crate) fn next(&mut self) -> io::Result<Line<'_>> {
        // One long line must not hold its memory forever.
        if self.line.capacity() > KEPT {
            self.line = Vec::new();
        }
        self.line.clear();
        let most = (self.limit as u64).saturating_add(1);
        loop {
            let before = self.line.len();
            let room = most.saturating_sub(before as u64);
            let read = (&mut self.reader).take(room).read_until(b'\n', &mut self.line);
            // It may have read something before there was no more.
            if self.line.len() > before {
                self.patience.reset();
            }
            if self.patience.with(read)?.is_some() {
                break;
            }
            if self.is_over() {
                return Ok(Line::End);
            }
        }
        if self.line.last() == Some(&b'\n') {
            self.line.pop();
        } else if self.line.len() > self.limit {
            return self.discard();
        } else if self.line.is_empty() {
            return Ok(Line::End);
        }
        Ok(Line::Text(&self.line))
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }

    /// Reads to the end of a line that is too long.
    fn discard(&mut self) -> io::Result<Line<'_>> {
        let mut scan = IdScan::default();
        let mut bytes = 0_u64;
        loop {
            scan.feed(&self.line);
            bytes += self.line.len() as u64;
            let ended = self.line.last() == Some(&b'\n');
            self.line.clear();
            if ended {
                break;
            }
            let read = (&mut self.reader)
                .take(CHUNK as u64)
                .read_until(b'\n', &mut self.line);
            match self.patience.with(read)? {
                Some(0) => break,
                None if self.is_over() => return Ok(Line::End),
                _ => {}
            }
        }
        Ok(Line::TooLong { id: scan.id(), bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives what it holds in pieces, and now and then nothing yet.
    struct Pieces(Vec<u8>, usize, u32);

    impl Read for Pieces {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.2 += 1;
            if self.2 % 32 == 1 && !self.0.is_empty() {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            let count = self.1.min(self.0.len()).min(buffer.len());
            buffer[..count].copy_from_slice(&self.0[..count]);
            self.0.drain(..count);
            Ok(count)
        }
    }

    fn lines(text: &str, limit: usize, piece: usize) -> Vec<String> {
        let mut lines = Lines::new(Pieces(text.into(), piece, 0), limit, Arc::default());
        let mut found = Vec::new();
        loop {
            match lines.next().unwrap() {
                Line::Text(text) => found.push(String::from_utf8(text.to_vec()).unwrap()),
                Line::TooLong { id, bytes } => {
                    found.push(format!("{bytes} too long, {}", id.as_deref().unwrap_or("none")));
                }
                Line::End => return found,
            }
        }
    }

    #[test]
    fn lines_of_bounded_length() {
        for piece in [1, 3, 1000] {
            assert_eq!(lines("", 5, piece), [""; 0]);
            assert_eq!(lines("ab\n\ncdefg\r\nx", 6, piece), ["ab", "", "cdefg\r", "x"]);
            assert_eq!(
                lines("12345\n123456\n1\n", 5, piece),
                ["12345", "7 too long, none", "1"]
            );
            assert_eq!(lines("123456789", 5, piece), ["9 too long, none"]);
            assert_eq!(lines("123\n45", usize::MAX, piece), ["123", "45"]);
        }
        let long = "x".repeat(1_000_000) + "\ny\n";
        assert_eq!(lines(&long, 1_000_000, 1_000_000).len(), 2);
        assert_eq!(lines(&long, 10, 1_000_000), ["1000001 too long, none", "y"]);
    }

    /// Gives what it holds, and never anything more.
    struct Silent(&'static [u8]);

    impl Read for Silent {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            match self.0.read(buffer) {
                Ok(0) => Err(io::ErrorKind::WouldBlock.into()),
                read => read,
            }
        }
    }

    #[test]
    fn nobody_waits_for_lines_that_nobody_wants() {
        for begun in ["", "ab", "abcdefgh"] {
            let over = Arc::new(AtomicBool::new(true));
            let mut lines = Lines::new(Silent(begun.as_bytes()), 5, over);
            assert!(matches!(lines.next(), Ok(Line::End)), "{begun}");
        }
    }

    #[test]
    fn the_id_of_a_line_that_is_too_long() {
        let cut = format!(r#"{{"params":{{}},"id":"{}"#, "x".repeat(300));
        let long = format!("{cut}\"}}");
        for (line, id) in [
            (r#"{"id":7,"params":{"id":8,"x":["id",9]}}"#, "7"),
            (
                r#"{"params":{"id":8,"x":"}\",\"id\":9"}, "id" : "a\"b"}"#,
                r#""a\"b""#,
            ),
            (r#"{"params":[{"id":1},[]],"id": -3 , "z":"id"}"#, "-3"),
            (r#"{"params":{"id":1},"id":{"id":2}}"#, "none"),
            (r#"{"params":{"id":1},"id":null}"#, "null"),
            (r#"[{"id":1,"and":"more of it"}]"#, "none"),
            (r#"{"method":"id","params":"id"}"#, "none"),
            (r#"{"method":"id","params":"id","id":12"#, "none"),
            (r#"{"id" : 7 ,"and":"more of it"}"#, "7"),
            (r#"{"id":7,"id":{"of":"no use"}}"#, "none"),
            (r#"{"id":7,"id":["no use"],"x":8}"#, "none"),
            (r#"{"id":1x,"and":"more of it"}"#, "none"),
            (r#"{"id":1 2,"and":"more of it"}"#, "none"),
            (r#"{"id":01,"and":"more of it"}"#, "none"),
            (r#"{"id":"a""b","and":"more of it"}"#, "none"),
            (r#"{"id":"a" "b","and":"more of it"}"#, "none"),
            (r#"{"id":"\x","and":"more of it"}"#, "none"),
            (r#"{"id":,"and":"more of it"}"#, "none"),
            ("{\"id\":\"a\tb\",\"and\":\"more of it\"}", "none"),
            (&cut, "none"),
            (&long, "none"),
        ] {
            for piece in [1, 1000] {
                let expected = format!("{} too long, {id}", line.len());
                assert_eq!(lines(line, 10, piece), [expected], "{line}");
            }
        }
    }
}
