//! The events of one call, for tests.
//!
//! A subscriber that is the default while its call is polled and wherever a span of the call is entered: in tasks and on
//! threads that took one along. So calls of tests that run at the same time do not mix. Whatever it gets it also hands to the
//! subscriber that was the default before.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
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
    /// How grave it is.
    pub level: Level,
    /// Where it comes from: the path of a module, unless its author says otherwise.
    pub target: String,
    /// Its text.
    pub message: String,
    /// Its other fields, as text.
    pub fields: BTreeMap<String, String>,
    /// The spans around it, the outermost first. The first one is that of the call.
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

/// The level and the text.
impl fmt::Display for LogEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.level, self.message)?;
        for (name, value) in &self.fields {
            write!(f, " {name}={value}")?;
        }
        Ok(())
    }
}

/// Where the events of a call go.
#[derive(Clone)]
pub(crate) struct Capture(Arc<Inner>);

struct Inner {
    before: Dispatch,
    /// This subscriber, as others know it.
    own: OnceLock<WeakDispatch>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    events: Vec<LogEvent>,
    spans: HashMap<u64, SpanState>,
    /// How many ids were given to spans that the subscriber before does not want.
    own: u64,
}

struct SpanState {
    metadata: &'static Metadata<'static>,
    fields: BTreeMap<String, String>,
    parent: Option<u64>,
    handles: usize,
    is_own: bool,
}

/// A span that a thread is in.
struct Entered {
    /// The capture that the span belongs to.
    of: usize,
    span: u64,
    /// Makes the capture the default here until the span is left, where it was not.
    default: Option<DefaultGuard>,
}

thread_local! {
    /// The spans that this thread is in.
    static ENTERED: RefCell<Vec<Entered>> = const { RefCell::new(Vec::new()) };
}

impl Capture {
    /// Nothing is captured yet. The subscriber that is the default here gets everything as well.
    pub(crate) fn new() -> Self {
        Self(Arc::new(Inner {
            before: dispatcher::get_default(Clone::clone),
            own: OnceLock::new(),
            state: Mutex::default(),
        }))
    }

    /// The subscriber.
    pub(crate) fn dispatch(&self) -> Dispatch {
        Dispatch::new(self.clone())
    }

    /// The events so far, the oldest first.
    pub(crate) fn events(&self) -> Vec<LogEvent> {
        self.state().events.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn address(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    fn current(&self) -> Option<u64> {
        let own = self.address();
        ENTERED.with_borrow(|entered| {
            let innermost = entered.iter().rev().find(|entered| entered.of == own);
            innermost.map(|entered| entered.span)
        })
    }

    /// The span around a span or an event: the one that it names, else the one that the thread is in.
    fn parent(&self, named: Option<&Id>, is_root: bool) -> Option<u64> {
        match named {
            Some(parent) => Some(parent.into_u64()),
            None if is_root => None,
            None => self.current(),
        }
    }

    /// Makes this the default of the thread, if it is not.
    fn as_default(&self) -> Option<DefaultGuard> {
        let own = self.address();
        let is_default = |default: &Dispatch| {
            default
                .downcast_ref::<Self>()
                .is_some_and(|default| default.address() == own)
        };
        if dispatcher::get_default(is_default) {
            return None;
        }
        let dispatch = self.0.own.get()?.upgrade()?;
        Some(dispatcher::set_default(&dispatch))
    }

    /// Whether the subscriber before knows the span by the same id.
    fn is_shared(&self, id: &Id) -> bool {
        let state = self.state();
        state.spans.get(&id.into_u64()).is_some_and(|span| !span.is_own)
    }
}

impl Subscriber for Capture {
    fn on_register_dispatch(&self, dispatch: &Dispatch) {
        // It is registered once.
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
        let parent = self.parent(attributes.parent(), attributes.is_root());
        let before = &self.0.before;
        // A parent that is named has to be one that the subscriber before knows.
        let has_place = attributes.parent().is_none_or(|parent| self.is_shared(parent));
        let shared =
            (has_place && before.enabled(attributes.metadata())).then(|| before.new_span(attributes));
        let mut state = self.state();
        let id = shared.as_ref().map_or_else(
            || {
                state.own += 1;
                u64::MAX - state.own
            },
            Id::into_u64,
        );
        let span = SpanState {
            metadata: attributes.metadata(),
            fields: fields.0,
            parent,
            handles: 1,
            is_own: shared.is_none(),
        };
        state.spans.insert(id, span);
        Id::from_u64(id)
    }

    fn record(&self, id: &Id, values: &Record<'_>) {
        let mut fields = Fields::default();
        values.record(&mut fields);
        if let Some(span) = self.state().spans.get_mut(&id.into_u64()) {
            span.fields.extend(fields.0);
        }
        if self.is_shared(id) {
            self.0.before.record(id, values);
        }
    }

    /// Nothing that a test looks at.
    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let message = fields.0.remove("message").unwrap_or_default();
        let parent = self.parent(event.parent(), event.is_root());
        {
            let mut state = self.state();
            let mut spans = Vec::new();
            let mut next = parent;
            while let Some(span) = next.and_then(|id| state.spans.get(&id)) {
                spans.push(LogSpan {
                    name: span.metadata.name(),
                    fields: span.fields.clone(),
                });
                next = span.parent;
            }
            spans.reverse();
            state.events.push(LogEvent {
                level: *event.metadata().level(),
                target: event.metadata().target().to_owned(),
                message,
                fields: fields.0,
                spans,
            });
        }
        if self.0.before.enabled(event.metadata()) {
            self.0.before.event(event);
        }
    }

    fn enter(&self, id: &Id) {
        // The one before first: it may be the capture of a call that makes this one, and the inner one is the default.
        if self.is_shared(id) {
            self.0.before.enter(id);
        }
        let default = self.as_default();
        let entered = Entered {
            of: self.address(),
            span: id.into_u64(),
            default,
        };
        ENTERED.with_borrow_mut(|all| all.push(entered));
    }

    fn exit(&self, id: &Id) {
        let (of, span) = (self.address(), id.into_u64());
        let left = ENTERED.with_borrow_mut(|all| {
            let at = all
                .iter()
                .rposition(|entered| entered.of == of && entered.span == span)?;
            Some(all.remove(at))
        });
        // Out of the borrow: what was the default before is it again.
        drop(left.and_then(|left| left.default));
        if self.is_shared(id) {
            self.0.before.exit(id);
        }
    }

    fn clone_span(&self, id: &Id) -> Id {
        if self.is_shared(id) {
            self.0.before.clone_span(id);
        }
        if let Some(span) = self.state().spans.get_mut(&id.into_u64()) {
            span.handles += 1;
        }
        id.clone()
    }

    fn try_close(&self, id: Id) -> bool {
        let shared = self.is_shared(&id);
        let closed = {
            let mut state = self.state();
            match state.spans.get_mut(&id.into_u64()) {
                Some(span) if span.handles > 1 => {
                    span.handles -= 1;
                    false
                }
                _ => state.spans.remove(&id.into_u64()).is_some(),
            }
        };
        if shared {
            self.0.before.try_close(id);
        }
        closed
    }

    fn current_span(&self) -> Current {
        let state = self.state();
        let current = self.current();
        match current.and_then(|id| Some((id, state.spans.get(&id)?))) {
            Some((id, span)) => Current::new(Id::from_u64(id), span.metadata),
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
