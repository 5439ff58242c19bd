//! A histogram of times that is written without a lock.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use prometheus_client::encoding::{MetricEncoder, NoLabelSet};

/// The upper bounds of the buckets, in microseconds: half a millisecond to an hour, the longest that a contract allows.
const BOUNDS: [u64; 18] = [
    500,
    1_000,
    2_500,
    5_000,
    10_000,
    25_000,
    50_000,
    100_000,
    250_000,
    500_000,
    1_000_000,
    2_500_000,
    5_000_000,
    10_000_000,
    30_000_000,
    60_000_000,
    600_000_000,
    3_600_000_000,
];

/// How often which times were seen.
#[derive(Debug, Default)]
pub(super) struct Latency {
    /// One for each bound, and one for what is beyond.
    buckets: [AtomicU64; BOUNDS.len() + 1],
    /// In microseconds.
    sum: AtomicU64,
}

impl Latency {
    /// Counts one time.
    pub(super) fn observe(&self, time: Duration) {
        let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let bucket = BOUNDS.partition_point(|bound| *bound < micros);
        self.buckets[bucket].fetch_add(1, Ordering::Relaxed);
        self.sum.fetch_add(micros, Ordering::Relaxed);
    }

    pub(super) fn encode(&self, mut encoder: MetricEncoder<'_>) -> std::fmt::Result {
        let bounds = BOUNDS.iter().map(|bound| seconds(*bound)).chain([f64::INFINITY]);
        let counts = self.buckets.iter().map(|bucket| bucket.load(Ordering::Relaxed));
        let buckets: Vec<(f64, u64)> = bounds.zip(counts).collect();
        // The count is that of the buckets, whatever is written meanwhile.
        let count = buckets.iter().map(|(_, count)| count).sum();
        let sum = seconds(self.sum.load(Ordering::Relaxed));
        encoder.encode_histogram::<NoLabelSet>(sum, count, &buckets, None)
    }
}

#[expect(clippy::cast_precision_loss, reason = "285 years are exact")]
fn seconds(micros: u64) -> f64 {
    micros as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_counts_in_the_first_bucket_that_holds_it() {
        let latency = Latency::default();
        for (micros, bucket) in [(0, 0), (500, 0), (501, 1), (3_600_000_000, 17), (u64::MAX, 18)] {
            let before = latency.buckets[bucket].load(Ordering::Relaxed);
            latency.observe(Duration::from_micros(micros));
            assert_eq!(
                latency.buckets[bucket].load(Ordering::Relaxed),
                before + 1,
                "{micros}"
            );
        }
    }
}
