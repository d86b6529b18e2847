//! Measured spans of time: counted by size for ever, reported over the last second or two.
//!
//! Counts only ever rise, so a window is the difference of two readings, and whoever reads cannot
//! disturb another reader. A span is known to within an eighth of its size.

use std::time::Duration;

use crate::{LogSums, Statistics, Timestamp};

/// Each power of two is divided into this many parts.
const PARTS: u64 = 8;
const PARTS_LOG2: u32 = PARTS.ilog2();

/// Spans of which the recent ones can be told apart.
///
/// ```
/// use headcount_core::Timestamp;
/// use headcount_core::spans::RecentSpans;
/// use std::time::Duration;
///
/// let mut waits = RecentSpans::default();
/// waits.add(Duration::from_millis(20));
/// let recent = waits.statistics(Timestamp::from_secs(1)).expect("one of them");
/// assert_eq!(recent.mean, Duration::from_millis(20));
/// assert_eq!(waits.statistics(Timestamp::from_secs(9)), None, "nothing was added since");
/// ```
#[derive(Clone, Debug, Default)]
pub struct RecentSpans {
    all: Spans,
    window: Window,
}

impl RecentSpans {
    /// Adds a span.
    pub fn add(&mut self, span: Duration) {
        self.add_many(span, 1);
    }

    /// Adds the same span `times` over.
    pub fn add_many(&mut self, span: Duration, times: u64) {
        self.all.add_many(span, times);
    }

    /// What was added lately. `None`: nothing was.
    pub fn statistics(&mut self, now: Timestamp) -> Option<Statistics> {
        self.window.statistics(&self.all, now)
    }

    /// The logarithms of everything that was added.
    #[must_use]
    pub fn log_sums(&self) -> LogSums {
        self.all.log_sums()
    }
}

/// Two earlier readings of the same spans, by which the recent ones are told.
///
/// ```
/// use headcount_core::Timestamp;
/// use headcount_core::spans::{Spans, Window};
/// use std::time::Duration;
///
/// let (mut all, mut window) = (Spans::default(), Window::default());
/// all.add(Duration::from_millis(3));
/// let recent = window.statistics(&all, Timestamp::from_secs(1)).expect("one of them");
/// assert_eq!(recent.count, 1);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Window {
    older: Spans,
    newer: Spans,
    newer_at: Timestamp,
}

impl Window {
    /// How much a window spans at least. It is less than twice as much if somebody reads often.
    const WINDOW_MIN: Duration = Duration::from_secs(1);

    /// What of `all` was added lately. `None`: nothing was.
    pub fn statistics(&mut self, all: &Spans, now: Timestamp) -> Option<Statistics> {
        if Self::WINDOW_MIN <= now.since(self.newer_at) {
            self.older = std::mem::replace(&mut self.newer, all.clone());
            self.newer_at = now;
        }
        all.since(&self.older)
    }
}

/// Spans counted by size.
///
/// ```
/// use headcount_core::spans::Spans;
/// use std::time::Duration;
///
/// let mut spans = Spans::default();
/// spans.add(Duration::from_millis(3));
/// // What many threads counted apart is put in by its bucket.
/// let bucket = Spans::bucket_of(Duration::from_millis(5));
/// spans.add_counted(bucket, 2);
/// spans.add_to_sum(Duration::from_millis(10));
/// assert_eq!(spans.sum(), Duration::from_millis(13));
/// assert_eq!(spans.log_sums().count, 3);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Spans {
    count: u64,
    nanos: u128,
    squares_secs: f64,
    /// As long as the longest span asks for.
    buckets: Vec<u64>,
}

impl Spans {
    /// No span asks for more buckets.
    pub const BUCKETS_MAX: usize = 496;

    /// The number of the bucket that counts `span`.
    #[must_use]
    pub fn bucket_of(span: Duration) -> usize {
        bucket_of(nanos_of(span))
    }

    /// Adds a span.
    pub fn add(&mut self, span: Duration) {
        self.add_many(span, 1);
    }

    /// Adds the same span `times` over.
    pub fn add_many(&mut self, span: Duration, times: u64) {
        self.count_in(bucket_of(nanos_of(span)), times);
        self.nanos += u128::from(nanos_of(span)) * u128::from(times);
        self.squares_secs += span.as_secs_f64().powi(2) * times as f64;
    }

