//! Times as ISO 8601 strings.

use std::time::SystemTime;

use jiff::Timestamp;
use jiff::civil::Time;
use jiff::fmt::temporal::Pieces;
use jiff::tz::Offset;

/// The time in `text`; without an offset it is in UTC.
///
/// `text` must be a date (`2026-01-02`, `20260102`), optionally with a time after `T` or a space (`03:04`, `03:04:05.678`,
/// `030405`) and an offset (`Z`, `+03:00`, `-0330`).
pub(crate) fn parse(text: &str) -> Option<SystemTime> {
    // jiff also accepts lower-case letters, signed years and names of time zones.
    if text.starts_with(['+', '-']) || text.contains(['t', 'z', '[']) {
        return None;
    }
    let pieces = Pieces::parse(text).ok()?;
    let date = pieces.date();
    let local = date.to_datetime(pieces.time().unwrap_or(Time::midnight()));
    let offset = pieces.to_numeric_offset().unwrap_or(Offset::UTC);
    // The last days of the year 9999 are out of the range of a timestamp.
    let time = offset.to_timestamp(local).unwrap_or(Timestamp::MAX);
    SystemTime::try_from(time).ok().filter(|_| date.year() > 0)
}

/// A time as a string, to the microsecond.
#[cfg(all(feature = "connections", feature = "testing"))]
pub(crate) fn format(time: SystemTime) -> String {
    let time = jiff::Timestamp::try_from(time).unwrap_or(jiff::Timestamp::MAX);
    format!("{time:.6}")
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    #[cfg(all(feature = "connections", feature = "testing"))]
    #[test]
    fn formatted_times_are_parsed() {
        for day in (0..60_000).step_by(7) {
            let time = UNIX_EPOCH + Duration::from_micros(day * 86_400_000_000 + 45_296_789_012);
            let text = format(time);
            assert_eq!(parse(&text), Some(time), "{text}");
        }
    }

    #[test]
    fn dates_and_times_are_parsed() {
        let later = |seconds, nanos| UNIX_EPOCH + Duration::new(seconds, nanos);
        let table = [
            ("1970-01-01", UNIX_EPOCH),
            ("1970-01-01T00:00:01", later(1, 0)),
            ("1969-12-31T23:59:59.5Z", UNIX_EPOCH - Duration::from_millis(500)),
            ("2000-03-01", later(951_868_800, 0)),
            ("2024-02-29T12:00:00Z", later(1_709_208_000, 0)),
            ("2026-01-01T00:00:00Z", later(1_767_225_600, 0)),
            ("2026-01-01 00:00", later(1_767_225_600, 0)),
            ("20260101T000000Z", later(1_767_225_600, 0)),
            ("2026-01-01T03:00:00+03:00", later(1_767_225_600, 0)),
            ("2025-12-31T20:30-0330", later(1_767_225_600, 0)),
            (
                "2026-01-01T00:00:00.123456789Z",
                later(1_767_225_600, 123_456_789),
            ),
            ("9999-12-30", later(253_402_128_000, 0)),
        ];
        for (text, time) in table {
            assert_eq!(parse(text), Some(time), "{text}");
        }
    }

    #[test]
    fn the_end_of_the_year_9999_is_parsed() {
        assert!(
            parse("9999-12-31") > parse("9999-12-30"),
            "{:?}",
            parse("9999-12-31")
        );
        assert!(parse("9999-12-31T23:59:59-12:00").is_some());
    }

    #[test]
    fn other_strings_are_rejected() {
        for text in [
            "",
            "x",
            "2026",
            "2026-01",
            "2026-13-01",
            "2026-02-29",
            "2026-01-01T",
            "2026-01-01T24:00:00",
            "2026-01-01T00:00:00z",
            "2026-01-01T00:00:00Zx",
            "2026-01-01T00:00:00.Z",
            "2026-01-01T00:00:00+3",
            "0000-01-01",
            "２０２６-01-01",
            "2026-0101",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
