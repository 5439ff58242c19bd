//! JSON on one line.

use serde::Serialize;

/// Adds JSON of our own, which cannot fail: names are texts and the writer takes all.
pub(crate) fn value(buffer: &mut Vec<u8>, value: &impl Serialize) {
    let start = buffer.len();
    if serde_json::to_writer(&mut *buffer, value).is_err() {
        buffer.truncate(start);
        buffer.extend_from_slice(b"null");
    }
    unbroken(buffer.get_mut(start..).unwrap_or_default());
}

/// A type may write JSON text of its own that has line breaks. They stand between its words, since those inside of
/// strings are escaped, so a space does as well.
pub(crate) fn unbroken(json: &mut [u8]) {
    if json.contains(&b'\n') || json.contains(&b'\r') {
        for byte in json {
            if matches!(byte, b'\n' | b'\r') {
                *byte = b' ';
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stay_on_their_line() {
        let raw = serde_json::value::RawValue::from_string("[\n1]".to_owned()).unwrap();
        let mut buffer = b"\n".to_vec();
        value(&mut buffer, &raw);
        assert_eq!(buffer, b"\n[ 1]");
    }

    #[test]
    fn foreign_json_stays_on_its_line() {
        let mut json = b"{\n \"a\":\r\n \"\\n\"}".to_vec();
        unbroken(&mut json);
        assert_eq!(json, b"{  \"a\":   \"\\n\"}");
    }
}
