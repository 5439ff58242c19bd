//! What a skill asks a model.

/// What a model is asked: instructions, messages and options.
///
/// ```
/// use skill_sdk::ChatRequest;
///
/// let request = ChatRequest::new("You sort claims.")
///     .user("A tree fell on my car.")
///     .max_tokens(500);
/// ```
#[derive(Clone, Default, PartialEq)]
#[must_use]
pub struct ChatRequest {
    pub(super) system: String,
    pub(super) messages: Vec<Message>,
    pub(crate) schema_name: Option<String>,
    pub(super) temperature: f64,
    pub(super) max_tokens: Option<u32>,
}

/// One message of a conversation.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What is said.
    pub content: String,
}

/// Who speaks in a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Role {
    /// The one who asks.
    User,
    /// The model.
    Assistant,
}

impl Role {
    /// The word for it on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

impl ChatRequest {
    /// A request with instructions for the model and no message yet.
    pub fn new(system_prompt: impl Into<String>) -> Self {
        Self {
            system: system_prompt.into(),
            ..Self::default()
        }
    }

    /// Adds a message of the one who asks.
    pub fn user(self, content: impl AsRef<str>) -> Self {
        self.message(Role::User, content.as_ref())
    }

    /// Adds a message of the model: an example, or the conversation so far.
    pub fn assistant(self, content: impl AsRef<str>) -> Self {
        self.message(Role::Assistant, content.as_ref())
    }

    fn message(mut self, role: Role, content: &str) -> Self {
        self.messages.push(Message {
            role,
            content: content.to_owned(),
        });
        self
    }

    /// Names the schema of the answer, for the model and for logs. The default is the name of the type.
    ///
    /// What is not an ASCII letter, a digit, `_` or `-` becomes `_`; 64 characters count.
    pub fn schema_name(mut self, name: impl Into<String>) -> Self {
        self.schema_name = Some(name.into());
        self
    }

    /// How freely the model chooses, from 0 (the default: as little as it can) to 2. What is not a number in this range is
    /// taken for the nearest end, `NaN` for 0. A model that has no such option is asked without it.
    pub fn temperature(mut self, temperature: f64) -> Self {
        self.temperature = if temperature.is_nan() {
            0.0
        } else {
            temperature.clamp(0.0, 2.0)
        };
        self
    }

    /// The most tokens that the answer may have. The default is the model's.
    pub fn max_tokens(mut self, tokens: u32) -> Self {
        self.max_tokens = Some(tokens);
        self
    }
}

// No texts: they may hold personal data.
debug_fields!(ChatRequest {
    messages,
    schema_name,
    temperature,
    max_tokens
});

debug_fields!(Message { role });
