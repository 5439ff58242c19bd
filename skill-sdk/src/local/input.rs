//! Lines from a client, with a bound.

use std::io::{self, BufRead, BufReader, Read};

/// How much is read at once, in bytes.
const CHUNK: usize = 64 * 1024;

/// What comes in.
pub(super) struct Input {
    reader: BufReader<Box<dyn Read + Send>>,
    line: Vec<u8>,
    limit: usize,
}

/// One line, without its line break.
pub(super) enum Line<'a> {
    Text(&'a [u8]),
    /// The beginning of a line over the limit; the rest was skipped.
    TooLong(&'a [u8]),
    /// There are no more.
    End,
}

impl Input {
    /// Lines of at most `limit` bytes.
    pub(super) fn new(reader: Box<dyn Read + Send>, limit: usize) -> Self {
        Self {
            reader: BufReader::with_capacity(CHUNK, reader),
            line: Vec::new(),
            limit,
        }
    }

    /// The next line; blocks until there is one.
    pub(super) fn next(&mut self) -> io::Result<Line<'_>> {
        // One long line must not hold its memory forever.
        if self.line.capacity() > 4 * CHUNK {
            self.line = Vec::new();
        }
        self.line.clear();
        let most = u64::try_from(self.limit).unwrap_or(u64::MAX).saturating_add(1);
        let read = self
            .reader
            .by_ref()
            .take(most)
            .read_until(b'\n', &mut self.line)?;
        if self.line.last() == Some(&b'\n') {
            self.line.pop();
        } else if read > self.limit {
            self.reader.skip_until(b'\n')?;
            return Ok(Line::TooLong(&self.line));
        } else if read == 0 {
            return Ok(Line::End);
        }
        Ok(Line::Text(&self.line))
    }

    /// Whether another line is at hand, so that reading it does not block.
    pub(super) fn has_line(&self) -> bool {
        self.reader.buffer().contains(&b'\n')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &[u8], limit: usize) -> Vec<String> {
        let mut input = Input::new(Box::new(io::Cursor::new(text.to_vec())), limit);
        let mut lines = Vec::new();
        loop {
            match input.next().unwrap() {
                Line::Text(line) => lines.push(String::from_utf8(line.to_vec()).unwrap()),
                Line::TooLong(line) => lines.push(format!("{}…", str::from_utf8(line).unwrap())),
                Line::End => return lines,
            }
        }
    }

    #[test]
    fn lines_have_a_limit() {
        assert_eq!(lines(b"", 3), [""; 0]);
        assert_eq!(lines(b"abc\n\nde", 3), ["abc", "", "de"]);
        assert_eq!(lines(b"abcd\nabc\nabcdefgh", 3), ["abcd…", "abc", "abcd…"]);
        let long = [vec![b'x'; 1_000_000], b"\ny\n".to_vec()].concat();
        assert_eq!(lines(&long, 1_000_000).len(), 2);
        assert_eq!(lines(&long, 10), ["xxxxxxxxxxx…", "y"]);
        assert_eq!(lines(&long, usize::MAX).len(), 2);
    }
}
