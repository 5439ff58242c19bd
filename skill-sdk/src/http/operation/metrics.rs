//! What is counted, and `GET /metrics`.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{
    DescriptorEncoder, EncodeGaugeValue, MetricEncoder, NoLabelSet, prometheus_text,
};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::Registry;
use serde_json::Value;

use super::latency::Latency;
use crate::pipeline::Abandoned;

/// How many codes, or units, of one skill are counted apart. Authors choose them, so there must be an end.
const MOST_NAMES: usize = 50;

/// What is counted of the codes and units that came after the first [`MOST_NAMES`].
const OTHERS: &str = "other";

/// What is counted of one skill. Written without a lock for calls that succeed and cost nothing.
#[derive(Debug, Default)]
pub(crate) struct SkillCounters {
    /// Calls that run now.
    pub(super) in_flight: AtomicUsize,
    /// Threads that calls left behind.
    pub(super) abandoned: Abandoned,
    calls: AtomicU64,
    latency: Latency,
    errors: Names<u64>,
    cost: Names<f64>,
}

impl SkillCounters {
    /// A call ended, with the code of its failure if it failed.
    pub(super) fn ended(&self, time: Duration, code: Option<&str>) {
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.latency.observe(time);
        if let Some(code) = code {
            self.errors.add(code, 1);
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

    fn consumed(&self, unit: &str, amount: Option<f64>) {
        // Counters only go up.
        if let Some(amount) = amount.filter(|amount| *amount > 0.0) {
            self.cost.add(unit, amount);
        }
    }
}

/// Sums by name, with a bound on the names.
#[derive(Debug, Default)]
struct Names<T>(Mutex<BTreeMap<String, T>>);

impl<T: Copy + Default + std::ops::AddAssign> Names<T> {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, T>> {
        // No panic can leave a sum half-written.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, name: &str, amount: T) {
        let mut sums = self.lock();
        if let Some(sum) = sums.get_mut(name) {
            *sum += amount;
            return;
        }
        let name = if sums.len() < MOST_NAMES { name } else { OTHERS };
        *sums.entry(name.to_owned()).or_default() += amount;
    }

    fn all(&self) -> BTreeMap<String, T> {
        self.lock().clone()
    }
}

/// What is counted of the host as a whole.
#[derive(Debug, Default)]
struct HostCounters {
    refusals: Names<u64>,
    connections: AtomicUsize,
    connections_opened: AtomicU64,
    connections_refused: AtomicU64,
}

/// All that a host counts.
pub(crate) struct Metrics {
    registry: Registry,
    skills: Arc<Vec<(String, Arc<SkillCounters>)>>,
    by_reference: HashMap<String, Arc<SkillCounters>>,
    host: Arc<HostCounters>,
}

impl Metrics {
    /// Counters of these skills, all at zero. Threads that they leave behind are counted in `abandoned` as well.
    pub(super) fn new<'a>(references: impl Iterator<Item = &'a str>, abandoned: &Abandoned) -> Self {
        let skills: Vec<_> = references
            .map(|reference| {
                let counters = SkillCounters {
                    abandoned: abandoned.part(),
                    ..SkillCounters::default()
                };
                (reference.to_owned(), Arc::new(counters))
            })
            .collect();
        let skills = Arc::new(skills);
        let host = Arc::<HostCounters>::default();
        let mut registry = Registry::default();
        registry.register_collector(Box::new(All {
            skills: Arc::clone(&skills),
            host: Arc::clone(&host),
        }));
        Self {
            registry,
            by_reference: skills.iter().cloned().collect(),
            skills,
            host,
        }
    }

    /// The counters of a skill.
    pub(super) fn of_skill(&self, reference: &str) -> Arc<SkillCounters> {
        self.by_reference.get(reference).cloned().unwrap_or_default()
    }

    /// A request was refused before a skill was called.
    pub(super) fn refused(&self, code: &str) {
        self.host.refusals.add(code, 1);
    }

    /// A connection was opened; gives how many are open now, with it.
    pub(in crate::http) fn connection_opened(&self) -> usize {
        self.host.connections_opened.fetch_add(1, Ordering::Relaxed);
        self.host.connections.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// A connection was closed.
    pub(in crate::http) fn connection_closed(&self) {
        self.host.connections.fetch_sub(1, Ordering::Relaxed);
    }

    /// A connection was over the limit.
    pub(in crate::http) fn connection_refused(&self) {
        self.host.connections_refused.fetch_add(1, Ordering::Relaxed);
    }

    /// All as Prometheus reads it.
    pub(super) fn text(&self) -> Result<String, fmt::Error> {
        let mut text = String::with_capacity(1024 + 2048 * self.skills.len());
        prometheus_text::encode(&mut text, &self.registry)?;
        Ok(text)
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics")
            .field("skills", &self.skills.len())
            .finish_non_exhaustive()
    }
}

/// Writes all counters in one pass.
#[derive(Debug)]
struct All {
    skills: Arc<Vec<(String, Arc<SkillCounters>)>>,
    host: Arc<HostCounters>,
}

impl Collector for All {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let skills = self.skills.as_slice();
        let mut family = |name: &str, help: &str, kind: MetricType, write: &Writer<'_>| {
            let mut metric = encoder.encode_descriptor(name, help, None, kind)?;
            write(&mut metric)
        };
        family(
            "skill_sdk_calls",
            "Calls that ended",
            MetricType::Counter,
            &each(skills, |skill, counters, metric| {
                counter(
                    metric,
                    &[("skill", skill)],
                    counters.calls.load(Ordering::Relaxed),
                )
            }),
        )?;
        family(
            "skill_sdk_call_errors",
            "Calls that failed, by the code of the failure",
            MetricType::Counter,
            &each(skills, |skill, counters, metric| {
                counters.errors.all().iter().try_for_each(|(code, count)| {
                    counter(metric, &[("skill", skill), ("code", code)], *count)
                })
            }),
        )?;
        family(
            "skill_sdk_call_duration_seconds",
            "How long calls took, checks and parsing included",
            MetricType::Histogram,
            &each(skills, |skill, counters, metric| {
                counters
                    .latency
                    .encode(metric.encode_family(&[("skill", skill)])?)
            }),
        )?;
        family(
            "skill_sdk_calls_in_flight",
            "Calls that run now",
            MetricType::Gauge,
            &gauges(skills, |counters| counters.in_flight.load(Ordering::Relaxed)),
        )?;
        family(
            "skill_sdk_calls_abandoned",
            "Calls that are over while the thread of their skill goes on",
            MetricType::Gauge,
            &gauges(skills, |counters| counters.abandoned.count()),
        )?;
        family(
            "skill_sdk_cost_units",
            "What calls that ended consumed, by the unit of the cost",
            MetricType::Counter,
            &each(skills, |skill, counters, metric| {
                counters.cost.all().iter().try_for_each(|(unit, amount)| {
                    let labels = [("skill", skill), ("unit", unit.as_str())];
                    metric
                        .encode_family(&labels)?
                        .encode_counter::<NoLabelSet, _, f64>(amount, None)
                })
            }),
        )?;
        family(
            "skill_sdk_refusals",
            "Requests that were refused before a skill was called, by the code of the refusal",
            MetricType::Counter,
            &|metric| {
                let refusals = self.host.refusals.all();
                refusals
                    .iter()
                    .try_for_each(|(code, count)| counter(metric, &[("code", code)], *count))
            },
        )?;
        family(
            "skill_sdk_connections",
            "Connections that are open now",
            MetricType::Gauge,
            &|metric| gauge(metric, &signed(self.host.connections.load(Ordering::Relaxed))),
        )?;
        family(
            "skill_sdk_connections_opened",
            "Connections that were opened",
            MetricType::Counter,
            &|metric| plain(metric, self.host.connections_opened.load(Ordering::Relaxed)),
        )?;
        family(
            "skill_sdk_connections_refused",
            "Connections that were over the limit",
            MetricType::Counter,
            &|metric| plain(metric, self.host.connections_refused.load(Ordering::Relaxed)),
        )?;
        family(
            "skill_sdk_build_info",
            "The version of skill-sdk",
            MetricType::Gauge,
            &|metric| {
                let labels = [("version", env!("CARGO_PKG_VERSION"))];
                metric.encode_family(&labels)?.encode_gauge(&1_i64)
            },
        )
    }
}

