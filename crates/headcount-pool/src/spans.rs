//! Spans of time that many threads add to at once.

use std::time::Duration;

use headcount_core::spans::Spans;

use crate::sync::atomic::{AtomicU64, Ordering};

/// Spans that many threads add to at once.
#[derive(Debug)]
pub(crate) struct SharedSpans {
    nanos: AtomicU64,
    buckets: Box<[AtomicU64]>,
}

impl Default for SharedSpans {
    fn default() -> Self {
        let buckets = if cfg!(loom) { 0 } else { Spans::BUCKETS_MAX };
        Self {
            nanos: AtomicU64::new(0),
            buckets: (0..buckets).map(|_| AtomicU64::new(0)).collect(),
        }
    }
}

impl SharedSpans {
    /// Adds the same span `times` over.
    pub(crate) fn add(&self, span: Duration, times: u32) {
        let nanos = u64::try_from(span.as_nanos()).unwrap_or(u64::MAX);
        if let Some(bucket) = self.buckets.get(Spans::bucket_of(span)) {
            bucket.fetch_add(u64::from(times), Ordering::Relaxed);
        }
        self.nanos.fetch_add(nanos.saturating_mul(u64::from(times)), Ordering::Relaxed);
    }

    /// Adds what is here to `spans`.
    pub(crate) fn add_to(&self, spans: &mut Spans) {
        for (bucket, shared) in self.buckets.iter().enumerate() {
            spans.add_counted(bucket, shared.load(Ordering::Relaxed));
        }
        spans.add_to_sum(Duration::from_nanos(self.nanos.load(Ordering::Relaxed)));
    }
}

#[cfg(test)]
mod tests {
    use headcount_core::Timestamp;
    use headcount_core::spans::{RecentSpans, Window};

    use super::*;

    /// What many add to at once says the same, the spread to within what a bucket hides.
    #[test]
    fn shared_spans_say_the_same() {
        let (shared, mut alone) = (SharedSpans::default(), RecentSpans::default());
        for millis in (1..=1000).map(|n| n * n % 997) {
            let span = Duration::from_millis(millis);
            shared.add(span, 2);
            (0..2).for_each(|_| alone.add(span));
        }
        let mut read = Spans::default();
        shared.add_to(&mut read);
        let told = Window::default().statistics(&read, Timestamp::ORIGIN).expect("spans");
        let expected = alone.statistics(Timestamp::ORIGIN).expect("spans");
        assert_eq!((told.count, told.p50, told.p99), (2000, expected.p50, expected.p99));
        assert!(told.mean.abs_diff(expected.mean) < Duration::from_micros(1));
        assert!((told.scv - expected.scv).abs() < 0.02, "{} for {}", told.scv, expected.scv);
    }
}
