//! The user of a call in a test.

use std::collections::BTreeMap;
use std::future::ready;

use serde_json::Value;

use crate::context::{InputChannel, InputKind, InputRequest, Responding};
use crate::error::SkillError;

/// What the user answers, by the name of the question.
pub(super) type Answers = BTreeMap<String, Value>;

impl InputChannel for Answers {
    fn supports(&self, _: InputKind) -> bool {
        true
    }

    fn request<'a>(&'a self, name: &'a str, _: InputRequest) -> Responding<'a> {
        let response = self.get(name).cloned().ok_or_else(|| {
            let known: Vec<_> = self.keys().map(String::as_str).collect();
            let message = format!(
                "the test answers {}, and the skill asks for `{name}`: add `.answer(\"{name}\", …)`",
                known.join(", ")
            );
            SkillError::terminal("input_not_supported", message)
        });
        Box::pin(ready(response))
    }
}
