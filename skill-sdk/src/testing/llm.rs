//! A mock of the language model.

use std::sync::Arc;

use serde_json::Value;

use super::fail;
use super::shared::Shared;
use crate::context::LlmUsage;
use crate::error::SkillError;
use crate::platform::llm::{Asked, ChatError, ChatModel, LlmClient, Prompt, Reply};

/// A mock of the language model.
///
/// Its replies are validated against the type that the skill asks for, like those of a real model. An invalid reply is an error of
/// the test, and does not cause a re-prompt: the call fails with `skill_error`, and the log contains the reason.
///
/// ```
/// use schemars::JsonSchema;
/// use serde::{Deserialize, Serialize};
/// use serde_json::json;
/// use skill_sdk::testing::{FakeLlm, invoke};
/// use skill_sdk::{ChatRequest, SkillContext, SkillError, skill};
///
/// #[derive(Deserialize, Serialize, JsonSchema)]
/// struct Verdict {
///     urgent: bool,
/// }
///
/// /// Whether a claim is urgent.
/// #[skill("claims.triage", version = "1", side_effects = "none", risk = "low")]
/// async fn triage(text: String, ctx: &SkillContext) -> Result<Verdict, SkillError> {
///     let request = ChatRequest::new("You triage claims.").user(&text);
///     Ok(ctx.llm()?.chat_json(request).await?.data)
/// }
///
/// let fake = FakeLlm::always(json!({"urgent": true}));
/// let inputs = json!({"text": "Call 8 912 345-67-89!"});
/// let result = invoke(triage::SKILL, inputs).llm(&fake).blocking().unwrap();
/// assert_eq!(result.outputs, json!({"urgent": true}));
/// assert_eq!(fake.calls()[0].prompt(), "Call [ПДн:телефон]!");
/// assert_eq!(result.cost.unwrap()["llm"]["totalTokens"], 15);
/// ```
#[derive(Clone)]
pub struct FakeLlm {
    answers: Arc<Answers>,
    seen: Shared<Seen>,
    usage: LlmUsage,
}

enum Answers {
    InOrder(Vec<FakeAnswer>),
    Always(FakeAnswer),
}

#[derive(Default)]
struct Seen {
    calls: Vec<Prompt>,
    exhausted: Option<String>,
}

/// A reply of a [`FakeLlm`]: a value, an error, or a function of the prompt.
#[derive(Clone)]
pub struct FakeAnswer(Arc<Function>);

type Function = dyn Fn(&Prompt) -> Result<Value, SkillError> + Send + Sync;

impl FakeAnswer {
    /// The result of `function`.
    pub fn from_fn<A: Into<Self>>(function: impl Fn(&Prompt) -> A + Send + Sync + 'static) -> Self {
        Self(Arc::new(move |call| {
            let FakeAnswer(answer) = function(call).into();
            answer(call)
        }))
    }
}

impl From<Value> for FakeAnswer {
    fn from(value: Value) -> Self {
        Ok(value).into()
    }
}

/// The request to the model fails.
impl From<SkillError> for FakeAnswer {
    fn from(error: SkillError) -> Self {
        Err(error).into()
    }
}

impl From<Result<Value, SkillError>> for FakeAnswer {
    fn from(answer: Result<Value, SkillError>) -> Self {
        Self(Arc::new(move |_| answer.clone()))
    }
}

debug_fields!(FakeAnswer {});

impl FakeLlm {
    /// Replies in this order. One more request panics in the test.
    pub fn answers<A: Into<FakeAnswer>>(answers: impl IntoIterator<Item = A>) -> Self {
        Self::new(Answers::InOrder(answers.into_iter().map(Into::into).collect()))
    }

    /// Always gives the same reply.
    pub fn always(answer: impl Into<FakeAnswer>) -> Self {
        Self::new(Answers::Always(answer.into()))
    }

    /// Calls `function` for each request. It returns a value or an error.
    pub fn from_fn<A: Into<FakeAnswer>>(function: impl Fn(&Prompt) -> A + Send + Sync + 'static) -> Self {
        Self::always(FakeAnswer::from_fn(function))
    }

    fn new(answers: Answers) -> Self {
        Self {
            answers: Arc::new(answers),
            seen: Shared::default(),
            usage: LlmUsage::new("fake-model").tokens(10, 5),
        }
    }

    /// Sets the usage of each request. The default is the model `fake-model` with 10 tokens of the prompt and 5 of the reply.
    #[must_use]
    pub fn usage(mut self, usage: LlmUsage) -> Self {
        self.usage = usage;
        self
    }

    /// The prompts so far, after PII redaction, the oldest first. Clones share them.
    pub fn calls(&self) -> Vec<Prompt> {
        self.seen.lock().calls.clone()
    }

    /// A client for [`Services`](crate::context::Services) or [`configure_llm`](crate::configure_llm).
    pub fn client(&self) -> LlmClient {
        LlmClient::new(self.clone())
    }

    /// Panics if it was asked more often than it has replies. The pipeline caught the panic inside the skill.
    pub(super) fn panic_if_exhausted(&self) {
        let exhausted = self.seen.lock().exhausted.clone();
        if let Some(message) = exhausted {
            fail(&message);
        }
    }

    fn answer(&self, prompt: &Prompt) -> Result<Reply, ChatError> {
        if let Some(correction) = &prompt.correction {
            let message = "FakeLlm: the reply is not valid for the type of the skill";
            return Err(SkillError::crash(message)
                .with_source(correction.why.as_str())
                .into());
        }
        let number = {
            let mut seen = self.seen.lock();
            seen.calls.push(prompt.clone());
            seen.calls.len()
        };
        let FakeAnswer(answer) = match &*self.answers {
            Answers::Always(answer) => answer,
            Answers::InOrder(answers) => match answers.get(number - 1) {
                Some(answer) => answer,
                None => {
                    let message = format!(
                        "FakeLlm: the skill sent request {number}, but there are only {} replies",
                        answers.len()
                    );
                    self.seen.lock().exhausted = Some(message.clone());
                    fail(&message)
                }
            },
        };
        // Outside of the lock: the function may read the calls.
        let value = answer(prompt)?;
        Ok(Reply::new(value.to_string(), self.usage.clone()))
    }
}

impl ChatModel for FakeLlm {
    fn provider(&self) -> &'static str {
        "fake"
    }

    fn ask<'a>(&'a self, _model: &'a str, prompt: &'a Prompt) -> Asked<'a> {
        Box::pin(async move { self.answer(prompt) })
    }
}

debug_fields!(FakeLlm { usage });
