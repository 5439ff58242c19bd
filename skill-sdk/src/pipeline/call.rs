//! The input and the outcome of a call.

use std::fmt;

use serde_json::{Value, json};

use crate::context::Meta;
use crate::error::SkillError;
use crate::handler::Attachment;

/// One call of a skill.
#[derive(Debug)]
pub struct Call {
    pub(super) inputs: Inputs,
    pub(super) meta: Meta,
}

/// The inputs of a call, as JSON text. Only their length is printed.
pub(super) struct Inputs(pub(super) Vec<u8>);

impl fmt::Debug for Inputs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.0.len())
    }
}

impl Call {
    /// A call with the JSON text `inputs`, as it came over the wire.
    pub fn json(inputs: impl Into<Vec<u8>>, meta: Meta) -> Self {
        Self {
            inputs: Inputs(inputs.into()),
            meta,
        }
    }
}

/// The outcome of a call.
pub struct CallOutcome {
    pub(super) result: Result<Vec<u8>, SkillError>,
    pub(super) attachments: Vec<Attachment>,
    pub(super) cost: Option<Value>,
    pub(super) undeclared: Vec<String>,
}

impl CallOutcome {
    /// The outputs as JSON text: an object that conforms to the contract.
    ///
    /// # Errors
    ///
    /// The failure of the call: an error of the skill, a violation of the contract, or an error of the pipeline, such as `timeout`.
    pub fn result(&self) -> Result<&[u8], &SkillError> {
        self.result.as_deref()
    }

    /// The attachments. Empty for failed calls.
    pub fn attachments(&self) -> &[Attachment] {
        &self.attachments
    }

    /// Takes the attachments.
    #[cfg(any(feature = "http", feature = "mcp", feature = "testing"))]
    pub(crate) fn take_attachments(&mut self) -> Vec<Attachment> {
        std::mem::take(&mut self.attachments)
    }

    /// The cost document. Failed calls have one too, which callers do not see.
    pub fn cost(&self) -> Option<&Value> {
        self.cost.as_ref()
    }

    /// Names that the skill used through its context without declaring them, as arguments of the attribute.
    pub fn undeclared(&self) -> &[String] {
        &self.undeclared
    }

    /// The outputs or the failure, and the cost.
    pub fn into_parts(self) -> (Result<Vec<u8>, SkillError>, Option<Value>) {
        (self.result, self.cost)
    }

    /// `{"outputs", "cost"}` or `{"error"}` as JSON: the response of protocols that have one document for it. With attachments
    /// it has a third field `attachments`, an array of content blocks as MCP writes them.
    ///
    /// # Errors
    ///
    /// The document `{"error"}` of a failed call.
    pub fn into_document(self) -> Result<String, String> {
        let attachments = match self.attachments.as_slice() {
            [] => String::new(),
            attachments => format!(",\"attachments\":{}", json!(attachments)),
        };
        match self.result {
            // Their text: a `Value` would round large integers.
            Ok(outputs) => {
                let (outputs, cost) = (String::from_utf8_lossy(&outputs), json!(self.cost));
                Ok(format!("{{\"outputs\":{outputs},\"cost\":{cost}{attachments}}}"))
            }
            Err(error) => Err(json!({"error": error}).to_string()),
        }
    }
}

/// Safe for logs: no outputs, and only the code of a failure.
impl fmt::Debug for CallOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut completed = f.debug_struct("CallOutcome");
        match &self.result {
            Ok(outputs) => completed.field("outputs", &format_args!("{} bytes", outputs.len())),
            Err(error) => completed.field("failed", &error.code()),
        };
        completed
            .field("attachments", &self.attachments)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::Environment;

    #[test]
    fn what_callers_and_skills_say_is_not_printed() {
        let mut meta = Meta::new("test");
        meta.idempotency_key = Some("hunter2".into());
        meta.settings.insert("a".into(), "hunter2".into());
        meta.environment = Environment::from_vars([("A".to_owned(), "hunter2".to_owned())]);
        let call = Call::json(r#"{"text": "hunter2"}"#, meta);
        let error = SkillError::terminal("denied", "hunter2").with_details(json!("hunter2"));
        let completed = |result| CallOutcome {
            result,
            attachments: vec![Attachment::text("hunter2")],
            cost: Some(json!({"hunter2": 1})),
            undeclared: vec!["hunter2".into()],
        };
        let printed = [
            format!("{call:?}"),
            format!("{:?}", completed(Ok(b"hunter2".to_vec()))),
            format!("{:?}", completed(Err(error))),
            format!(
                "{:?}",
                crate::handler::Written {
                    json: b"hunter2".to_vec(),
                    attachments: vec![Attachment::text("hunter2")],
                }
            ),
        ];
        for text in printed {
            assert!(
                !text.contains("hunter2") && !text.contains("104, 117, 110"),
                "{text}"
            );
        }
    }
}
