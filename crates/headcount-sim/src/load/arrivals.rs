//! When jobs come.
//!
//! Every kind of arrivals is brought into one form, [`Buckets`]: so many are expected in each step
//! of time. Within a bucket the number is drawn (Poisson) and the jobs are placed evenly, so that a
//! constant rate is a Poisson process exactly.

use std::time::Duration;

use headcount_core::Timestamp;

use super::trace_file;
use crate::dice::Dice;

/// How many jobs are expected in each step of time.
///
/// ```
/// use headcount_sim::load::Buckets;
/// use std::time::Duration;
///
/// let buckets = Buckets::new(Duration::from_secs(60), vec![30.0, 90.0]);
/// assert_eq!(buckets.span(), Duration::from_secs(120));
/// assert_eq!(buckets.mean_rate(), 1.0);
/// // The same jobs in a sixtieth of the time, and half of them.
/// let quick = buckets.every(Duration::from_secs(1)).times(0.5);
/// assert_eq!((quick.mean_rate(), quick.span()), (30.0, Duration::from_secs(2)));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Buckets {
    step: Duration,
    expected: Vec<f64>,
}

impl Buckets {
    /// So many in each `step`. What is negative or not a number counts as none.
    #[must_use]
    pub fn new(step: Duration, expected: Vec<f64>) -> Self {
        Self { step, expected: expected.into_iter().map(|n| n.max(0.0)).collect() }
    }

    /// How long a bucket is.
    #[must_use]
    pub fn step(&self) -> Duration {
        self.step
    }

    /// What is expected in each bucket.
    #[must_use]
    pub fn expected(&self) -> &[f64] {
        &self.expected
    }

    /// From the first arrival to the last.
    #[must_use]
    pub fn span(&self) -> Duration {
        let buckets = u32::try_from(self.expected.len()).unwrap_or(u32::MAX);
        self.step.saturating_mul(buckets)
    }

    /// Jobs a second, over all.
    #[must_use]
    pub fn mean_rate(&self) -> f64 {
        let seconds = self.span().as_secs_f64();
        if seconds <= 0.0 { 0.0 } else { self.expected.iter().sum::<f64>() / seconds }
    }

    /// The same jobs at another pace: a bucket lasts for `step`.
    #[must_use]
    pub fn every(self, step: Duration) -> Self {
        Self { step, ..self }
    }

    /// So many times as many jobs.
    #[must_use]
    pub fn times(self, factor: f64) -> Self {
        Self::new(self.step, self.expected.into_iter().map(|n| n * factor).collect())
    }

    /// The busiest stretch of at most `len_max` buckets. Where many are as busy as each other the
    /// middle one of the first of them, so that a lone burst has a before and an after.
    #[must_use]
    pub fn busiest(self, len_max: usize) -> Self {
        if self.expected.len() <= len_max {
            return self;
        }
        let mut sum: f64 = self.expected[..len_max].iter().sum();
        let (mut best, mut first, mut last) = (sum, 0, 0);
        for from in 1..=self.expected.len() - len_max {
            sum += self.expected[from + len_max - 1] - self.expected[from - 1];
            if best < sum {
                (best, first, last) = (sum, from, from);
            } else if best <= sum && last + 1 == from {
                last = from;
            }
        }
        let from = usize::midpoint(first, last);
        Self::new(self.step, self.expected[from..from + len_max].to_vec())
    }

    /// The rate, in jobs a second, that all but a share of the stretches of `window` stay below.
    #[must_use]
    pub fn peak_rate(&self, window: Duration, share: f64) -> f64 {
        let wide = window.div_duration_f64(self.step).ceil().max(1.0);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Whole, at least 1.
        let wide = (wide as usize).min(self.expected.len().max(1));
        let seconds = self.step.as_secs_f64() * wide as f64;
        let mut rates: Vec<f64> =
            self.expected.windows(wide).map(|w| w.iter().sum::<f64>() / seconds).collect();
        rates.sort_unstable_by(f64::total_cmp);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // An index, by `min`.
        let index = (rates.len() as f64 * (1.0 - share)) as usize;
        rates.get(index.min(rates.len().saturating_sub(1))).copied().unwrap_or(0.0)
    }

    /// Draws when jobs come, in order of time.
    pub(crate) fn draw(&self, dice: &mut Dice) -> Vec<Timestamp> {
        let expected: f64 = self.expected.iter().sum();
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Only a capacity.
        let mut times = Vec::with_capacity(expected as usize + 64);
        let step = self.step.as_nanos() as f64;
        for (index, expected) in self.expected.iter().enumerate() {
            let first = times.len();
            for _ in 0..dice.poisson(*expected) {
                let nanos = (index as f64 + dice.share()) * step;
                #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Saturates.
                times.push(Timestamp::from_nanos(nanos as u64));
            }
            times[first..].sort_unstable();
        }
        times
    }
}

