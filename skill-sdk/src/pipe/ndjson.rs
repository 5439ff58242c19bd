//! Newline-delimited JSON (NDJSON), shared by all servers that use it over a pipe or a socket.
//!
//! - [`NdjsonCodec`] splits input into lines of bounded length
//! - [`to_line`] serializes a message onto one line
//! - [`write_lines`] writes queued lines and flushes when the queue is empty
//! - [`peer_closed`] detects that the reader of an output has closed it

use std::io;
use std::time::Duration;

use serde::Serialize;
use tokio::io::{AsyncWrite, AsyncWriteExt, BufWriter};
use tokio::sync::mpsc;
use tokio_util::bytes::BytesMut;
use tokio_util::codec::{Decoder, LinesCodec, LinesCodecError};

/// The size of the buffers between a stream and its lines, in bytes.
pub(crate) const BUFFER: usize = 64 * 1024;

/// How many bytes of a too long line are kept.
const BEGINNING: usize = 4 * 1024;

/// The interval at which [`peer_closed`] polls.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// One line of input. It does not implement `Debug`, because its text must not be logged.
pub(crate) enum Line {
    /// The text without its line break.
    Text(String),
    /// The line is longer than the limit. Its text was discarded, except for this beginning.
    TooLong(
        #[cfg_attr(
            not(feature = "mcp"),
            expect(dead_code, reason = "MCP reads the id of the call from it")
        )]
        String,
    ),
    /// The line is not UTF-8.
    NotUtf8,
}

/// A [`LinesCodec`] that continues after an invalid line: such a line is an item, not an error.
pub(crate) struct NdjsonCodec(LinesCodec);

impl NdjsonCodec {
    /// A codec for lines of at most `max_length` bytes.
    pub(crate) fn new(max_length: usize) -> Self {
        Self(LinesCodec::new_with_max_length(max_length))
    }
}

impl Decoder for NdjsonCodec {
    type Item = Line;
    type Error = io::Error;

    fn decode(&mut self, buffer: &mut BytesMut) -> io::Result<Option<Line>> {
        Ok(line(self.0.decode(buffer), buffer))
    }

    fn decode_eof(&mut self, buffer: &mut BytesMut) -> io::Result<Option<Line>> {
        Ok(line(self.0.decode_eof(buffer), buffer))
    }
}

fn line(decoded: Result<Option<String>, LinesCodecError>, buffer: &BytesMut) -> Option<Line> {
    match decoded {
        Ok(text) => text.map(Line::Text),
        // The codec discards the rest of the line at the next call.
        Err(LinesCodecError::MaxLineLengthExceeded) => {
            let beginning = &buffer[..buffer.len().min(BEGINNING)];
            Some(Line::TooLong(String::from_utf8_lossy(beginning).into_owned()))
        }
        // Decoding does no I/O, so the only possible error is invalid UTF-8.
        Err(LinesCodecError::Io(_)) => Some(Line::NotUtf8),
    }
}

/// Serializes a message as one line with its line break.
///
/// JSON from an author may contain line breaks between tokens. They are replaced by spaces, so that one message stays on
/// one line. Line breaks within strings are always escaped.
pub(crate) fn to_line(message: &impl Serialize) -> Vec<u8> {
    // Serializing JSON values cannot fail.
    let mut line = serde_json::to_vec(message).unwrap_or_default();
    for byte in &mut line {
        if matches!(byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
    line.push(b'\n');
    line
}

/// Writes the lines of a queue and flushes. An empty line or the end of the queue ends the task.
pub(crate) async fn write_lines(
    output: impl AsyncWrite + Unpin,
    mut lines: mpsc::Receiver<Vec<u8>>,
) -> io::Result<()> {
    let mut output = BufWriter::with_capacity(BUFFER, output);
    while let Some(line) = lines.recv().await {
        if line.is_empty() {
            break;
        }
        output.write_all(&line).await?;
        if lines.is_empty() {
            // Other calls that finish at the same time can queue their responses first, so that one write sends them all.
            tokio::task::yield_now().await;
            if lines.is_empty() {
                output.flush().await?;
            }
        }
    }
    output.flush().await
}

/// Resolves when the reader of `output` has closed it.
#[cfg(unix)]
pub(crate) async fn peer_closed(output: impl std::os::fd::AsFd) {
    while !is_peer_closed(&output) {
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

/// Resolves when the reader of `output` has closed it. On this platform only a failed write detects that.
#[cfg(not(unix))]
pub(crate) async fn peer_closed<T>(_: T) {
    std::future::pending().await
}

/// Whether the reader of `output` has closed it.
#[cfg(unix)]
pub(crate) fn is_peer_closed(output: &impl std::os::fd::AsFd) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    let mut fds = [PollFd::new(output, PollFlags::empty())];
    // `poll` reports errors and hang-ups even if no event is requested.
    poll(&mut fds, Some(&Timespec::default())).is_ok_and(|count| count > 0)
        && fds[0]
            .revents()
            .intersects(PollFlags::ERR | PollFlags::HUP | PollFlags::NVAL)
}

/// Whether the reader of `output` has closed it. On this platform only a failed write detects that.
#[cfg(not(unix))]
pub(crate) fn is_peer_closed<T>(_: &T) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use futures_util::StreamExt;
    use serde_json::value::RawValue;
    use tokio_util::codec::FramedRead;

    use super::*;

    async fn lines(input: &[u8], max_length: usize) -> Vec<String> {
        let lines = FramedRead::with_capacity(input, NdjsonCodec::new(max_length), 3);
        let lines = lines.map(|line| match line.unwrap() {
            Line::Text(text) => text,
            Line::TooLong(_) => "too long".to_owned(),
            Line::NotUtf8 => "not UTF-8".to_owned(),
        });
        lines.collect().await
    }

    #[tokio::test]
    async fn the_stream_continues_after_an_invalid_line() {
        assert_eq!(lines(b"", 5).await, [""; 0]);
        assert_eq!(
            lines(b"ab\n\ncdefg\r\n\xff\nx", 6).await,
            ["ab", "", "cdefg", "not UTF-8", "x"]
        );
        assert_eq!(
            lines(b"12345\n1234567890\n1\n", 5).await,
            ["12345", "too long", "1"]
        );
        assert_eq!(lines(b"123456789", 5).await, ["too long"]);
        assert_eq!(lines(b"123\n45", usize::MAX).await, ["123", "45"]);
    }

    #[test]
    fn a_message_stays_on_its_line() {
        let raw = RawValue::from_string("{\n \"a\":\r\n \"\\n\"}".to_owned()).unwrap();
        assert_eq!(to_line(&raw), b"{  \"a\":   \"\\n\"}\n");
    }

    #[tokio::test]
    async fn queued_lines_are_written_in_order() {
        let (sender, queue) = mpsc::channel(8);
        for line in ["a\n", "b\n", "", "c\n"] {
            sender.send(line.into()).await.unwrap();
        }
        let mut output = Vec::new();
        write_lines(&mut output, queue).await.unwrap();
        assert_eq!(output, b"a\nb\n");
    }
}
