//! The events of one call, for tests.
//!
//! A subscriber that is the default while its call is polled and wherever a span of the call is entered, such as in tasks and on
//! threads that carry the span. So the events of tests that run at the same time do not mix. It forwards everything to the
//! subscriber that was the default before.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use tracing::dispatcher::{self, DefaultGuard, Dispatch, WeakDispatch};
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_core::span::Current;

/// One event of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LogEvent {
    /// The level.
    pub level: Level,
    /// The target: the path of a module, unless the event sets another.
    pub target: String,
    /// The message.
    pub message: String,
    /// The other fields, as text.
    pub fields: BTreeMap<String, String>,
    /// The spans around the event, the outermost first. The first is the span of the call.
    pub spans: Vec<LogSpan>,
}

/// A span around an event.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LogSpan {
    /// Its name.
    pub name: &'static str,
    /// Its fields, as text.
    pub fields: BTreeMap<String, String>,
}

impl LogEvent {
    /// A field of the event, or of the innermost span that has it.
    pub fn field(&self, name: &str) -> Option<&str> {
        let around = self.spans.iter().rev().map(|span| &span.fields);
        let mut all = std::iter::once(&self.fields).chain(around);
        all.find_map(|fields| fields.get(name)).map(String::as_str)
    }
}

/// The level, the message and the fields.
impl fmt::Display for LogEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.level, self.message)?;
        for (name, value) in &self.fields {
            write!(f, " {name}={value}")?;
        }
        Ok(())
    }
}

/// The subscriber of one call.
#[derive(Clone)]
pub(crate) struct Capture(Arc<Inner>);

struct Inner {
    before: Dispatch,
    /// This subscriber, as tracing knows it.
    own: OnceLock<WeakDispatch>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    events: Vec<LogEvent>,
    /// All spans of the call. The id of a span is its index plus 1.
    spans: Vec<SpanState>,
}

struct SpanState {
    metadata: &'static Metadata<'static>,
    fields: BTreeMap<String, String>,
    parent: Option<Id>,
    /// The same span in the subscriber before.
    before: Option<Id>,
}

/// A span that a thread has entered.
struct Entered {
    /// The capture of the span.
    of: *const Inner,
    span: Id,
    /// Makes the capture the default subscriber of the thread until the span is exited.
    default: Option<DefaultGuard>,
}

thread_local! {
    /// The spans that this thread has entered.
    static ENTERED: RefCell<Vec<Entered>> = const { RefCell::new(Vec::new()) };
}

impl Capture {
    /// A subscriber that has captured nothing yet. The current default subscriber gets everything as well.
    pub(crate) fn new() -> Self {
        Self(Arc::new(Inner {
            before: dispatcher::get_default(Clone::clone),
            own: OnceLock::new(),
            state: Mutex::default(),
        }))
    }

    pub(crate) fn dispatch(&self) -> Dispatch {
        Dispatch::new(self.clone())
    }

    /// The events so far, the oldest first.
    pub(crate) fn events(&self) -> Vec<LogEvent> {
        self.0.state().events.clone()
    }

    /// The span that this thread is in.
    fn current(&self) -> Option<Id> {
        let own = Arc::as_ptr(&self.0);
        ENTERED.with_borrow(|entered| {
            let innermost = entered.iter().rev().find(|entered| entered.of == own);
            innermost.map(|entered| entered.span.clone())
        })
    }

    /// The span around a span or an event: the parent that it names, else the one that the thread is in.
    fn parent(&self, named: Option<&Id>, is_root: bool) -> Option<Id> {
        match named {
            None if !is_root => self.current(),
            named => named.cloned(),
        }
    }
}

impl Inner {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The same span in the subscriber before.
    fn before(&self, id: &Id) -> Option<Id> {
        self.state().span(id)?.before.clone()
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        let spans = std::mem::take(&mut self.state().spans);
        for id in spans.into_iter().rev().filter_map(|span| span.before) {
            self.before.try_close(id);
        }
    }
}

impl State {
    fn span(&mut self, id: &Id) -> Option<&mut SpanState> {
        let index = usize::try_from(id.into_u64() - 1).ok()?;
        self.spans.get_mut(index)
    }
}

impl Subscriber for Capture {
    fn on_register_dispatch(&self, dispatch: &Dispatch) {
        // A capture is registered once.
        let _ = self.0.own.set(dispatch.downgrade());
    }

    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(LevelFilter::TRACE)
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        // The subscriber before has other ids, so a parent that is named means nothing to it.
        let forwarded = attributes.parent().is_none() && self.0.before.enabled(attributes.metadata());
        let span = SpanState {
            metadata: attributes.metadata(),
            fields: fields.0,
            parent: self.parent(attributes.parent(), attributes.is_root()),
            before: forwarded.then(|| self.0.before.new_span(attributes)),
        };
        let mut state = self.0.state();
        state.spans.push(span);
        Id::from_u64(state.spans.len() as u64)
    }

    fn record(&self, id: &Id, values: &Record<'_>) {
        let mut fields = Fields::default();
        values.record(&mut fields);
        if let Some(span) = self.0.state().span(id) {
            span.fields.extend(fields.0);
        }
        if let Some(id) = self.0.before(id) {
            self.0.before.record(&id, values);
        }
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let message = fields.0.remove("message").unwrap_or_default();
        let mut parent = self.parent(event.parent(), event.is_root());
        let mut spans = Vec::new();
        let mut state = self.0.state();
        while let Some(span) = parent.as_ref().and_then(|id| state.span(id)) {
            spans.push(LogSpan {
                name: span.metadata.name(),
                fields: span.fields.clone(),
            });
            parent.clone_from(&span.parent);
        }
        spans.reverse();
        state.events.push(LogEvent {
            level: *event.metadata().level(),
            target: event.metadata().target().to_owned(),
            message,
            fields: fields.0,
            spans,
        });
        drop(state);
        if self.0.before.enabled(event.metadata()) {
            self.0.before.event(event);
        }
    }

    fn enter(&self, id: &Id) {
        // The subscriber before goes first: it may be the capture of an outer call, and the inner one must be the default.
        if let Some(id) = self.0.before(id) {
            self.0.before.enter(&id);
        }
        let own = self.0.own.get().and_then(WeakDispatch::upgrade);
        let entered = Entered {
            of: Arc::as_ptr(&self.0),
            span: id.clone(),
            default: own.map(|own| dispatcher::set_default(&own)),
        };
        ENTERED.with_borrow_mut(|all| all.push(entered));
    }

    fn exit(&self, id: &Id) {
        let own = Arc::as_ptr(&self.0);
        let exited = ENTERED.with_borrow_mut(|all| {
            let is_it = |entered: &Entered| entered.of == own && entered.span == *id;
            Some(all.remove(all.iter().rposition(is_it)?))
        });
        // Outside of the borrow: this makes the subscriber before the default again.
        drop(exited.and_then(|exited| exited.default));
        if let Some(id) = self.0.before(id) {
            self.0.before.exit(&id);
        }
    }

    fn current_span(&self) -> Current {
        let current = self.current();
        let mut state = self.0.state();
        match current.and_then(|id| Some((state.span(&id)?.metadata, id))) {
            Some((metadata, id)) => Current::new(id, metadata),
            None => Current::none(),
        }
    }
}

/// Fields as text.
#[derive(Default)]
struct Fields(BTreeMap<String, String>);

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name().to_owned(), value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.insert(field.name().to_owned(), format!("{value:?}"));
    }
}
