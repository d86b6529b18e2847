//! From a record of arrivals to the rate to plan for.
//!
//! A job that takes `S` seconds and may wait `W` can put up with bursts shorter than `W + S`; what
//! lasts longer must be met by workers. So the record is cut into windows of that length, and the
//! rate to plan for is one that only as many jobs as may be late find exceeded.
//!
//! Some of what windows differ by is mere chance, which the queueing formulas count themselves.
//! The index of dispersion tells how much: of a variance of `I` times the mean, 1 part is chance.
//! That part is taken out, so that it does not count twice.

use std::num::NonZeroU32;

use crate::maths::{BadNumber, Dispersion};

/// What a record of arrivals tells of their rate.
///
/// ```
/// use headcount_sim::plan::Rates;
///
/// // An hour of seconds with 2 arrivals each, and in it a minute of 30.
/// let counts: Vec<u64> = (0..3600).map(|second| if second / 60 == 7 { 30 } else { 2 }).collect();
/// let rates = Rates::of(1.0, &counts, 5.0, 0.01)?;
/// assert_eq!((rates.busiest, rates.busiest_from), (30.0, 420.0));
/// assert!(29.0 < rates.planned, "a fifth of all jobs come in that minute");
/// assert!(Rates::of(1.0, &counts, 5.0, 0.25)?.planned < 3.0, "which may all be late");
/// # Ok::<(), headcount_sim::maths::BadNumber>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    /// How many were counted.
    pub arrivals: u64,
    /// Of how long a time, in seconds.
    pub span: f64,
    /// How long a window is, in seconds.
    pub window: f64,
    /// Arrivals in a second, on average.
    pub mean: f64,
    /// The same in the quietest window.
    pub quietest: f64,
    /// The same in the busiest window.
    pub busiest: f64,
    /// When that begins, in seconds.
    pub busiest_from: f64,
    /// The rate of the window that no more jobs find exceeded than may be late.
    pub exceeded_by_few: f64,
    /// The index of dispersion of the windows. `None`: too few to tell.
    pub dispersion: Option<f64>,
    /// The rate to plan for: that one, less what of it is chance.
    pub planned: f64,
}

impl Rates {
    /// Counts of `step` seconds each, looked at in windows of `window` seconds, where a share
    /// `late` of the jobs may be late.
    ///
    /// A window is a whole number of steps, at least one, and no longer than the record. What does
    /// not fill one at the end is looked at together with what came before it: the last window
    /// ends with the record.
    ///
    /// # Errors
    ///
    /// When a number makes no sense or there is nothing to count.
    pub fn of(step: f64, counts: &[u64], window: f64, late: f64) -> Result<Self, BadNumber> {
        let step = BadNumber::above_zero("the step of the counts", step)?;
        let window = BadNumber::above_zero("the window", window)?;
        let late = BadNumber::share("the share of late jobs", late)?;
        BadNumber::above_zero("the number of counts", counts.len() as f64)?;

        let merged = merged(window / step, counts.len());
        let windows = Windows::of(counts, merged);
        let window = f64::from(merged.get()) * step;
        let dispersion = dispersion(&windows.all);
        let span = counts.len() as f64 * step;
        let (mean, few) = (windows.total() / span, windows.exceeded_by(late) as f64 / window);
        Ok(Self {
            arrivals: counts.iter().fold(0, |sum, count| sum.saturating_add(*count)),
            span,
            window,
            mean,
            quietest: windows.least() as f64 / window,
            busiest: windows.most().sum as f64 / window,
            busiest_from: windows.most().from as f64 * step,
            exceeded_by_few: few,
            dispersion,
            planned: mean + (few - mean) * not_by_chance(dispersion),
        })
    }
}

/// The part of what windows differ by that is no chance, as a share of the deviation.
fn not_by_chance(dispersion: Option<f64>) -> f64 {
    let variance = dispersion.map_or(0.0, |index| 1.0 - 1.0 / index.max(1.0));
    variance.sqrt()
}

/// How many counts make up a window.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
fn merged(steps: f64, counts: usize) -> NonZeroU32 {
    let most = u32::try_from(counts).unwrap_or(u32::MAX);
    NonZeroU32::new((steps.round() as u32).min(most)).unwrap_or(NonZeroU32::MIN)
}

fn dispersion(windows: &[Window]) -> Option<f64> {
    let mut dispersion = Dispersion::over(NonZeroU32::MIN);
    for window in windows {
        dispersion.add(window.sum);
    }
    dispersion.index()
}

/// How much came in one window.
#[derive(Clone, Copy, Debug, Default)]
struct Window {
    /// The count that it begins with.
    from: usize,
    sum: u64,
    /// What of it came in no window before.
    own: u64,
}

/// How much came in each window. There is at least one.
#[derive(Debug)]
struct Windows {
    all: Vec<Window>,
}

impl Windows {
    fn of(counts: &[u64], merged: NonZeroU32) -> Self {
        let wide = merged.get() as usize;
        let sum =
            |counts: &[u64]| counts.iter().fold(0_u64, |sum, count| sum.saturating_add(*count));
        let whole = counts.chunks_exact(wide);
        let rest = sum(whole.remainder());
        let has_rest = !whole.remainder().is_empty();
        let windows = whole.enumerate().map(|(place, counts)| {
            let sum = sum(counts);
            Window { from: place * wide, sum, own: sum }
        });
        // A window is no longer than the record, so there are counts before the rest.
        let from = counts.len() - wide;
        let last = has_rest.then(|| Window { from, sum: sum(&counts[from..]), own: rest });
        Self { all: windows.chain(last).collect() }
    }

