//! Trace contexts and the spans that are exported.

use opentelemetry::trace::{SpanContext, SpanId, TraceContextExt, TraceFlags, TraceId, TraceState};
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt;

use super::TraceContext;

/// Makes the caller's span the parent of `span`. Nothing happens where traces are not exported.
pub(crate) fn follow(span: &Span, trace: &TraceContext) {
    let text = trace.traceparent();
    let ids = (TraceId::from_hex(&text[3..35]), SpanId::from_hex(&text[36..52]));
    let (Ok(trace_id), Ok(span_id)) = ids else {
        return;
    };
    let flags = if text.ends_with('1') {
        TraceFlags::SAMPLED
    } else {
        TraceFlags::default()
    };
    // A state of a form that the recommendation does not know is not handed on.
    let state = trace
        .tracestate()
        .and_then(|state| state.parse::<TraceState>().ok());
    let parent = SpanContext::new(trace_id, span_id, flags, true, state.unwrap_or_default());
    let context = opentelemetry::Context::new().with_remote_span_context(parent);
    drop(span.set_parent(context));
}

/// The trace context of a span that may be exported.
pub(crate) fn recorded(span: &Span) -> Option<TraceContext> {
    let context = span.context();
    let entered = context.span();
    let own = entered.span_context();
    own.is_valid().then(|| TraceContext {
        traceparent: format!(
            "00-{}-{}-{:02x}",
            own.trace_id(),
            own.span_id(),
            u8::from(own.is_sampled())
        ),
        tracestate: Some(own.trace_state().header()).filter(|state| !state.is_empty()),
    })
}
