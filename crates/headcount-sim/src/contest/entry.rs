//! The loads of the benchmark, each brought to a size that can be compared.
//!
//! - The busiest 3,600 buckets of a trace are taken.
//! - A trace without sizes is given lognormal ones of 1 s; where a bucket is longer than a second
//!   it lasts a second instead, so that days become an hour (and where buckets are shorter, it is
//!   an hour of them); and as many arrive as make a load of [`PEAK`] workers at its peak.
//! - All but a thousandth of the stretches of five services stay below the peak, and none is above
//!   three times as much: a burst that is rarer must be within reach of the workers there may be,
//!   or every regime would be one of overload.
//! - A trace with sizes is left as it is, in its own time; its peak is measured in the same way.
//!   Where that were more than two million jobs the busiest stretch is a shorter one.

use std::time::Duration;

use crate::load::{Arrivals, Buckets, Load, Sizes};

/// The workers that a load without sizes of its own needs at its peak.
pub const PEAK: f64 = 40.0;
/// How long a simulated run lasts at most, where buckets last a second.
const STEPS_MAX: usize = 3600;
/// No more jobs than this are drawn for a seed.
const JOBS_MAX: f64 = 2e6;
/// How much of the time is beyond the peak, and how many services it must last to count.
const PEAK_SHARE: f64 = 0.001;
const PEAK_SERVICES: u32 = 5;
/// So many times the peak is the most there is. Ten times the peak are the workers there may be,
/// which is enough for jobs of five services that come all at once and wait for one.
const PEAK_TIMES: f64 = 3.0;
const SECOND: Duration = Duration::from_secs(1);

/// A load of the benchmark.
///
/// ```
/// use headcount_sim::contest::Entry;
/// use headcount_sim::load::Buckets;
/// use std::time::Duration;
///
/// let counts = (0..600).map(|minute| f64::from(minute % 60)).collect();
/// let trace = Buckets::new(Duration::from_secs(60), counts);
/// let entry = Entry::without_sizes("hours", trace, 2.0);
/// assert_eq!(entry.load.span, Duration::from_secs(600), "a minute lasts a second");
/// assert!((entry.peak - 40.0).abs() < 1e-9);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// What it is called.
    pub name: String,
    /// The load itself.
    pub load: Load,
    /// The workers that it needs at its peak.
    pub peak: f64,
}

impl Entry {
    /// A trace of arrivals, with lognormal sizes of this variation.
    #[must_use]
    pub fn without_sizes(name: &str, trace: Buckets, scv: f64) -> Self {
        let step = trace.step().min(SECOND);
        let sizes = Sizes::Lognormal { mean: SECOND, scv };
        Self::scaled(name, trace.every(step), sizes)
    }

    /// A trace of arrivals, with the sizes of its own jobs.
    #[must_use]
    pub fn with_sizes(name: &str, trace: Buckets, sizes: Vec<Duration>) -> Self {
        let trace = of_bearable_length(trace.busiest(STEPS_MAX));
        let sizes = Sizes::Listed(sizes);
        let peak = peak_of(&trace, &sizes).max(1.0);
        Self::of(name, trace, sizes, peak)
    }

    /// As many arrivals as make the peak what it should be.
    fn scaled(name: &str, trace: Buckets, sizes: Sizes) -> Self {
        let steps = SECOND.div_duration_f64(trace.step()).round().max(1.0) * STEPS_MAX as f64;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // A whole number.
        let trace = trace.busiest(steps as usize);
        let factor = PEAK / peak_of(&trace, &sizes).max(1e-9);
        Self::of(name, trace.times(factor), sizes, PEAK)
    }

    fn of(name: &str, trace: Buckets, sizes: Sizes, peak: f64) -> Self {
        let span = trace.span();
        let load = Load { arrivals: Arrivals::Traced(trace), sizes, span };
        Self { name: name.to_owned(), load, peak }
    }

    /// What a job takes, on average.
    #[must_use]
    pub fn service(&self) -> Duration {
        self.load.sizes.mean()
    }
}

/// The workers that are needed at the peak.
fn peak_of(trace: &Buckets, sizes: &Sizes) -> f64 {
    let service = sizes.mean();
    let rate = |share| trace.peak_rate(service.saturating_mul(PEAK_SERVICES), share);
    rate(PEAK_SHARE).max(rate(0.0) / PEAK_TIMES) * service.as_secs_f64()
}