    /// Adds so many spans of which only the bucket is known; their sum comes by `add_to_sum`.
    ///
    /// # Panics
    ///
    /// When there is no such bucket.
    pub fn add_counted(&mut self, bucket: usize, count: u64) {
        assert!(bucket < Self::BUCKETS_MAX, "there is no bucket {bucket}");
        if 0 < count {
            self.count_in(bucket, count);
            self.squares_secs += count as f64 * middle_secs(bucket).powi(2);
        }
    }

    /// Adds to the sum of the spans.
    pub fn add_to_sum(&mut self, sum: Duration) {
        self.nanos += sum.as_nanos();
    }

    fn count_in(&mut self, bucket: usize, count: u64) {
        if self.buckets.len() <= bucket {
            self.buckets.resize(bucket + 1, 0);
        }
        self.buckets[bucket] += count;
        self.count += count;
    }

    /// All of them together.
    #[must_use]
    pub fn sum(&self) -> Duration {
        Duration::from_nanos(u64::try_from(self.nanos).unwrap_or(u64::MAX))
    }

    /// From the middles of the buckets: a logarithm for each span would cost as much as its clock.
    #[must_use]
    pub fn log_sums(&self) -> LogSums {
        let mut sums = LogSums { count: self.count, ..LogSums::default() };
        for (bucket, n) in self.buckets.iter().enumerate().filter(|(_, n)| 0 < **n) {
            let log = middle_secs(bucket).ln();
            sums.sum += *n as f64 * log;
            sums.sum_of_squares += *n as f64 * log * log;
        }
        sums
    }

    /// What was added since an earlier reading.
    fn since(&self, earlier: &Self) -> Option<Statistics> {
        let count = self.count.saturating_sub(earlier.count);
        if count == 0 {
            return None;
        }
        // Of spans that others add to meanwhile, the sum is read a moment after the counts.
        let mean = self.nanos.saturating_sub(earlier.nanos) as f64 / 1e9 / count as f64;
        let squares = (self.squares_secs - earlier.squares_secs) / count as f64;
        let before = |bucket: usize| earlier.buckets.get(bucket).copied().unwrap_or(0);
        let counts: Vec<u64> =
            self.buckets.iter().enumerate().map(|(bucket, n)| n - before(bucket)).collect();
        Some(Statistics {
            count,
            mean: Duration::from_secs_f64(mean),
            // A difference of large sums may fall a little below zero.
            scv: if 0.0 < mean { (squares / (mean * mean) - 1.0).max(0.0) } else { 0.0 },
            p50: percentile(&counts, count, 50),
            p95: percentile(&counts, count, 95),
            p99: percentile(&counts, count, 99),
        })
    }
}

fn nanos_of(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}

/// So many of a hundred spans were no longer than this.
fn percentile(counts: &[u64], count: u64, share: u64) -> Duration {
    let rank = u128::from(count) * u128::from(share);
    let mut seen = 0;
    let bucket = counts.iter().position(|n| {
        seen += n;
        rank <= u128::from(seen) * 100
    });
    Duration::from_nanos(longest_in(bucket.expect("the counts add up")))
}

/// Below `PARTS` each number has a bucket of its own, from there on each eighth of a power of two.
#[expect(clippy::cast_possible_truncation, reason = "there are fewer than 500 buckets")]
const fn bucket_of(nanos: u64) -> usize {
    if nanos < PARTS {
        return nanos as usize;
    }
    let doublings = nanos.ilog2() - PARTS_LOG2;
    (doublings as u64 * PARTS + (nanos >> doublings)) as usize
}

/// The shortest span, in nanoseconds, that this bucket counts.
fn shortest_in(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    match bucket < PARTS {
        true => bucket,
        false => (bucket % PARTS + PARTS) << (bucket / PARTS - 1),
    }
}

/// The middle of a bucket, in seconds. Never 0, which has no logarithm.
fn middle_secs(bucket: usize) -> f64 {
    shortest_in(bucket).midpoint(longest_in(bucket)).max(1) as f64 / 1e9
}

