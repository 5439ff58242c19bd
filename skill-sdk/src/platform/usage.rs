//! Usage of a language model.

/// What one request to a model consumed.
///
/// ```
/// use skill_sdk::LlmUsage;
///
/// let usage = LlmUsage::new("model-1").tokens(100, 20).price(0.004);
/// assert_eq!(usage.total_tokens, 120);
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
#[must_use]
pub struct LlmUsage {
    /// The model that replied. An empty name is not listed in the cost.
    pub model: String,
    /// Tokens of the prompt.
    pub prompt_tokens: u64,
    /// Tokens of the reply.
    pub completion_tokens: u64,
    /// Total tokens, as the provider counts them.
    pub total_tokens: u64,
    /// The price in US dollars, when the provider names one.
    pub cost_usd: Option<f64>,
}

impl LlmUsage {
    /// Usage of the model `model`, without tokens or a price.
    pub fn new(model: impl Into<String>) -> Self {
        Self {
            model: model.into(),
            ..Self::default()
        }
    }

    /// Sets the tokens of the prompt and of the reply. The total is their sum.
    pub fn tokens(mut self, prompt: u64, completion: u64) -> Self {
        self.prompt_tokens = prompt;
        self.completion_tokens = completion;
        self.total_tokens = prompt.saturating_add(completion);
        self
    }

    /// Sets the price in US dollars. The cost ignores a price that is not finite.
    pub fn price(mut self, usd: f64) -> Self {
        self.cost_usd = Some(usd);
        self
    }

    /// Adds the usage of another request. The model is the last one with a name.
    #[cfg(feature = "llm")]
    pub(crate) fn add(&mut self, other: &Self) {
        self.prompt_tokens = self.prompt_tokens.saturating_add(other.prompt_tokens);
        self.completion_tokens = self.completion_tokens.saturating_add(other.completion_tokens);
        self.total_tokens = self.total_tokens.saturating_add(other.total_tokens);
        add_price(&mut self.cost_usd, other.cost_usd);
        if !other.model.is_empty() {
            self.model.clone_from(&other.model);
        }
    }
}

/// A price that is not finite is left out.
pub(crate) fn add_price(sum: &mut Option<f64>, price: Option<f64>) {
    if let Some(price) = price.filter(|price| price.is_finite()) {
        *sum.get_or_insert_default() += price;
    }
}
