//! UUIDs in the forms that the platform reads.

/// The UUID in lower case with dashes; `None` when the text is none.
///
/// Taken are 32 hexadecimal digits, with or without dashes in the usual places, also in braces or behind `urn:uuid:`.
pub(super) fn normalized(text: &str) -> Option<String> {
    let text = text.strip_prefix("urn:uuid:").unwrap_or(text);
    let text = text
        .strip_prefix('{')
        .and_then(|text| text.strip_suffix('}'))
        .unwrap_or(text);
    let dashed = match text.len() {
        32 => false,
        36 => true,
        _ => return None,
    };
    let mut normal = String::with_capacity(36);
    for (index, byte) in text.bytes().enumerate() {
        let place_of_dash = dashed && matches!(index, 8 | 13 | 18 | 23);
        match byte {
            b'-' if place_of_dash => continue,
            b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F' if !place_of_dash => {}
            _ => return None,
        }
        if matches!(normal.len(), 8 | 13 | 18 | 23) {
            normal.push('-');
        }
        normal.push(byte.to_ascii_lowercase().into());
    }
    Some(normal)
}

#[cfg(test)]
mod tests {
    use super::normalized;

    #[test]
    fn forms() {
        const UUID: &str = "11111111-abcd-4111-8111-111111111111";
        for text in [
            UUID,
            "11111111-ABCD-4111-8111-111111111111",
            "11111111abcd41118111111111111111",
            "{11111111-abcd-4111-8111-111111111111}",
            "urn:uuid:11111111-abcd-4111-8111-111111111111",
        ] {
            assert_eq!(normalized(text).as_deref(), Some(UUID), "{text}");
        }
        for text in [
            "",
            "acme",
            "11111111-abcd-4111-8111-11111111111",
            "11111111-abcd-4111-8111-111111111111\n",
            "11111111-abcd-4111-81111-11111111111",
            "11111111-abcd-4111-8111-11111111111g",
            "1111111--abcd-4111-8111-111111111111",
            "+1111111abcd41118111111111111111",
            "1111é11abcd41118111111111111111",
            "{11111111-abcd-4111-8111-111111111111",
            "--------------------------------",
        ] {
            assert_eq!(normalized(text), None, "{text:?}");
        }
    }
}
