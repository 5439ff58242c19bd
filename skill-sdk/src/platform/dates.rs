//! Times as ISO 8601 texts.

use jiff::civil::{DateTime, Time};
use jiff::fmt::temporal::Pieces;

/// The time that `text` names, in microseconds since 1970-01-01T00:00:00Z; without an offset it is in UTC.
///
/// A date (`2026-01-02`, `20260102`), alone or with a time behind `T` or a space (`03:04`, `03:04:05.678`, `030405`),
/// alone or with an offset (`Z`, `+03:00`, `-0330`). `None` when it is something else.
pub(crate) fn parse(text: &str) -> Option<i64> {
    // jiff also takes lower-case letters, signed years and names of time zones.
    if text.starts_with(['+', '-']) || text.contains(['t', 'z', '[']) {
        return None;
    }
    let pieces = Pieces::parse(text)
        .ok()
        .filter(|pieces| pieces.date().year() > 0)?;
    let time = pieces.time().unwrap_or(Time::midnight());
    // Not by way of `Timestamp`, which ends a day before the last date of four digits.
    let epoch = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);
    let since = pieces.date().to_datetime(time).duration_since(epoch);
    let east = pieces.to_numeric_offset().map_or(0, |offset| offset.seconds());
    i64::try_from(since.as_micros() - i128::from(east) * 1_000_000).ok()
}

/// The time `since` 1970-01-01T00:00:00Z as a text, without what is below a microsecond.
#[cfg(all(feature = "connections", feature = "testing"))]
pub(crate) fn format(since: std::time::Duration) -> String {
    let micros = i64::try_from(since.as_micros()).unwrap_or(i64::MAX);
    let time = jiff::Timestamp::from_microsecond(micros).unwrap_or(jiff::Timestamp::MAX);
    format!("{time:.6}")
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[cfg(all(feature = "connections", feature = "testing"))]
    #[test]
    fn what_is_written_is_read_again() {
        for day in (0..60_000).step_by(7) {
            let since = std::time::Duration::from_micros(day * 86_400_000_000 + 45_296_789_012);
            let text = super::format(since);
            let micros = i64::try_from(since.as_micros()).unwrap();
            assert_eq!(parse(&text), Some(micros), "{text}");
        }
    }

    #[test]
    fn moments() {
        const SECOND: i64 = 1_000_000;
        let table = [
            ("1970-01-01", 0),
            ("1970-01-01T00:00:01", SECOND),
            ("1969-12-31T23:59:59.5Z", -SECOND / 2),
            ("2000-03-01", 951_868_800 * SECOND),
            ("2024-02-29T12:00:00Z", 1_709_208_000 * SECOND),
            ("2026-01-01T00:00:00Z", 1_767_225_600 * SECOND),
            ("2026-01-01 00:00", 1_767_225_600 * SECOND),
            ("20260101T000000Z", 1_767_225_600 * SECOND),
            ("2026-01-01T03:00:00+03:00", 1_767_225_600 * SECOND),
            ("2025-12-31T20:30-0330", 1_767_225_600 * SECOND),
            ("2026-01-01T00:00:00.123456789Z", 1_767_225_600 * SECOND + 123_456),
            ("9999-12-31", 253_402_214_400 * SECOND),
        ];
        for (text, moment) in table {
            assert_eq!(parse(text), Some(moment), "{text}");
        }
    }

    #[test]
    fn other_texts() {
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
