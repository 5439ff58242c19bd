//! Captures the log of a test program.
//!
//! There is one log for the whole program, since a skill may run on any thread. A test finds its events by the invocation
//! id that it gave to its calls, so tests can run at the same time.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;

/// Fields of an event or span as strings. The message of an event is the field `message`.
pub type Fields = BTreeMap<String, String>;

/// One event.
#[derive(Debug, Clone)]
pub struct Logged {
    /// The level.
    pub level: Level,
    /// The fields of the event itself.
    pub fields: Fields,
    /// The fields of the enclosing spans, outermost first.
    pub spans: Vec<Fields>,
}

impl Logged {
    /// The message of the event.
    pub fn message(&self) -> &str {
        self.field("message")
    }

    /// A field of the event itself; empty if it is not set.
    pub fn field(&self, name: &str) -> &str {
        self.fields.get(name).map_or("", String::as_str)
    }

    /// A field of the enclosing spans; empty if it is not set.
    pub fn inherited(&self, name: &str) -> &str {
        let found = self.spans.iter().rev().find_map(|span| span.get(name));
        found.map_or("", String::as_str)
    }
}

fn log() -> MutexGuard<'static, Vec<Logged>> {
    static LOG: Mutex<Vec<Logged>> = Mutex::new(Vec::new());
    LOG.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Captures all events of this program at every level from now on. Can be called any number of times.
pub fn capture() {
    static INSTALLED: OnceLock<()> = OnceLock::new();
    INSTALLED.get_or_init(|| {
        let subscriber = tracing_subscriber::registry().with(Capture);
        tracing::subscriber::set_global_default(subscriber).expect("no other subscriber is installed");
    });
}

/// The events of the calls with this invocation id.
pub fn of_call(invocation_id: &str) -> Vec<Logged> {
    let all = log();
    let own = all
        .iter()
        .filter(|event| event.inherited("invocation_id") == invocation_id);
    own.cloned().collect()
}

/// The whole log as text: everything that a formatter could write.
pub fn text() -> String {
    log().iter().map(|event| format!("{event:?}\n")).collect()
}

struct Capture;

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Capture {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut fields = Collector::default();
        attributes.record(&mut fields);
        if let Some(span) = context.span(id) {
            span.extensions_mut().insert(fields);
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        if let Some(span) = context.span(id)
            && let Some(fields) = span.extensions_mut().get_mut::<Collector>()
        {
            values.record(fields);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut fields = Collector::default();
        event.record(&mut fields);
        let spans = context
            .event_scope(event)
            .into_iter()
            .flat_map(tracing_subscriber::registry::Scope::from_root);
        let spans = spans
            .filter_map(|span| {
                span.extensions()
                    .get::<Collector>()
                    .map(|fields| fields.0.clone())
            })
            .collect();
        log().push(Logged {
            level: *event.metadata().level(),
            fields: fields.0,
            spans,
        });
    }
}

#[derive(Default)]
struct Collector(Fields);

impl Visit for Collector {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name().to_owned(), value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name().to_owned(), format!("{value:?}"));
    }
}
