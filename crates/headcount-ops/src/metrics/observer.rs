//! How long jobs wait and run, and how long a store takes to write.
//!
//! Whoever runs jobs tells of each; that must cost next to nothing, so a job is one look under a
//! lock for readers and two additions.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use headcount_core::jobs::Label;

use super::text::Cumulative;

/// The limits of the buckets, in seconds.
const LIMITS: [f64; 16] = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 60.0, 600.0,
    3600.0,
];

/// Gathers how long jobs wait and run and a store writes, for `/metrics`.
///
/// At most [`Observer::SERIES_MAX`] pairs of queue and kind are told apart; all others count under
/// the kind `other`, so that names made up by clients cannot use up memory.
///
/// ```
/// use headcount_ops::Observer;
/// use std::time::Duration;
///
/// let observer = Observer::default();
/// let (queue, kind) = ("mail".parse()?, "welcome".parse()?);
/// observer.started(&queue, &kind, Duration::from_millis(3));
/// observer.finished(&queue, &kind, Duration::from_millis(20));
/// assert_eq!(observer.starts(&queue, &kind), 1);
/// # Ok::<(), headcount_core::jobs::LabelError>(())
/// ```
#[derive(Debug, Default)]
pub struct Observer {
    series: RwLock<BTreeMap<(Label, Label), Arc<Times>>>,
    pub(super) commits: Histogram,
}

#[derive(Debug, Default)]
pub(super) struct Times {
    pub(super) waited: Histogram,
    pub(super) ran: Histogram,
}

/// How often something took how long. Each bucket counts what is beyond the one before it.
#[derive(Debug, Default)]
pub(super) struct Histogram {
    buckets: [AtomicU64; LIMITS.len() + 1],
    nanos: AtomicU64,
}

impl Observer {
    /// How many pairs of queue and kind are told apart.
    pub const SERIES_MAX: usize = 512;

    /// A job began to run, this long after it was due.
    pub fn started(&self, queue: &Label, kind: &Label, waited: Duration) {
        self.times(queue, kind).waited.add(waited);
    }

    /// A run of a job ended, however it ended, this long after it began.
    pub fn finished(&self, queue: &Label, kind: &Label, ran: Duration) {
        self.times(queue, kind).ran.add(ran);
    }

    /// The store in a folder wrote what several calls had changed, and that took this long.
    pub fn committed(&self, took: Duration) {
        self.commits.add(took);
    }

    /// How many jobs of a kind began to run.
    #[must_use]
    pub fn starts(&self, queue: &Label, kind: &Label) -> u64 {
        let series = self.series.read().unwrap_or_else(PoisonError::into_inner);
        let times = series.get(&(queue.clone(), kind.clone()));
        times.map_or(0, |times| times.waited.cumulative().count)
    }

    pub(super) fn each(&self, mut show: impl FnMut(&Label, &Label, &Times)) {
        let series = self.series.read().unwrap_or_else(PoisonError::into_inner);
        series.iter().for_each(|((queue, kind), times)| show(queue, kind, times));
    }

    fn times(&self, queue: &Label, kind: &Label) -> Arc<Times> {
        let pair = (queue.clone(), kind.clone());
        let known = self.series.read().unwrap_or_else(PoisonError::into_inner).get(&pair).cloned();
        known.unwrap_or_else(|| self.made(pair))
    }

    fn made(&self, pair: (Label, Label)) -> Arc<Times> {
        let mut series = self.series.write().unwrap_or_else(PoisonError::into_inner);
        let is_full = Self::SERIES_MAX <= series.len() && !series.contains_key(&pair);
        let pair = if is_full { (other(), other()) } else { pair };
        Arc::clone(series.entry(pair).or_default())
    }
}

fn other() -> Label {
    "other".parse().expect("it is a fine name")
}

impl Histogram {
    fn add(&self, span: Duration) {
        let seconds = span.as_secs_f64();
        let place = LIMITS.iter().position(|limit| seconds <= *limit).unwrap_or(LIMITS.len());
        self.buckets[place].fetch_add(1, Ordering::Relaxed);
        let nanos = u64::try_from(span.as_nanos()).unwrap_or(u64::MAX);
        self.nanos.fetch_add(nanos, Ordering::Relaxed);
    }

    pub(super) fn cumulative(&self) -> Cumulative {
        let mut count = 0;
        let mut up_to = |bucket: &AtomicU64| {
            count += bucket.load(Ordering::Relaxed);
            count
        };
        let buckets = LIMITS.into_iter().zip(self.buckets.iter().map(&mut up_to)).collect();
        let count = up_to(&self.buckets[LIMITS.len()]);
        let sum = Duration::from_nanos(self.nanos.load(Ordering::Relaxed)).as_secs_f64();
        Cumulative { buckets, count, sum }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label(text: &str) -> Label {
        text.parse().expect("a name")
    }

    #[test]
    fn each_bucket_holds_those_below_it_too() {
        let histogram = Histogram::default();
        for millis in [1, 2, 300, 4_000_000] {
            histogram.add(Duration::from_millis(millis));
        }
        let all = histogram.cumulative();
        let counts: Vec<u64> = all.buckets.iter().map(|(_, count)| *count).collect();
        assert_eq!(counts, [1, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3]);
        assert_eq!((all.count, all.sum), (4, 4000.303));
    }

    #[test]
    fn names_beyond_the_limit_count_together() {
        let observer = Observer::default();
        for number in 0..Observer::SERIES_MAX + 100 {
            let kind = label(&format!("kind-{number}"));
            observer.started(&label("mail"), &kind, Duration::ZERO);
        }
        let mut pairs = 0;
        observer.each(|_, _, _| pairs += 1);
        assert_eq!(pairs, Observer::SERIES_MAX + 1);
        assert_eq!(observer.starts(&label("other"), &label("other")), 100);
    }
}
