//! The user of a call in a test.

use std::collections::BTreeMap;
use std::future::ready;
use std::sync::Arc;

use serde_json::Value;

use crate::context::{InputChannel, InputKind, InputRequest, Responding};
use crate::error::SkillError;

/// What the user of a call answers, by the names of the questions.
#[derive(Debug, Default)]
pub(super) struct Answers(BTreeMap<String, Value>);

impl Answers {
    pub(super) fn add(&mut self, name: String, response: Value) {
        self.0.insert(name, response);
    }

    /// Nobody is there when nothing is to be answered, as on most hosts.
    pub(super) fn into_channel(self) -> Option<Arc<dyn InputChannel>> {
        (!self.0.is_empty()).then(|| Arc::new(self) as _)
    }
}

impl InputChannel for Answers {
    fn supports(&self, _: InputKind) -> bool {
        true
    }

    fn request<'a>(&'a self, name: &'a str, _: InputRequest) -> Responding<'a> {
        let response = self.0.get(name).cloned().ok_or_else(|| {
            let known: Vec<_> = self.0.keys().map(String::as_str).collect();
            let message = format!(
                "the test answers {}, and the skill asks for `{name}`: add `.answer(\"{name}\", …)`",
                known.join(", ")
            );
            SkillError::terminal("input_not_supported", message)
        });
        Box::pin(ready(response))
    }
}
