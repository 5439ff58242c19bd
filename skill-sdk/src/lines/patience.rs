//! Descriptors that do not wait: a pipe may be shared with somebody who made it so.

use std::io::{self, Write};
use std::thread;
use std::time::Duration;

/// How long it takes until it is tried again: at first, and once nothing came for a while.
const PAUSES: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(20));

/// How long to wait before the next try. It grows, so that nobody is kept busy by a descriptor where nothing happens.
#[derive(Debug)]
pub(super) struct Patience(Duration);

impl Patience {
    pub(super) const fn new() -> Self {
        Self(PAUSES.0)
    }

    /// Something came.
    pub(super) fn reset(&mut self) {
        *self = Self::new();
    }

    /// What a read gave; `None` when nothing is there yet.
    pub(super) fn with(&mut self, read: io::Result<usize>) -> io::Result<Option<usize>> {
        match read {
            Ok(count) => {
                self.reset();
                Ok(Some(count))
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                thread::sleep(self.next());
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn next(&mut self) -> Duration {
        let pause = self.0;
        self.0 = (pause + pause / 8).min(PAUSES.1);
        pause
    }
}

/// Writes everything, unless it has to wait and `given_up` says that nobody wants it any more. May block.
pub(crate) fn write_all(
    output: &mut (impl Write + ?Sized),
    mut bytes: &[u8],
    given_up: impl Fn() -> bool,
) -> io::Result<()> {
    let mut patience = Patience::new();
    let again = |patience: &mut Patience, error: io::Error| match error.kind() {
        io::ErrorKind::Interrupted => Ok(()),
        io::ErrorKind::WouldBlock if given_up() => Err(io::ErrorKind::BrokenPipe.into()),
        _ => patience.with(Err(error)).map(drop),
    };
    while !bytes.is_empty() {
        match output.write(bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => {
                bytes = bytes.get(count..).unwrap_or_default();
                patience.reset();
            }
            Err(error) => again(&mut patience, error)?,
        }
    }
    loop {
        match output.flush() {
            Ok(()) => return Ok(()),
            Err(error) => again(&mut patience, error)?,
        }
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
        write_all(&mut output, b"abc", || false).unwrap();
        assert_eq!(output.0, b"abc");
        let gone = write_all(&mut [0_u8; 2].as_mut_slice(), b"abc", || true).unwrap_err();
        assert_eq!(gone.kind(), io::ErrorKind::WriteZero);
    }

    #[test]
    fn what_nobody_wants_is_not_waited_for() {
        let mut output = Reluctant(Vec::new(), 0);
        let error = write_all(&mut output, b"abc", || true).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    }

    #[test]
    fn where_nothing_happens_pauses_are_long() {
        let mut patience = Patience::new();
        let pauses: Vec<_> = (0..100).map(|_| patience.next()).collect();
        assert_eq!((pauses[0], pauses[99]), PAUSES);
        assert!(pauses.is_sorted());
        // Whoever calls again and again does not wait for long.
        assert!(pauses[..10].iter().sum::<Duration>() < Duration::from_millis(20));
        assert!(matches!(patience.with(Ok(1)), Ok(Some(1))));
        assert_eq!(patience.next(), PAUSES.0);
    }
}
