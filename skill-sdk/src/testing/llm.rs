//! A language model that says what a test tells it to.

use std::sync::Arc;

use serde_json::Value;

use super::fail;
use super::shared::Shared;
use crate::context::LlmUsage;
use crate::error::SkillError;
use crate::platform::llm::{Asked, ChatError, ChatModel, LlmClient, Prompt, Reply};

/// A language model that says what a test tells it to.
///
/// Its answers are checked against the type that the skill asks for, like those of a real model. One that does not fit is a
/// mistake of the test, not a reason to repeat: the call fails with `skill_error`, and the log says what does not fit.
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

/// What a [`FakeLlm`] answers: a value, a failure, or what a function of the call says.
#[derive(Clone)]
pub struct FakeAnswer(Arc<Function>);

type Function = dyn Fn(&Prompt) -> Result<Value, SkillError> + Send + Sync;

impl FakeAnswer {
    /// What `function` says of the call.
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

/// The call fails as with a real model that failed.
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
    /// Answers in this order. One call more than there are answers panics in the test.
    pub fn answers<A: Into<FakeAnswer>>(answers: impl IntoIterator<Item = A>) -> Self {
        Self::new(Answers::InOrder(answers.into_iter().map(Into::into).collect()))
    }

    /// Always says the same.
    pub fn always(answer: impl Into<FakeAnswer>) -> Self {
        Self::new(Answers::Always(answer.into()))
    }

    /// Always asks `function`, which gets the call and gives a value or a failure.
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

    /// Sets what each call takes: the model `fake-model`, 10 tokens of the prompt and 5 of the answer unless it is set.
    #[must_use]
    pub fn usage(mut self, usage: LlmUsage) -> Self {
        self.usage = usage;
        self
    }

    /// What it was asked so far, behind the personal-data guard, the oldest call first. Clones share it.
    pub fn calls(&self) -> Vec<Prompt> {
        self.seen.lock().calls.clone()
    }

    /// A client that asks it, for [`Services`](crate::context::Services) or [`configure_llm`](crate::configure_llm).
    pub fn client(&self) -> LlmClient {
        LlmClient::new(self.clone())
    }

    /// Panics when it was asked more often than it has answers. The panic inside of the skill did not reach the test.
    pub(super) fn panic_if_exhausted(&self) {
        let exhausted = self.seen.lock().exhausted.clone();
        if let Some(message) = exhausted {
            fail(&message);
        }
    }

    fn answer(&self, prompt: &Prompt) -> Result<Reply, ChatError> {
        if let Some(correction) = &prompt.correction {
            let message = "FakeLlm: the answer does not fit what the skill asked for";
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
                        "FakeLlm: call {number} of the model, but {} answers are expected to be enough",
                        answers.len()
                    );
                    self.seen.lock().exhausted = Some(message.clone());
                    fail(&message)
                }
            },
        };
        // Out of the lock: the function may ask for the calls.
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