    fn total(&self) -> f64 {
        self.all.iter().map(|window| window.own as f64).sum()
    }

    fn least(&self) -> u64 {
        self.all.iter().map(|window| window.sum).min().unwrap_or(0)
    }

    /// The first of the busiest windows.
    fn most(&self) -> Window {
        let later_is_less = |window: &Window| (window.sum, std::cmp::Reverse(window.from));
        self.all.iter().copied().max_by_key(later_is_less).unwrap_or_default()
    }

    /// The largest window of those that are left when the share of all that came in busier ones
    /// reaches `late`.
    fn exceeded_by(&self, late: f64) -> u64 {
        let mut busiest_first = self.all.clone();
        busiest_first.sort_unstable_by_key(|window| std::cmp::Reverse(window.sum));
        let (mut gone, allowed) = (0.0, late * self.total());
        let is_left = |window: &&Window| {
            gone += window.own as f64;
            allowed < gone
        };
        busiest_first.iter().find(is_left).map_or(0, |window| window.sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;
    use rand_distr::{Distribution, Poisson};

    /// Seconds by chance, with a rate that depends on the second.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small counts")]
    fn seconds(count: u32, rate: impl Fn(u32) -> f64) -> Vec<u64> {
        let mut dice = ChaCha8Rng::seed_from_u64(1);
        let mut come = |second| Poisson::new(rate(second)).expect("a rate").sample(&mut dice);
        (0..count)
            .map(|second| {
                let sum: f64 = come(second);
                sum as u64
            })
            .collect()
    }

    #[test]
    fn windows_are_found_by_how_much_came_in_them() {
        let counts: Vec<u64> =
            (0..100).map(|k| if (40..60).contains(&k) { 9 } else { 1 }).collect();
        let rates = Rates::of(2.0, &counts, 20.0, 0.1).unwrap();
        assert_eq!((rates.busiest, rates.busiest_from, rates.quietest), (4.5, 80.0, 0.5));
        assert_eq!((rates.arrivals, rates.span, rates.window), (260, 200.0, 20.0));
        assert_eq!(rates.exceeded_by_few.to_string(), "4.5");
        let most_may_be_late = Rates::of(2.0, &counts, 20.0, 0.7).unwrap();
        assert_eq!(most_may_be_late.exceeded_by_few.to_string(), "0.5");
    }

    #[test]
    fn chance_is_not_planned_for_twice() {
        let even = Rates::of(1.0, &seconds(20_000, |_| 20.0), 2.0, 0.01).unwrap();
        assert!(26.0 < even.exceeded_by_few, "by chance alone: {even:?}");
        assert!((even.planned - 20.0).abs() < 1.0, "{even:?}");
    }

    #[test]
    fn bursts_that_last_are_met_by_workers() {
        let burst = |second: u32| if second % 100 < 5 { 60.0 } else { 2.0 };
        let bursty = Rates::of(1.0, &seconds(20_000, burst), 1.0, 0.01).unwrap();
        assert!(58.0 < bursty.planned && bursty.planned < 80.0, "{bursty:?}");
    }

    #[test]
    fn a_window_is_neither_shorter_than_a_step_nor_longer_than_the_record() {
        let window = |window| Rates::of(2.0, &[1, 2, 3, 4], window, 0.01).unwrap().window;
        assert_eq!([0.1, 5.9, 1e12].map(|span| window(span).to_string()), ["2", "6", "8"]);
        assert_eq!(Rates::of(2.0, &[1, 2, 3, 4], 1e12, 0.01).unwrap().planned.to_string(), "1.25");
    }

    /// What comes last is not left out because it fills no window of its own.
    #[test]
    fn the_last_window_ends_with_the_record() {
        let counts: Vec<u64> = (0..100).map(|second| if second < 60 { 1 } else { 100 }).collect();
        let rates = Rates::of(1.0, &counts, 60.0, 0.01).unwrap();
        assert_eq!((rates.busiest, rates.busiest_from), (67.0, 40.0), "the last 60 seconds");
        assert!(60.0 < rates.planned, "{rates:?}");
        assert_eq!((rates.mean, rates.exceeded_by_few), (40.6, 67.0));
        let few_in_the_rest = Rates::of(1.0, &counts, 60.0, 0.99).unwrap();
        assert_eq!(few_in_the_rest.exceeded_by_few.to_string(), "1");
    }

    #[test]
    fn nonsense_is_refused_and_the_largest_counts_are_borne() {
        assert!(Rates::of(1.0, &[], 60.0, 0.1).is_err());
        assert!(Rates::of(0.0, &[1], 60.0, 0.1).is_err());
        assert!(Rates::of(1.0, &[1], f64::NAN, 0.1).is_err());
        assert!(Rates::of(1.0, &[1], 1.0, 0.0).is_err());
        let rates = Rates::of(1.0, &[u64::MAX; 30], 3.0, 0.1).unwrap();
        assert!(rates.planned.is_finite() && rates.dispersion == Some(0.0));
    }
}
