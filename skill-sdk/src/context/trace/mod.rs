//! The W3C trace context of a call: from its caller, and for its own requests.

#[cfg(feature = "telemetry")]
mod spans;

#[cfg(feature = "telemetry")]
pub(crate) use self::spans::{follow, recorded};
use super::SkillContext;

/// The longest `tracestate` that is passed on, in characters. The recommendation requires support for this length.
const MAX_STATE: usize = 512;

/// The trace context of a caller: the headers `traceparent` and `tracestate`.
///
/// ```
/// use skill_sdk::context::TraceContext;
///
/// let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
/// let trace = TraceContext::parse(parent, Some("vendor=1")).unwrap();
/// assert_eq!(trace.trace_id(), "0af7651916cd43dd8448eb211c80319c");
/// assert_eq!(trace.traceparent(), parent);
/// assert!(TraceContext::parse("nonsense", None).is_none());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceContext {
    traceparent: String,
    tracestate: Option<String>,
}

impl TraceContext {
    /// Parses the values of the two headers. `None` if `traceparent` is invalid by the W3C recommendation. An invalid
    /// `tracestate` is dropped.
    pub fn parse(traceparent: &str, tracestate: Option<&str>) -> Option<Self> {
        let mut parts = traceparent.trim_matches([' ', '\t']).splitn(5, '-');
        let mut part = |length| parts.next().filter(|part| part.len() == length && is_hex(part));
        let (version, trace, parent, flags) = (part(2)?, part(32)?, part(16)?, part(2)?);
        // A later version may have more fields.
        let more = parts.next().is_some();
        let zero = |text: &str| text.bytes().all(|byte| byte == b'0');
        if version == "ff" || (version == "00" && more) || zero(trace) || zero(parent) {
            return None;
        }
        let sampled = u8::from_str_radix(flags, 16).ok()? & 1;
        let tracestate = tracestate
            .map(str::trim)
            .filter(|state| !state.is_empty() && state.len() <= MAX_STATE)
            .filter(|state| state.bytes().all(|byte| (b' '..=b'~').contains(&byte)));
        Some(Self {
            traceparent: format!("00-{trace}-{parent}-{sampled:02x}"),
            tracestate: tracestate.map(str::to_owned),
        })
    }

    /// The value of the header `traceparent`.
    pub fn traceparent(&self) -> &str {
        &self.traceparent
    }

    /// The value of the header `tracestate`.
    pub fn tracestate(&self) -> Option<&str> {
        self.tracestate.as_deref()
    }

    /// The id of the trace: 32 hexadecimal digits.
    pub fn trace_id(&self) -> &str {
        &self.traceparent[3..35]
    }

    /// The headers for a request.
    fn into_headers(self) -> Vec<(&'static str, String)> {
        let mut headers = vec![("traceparent", self.traceparent)];
        headers.extend(self.tracestate.map(|state| ("tracestate", state)));
        headers
    }
}

fn is_hex(text: &str) -> bool {
    text.bytes()
        .all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

impl SkillContext {
    /// The trace context of the caller.
    pub fn trace(&self) -> Option<&TraceContext> {
        self.0.meta.trace.as_ref()
    }

    /// The headers for your requests to other systems, which make their work appear in the same trace: `traceparent` and
    /// possibly `tracestate`.
    ///
    /// If the server exports traces, they contain the current span, or the span of the call. Otherwise they are the headers of the
    /// caller. The list is empty without a trace.
    ///
    /// ```
    /// # use skill_sdk::SkillContext;
    /// # fn call(ctx: &SkillContext) {
    /// for (name, value) in ctx.trace_headers() {
    ///     // request = request.header(name, value);
    /// #   let _ = (name, value);
    /// }
    /// # }
    /// ```
    pub fn trace_headers(&self) -> Vec<(&'static str, String)> {
        #[cfg(feature = "telemetry")]
        if let Some(own) =
            recorded(&tracing::Span::current()).or_else(|| self.0.span.get().and_then(recorded))
        {
            return own.into_headers();
        }
        self.trace()
            .cloned()
            .map(TraceContext::into_headers)
            .unwrap_or_default()
    }

    /// Sets the span of the call.
    #[cfg(feature = "telemetry")]
    pub(crate) fn runs_in(&self, span: &tracing::Span) {
        // A call runs once.
        let _ = self.0.span.set(span.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::TraceContext;

    const IDS: &str = "0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331";

    #[test]
    fn valid_parents_are_parsed() {
        for (text, expected) in [
            (format!("00-{IDS}-01"), "01"),
            (format!("00-{IDS}-00"), "00"),
            (format!(" 00-{IDS}-ff\t"), "01"),
            (format!("01-{IDS}-01"), "01"),
            (format!("cc-{IDS}-01-what.comes.later"), "01"),
        ] {
            let trace = TraceContext::parse(&text, None).unwrap();
            assert_eq!(trace.traceparent(), format!("00-{IDS}-{expected}"), "{text}");
        }
    }

    #[test]
    fn invalid_parents_are_rejected() {
        for text in [
            String::new(),
            IDS.to_owned(),
            format!("00-{IDS}"),
            format!("00-{IDS}-1"),
            format!("00-{IDS}-01-x"),
            format!("00-{IDS}-01-"),
            format!("01-{IDS}-01x"),
            format!("ff-{IDS}-01"),
            format!("0-{IDS}-01 "),
            format!("00_{IDS}-01"),
            format!("00-{}-01", IDS.to_uppercase()),
            format!("00-{}-b7ad6b7169203331-01", "0".repeat(32)),
            format!("00-0af7651916cd43dd8448eb211c80319c-{}-01", "0".repeat(16)),
            format!("00-{IDS}-0g"),
            format!("00-{}é-01", &IDS[..47]),
            "é".repeat(40),
        ] {
            assert_eq!(TraceContext::parse(&text, None), None, "{text}");
        }
    }

    #[test]
    fn invalid_states_are_dropped() {
        let state = |text: &str| {
            let trace = TraceContext::parse(&format!("00-{IDS}-01"), Some(text)).unwrap();
            trace.tracestate().map(str::to_owned)
        };
        assert_eq!(state(" a=1,b=2 ").as_deref(), Some("a=1,b=2"));
        for text in ["", "  ", "a=\u{e9}", "a=\n1", &"a".repeat(513)] {
            assert_eq!(state(text), None, "{text:?}");
        }
    }
}
