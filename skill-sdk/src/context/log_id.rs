//! Ids of calls in logs.

use std::borrow::Cow;

use serde::de::IgnoredAny;

/// How much of an id is logged, in characters. The id itself has no limit.
const LONGEST: usize = 200;

/// An id for a log. Objects and lists are not logged: they may contain anything, such as the inputs.
pub(crate) fn id_for_log(id: &str) -> Cow<'_, str> {
    let kind = match id.as_bytes().first() {
        Some(b'{') => "(an object)",
        Some(b'[') => "(a list)",
        _ => "",
    };
    if !kind.is_empty() && serde_json::from_str::<IgnoredAny>(id).is_ok() {
        return kind.into();
    }
    // Most ids are short, and a string never has more characters than bytes.
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
    fn long_ids_are_cut_and_objects_are_not_logged() {
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
