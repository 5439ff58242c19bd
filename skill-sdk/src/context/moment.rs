//! Moments as ISO 8601 texts.

/// The moment that `text` names, in microseconds since 1970-01-01T00:00:00Z; what names no zone is in UTC.
///
/// A date (`2026-01-02`, `20260102`), alone or with a time behind `T` or a space (`03:04`, `03:04:05.678`, `030405`),
/// alone or with a zone (`Z`, `+03:00`, `-0330`). `None` when it is something else.
pub(crate) fn parse(text: &str) -> Option<i64> {
    let mut rest = text.as_bytes();
    let year = number(&mut rest, 4)?;
    let extended = take(&mut rest, b"-").is_some();
    let month = number(&mut rest, 2)?;
    if extended {
        take(&mut rest, b"-")?;
    }
    let day = number(&mut rest, 2)?;
    let days = days(year, month, day)?;
    let mut seconds = days * 86_400;
    let mut micros = 0;
    if !rest.is_empty() {
        take(&mut rest, b"T ")?;
        let (time, fraction) = time(&mut rest)?;
        seconds += time;
        micros = fraction;
        seconds -= zone(&mut rest)?;
    }
    if rest.is_empty() {
        Some(seconds * 1_000_000 + micros)
    } else {
        None
    }
}

/// `digits` digits as a number.
fn number(rest: &mut &[u8], digits: usize) -> Option<i64> {
    let (head, tail) = rest.split_at_checked(digits)?;
    if !head.iter().all(u8::is_ascii_digit) {
        return None;
    }
    *rest = tail;
    Some(
        head.iter()
            .fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0')),
    )
}

/// The next byte, if it is one of `bytes`.
fn take(rest: &mut &[u8], bytes: &[u8]) -> Option<u8> {
    let (first, tail) = rest.split_first()?;
    if !bytes.contains(first) {
        return None;
    }
    *rest = tail;
    Some(*first)
}

/// The seconds of a time of day, and the microseconds behind them.
fn time(rest: &mut &[u8]) -> Option<(i64, i64)> {
    let hours = number(rest, 2)?;
    let extended = take(rest, b":").is_some();
    let minutes = if extended || rest.first().is_some_and(u8::is_ascii_digit) {
        number(rest, 2)?
    } else {
        0
    };
    let more = if extended {
        take(rest, b":").is_some()
    } else {
        rest.first().is_some_and(u8::is_ascii_digit)
    };
    let mut seconds = 0;
    let mut micros = 0;
    if more {
        seconds = number(rest, 2)?;
        if take(rest, b".,").is_some() {
            let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            if digits == 0 {
                return None;
            }
            // Further digits are cut.
            let kept = digits.min(6);
            micros = number(rest, kept)?;
            for _ in kept..6 {
                micros *= 10;
            }
            *rest = rest.get(digits - kept..)?;
        }
    }
    if hours > 23 || minutes > 59 || seconds > 59 {
        return None;
    }
    Some((hours * 3600 + minutes * 60 + seconds, micros))
}

/// The seconds that a zone is east of UTC.
fn zone(rest: &mut &[u8]) -> Option<i64> {
    if rest.is_empty() || take(rest, b"Z").is_some() {
        return Some(0);
    }
    let sign = if take(rest, b"+-")? == b'+' { 1 } else { -1 };
    let hours = number(rest, 2)?;
    let extended = take(rest, b":").is_some();
    let minutes = if extended || !rest.is_empty() {
        number(rest, 2)?
    } else {
        0
    };
    (hours < 24 && minutes < 60).then_some(sign * (hours * 3600 + minutes * 60))
}

/// The days of a date since 1970-01-01.
fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if year == 0 || !(1..=length).contains(&day) {
        return None;
    }
    // Counted in years that begin in March, so that the leap day is the last one.
    let year = if month > 2 { year } else { year - 1 };
    let month = (month + 9) % 12;
    Some(year * 365 + year / 4 - year / 100 + year / 400 + (month * 306 + 5) / 10 + day - 1 - 719_468)
}

/// The moment `since` 1970-01-01T00:00:00Z as a text, without what is below a microsecond.
#[cfg(all(feature = "connections", feature = "testing"))]
pub(crate) fn written(since: std::time::Duration) -> String {
    let seconds = since.as_secs();
    let time = seconds % 86_400;
    // Days since 0000-03-01, in cycles of 400 years of which each has the same days.
    let days = seconds / 86_400 + 719_468;
    let (cycle, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 {
        (month + 3, 0)
    } else {
        (month - 9, 1)
    };
    format!(
        "{:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}.{:06}Z",
        cycle * 400 + year + next,
        time / 3600,
        time % 3600 / 60,
        time % 60,
        since.subsec_micros()
    )
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[cfg(all(feature = "connections", feature = "testing"))]
    #[test]
    fn what_is_written_is_read_again() {
        for day in (0..60_000).step_by(7) {
            let since = std::time::Duration::from_micros(day * 86_400_000_000 + 45_296_789_012);
            let text = super::written(since);
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
