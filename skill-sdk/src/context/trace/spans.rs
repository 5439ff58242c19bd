//! Trace contexts and the spans that are exported.

use std::collections::HashMap;

use opentelemetry::propagation::TextMapPropagator;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt;

use super::TraceContext;

/// Makes the caller's span the parent of `span`. Has no effect if traces are not exported.
pub(crate) fn follow(span: &Span, trace: &TraceContext) {
    let headers = trace.clone().into_headers().into_iter();
    let headers: HashMap<_, _> = headers.map(|(name, value)| (name.to_owned(), value)).collect();
    drop(span.set_parent(TraceContextPropagator::new().extract(&headers)));
}

/// The trace context of a span that may be exported.
pub(crate) fn recorded(span: &Span) -> Option<TraceContext> {
    let mut headers = HashMap::new();
    TraceContextPropagator::new().inject_context(&span.context(), &mut headers);
    let state = headers.get("tracestate").map(String::as_str);
    TraceContext::parse(headers.get("traceparent")?, state)
}