impl From<trace_file::Arrivals> for Buckets {
    fn from(file: trace_file::Arrivals) -> Self {
        Self::new(file.step, file.counts)
    }
}

/// A way for jobs to come, in jobs a second.
///
/// ```
/// use headcount_sim::load::Arrivals;
/// use std::time::Duration;
///
/// let step = Arrivals::Step { before: 10.0, after: 100.0, at: Duration::from_secs(30) };
/// let buckets = step.buckets(Duration::from_secs(60), 1);
/// assert!((buckets.mean_rate() - 55.0).abs() < 0.1);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Arrivals {
    /// At one rate.
    Poisson {
        /// Jobs a second.
        rate: f64,
    },
    /// At one of several rates, for a while each: the next is drawn, and so is how long it stays
    /// (a Markov-modulated Poisson process).
    Mmpp {
        /// Jobs a second in each state.
        rates: Vec<f64>,
        /// How long a state lasts, on average.
        stay: Duration,
    },
    /// At one rate, and from one moment on at another.
    Step {
        /// Jobs a second at first.
        before: f64,
        /// Jobs a second from then on.
        after: f64,
        /// When.
        at: Duration,
    },
    /// Evenly from one rate to another, over the whole span.
    Ramp {
        /// Jobs a second at first.
        from: f64,
        /// Jobs a second in the end.
        to: f64,
    },
    /// Up and down.
    Sine {
        /// Jobs a second, on average.
        mean: f64,
        /// How far it goes up and down.
        swing: f64,
        /// How long one time up and down takes.
        period: Duration,
    },
    /// Bursts and silence.
    OnOff {
        /// Jobs a second in a burst.
        rate: f64,
        /// How long a burst lasts.
        on: Duration,
        /// How long the silence lasts.
        off: Duration,
    },
    /// Bursty at every scale: each half of a stretch has `bias` or the rest of its jobs.
    SelfSimilar {
        /// Jobs a second, on average.
        mean: f64,
        /// From 0.5, even, to nearly 1, all at once.
        bias: f64,
    },
    /// As in a trace.
    Traced(Buckets),
}

/// No more buckets than this are made of a formula.
const BUCKETS_MAX: f64 = 1e5;

impl Arrivals {
    /// What is expected when, over `span`; `seed` decides what the kind leaves to chance.
    #[must_use]
    pub fn buckets(&self, span: Duration, seed: u64) -> Buckets {
        if let Self::Traced(buckets) = self {
            return buckets.clone();
        }
        // Fine enough to follow a curve, and not so fine that a long run needs millions.
        let seconds = span.as_secs_f64();
        let step = (seconds / BUCKETS_MAX).max(0.1).min(seconds.max(1e-9));
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // At most 100,000.
        let len = (seconds / step).ceil() as usize;
        let mut dice = Dice::new(seed, crate::dice::Purpose::Scenario);
        let mut rates = self.rates(seconds, &mut dice);
        let expected = (0..len).map(|index| rates((index as f64 + 0.5) * step) * step).collect();
        Buckets::new(Duration::from_secs_f64(step), expected)
    }

    /// The rate by time.
    fn rates(&self, seconds: f64, dice: &mut Dice) -> Box<dyn FnMut(f64) -> f64> {
        match self.clone() {
            Self::Poisson { rate } => Box::new(move |_| rate),
            Self::Mmpp { rates, stay } => switching(rates, stay.as_secs_f64(), dice.clone()),
            Self::Step { before, after, at } => {
                let at = at.as_secs_f64();
                Box::new(move |t| if t < at { before } else { after })
            }
            Self::Ramp { from, to } => Box::new(move |t| from + (to - from) * t / seconds),
            Self::Sine { mean, swing, period } => {
                let turns = std::f64::consts::TAU / period.as_secs_f64();
                Box::new(move |t| mean + swing * (t * turns).sin())
            }
            Self::OnOff { rate, on, off } => {
                let (on, cycle) = (on.as_secs_f64(), on.saturating_add(off).as_secs_f64());
                Box::new(move |t| if t % cycle < on { rate } else { 0.0 })
            }
            Self::SelfSimilar { mean, bias } => cascade(mean, bias, seconds, dice),
            Self::Traced(_) => unreachable!("a trace has its buckets"),
        }
    }
}

/// From rate to rate, staying a while at each.
fn switching(rates: Vec<f64>, stay: f64, mut dice: Dice) -> Box<dyn FnMut(f64) -> f64> {
    let (mut current, mut until) = (0, 0.0);
    Box::new(move |t| {
        // A stay of nothing would never come to an end.
        while until <= t {
            current = dice.one_of(rates.len());
            until += dice.exponential() * stay.max(1e-3);
        }
        rates.get(current).copied().unwrap_or(0.0)
    })
}