/// The busiest stretch that is not too many jobs to be drawn.
fn of_bearable_length(mut trace: Buckets) -> Buckets {
    loop {
        let (jobs, len) = (trace.expected().iter().sum::<f64>(), trace.expected().len());
        if jobs <= JOBS_MAX || len <= 1 {
            return trace;
        }
        // The busiest part has more than its share, so that this may take another turn.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Less than `len`.
        let shorter = (len as f64 * JOBS_MAX / jobs) as usize;
        trace = trace.busiest(shorter.max(1));
    }
}

/// The loads that are made up: a step, a ramp, waves, bursts, bursts at every scale, and jobs of a
/// millisecond beside some of half a minute.
#[must_use]
pub fn synthetic() -> Vec<Entry> {
    let secs = Duration::from_secs;
    let span = secs(STEPS_MAX as u64);
    let usual = || Sizes::Lognormal { mean: SECOND, scv: 2.0 };
    let (short, long) = (Duration::from_millis(1), secs(30));
    let bimodal = Sizes::Bimodal { short, long, long_share: 0.0333 };
    let entry = |name, arrivals: Arrivals, sizes| {
        // Which bursts come is part of the load; the seeds of a cell decide which jobs.
        Entry::scaled(name, arrivals.buckets(span, 42), sizes)
    };
    vec![
        entry("step", Arrivals::Step { before: 4.0, after: 40.0, at: secs(1200) }, usual()),
        entry("ramp", Arrivals::Ramp { from: 1.0, to: 40.0 }, usual()),
        entry("sine", Arrivals::Sine { mean: 20.0, swing: 20.0, period: secs(600) }, usual()),
        entry("on_off", Arrivals::OnOff { rate: 40.0, on: secs(30), off: secs(60) }, usual()),
        entry("self_similar", Arrivals::SelfSimilar { mean: 13.0, bias: 0.6 }, usual()),
        entry("bimodal", Arrivals::Poisson { rate: 40.0 }, bimodal),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Seconds at one rate, and from 5,000 on so many at another.
    fn burst(rate: f64, seconds: usize, burst: f64) -> Buckets {
        let in_burst = |second| (5_000..5_000 + seconds).contains(&second);
        let counts = (0..10_001).map(|second| if in_burst(second) { burst } else { rate });
        Buckets::new(SECOND, counts.collect())
    }

    /// What a load without sizes comes to: its jobs, and the workers that its five busiest
    /// seconds need.
    fn check(trace: Buckets, jobs: std::ops::Range<f64>, most: std::ops::Range<f64>) {
        let entry = Entry::without_sizes("burst", trace, 2.0);
        let buckets = entry.load.arrivals.buckets(entry.load.span, 1);
        let sum = buckets.expected().iter().sum::<f64>();
        let busiest = buckets.peak_rate(5 * SECOND, 0.0);
        assert!(jobs.contains(&sum) && most.contains(&busiest), "{sum} jobs, {busiest} at most");
    }

    #[test]
    fn bursts_that_are_rare_are_within_reach_of_the_workers_there_may_be() {
        check(burst(0.0, 1, 100.0), 100.0..700.0, 40.0..121.0);
        check(burst(10.0, 3, 5_000.0), 200.0..5_000.0, 40.0..121.0);
        // Shorter than what is cut, and the burst at its very end.
        let mut last = vec![10.0; 3_000];
        last[2_999] = 1e6;
        check(Buckets::new(SECOND, last), 40.0..2_000.0, 119.0..121.0);
    }

    #[test]
    fn a_burst_of_a_load_with_sizes_counts_as_well() {
        let entry = Entry::with_sizes("burst", burst(10.0, 1, 5_000.0), vec![SECOND]);
        assert!(300.0 < entry.peak, "1,000 are needed, and {} x 10 there may be", entry.peak);
    }

    /// Twenty million jobs are too many to be drawn for every seed.
    #[test]
    fn a_load_of_very_many_jobs_is_cut_to_a_shorter_stretch() {
        let trace = Buckets::new(60 * SECOND, vec![100_000.0; 3_600]);
        let entry = Entry::with_sizes("dense", trace, vec![Duration::from_millis(1)]);
        let buckets = entry.load.arrivals.buckets(entry.load.span, 1);
        assert_eq!(buckets.expected().len(), 20, "two million jobs");
    }
}
