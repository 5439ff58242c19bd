//! Requests of skills to a model.

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
    /// The role of the speaker.
    pub role: Role,
    /// The text.
    pub content: String,
}

/// The role of a speaker in a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Role {
    /// The user.
    User,
    /// The model.
    Assistant,
}

impl Role {
    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

impl ChatRequest {
    /// A request with instructions for the model.
    pub fn new(system_prompt: impl Into<String>) -> Self {
        Self {
            system: system_prompt.into(),
            ..Self::default()
        }
    }

    /// Adds a message of the user.
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

    /// Names the schema of the reply, for the model. The default is the name of the type.
    ///
    /// Characters other than ASCII letters, digits, `_` and `-` become `_`. The name is cut after 64 characters.
    pub fn schema_name(mut self, name: impl Into<String>) -> Self {
        self.schema_name = Some(name.into());
        self
    }

    /// The sampling temperature, from 0 (the default) to 2. Other values become the nearest bound, and `NaN` becomes 0. A model
    /// that rejects this option is asked without it.
    pub fn temperature(mut self, temperature: f64) -> Self {
        self.temperature = if temperature.is_nan() {
            0.0
        } else {
            temperature.clamp(0.0, 2.0)
        };
        self
    }

    /// The most tokens of the reply. The default is the model's.
    pub fn max_tokens(mut self, tokens: u32) -> Self {
        self.max_tokens = Some(tokens);
        self
    }
}

// Texts may contain personal data and must not be logged.
debug_fields!(ChatRequest {
    messages,
    schema_name,
    temperature,
    max_tokens
});

debug_fields!(Message { role });
