//! The loads of the benchmark, each brought to a size that can be compared.
//!
//! - The busiest hour of a trace is taken, and where a bucket is longer than a second it lasts a
//!   second instead: days become an hour.
//! - A trace without sizes is given lognormal ones of 1 s, and as many arrivals as make a load of
//!   [`PEAK`] workers at its peak: all but a thousandth of the stretches of five services stay
//!   below.
//! - A trace with sizes is left as it is, in its own time; its peak is measured in the same way.

use std::time::Duration;

use crate::load::{Arrivals, Buckets, Load, Sizes};

/// The workers that a load without sizes of its own needs at its peak.
pub const PEAK: f64 = 40.0;
/// How long a simulated run lasts at most, where buckets last a second.
const STEPS_MAX: usize = 3600;
/// How much of the time is beyond the peak, and how many services it must last to count.
const PEAK_SHARE: f64 = 0.001;
const PEAK_SERVICES: u32 = 5;
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
        let trace = trace.busiest(STEPS_MAX);
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
    trace.peak_rate(service * PEAK_SERVICES, PEAK_SHARE) * service.as_secs_f64()
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
