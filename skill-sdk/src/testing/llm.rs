//! A language model that says what a test tells it to.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use super::fail;
use crate::context::LlmUsage;
use crate::error::SkillError;
use crate::platform::llm::{Asked, ChatError, ChatModel, LlmClient, Message, Prompt, Reply};

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
    shared: Arc<Shared>,
    usage: LlmUsage,
}

struct Shared {
    answers: Answers,
    seen: Mutex<Seen>,
}

enum Answers {
    InOrder(Vec<FakeAnswer>),
    Always(FakeAnswer),
}

#[derive(Default)]
struct Seen {
    calls: Vec<LlmCall>,
    exhausted: Option<String>,
}

/// What a [`FakeLlm`] answers: a value, a failure, or what a function of the call says.
#[derive(Clone)]
pub struct FakeAnswer(Arc<Function>);

type Function = dyn Fn(&LlmCall) -> Result<Value, SkillError> + Send + Sync;

impl FakeAnswer {
    /// What `function` says of the call.
    pub fn from_fn<A: Into<Self>>(function: impl Fn(&LlmCall) -> A + Send + Sync + 'static) -> Self {
        Self(Arc::new(move |call| {
            let FakeAnswer(answer) = function(call).into();
            answer(call)
        }))
    }
}

impl From<Value> for FakeAnswer {
    fn from(value: Value) -> Self {
        Self(Arc::new(move |_| Ok(value.clone())))
    }
}

/// The call fails as with a real model that failed.
impl From<SkillError> for FakeAnswer {
    fn from(error: SkillError) -> Self {
        Self(Arc::new(move |_| Err(error.clone())))
    }
}

impl From<Result<Value, SkillError>> for FakeAnswer {
    fn from(answer: Result<Value, SkillError>) -> Self {
        match answer {
            Ok(value) => value.into(),
            Err(error) => error.into(),
        }
    }
}

debug_fields!(FakeAnswer {});

/// What a model would have seen of one call, behind the personal-data guard.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct LlmCall {
    /// The instructions.
    pub system_prompt: String,
    /// The messages, the oldest first.
    pub messages: Vec<Message>,
    /// The name of the schema; `None` when any JSON object was asked for.
    pub schema_name: Option<String>,
    /// The schema that the answer is checked against.
    pub schema: Option<Value>,
    /// The temperature.
    pub temperature: f64,
    /// The most tokens of the answer.
    pub max_tokens: Option<u32>,
}

impl LlmCall {
    /// The last message; empty when there is none.
    pub fn prompt(&self) -> &str {
        self.messages.last().map_or("", |message| &message.content)
    }
}

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
    pub fn from_fn<A: Into<FakeAnswer>>(function: impl Fn(&LlmCall) -> A + Send + Sync + 'static) -> Self {
        Self::always(FakeAnswer::from_fn(function))
    }

    fn new(answers: Answers) -> Self {
        Self {
            shared: Arc::new(Shared {
                answers,
                seen: Mutex::default(),
            }),
            usage: LlmUsage::new("fake-model").tokens(10, 5),
        }
    }

    /// Sets the name of the model, `fake-model` unless it is set.
    #[must_use]
    pub fn model(mut self, name: impl Into<String>) -> Self {
        self.usage.model = name.into();
        self
    }

    /// Sets the tokens of each call: those of the prompt, those of the answer, and all. They are 10, 5 and 15 unless they
    /// are set.
    #[must_use]
    pub fn tokens(mut self, prompt: u64, completion: u64, total: u64) -> Self {
        self.usage.prompt_tokens = prompt;
        self.usage.completion_tokens = completion;
        self.usage.total_tokens = total;
        self
    }

    /// Sets the price of each call in US dollars. There is none unless it is set.
    #[must_use]
    pub fn price(mut self, cost_usd: f64) -> Self {
        self.usage.cost_usd = Some(cost_usd);
        self
    }

    /// What it was asked so far, the oldest call first. Clones share it.
    pub fn calls(&self) -> Vec<LlmCall> {
        self.seen().calls.clone()
    }

    /// A client that asks it, for [`Services`](crate::context::Services) or [`configure_llm`](crate::configure_llm).
    pub fn client(&self) -> LlmClient {
        LlmClient::new(self.clone())
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        // What it holds is written in one step each.
        self.shared.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Panics when it was asked more often than it has answers. The panic inside of the skill did not reach the test.
    pub(super) fn panic_if_exhausted(&self) {
        let exhausted = self.seen().exhausted.clone();
        if let Some(message) = exhausted {
            fail(&message);
        }
    }

    fn answer(&self, prompt: &Prompt) -> Result<Reply, ChatError> {
        let call = LlmCall {
            system_prompt: prompt.system.clone(),
            messages: prompt.messages.clone(),
            schema_name: prompt.schema.as_ref().map(|schema| schema.name.clone()),
            schema: prompt.schema.as_ref().map(|schema| schema.schema.clone()),
            temperature: prompt.temperature,
            max_tokens: prompt.max_tokens,
        };
        let number = {
            let mut seen = self.seen();
            seen.calls.push(call.clone());
            seen.calls.len()
        };
        let FakeAnswer(answer) = match &self.shared.answers {
            Answers::Always(answer) => answer,
            Answers::InOrder(answers) => match answers.get(number - 1) {
                Some(answer) => answer,
                None => {
                    let message = format!(
                        "FakeLlm: call {number} of the model, but {} answers are expected to be enough",
                        answers.len()
                    );
                    self.seen().exhausted = Some(message.clone());
                    fail(&message)
                }
            },
        };
        // Out of the lock: the function may ask for the calls.
        let value = answer(&call)?;
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

    fn misfit(&self, why: &str) -> Option<SkillError> {
        Some(SkillError::unclassified(
            "FakeLlm: the answer does not fit what the skill asked for",
            Some(why.into()),
        ))
    }
}

debug_fields!(FakeLlm { usage });
