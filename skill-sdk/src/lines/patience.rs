//! Descriptors that do not wait: a pipe may be shared with somebody who made it so.

use std::io::{self, Write};
use std::thread;
use std::time::Duration;

/// How long it takes until it is tried again.
const PAUSE: Duration = Duration::from_millis(1);

/// What a read gave; `None` when nothing is there yet.
pub(super) fn patient(read: io::Result<usize>) -> io::Result<Option<usize>> {
    match read {
        Ok(count) => Ok(Some(count)),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
            thread::sleep(PAUSE);
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Writes everything. May block.
pub(crate) fn write_all(output: &mut (impl Write + ?Sized), mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match output.write(bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => bytes = bytes.get(count..).unwrap_or_default(),
            Err(error) => again(error)?,
        }
    }
    loop {
        match output.flush() {
            Ok(()) => return Ok(()),
            Err(error) => again(error)?,
        }
    }
}

/// Whether a write that failed is worth another one.
fn again(error: io::Error) -> io::Result<()> {
    match error.kind() {
        io::ErrorKind::Interrupted => Ok(()),
        io::ErrorKind::WouldBlock => {
            thread::sleep(PAUSE);
            Ok(())
        }
        _ => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes one byte now and then.
    struct Reluctant(Vec<u8>, u8);

    impl Reluctant {
        fn mood(&mut self) -> io::Result<()> {
            self.1 = (self.1 + 1) % 3;
            match self.1 {
                1 => Err(io::ErrorKind::WouldBlock.into()),
                2 => Err(io::ErrorKind::Interrupted.into()),
                _ => Ok(()),
            }
        }
    }

    impl Write for Reluctant {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.mood()?;
            self.0.push(bytes[0]);
            Ok(1)
        }

        fn flush(&mut self) -> io::Result<()> {
            self.mood()
        }
    }

    #[test]
    fn all_is_written_in_the_end() {
        let mut output = Reluctant(Vec::new(), 0);
        write_all(&mut output, b"abc").unwrap();
        assert_eq!(output.0, b"abc");
        let gone = write_all(&mut [0_u8; 2].as_mut_slice(), b"abc").unwrap_err();
        assert_eq!(gone.kind(), io::ErrorKind::WriteZero);
    }
}
