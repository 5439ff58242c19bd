//! The response of the user to a form.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::error::SkillError;

/// The response of the user to a form.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Answer<T> {
    /// The user filled in the form.
    Accepted(T),
    /// The user declined to answer.
    Declined,
    /// The user closed the form.
    Cancelled,
}

impl<T> Answer<T> {
    /// The content of the form.
    ///
    /// # Errors
    ///
    /// `input_declined` or `input_cancelled` (terminal) if the user did not fill in the form.
    pub fn accepted(self) -> Result<T, SkillError> {
        match self {
            Self::Accepted(content) => Ok(content),
            Self::Declined => Err(SkillError::terminal(
                "input_declined",
                "the user declined to answer",
            )),
            Self::Cancelled => Err(SkillError::terminal(
                "input_cancelled",
                "the user closed the form",
            )),
        }
    }
}

impl<T: DeserializeOwned> Answer<T> {
    /// Parses `{"action", "content"}`.
    pub(super) fn read(response: Value) -> Result<Self, String> {
        let Value::Object(mut response) = response else {
            return Err("it is not an object".into());
        };
        match response.get("action").and_then(Value::as_str) {
            Some("decline") => Ok(Self::Declined),
            Some("cancel") => Ok(Self::Cancelled),
            Some("accept") => {
                let content = response
                    .remove("content")
                    .unwrap_or_else(|| Value::Object(Map::new()));
                T::deserialize(content)
                    .map(Self::Accepted)
                    .map_err(|error| error.to_string())
            }
            _ => Err("its `action` must be `accept`, `decline` or `cancel`".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;

    #[test]
    fn every_action_is_parsed() {
        type Read = Result<Answer<BTreeMap<String, u8>>, String>;
        let read = |value| -> Read { Answer::read(value) };
        let filled = BTreeMap::from([("a".to_owned(), 1)]);
        assert_eq!(
            read(json!({"action": "accept", "content": {"a": 1}})),
            Ok(Answer::Accepted(filled))
        );
        assert_eq!(
            read(json!({"action": "accept"})),
            Ok(Answer::Accepted(BTreeMap::new()))
        );
        assert_eq!(read(json!({"action": "decline"})), Ok(Answer::Declined));
        assert_eq!(
            read(json!({"action": "cancel", "content": 1})),
            Ok(Answer::Cancelled)
        );
        for wrong in [
            json!(1),
            json!({}),
            json!({"action": "accept", "content": {"a": "b"}}),
        ] {
            assert!(read(wrong).is_err());
        }
    }

    #[test]
    fn declined_and_cancelled_are_errors() {
        assert_eq!(Answer::Accepted(1).accepted().unwrap(), 1);
        let code = |answer: Answer<u8>| answer.accepted().unwrap_err().code().to_owned();
        assert_eq!(code(Answer::Declined), "input_declined");
        assert_eq!(code(Answer::Cancelled), "input_cancelled");
    }
}