type Writer<'a> = dyn Fn(&mut MetricEncoder<'_>) -> fmt::Result + 'a;

/// Writes one metric of each skill.
fn each<'a>(
    skills: &'a [(String, Arc<SkillCounters>)],
    write: impl Fn(&str, &SkillCounters, &mut MetricEncoder<'_>) -> fmt::Result + 'a,
) -> impl Fn(&mut MetricEncoder<'_>) -> fmt::Result + 'a {
    move |metric| {
        let mut skills = skills.iter();
        skills.try_for_each(|(skill, counters)| write(skill, counters, metric))
    }
}

/// Writes one gauge of each skill.
fn gauges<'a>(
    skills: &'a [(String, Arc<SkillCounters>)],
    count: impl Fn(&SkillCounters) -> usize + 'a,
) -> impl Fn(&mut MetricEncoder<'_>) -> fmt::Result + 'a {
    each(skills, move |skill, counters, metric| {
        let count = signed(count(counters));
        metric.encode_family(&[("skill", skill)])?.encode_gauge(&count)
    })
}

fn counter<const N: usize>(
    metric: &mut MetricEncoder<'_>,
    labels: &[(&str, &str); N],
    count: u64,
) -> fmt::Result {
    plain(&mut metric.encode_family(labels)?, count)
}

fn plain(metric: &mut MetricEncoder<'_>, count: u64) -> fmt::Result {
    metric.encode_counter::<NoLabelSet, _, f64>(&count, None)
}

fn gauge(metric: &mut MetricEncoder<'_>, value: &impl EncodeGaugeValue) -> fmt::Result {
    metric.encode_gauge(value)
}

fn signed(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_names_of_authors_have_an_end() {
        let counters = SkillCounters::default();
        for index in 0..200 {
            counters.ended(Duration::ZERO, Some(&format!("code_{index}")));
            counters.cost(&json!({"units": {(format!("unit {index}")): 0.5}}));
        }
        let (errors, cost) = (counters.errors.all(), counters.cost.all());
        assert_eq!((errors.len(), errors[OTHERS]), (MOST_NAMES + 1, 150));
        assert_eq!((cost.len(), cost[OTHERS]), (MOST_NAMES + 1, 75.0));
    }

    #[test]
    fn amounts_that_would_go_down_are_left_out() {
        let counters = SkillCounters::default();
        counters.cost(&json!({"units": {"page": 2.0}}));
        counters
            .cost(&json!({"units": {"page": -1.0, "other": -1.0}, "llm": {"calls": 1, "promptTokens": 7}}));
        let cost = counters.cost.all();
        let expected = [("llm_call", 1.0), ("llm_prompt_token", 7.0), ("page", 2.0)];
        assert_eq!(cost, expected.map(|(unit, sum)| (unit.to_owned(), sum)).into());
    }

    #[test]
    fn any_text_is_a_label() {
        let metrics = Metrics::new(["a\"b\\c\nd@1"].into_iter(), &Abandoned::default());
        metrics.of_skill("a\"b\\c\nd@1").ended(Duration::ZERO, None);
        let text = metrics.text().unwrap();
        assert!(
            text.contains("skill_sdk_calls_total{skill=\"a\\\"b\\\\c\\nd@1\"} 1\n"),
            "{text}"
        );
    }
}
