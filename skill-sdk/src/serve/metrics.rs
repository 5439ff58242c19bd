//! Metrics in the text format of Prometheus.

use std::collections::HashSet;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use prometheus_client::encoding::prometheus_text;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use serde_json::Value;

/// How many codes, or units, of one skill get a label of their own. Authors choose them, so their number must be bounded.
const MOST_NAMES: usize = 50;

/// The label of all codes and units after the first [`MOST_NAMES`].
const OTHERS: &str = "other";

/// The upper bounds of the duration buckets in seconds. The last is the longest timeout that a contract allows.
const BUCKETS: [f64; 18] = [
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 600.0,
    3600.0,
];

type Labels<const N: usize> = [(&'static str, Arc<str>); N];
type Cost = Counter<f64, AtomicU64>;
type Durations = Family<Labels<1>, Histogram, fn() -> Histogram>;

/// The metrics of one skill. Those of calls that succeed without a cost need no look-up.
pub(crate) struct SkillMetrics {
    calls: Counter,
    duration: Histogram,
    in_flight: Gauge,
    abandoned: Gauge,
    slow_polls: Counter,
    errors: Named<Counter>,
    cost: Named<Cost>,
}

impl SkillMetrics {
    /// A call was admitted.
    pub(super) fn begun(&self) {
        self.in_flight.inc();
    }

    /// A call ended, with the code of its failure if it failed.
    pub(super) fn ended(&self, time: Duration, code: Option<&str>) {
        self.in_flight.dec();
        self.calls.inc();
        self.duration.observe(time.as_secs_f64());
        if let Some(code) = code {
            self.errors.get(code).inc();
        }
    }

    /// A call consumed what the cost document says.
    pub(super) fn cost(&self, cost: &Value) {
        let units = cost["units"].as_object().into_iter().flatten();
        for (unit, amount) in units {
            self.consumed(unit, amount.as_f64());
        }
        let llm = &cost["llm"];
        for (member, unit) in [
            ("calls", "llm_call"),
            ("promptTokens", "llm_prompt_token"),
            ("completionTokens", "llm_completion_token"),
            ("costUsd", "llm_usd"),
        ] {
            self.consumed(unit, llm[member].as_f64());
        }
    }

    /// Takes over what others count: slots that are taken (more than calls in flight when threads go on although their calls are
    /// over), and polls that blocked their thread.
    pub(super) fn set(&self, slots_taken: usize, slow_polls: u64) {
        self.slow_polls.inner().store(slow_polls, Ordering::Relaxed);
        let taken = i64::try_from(slots_taken).unwrap_or(i64::MAX);
        self.abandoned
            .set(taken.saturating_sub(self.in_flight.get()).max(0));
    }

    fn consumed(&self, unit: &str, amount: Option<f64>) {
        // Counters only go up, and stay finite.
        if let Some(amount) = amount.filter(|amount| *amount > 0.0) {
            let counter = self.cost.get(unit);
            counter.inc_by(amount.min(f64::MAX - counter.get()));
        }
    }
}

/// Metrics of one skill by a name that its author chose: a code or a unit.
struct Named<M> {
    skill: Arc<str>,
    label: &'static str,
    family: Family<Labels<2>, M>,
    names: Mutex<HashSet<String>>,
}

impl<M: Default + Clone> Named<M> {
    fn new(skill: &str, label: &'static str, family: &Family<Labels<2>, M>) -> Self {
        let (skill, family, names) = (skill.into(), family.clone(), Mutex::default());
        Self {
            skill,
            label,
            family,
            names,
        }
    }

    /// The metric of this name, or of [`OTHERS`] when there are too many.
    fn get(&self, name: &str) -> M {
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        let is_known = names.contains(name) || (names.len() < MOST_NAMES && names.insert(name.to_owned()));
        let name = if is_known { name } else { OTHERS };
        self.family
            .get_or_create_owned(&[("skill", Arc::clone(&self.skill)), (self.label, name.into())])
    }
}

/// Declares the metrics, each with its name behind `skill_sdk_` and its meaning, and registers them.
macro_rules! metrics {
    ($($field:ident: $type:ty = $new:expr, $name:literal, $help:literal;)*) => {
        /// All that a server counts.
        pub(crate) struct Metrics {
            registry: Registry,
            $(#[doc = $help] pub(crate) $field: $type,)*
        }

        impl Metrics {
            fn registered() -> Self {
                let mut registry = Registry::default();
                $(
                    let $field: $type = $new;
                    registry.register(concat!("skill_sdk_", $name), $help, $field.clone());
                )*
                Self { registry, $($field,)* }
            }
        }
    };
}

metrics! {
    build: Family<Labels<1>, Gauge> = Family::default(), "build_info", "The version of skill-sdk";
    calls: Family<Labels<1>, Counter> = Family::default(), "calls", "Calls that ended";
    errors: Family<Labels<2>, Counter> = Family::default(), "call_errors", "Calls that failed, by the code of the failure";
    duration: Durations = Family::new_with_constructor(histogram), "call_duration_seconds", "How long calls took, validation included";
    in_flight: Family<Labels<1>, Gauge> = Family::default(), "calls_in_flight", "Calls that run now";
    abandoned: Family<Labels<1>, Gauge> = Family::default(), "calls_abandoned", "Calls that ended while the thread of their skill goes on";
    slow_polls: Family<Labels<1>, Counter> = Family::default(), "slow_polls", "Times that an async fn blocked its thread for more than 100 ms";
    cost: Family<Labels<2>, Cost> = Family::default(), "cost_units", "What calls that ended consumed, by the unit of the cost";
    rejections: Family<Labels<1>, Counter> = Family::default(), "refusals", "Requests that were rejected before a skill was called, by code";
    connections: Gauge = Gauge::default(), "connections", "Connections that are open now";
    connections_opened: Counter = Counter::default(), "connections_opened", "Connections that were opened";
    connections_rejected: Counter = Counter::default(), "connections_refused", "Connections that were over the limit";
}

fn histogram() -> Histogram {
    Histogram::new(BUCKETS)
}

impl Metrics {
    pub(super) fn new() -> Self {
        let metrics = Self::registered();
        let version = [("version", env!("CARGO_PKG_VERSION").into())];
        metrics.build.get_or_create(&version).set(1);
        metrics
    }

    /// The metrics of a skill, all at zero.
    pub(super) fn of_skill(&self, reference: &str) -> SkillMetrics {
        let labels = [("skill", reference.into())];
        SkillMetrics {
            calls: self.calls.get_or_create_owned(&labels),
            duration: self.duration.get_or_create_owned(&labels),
            in_flight: self.in_flight.get_or_create_owned(&labels),
            abandoned: self.abandoned.get_or_create_owned(&labels),
            slow_polls: self.slow_polls.get_or_create_owned(&labels),
            errors: Named::new(reference, "code", &self.errors),
            cost: Named::new(reference, "unit", &self.cost),
        }
    }

    /// A request was rejected before a skill was called.
    pub(super) fn rejected(&self, code: &str) {
        self.rejections.get_or_create(&[("code", code.into())]).inc();
    }

    /// All as Prometheus reads it.
    pub(super) fn text(&self) -> Result<String, fmt::Error> {
        let mut text = String::new();
        prometheus_text::encode(&mut text, &self.registry)?;
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_names_of_authors_have_an_end() {
        let metrics = Metrics::new();
        let skill = metrics.of_skill("a@1");
        for index in 0..200 {
            skill.begun();
            skill.ended(Duration::ZERO, Some(&format!("code_{index}")));
            skill.cost(&json!({"units": {(format!("unit {index}")): 0.5}}));
        }
        let text = metrics.text().unwrap();
        let lines = |start: &str| text.lines().filter(|line| line.starts_with(start)).count();
        assert_eq!(lines("skill_sdk_call_errors_total{"), MOST_NAMES + 1);
        assert_eq!(lines("skill_sdk_cost_units_total{"), MOST_NAMES + 1);
        assert!(text.contains("skill_sdk_call_errors_total{skill=\"a@1\",code=\"other\"} 150\n"));
        assert!(text.contains("skill_sdk_cost_units_total{skill=\"a@1\",unit=\"other\"} 75"));
    }

    #[test]
    fn amounts_that_would_go_down_are_left_out() {
        let metrics = Metrics::new();
        let skill = metrics.of_skill("a@1");
        skill.cost(&json!({"units": {"page": 2.0}}));
        skill.cost(&json!({"units": {"page": -1.0, "other": -1.0}, "llm": {"calls": 1, "promptTokens": 7}}));
        for _ in 0..3 {
            skill.cost(&json!({"units": {"huge": 1e308}}));
        }
        let text = metrics.text().unwrap();
        let mut cost: Vec<_> = text
            .lines()
            .filter(|line| line.starts_with("skill_sdk_cost_units_total{"))
            .collect();
        cost.sort_unstable();
        let line = |unit: &str, sum: &str| {
            format!("skill_sdk_cost_units_total{{skill=\"a@1\",unit=\"{unit}\"}} {sum}")
        };
        let expected = [
            line("huge", "1.7976931348623157e308"),
            line("llm_call", "1.0"),
            line("llm_prompt_token", "7.0"),
            line("page", "2.0"),
        ];
        assert_eq!(cost, expected);
    }

    #[test]
    fn any_text_is_a_label() {
        let metrics = Metrics::new();
        let skill = metrics.of_skill("a\"b\\c\nd@1");
        skill.begun();
        skill.ended(Duration::ZERO, None);
        let text = metrics.text().unwrap();
        assert!(
            text.contains("skill_sdk_calls_total{skill=\"a\\\"b\\\\c\\nd@1\"} 1\n"),
            "{text}"
        );
    }
}
