//! Requests to the client.

use serde_json::Value;
#[cfg(feature = "mcp")]
use serde_json::json;

/// A request to the client.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum InputRequest {
    /// A form for the user.
    Form {
        /// The message for the user.
        message: String,
        /// The schema of the content. The protocol allows an object whose properties are strings, numbers, booleans and choices.
        schema: Value,
    },
    /// A reply of the client's own model. Revision 2026-07-28 of the protocol deprecates it.
    Sample {
        /// The message for the model, as the user's.
        prompt: String,
        /// The most tokens of the reply.
        max_tokens: u32,
    },
    /// The folders that the client works on. Revision 2026-07-28 of the protocol deprecates it.
    Roots,
}

/// The kinds of requests. Clients support some of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum InputKind {
    /// A form for the user.
    Form,
    /// A reply of the client's own model.
    Sample,
    /// The folders that the client works on.
    Roots,
}

impl InputKind {
    /// The name of the client's capability.
    pub(crate) fn capability(self) -> &'static str {
        match self {
            Self::Form => "elicitation",
            Self::Sample => "sampling",
            Self::Roots => "roots",
        }
    }
}

impl InputRequest {
    /// Its kind.
    pub(crate) fn kind(&self) -> InputKind {
        match self {
            Self::Form { .. } => InputKind::Form,
            Self::Sample { .. } => InputKind::Sample,
            Self::Roots => InputKind::Roots,
        }
    }

    /// The method of the protocol.
    #[cfg(feature = "mcp")]
    pub(crate) fn method(&self) -> &'static str {
        match self {
            Self::Form { .. } => "elicitation/create",
            Self::Sample { .. } => "sampling/createMessage",
            Self::Roots => "roots/list",
        }
    }

    /// The parameters of the protocol's method.
    #[cfg(feature = "mcp")]
    pub(crate) fn params(&self) -> Value {
        match self {
            Self::Form { message, schema } => json!({"message": message, "requestedSchema": schema}),
            Self::Sample { prompt, max_tokens } => json!({
                "messages": [{"role": "user", "content": {"type": "text", "text": prompt}}],
                "maxTokens": max_tokens,
            }),
            Self::Roots => json!({}),
        }
    }
}

/// Shows the kind only: questions may contain inputs.
impl std::fmt::Debug for InputRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("InputRequest").field(&self.kind()).finish()
    }
}
