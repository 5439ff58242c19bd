//! The fields of spans in the log in JSON.
//!
//! Every call has a span, and most spans end before anything is logged. So what they hold is written as text at once, in
//! one go; the formatter of `tracing_subscriber` makes a tree of values of it first, and reads it again for each
//! field that comes later.

use std::fmt;

use serde::Serialize;
use serde_json::{Map, Value};
use tracing::field::{Field, Visit};
use tracing::span::Record;
use tracing_subscriber::field::RecordFields;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FormatFields, FormattedFields};

/// Room for the fields of most spans, in bytes.
const USUAL: usize = 192;

/// Writes the fields of a span as a JSON object. Of several fields of one name the last counts.
pub(super) struct JsonFields;

impl<'writer> FormatFields<'writer> for JsonFields {
    fn format_fields<R: RecordFields>(&self, mut writer: Writer<'writer>, fields: R) -> fmt::Result {
        let mut object = Object::new(USUAL);
        fields.record(&mut object);
        writer.write_str(&object.closed())
    }

    fn add_fields(&self, current: &'writer mut FormattedFields<Self>, fields: &Record<'_>) -> fmt::Result {
        let mut added = Object::new(0);
        fields.record(&mut added);
        current.fields = joined(&current.fields, &added.closed()).map_err(|_| fmt::Error)?;
        Ok(())
    }
}

/// The members of two objects. Those of the second take the place of those of the first, so that a field which is recorded
/// again and again takes no more room.
fn joined(first: &str, second: &str) -> serde_json::Result<String> {
    if first.is_empty() {
        return Ok(second.to_owned());
    }
    let mut members: Map<String, Value> = serde_json::from_str(first)?;
    members.append(&mut serde_json::from_str(second)?);
    serde_json::to_string(&members)
}

/// A JSON object without its end.
struct Object(Vec<u8>);

impl Object {
    fn new(room: usize) -> Self {
        Self(Vec::with_capacity(room))
    }

    fn closed(mut self) -> String {
        self.0
            .extend_from_slice(if self.0.is_empty() { b"{}" } else { b"}" });
        // `serde_json` writes UTF-8.
        String::from_utf8(self.0).unwrap_or_default()
    }

    fn field(&mut self, field: &Field, value: &(impl Serialize + ?Sized)) {
        self.0.push(if self.0.is_empty() { b'{' } else { b',' });
        // A name that is a word of the language is written with a prefix in source code.
        let name = field.name();
        self.json(name.strip_prefix("r#").unwrap_or(name));
        self.0.push(b':');
        self.json(value);
    }

    fn json(&mut self, value: &(impl Serialize + ?Sized)) {
        // Plain values are always written.
        drop(serde_json::to_writer(&mut self.0, value));
    }
}

impl Visit for Object {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.field(field, value);
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.field(field, &format!("{value:?}"));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.field(field, &value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.field(field, &value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.field(field, &value);
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.field(field, &value);
    }

    fn record_bytes(&mut self, field: &Field, value: &[u8]) {
        self.field(field, value);
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, Mutex};

    use serde_json::json;
    use tracing::Subscriber;
    use tracing_subscriber::fmt::MakeWriter;
    use tracing_subscriber::layer::SubscriberExt;
    use tracing_subscriber::registry;

    use super::*;

    /// What was logged.
    #[derive(Clone, Default)]
    struct Log(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Log {
        fn write(&mut self, text: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(text);
            Ok(text.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl MakeWriter<'_> for Log {
        type Writer = Self;

        fn make_writer(&self) -> Self {
            self.clone()
        }
    }

    impl Log {
        /// The lines, without the time.
        fn lines(&self) -> Vec<Value> {
            let text = self.0.lock().unwrap().clone();
            let line = |line: &str| {
                let mut line: Value = serde_json::from_str(line).unwrap();
                line.as_object_mut().unwrap().remove("timestamp");
                line
            };
            String::from_utf8(text).unwrap().lines().map(line).collect()
        }
    }

    fn logged(subscriber: impl Subscriber + Send + Sync, log: &Log) -> Vec<Value> {
        tracing::subscriber::with_default(subscriber, || {
            let outer = tracing::info_span!("none");
            let _outer = outer.enter();
            tracing::info!("in an empty span");
            let inner = tracing::info_span!(
                "inner",
                text = "a \"b\"\\\n\u{1}é\u{7f}",
                empty = "",
                yes = true,
                low = -1,
                high = u64::MAX,
                wide = u128::MAX,
                half = 0.5,
                nan = f64::NAN,
                shown = %"a\"",
                debugged = ?Some("a"),
                bytes = [1_u8, 2].as_slice(),
                r#type = ?"t",
                error = &io::Error::other("e") as &(dyn std::error::Error + 'static),
                absent = None::<&str>,
                later = tracing::field::Empty,
                twice = 1,
            );
            inner.in_scope(|| tracing::warn!(own = 1, "inside"));
            inner.record("later", "x\ty");
            inner.record("twice", 2);
            inner.in_scope(|| tracing::warn!("again"));
            let late = tracing::info_span!(
                "late",
                rows = tracing::field::Empty,
                label = tracing::field::Empty
            );
            late.in_scope(|| tracing::info!("nothing is known"));
            for row in 0..1000 {
                late.record("rows", row);
            }
            late.record("label", "\"}");
            late.record("label", "{\"rows\":1}");
            late.in_scope(|| tracing::info!("all is known"));
        });
        log.lines()
    }

    #[test]
    fn the_log_is_the_one_of_the_library() {
        let (ours, theirs) = (Log::default(), Log::default());
        let layer = |log: &Log| {
            let layer = tracing_subscriber::fmt::layer().with_writer(log.clone()).json();
            layer
                .flatten_event(true)
                .with_current_span(true)
                .with_span_list(true)
        };
        let found = logged(registry().with(layer(&ours).fmt_fields(JsonFields)), &ours);
        assert_eq!(found, logged(registry().with(layer(&theirs)), &theirs));
        assert_eq!(found.len(), 5);
        assert_eq!(found[0]["span"], json!({"name": "none"}));
        assert_eq!(found[1]["span"]["text"], "a \"b\"\\\n\u{1}é\u{7f}");
        assert_eq!(found[2]["span"]["later"], "x\ty");
        assert_eq!(found[2]["spans"][1]["twice"], 2);
        assert_eq!(found[4]["span"]["rows"], 999);
        assert_eq!(found[4]["span"]["label"], r#"{"rows":1}"#);
        let text = String::from_utf8(ours.0.lock().unwrap().clone()).unwrap();
        assert!(
            text.lines().all(|line| line.len() < 1500),
            "what was recorded first is gone"
        );
    }
}
