//! Log events of a call. They never contain inputs, outputs or secrets.

use tracing::Span;

use super::call::CallOutcome;
use crate::context::{SkillContext, TraceContext, id_for_log};
use crate::error::SkillError;
use crate::handler::Written;

/// The longest message of a failure that the platform stores, in characters.
const MAX_MESSAGE: usize = 4000;

/// The largest outputs that the platform stores, in bytes.
const MAX_OUTPUTS: usize = 256 * 1024;

/// The largest cost document that the platform stores, in bytes.
const MAX_COST: usize = 64 * 1024;

/// The span of a call; every event inside it carries its fields.
pub(super) fn span(context: &SkillContext) -> Span {
    let trace_id = context.trace().map(TraceContext::trace_id);
    let invocation_id = context.invocation_id().map(id_for_log);
    // All known fields are set here: to record a field later, the JSON log parses all others again.
    let span = tracing::info_span!(
        "skill",
        // In alphabetical order, as the JSON log prints them.
        invocation_id = invocation_id.as_deref(),
        protocol = context.protocol(),
        skill = context.skill(),
        trace_id,
    );
    #[cfg(feature = "telemetry")]
    {
        if let Some(trace) = context.trace() {
            crate::context::follow(&span, trace);
        }
        if let Some(own) = crate::context::recorded(&span) {
            if trace_id != Some(own.trace_id()) {
                span.record("trace_id", own.trace_id());
            }
            context.runs_in(&span);
        }
    }
    span
}

/// Logs the outcome of a call, and cuts messages that the platform would reject.
pub(super) fn finish(context: &SkillContext, result: Result<Written, SkillError>) -> CallOutcome {
    let cost = context.cost_document();
    let mut attachments = Vec::new();
    let result = match result {
        Ok(written) => {
            attachments = written.attachments;
            let outputs = written.json;
            if outputs.len() > MAX_OUTPUTS {
                let (bytes, limit) = (outputs.len(), MAX_OUTPUTS);
                tracing::warn!(bytes, limit, "the outputs are larger than the platform stores");
            }
            if let Some(bytes) = cost
                .as_ref()
                .map(|cost| cost.to_string().len())
                .filter(|&size| size > MAX_COST)
            {
                tracing::warn!(
                    bytes,
                    limit = MAX_COST,
                    "the cost is larger than the platform stores"
                );
            }
            tracing::debug!("the call succeeded");
            Ok(outputs)
        }
        Err(mut error) => {
            log_failure(&error, cost.as_ref());
            if error.cut_message(MAX_MESSAGE) {
                tracing::warn!(limit = MAX_MESSAGE, "the message of the failure was cut");
            }
            Err(error)
        }
    };
    CallOutcome {
        result,
        attachments,
        cost,
        undeclared: context.undeclared(),
    }
}

fn log_failure(error: &SkillError, cost: Option<&serde_json::Value>) {
    let code = error.code();
    let retryable = error.is_retryable();
    let source = sources(error);
    let cost = cost.map(tracing::field::display);
    #[cfg(feature = "telemetry")]
    {
        use tracing_opentelemetry::OpenTelemetrySpanExt;
        let span = Span::current();
        span.set_status(opentelemetry::trace::Status::error(code.to_owned()));
        span.set_attribute("error.type", code.to_owned());
    }
    if let Some(refused) = error.refused_code() {
        tracing::error!(
            code = refused,
            "an error code is not of the form [a-z0-9][a-z0-9_.-]{{0,99}}"
        );
    }
    if error.is_crash() {
        tracing::error!(code, retryable, source, cost, "the call crashed");
    } else if code == super::OUTPUT_CONTRACT_VIOLATION {
        tracing::error!(code, retryable, source, cost, "the call failed");
    } else {
        tracing::info!(code, retryable, source, cost, "the call failed");
    }
}

/// The sources of a failure, outermost first, in one line.
fn sources(error: &SkillError) -> Option<String> {
    let mut source = std::error::Error::source(error);
    let mut texts = Vec::new();
    while let Some(error) = source {
        // The message of a failure is for the caller: it may quote inputs or settings.
        texts.push(match error.downcast_ref::<SkillError>() {
            Some(failure) => failure.code().to_owned(),
            None => error.to_string(),
        });
        source = error.source();
    }
    (!texts.is_empty()).then(|| texts.join(": "))
}
