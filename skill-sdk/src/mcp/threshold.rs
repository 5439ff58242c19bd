//! Which notices a client wants to hear: those of a level and above.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use serde_json::value::RawValue;

use super::message::{Request, Wrong};
use super::params::text;
use crate::context::NoticeLevel;

/// The levels of the protocol, least grave first.
const LEVELS: [&str; 8] = [
    "debug",
    "info",
    "notice",
    "warning",
    "error",
    "critical",
    "alert",
    "emergency",
];

/// The rank of a client that wants to hear nothing.
const NOTHING: u8 = u8::MAX;

/// The level from which on notices are sent. Clones are one: a client may change its mind during a call.
#[derive(Debug, Clone)]
pub(super) struct Threshold(Arc<AtomicU8>);

impl Default for Threshold {
    /// Nothing is sent before a client asks for it.
    fn default() -> Self {
        Self(Arc::new(AtomicU8::new(NOTHING)))
    }
}

impl Threshold {
    /// The level that a request names in its parameter `place`.
    pub(super) fn read(level: &RawValue, place: &str, request: &Request<'_>) -> Result<Self, Wrong> {
        let threshold = Self::default();
        threshold.set(Some(level), place, request)?;
        Ok(threshold)
    }

    /// Takes the level that a request names in its parameter `place`.
    pub(super) fn set(
        &self,
        level: Option<&RawValue>,
        place: &str,
        request: &Request<'_>,
    ) -> Result<(), Wrong> {
        let named = level.and_then(text);
        let rank = (0..)
            .zip(LEVELS)
            .find_map(|(rank, known)| (named.as_deref() == Some(known)).then_some(rank));
        let Some(rank) = rank else {
            let given = level.map_or("missing", RawValue::get);
            let given: String = given.chars().take(40).collect();
            let message = format!("`{place}` must be one of {}; it is {given}", LEVELS.join(", "));
            return Err(Wrong::params(&request.id, message));
        };
        self.0.store(rank, Ordering::Relaxed);
        Ok(())
    }

    /// Whether a notice of this level is to be sent.
    pub(super) fn lets(&self, level: NoticeLevel) -> bool {
        let rank = (0..).zip(LEVELS).find(|(_, known)| *known == level.name());
        rank.is_some_and(|(rank, _)| self.0.load(Ordering::Relaxed) <= rank)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::message::{self, Message};

    fn let_by(threshold: &Threshold) -> usize {
        NoticeLevel::ALL
            .iter()
            .filter(|level| threshold.lets(**level))
            .count()
    }

    #[test]
    fn levels_let_those_above_them() {
        let Ok(Message::Request(request)) = message::read(br#"{"jsonrpc":"2.0","id":1,"method":"x"}"#) else {
            panic!("it is a request");
        };
        let raw = |text: &str| RawValue::from_string(text.to_owned()).unwrap();
        let threshold = Threshold::default();
        assert_eq!(let_by(&threshold), 0, "nobody asked");
        for (level, expected) in LEVELS.iter().zip([5, 4, 3, 2, 1, 0, 0, 0]) {
            let level = raw(&format!("\"{level}\""));
            threshold.set(Some(&level), "params.level", &request).unwrap();
            assert_eq!(let_by(&threshold), expected, "{level}");
            assert_eq!(
                let_by(&Threshold::read(&level, "level", &request).unwrap()),
                expected
            );
        }
        threshold.set(Some(&raw("\"info\"")), "level", &request).unwrap();
        for wrong in ["\"Info\"", "\"\"", "\"verbose\"", "1", "{}"] {
            let wrong = threshold
                .set(Some(&raw(wrong)), "params.level", &request)
                .unwrap_err();
            assert_eq!(wrong.code, -32602);
            assert!(
                wrong
                    .message
                    .contains("`params.level` must be one of debug, info"),
                "{wrong:?}"
            );
        }
        assert!(threshold.set(None, "level", &request).is_err());
        assert_eq!(let_by(&threshold), 4, "a wrong level changes nothing");
    }
}