/// The longest span, in nanoseconds, that this bucket counts.
fn longest_in(bucket: usize) -> u64 {
    let doublings = (bucket as u64 / PARTS).saturating_sub(1);
    shortest_in(bucket) + ((1 << doublings) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_span_has_a_bucket_that_tells_its_size() {
        let powers = (0..64).map(|n| 1_u64 << n);
        for nanos in powers.flat_map(|n| [n - 1, n, n + n / 3, n + (n - 1)]) {
            let longest = longest_in(bucket_of(nanos));
            assert!(nanos <= longest, "{nanos} is counted as {longest}");
            assert!(longest - nanos <= nanos / 8, "{nanos} is counted as {longest}");
            assert!(shortest_in(bucket_of(nanos)) <= nanos, "{nanos}");
            assert_eq!(bucket_of(longest), bucket_of(nanos), "{nanos}");
        }
        assert_eq!(bucket_of(u64::MAX) + 1, Spans::BUCKETS_MAX);
    }

    #[test]
    fn buckets_follow_one_another() {
        for bucket in 1..Spans::BUCKETS_MAX {
            assert_eq!(bucket_of(longest_in(bucket - 1) + 1), bucket);
        }
    }

    /// The same numbers as by sorting, the percentiles to within an eighth.
    #[test]
    fn statistics_agree_with_sorting() {
        let millis: Vec<_> = (1..=1000).map(|n| Duration::from_millis(n * n % 997)).collect();
        let mut spans = RecentSpans::default();
        for span in &millis {
            spans.add(*span);
        }
        let told = spans.statistics(Timestamp::ORIGIN).expect("a thousand spans");
        let exact = Statistics::of(&millis).expect("a thousand spans");
        assert_eq!(told.count, exact.count);
        assert!(told.mean.abs_diff(exact.mean) < Duration::from_micros(1));
        assert!((told.scv - exact.scv).abs() < 1e-9);
        for (told, exact) in [(told.p50, exact.p50), (told.p95, exact.p95), (told.p99, exact.p99)] {
            assert!(exact <= told && told <= exact + exact / 8, "{told:?} for {exact:?}");
        }
    }

    #[test]
    fn logarithms_agree_with_those_of_each_span() {
        let (mut spans, mut exact) = (RecentSpans::default(), LogSums::default());
        for millis in 0..1000 {
            let span = Duration::from_micros(millis * millis);
            spans.add(span);
            exact.add(span);
        }
        let told = spans.log_sums();
        assert_eq!(told.count, exact.count);
        let variance = |sums: &LogSums| {
            let mean = sums.sum / sums.count as f64;
            sums.sum_of_squares / sums.count as f64 - mean * mean
        };
        assert!((told.sum - exact.sum).abs() / 1000.0 < 0.01, "{told:?} for {exact:?}");
        assert!((variance(&told) / variance(&exact) - 1.0).abs() < 0.01, "{told:?} for {exact:?}");
    }

    #[test]
    fn adding_many_is_adding_one_by_one() {
        let (mut many, mut singly) = (Spans::default(), Spans::default());
        for (micros, times) in [(7, 3), (0, 5), (40_000, 1), (9, 0)] {
            let span = Duration::from_micros(micros);
            many.add_many(span, times);
            (0..times).for_each(|_| singly.add(span));
        }
        let told = |spans: &Spans| spans.since(&Spans::default()).expect("nine spans");
        assert_eq!(told(&many), told(&singly));
        assert_eq!((many.sum(), many.log_sums()), (singly.sum(), singly.log_sums()));
    }

    /// At each time in milliseconds, add some spans of 1 ms and read: how many are recent?
    fn check(steps: &[(u64, u32)], expected: &str) {
        let mut spans = RecentSpans::default();
        let told = steps.iter().map(|(at, adds)| {
            (0..*adds).for_each(|_| spans.add(Duration::from_millis(1)));
            let statistics = spans.statistics(Timestamp::from_millis(*at));
            statistics.map_or("-".to_owned(), |s| s.count.to_string())
        });
        assert_eq!(told.collect::<Vec<_>>().join(" "), expected);
    }

    #[test]
    fn a_window_spans_one_to_two_seconds() {
        check(&[(0, 0), (500, 1), (1000, 1), (1900, 1), (2000, 0)], "- 1 2 3 1");
        check(&[(1000, 5), (2000, 0), (2999, 0), (3000, 0)], "5 - - -");
    }

    #[test]
    fn seldom_readings_miss_nothing() {
        check(&[(10_000, 4), (20_000, 3), (30_000, 2)], "4 3 2");
    }

    #[test]
    fn reading_twice_changes_nothing() {
        check(&[(1000, 4), (1000, 0), (1500, 0), (1500, 0), (1999, 2), (1999, 0)], "4 4 4 4 6 6");
    }
}
