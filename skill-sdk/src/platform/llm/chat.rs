//! One conversation: PII redaction, model fallback, one re-prompt for an invalid reply, usage.

use serde_json::Value;
use tracing::Instrument;

use super::answer::{Misfit, Wanted};
use super::model::{ChatError, ChatModel, Correction, Prompt, Reply};
use super::request::ChatRequest;
use crate::error::SkillError;
use crate::platform::LlmUsage;
use crate::platform::pii::{self, Found};

/// How often one model is asked: once, and once more with what is wrong.
const ATTEMPTS: usize = 2;

/// The valid JSON object of a reply. Its usage is added to `usage`, also when the conversation fails or is dropped.
pub(super) async fn chat(
    provider: &dyn ChatModel,
    request: ChatRequest,
    wanted: &Wanted,
    usage: &mut LlmUsage,
) -> Result<Value, SkillError> {
    let mut prompt = redacted(request, wanted);
    let mut conversation = Conversation {
        provider,
        wanted,
        usage,
    };
    let mut last = SkillError::retryable("llm_not_configured", "no model is configured");
    for model in provider.models() {
        prompt.correction = None;
        match conversation.ask_model(&model, &mut prompt).await {
            Ok(value) => return Ok(value),
            Err(unanswered) if !unanswered.next => return Err(unanswered.error),
            Err(unanswered) => last = unanswered.error,
        }
    }
    Err(last)
}

/// The request without personal data.
fn redacted(mut request: ChatRequest, wanted: &Wanted) -> Prompt {
    let mut found = Found::new();
    let contents = request.messages.iter_mut().map(|message| &mut message.content);
    for text in contents.chain([&mut request.system]) {
        *text = pii::replace(text, &mut found);
    }
    if !found.is_empty() {
        let counts: Vec<_> = found
            .iter()
            .map(|(kind, count)| format!("{kind}: {count}"))
            .collect();
        tracing::info!(
            found = counts.join(", "),
            "personal data was replaced before the model was asked"
        );
    }
    Prompt {
        system_prompt: request.system,
        messages: request.messages,
        schema: wanted.schema(),
        temperature: request.temperature,
        max_tokens: request.max_tokens,
        correction: None,
    }
}

struct Conversation<'a> {
    provider: &'a dyn ChatModel,
    wanted: &'a Wanted,
    usage: &'a mut LlmUsage,
}

impl Conversation<'_> {
    /// Asks one model, and once more if its reply is not valid.
    async fn ask_model(&mut self, model: &str, prompt: &mut Prompt) -> Result<Value, ChatError> {
        let mut misfit = None;
        for _ in 0..ATTEMPTS {
            let reply = self.ask(model, prompt).await?;
            let Misfit {
                for_model,
                for_caller,
            } = match self.wanted.read(&reply.text) {
                Ok(value) => return Ok(value),
                Err(misfit) => misfit,
            };
            // Paths contain names that the model made up.
            let for_caller = pii::redact(&for_caller).text;
            tracing::debug!(model, why = for_caller, "the reply of the model is not valid");
            // The reply may contain personal data that was not in the prompt.
            prompt.correction = Some(Correction {
                answer: pii::redact(&reply.text).text,
                why: pii::redact(&for_model).text,
            });
            misfit = Some(for_caller);
        }
        let model = if model.is_empty() { "default" } else { model };
        let message = format!(
            "no model gave valid JSON ({model}: {})",
            misfit.unwrap_or_default()
        );
        let error = SkillError::retryable("llm_invalid_response", message);
        Err(ChatError::next(error))
    }

    /// Asks a model once.
    async fn ask(&mut self, model: &str, prompt: &Prompt) -> Result<Reply, ChatError> {
        let span = tracing::info_span!(
            "llm",
            otel.kind = "client",
            gen_ai.operation.name = "chat",
            gen_ai.provider.name = self.provider.provider(),
            gen_ai.request.model = model,
            gen_ai.response.model = tracing::field::Empty,
            gen_ai.usage.input_tokens = tracing::field::Empty,
            gen_ai.usage.output_tokens = tracing::field::Empty,
            error.type = tracing::field::Empty,
        );
        let asked = self.provider.ask(model, prompt).instrument(span.clone()).await;
        let usage = match &asked {
            Ok(reply) => &reply.usage,
            Err(unanswered) => {
                span.record("error.type", unanswered.error.code());
                &unanswered.usage
            }
        };
        span.record("gen_ai.response.model", usage.model.as_str());
        span.record("gen_ai.usage.input_tokens", usage.prompt_tokens);
        span.record("gen_ai.usage.output_tokens", usage.completion_tokens);
        self.usage.add(usage);
        asked
    }
}
