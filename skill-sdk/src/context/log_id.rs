//! Ids of calls, as logs show them.

use std::borrow::Cow;

use serde::de::IgnoredAny;

/// How much of an id is shown, in characters. The id itself is as long as the caller likes.
const LONGEST: usize = 200;

/// An id as it may stand in a log. Where a caller sent something else than a text it is not shown: an object may hold anything,
/// such as the inputs.
pub(crate) fn id_for_log(id: &str) -> Cow<'_, str> {
    let kind = match id.as_bytes().first() {
        Some(b'{') => "(an object)",
        Some(b'[') => "(a list)",
        _ => "",
    };
    if !kind.is_empty() && serde_json::from_str::<IgnoredAny>(id).is_ok() {
        return kind.into();
    }
    // Nearly all are short, and there are no more characters than bytes.
    if id.len() <= LONGEST {
        return id.into();
    }
    match id.char_indices().nth(LONGEST) {
        None => id.into(),
        Some((end, _)) => format!("{}…", id.get(..end).unwrap_or_default()).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_shown_as_far_as_they_are_ids() {
        let long = "ё".repeat(LONGEST);
        for whole in ["", "i-1", "5", "{6F9619FF-8B86-D011}", "[a", long.as_str()] {
            assert_eq!(id_for_log(whole), whole);
        }
        assert_eq!(id_for_log(&format!("{long}x")), format!("{long}…"));
        assert_eq!(id_for_log(&"7".repeat(1_000_000)).chars().count(), LONGEST + 1);
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(1000), "]".repeat(1000));
        assert_eq!(id_for_log(r#"{"inputs": "secret"}"#), "(an object)");
        assert_eq!(id_for_log(&deep), "(an object)");
        assert_eq!(id_for_log(r#"["secret"]"#), "(a list)");
    }
}