/// Halves the time again and again; each half has its part of the jobs.
fn cascade(mean: f64, bias: f64, seconds: f64, dice: &mut Dice) -> Box<dyn FnMut(f64) -> f64> {
    const HALVINGS: u32 = 12;
    let mut weights = vec![1.0];
    for _ in 0..HALVINGS {
        let halves = weights.iter().flat_map(|weight: &f64| {
            let first = if dice.happens(0.5) { bias } else { 1.0 - bias };
            [2.0 * weight * first, 2.0 * weight * (1.0 - first)]
        });
        weights = halves.collect();
    }
    Box::new(move |t| {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // An index, by `min`.
        let index = (t / seconds * weights.len() as f64) as usize;
        mean * weights[index.min(weights.len() - 1)]
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dice::Purpose;

    const MINUTE: Duration = Duration::from_secs(60);

    /// The mean rate over each quarter of a run of ten minutes.
    fn check(arrivals: &Arrivals, expected: [f64; 4]) {
        let buckets = arrivals.buckets(10 * MINUTE, 1);
        let quarter = buckets.expected().len() / 4;
        for (part, expected) in buckets.expected().chunks(quarter).zip(expected) {
            let rate =
                part.iter().sum::<f64>() / (part.len() as f64 * buckets.step().as_secs_f64());
            assert!((rate - expected).abs() <= 0.02 * expected + 0.05, "{arrivals:?}: {rate}");
        }
        let drawn = buckets.draw(&mut Dice::new(3, Purpose::Arrivals));
        assert!(drawn.is_sorted(), "{arrivals:?}");
        let jobs = expected.iter().sum::<f64>() * 150.0;
        let off = (drawn.len() as f64 - jobs).abs();
        assert!(off < 6.0 * jobs.sqrt() + 0.02 * jobs, "{arrivals:?}: {} jobs", drawn.len());
    }

    #[test]
    fn every_kind_has_the_rate_it_says() {
        check(&Arrivals::Poisson { rate: 20.0 }, [20.0; 4]);
        check(&Arrivals::Step { before: 5.0, after: 50.0, at: 5 * MINUTE }, [5.0, 5.0, 50.0, 50.0]);
        check(&Arrivals::Ramp { from: 0.0, to: 80.0 }, [10.0, 30.0, 50.0, 70.0]);
        let sine = Arrivals::Sine { mean: 20.0, swing: 10.0, period: 10 * MINUTE };
        check(&sine, [26.4, 26.4, 13.6, 13.6]);
        let (on, off) = (Duration::from_secs(10), Duration::from_secs(20));
        check(&Arrivals::OnOff { rate: 30.0, on, off }, [10.0; 4]);
    }

    #[test]
    fn bursts_at_every_scale_keep_their_mean() {
        let even = Arrivals::SelfSimilar { mean: 20.0, bias: 0.5 };
        check(&even, [20.0; 4]);
        let bursty = Arrivals::SelfSimilar { mean: 20.0, bias: 0.7 }.buckets(10 * MINUTE, 5);
        assert!((bursty.mean_rate() - 20.0).abs() < 0.5, "{}", bursty.mean_rate());
        let most = bursty.expected().iter().copied().fold(0.0, f64::max);
        assert!(5.0 * 20.0 * bursty.step().as_secs_f64() < most, "{most} in one bucket");
    }

    #[test]
    fn states_last_as_long_as_they_say() {
        let arrivals = Arrivals::Mmpp { rates: vec![0.0, 40.0], stay: Duration::from_secs(5) };
        let buckets = arrivals.buckets(100 * MINUTE, 2);
        assert!((buckets.mean_rate() - 20.0).abs() < 2.0, "{}", buckets.mean_rate());
        let changes =
            buckets.expected().windows(2).filter(|two| 1e-9 < (two[0] - two[1]).abs()).count();
        // A state is followed by itself half of the time.
        assert!((500..700).contains(&changes), "{changes} changes in 1,200 stays");
    }

    #[test]
    fn the_busiest_stretch_is_found() {
        let buckets = Buckets::new(MINUTE, vec![1.0, 5.0, 2.0, 6.0, 0.0]);
        assert_eq!(buckets.clone().busiest(3).expected(), [5.0, 2.0, 6.0]);
        assert_eq!(buckets.clone().busiest(9), buckets);
    }

    #[test]
    fn a_lone_burst_has_something_before_and_after_it() {
        let mut counts = vec![0.0; 100];
        counts[50] = 7.0;
        let around = Buckets::new(MINUTE, counts).busiest(11);
        assert_eq!(around.expected().iter().position(|n| 0.0 < *n), Some(5), "{around:?}");
    }

    #[test]
    fn peaks_are_told_at_the_width_asked_for() {
        let mut counts = vec![10.0; 1000];
        counts[500] = 1000.0;
        let buckets = Buckets::new(Duration::from_secs(1), counts);
        for (window, share, expected) in [(1, 0.0, 1000.0), (1, 0.01, 10.0), (10, 0.0, 109.0)] {
            let peak = buckets.peak_rate(Duration::from_secs(window), share);
            assert!((peak - expected).abs() < 1e-9, "{peak} over {window} s");
        }
    }
}
