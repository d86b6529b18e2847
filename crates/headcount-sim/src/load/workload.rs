//! Arrivals and sizes together: a load that can be drawn again and again.

use std::fmt;
use std::time::Duration;

use super::arrivals::Arrivals;
use super::job::Job;
use super::sizes::Sizes;
use crate::dice::{Dice, Purpose};

/// A load: how jobs come, how big they are, and for how long it goes on.
///
/// ```
/// use headcount_sim::load::{Arrivals, Load, Sizes};
/// use std::time::Duration;
///
/// let load = Load {
///     arrivals: Arrivals::Poisson { rate: 50.0 },
///     sizes: Sizes::Exponential { mean: Duration::from_millis(100) },
///     span: Duration::from_secs(60),
/// };
/// let jobs = load.jobs(1).expect("a load that makes sense");
/// assert_eq!(jobs, load.jobs(1).expect("the same"), "the same seed, the same jobs");
/// assert!((2_700..3_300).contains(&jobs.len()));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Load {
    /// How jobs come.
    pub arrivals: Arrivals,
    /// How big they are.
    pub sizes: Sizes,
    /// For how long; a trace has its own span.
    pub span: Duration,
}

/// Why a load cannot be drawn.
///
/// ```
/// use headcount_sim::load::{Arrivals, Load, Sizes};
/// use std::time::Duration;
///
/// let arrivals = Arrivals::Poisson { rate: f64::NAN };
/// let sizes = Sizes::Constant(Duration::from_secs(1));
/// let error = Load { arrivals, sizes, span: Duration::from_secs(1) }.jobs(1).expect_err("NaN");
/// assert_eq!(error.to_string(), "the rate of arrivals is NaN; it must be a number from 0 to 1e9");
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum LoadError {
    /// A number is out of its range: what it is, its value, and the range.
    OutOfRange(&'static str, f64, &'static str),
    /// It would be so many jobs, which is more than [`Load::JOBS_MAX`].
    TooMany(f64),
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutOfRange(what, value, range) => {
                write!(f, "{what} is {value}; it must be {range}")
            }
            Self::TooMany(jobs) => write!(
                f,
                "this is about {jobs:.0} jobs, more than {}; make the span or the rate smaller",
                Load::JOBS_MAX
            ),
        }
    }
}

impl std::error::Error for LoadError {}

impl Load {
    /// The most jobs that are drawn.
    pub const JOBS_MAX: u64 = 20_000_000;

    /// Draws the jobs, in order of time.
    ///
    /// # Errors
    ///
    /// When a number makes no sense, or when there would be more than [`Load::JOBS_MAX`] jobs.
    pub fn jobs(&self, seed: u64) -> Result<Vec<Job>, LoadError> {
        self.check()?;
        let buckets = self.arrivals.buckets(self.span, seed);
        let expected = buckets.expected().iter().sum::<f64>();
        if Self::JOBS_MAX as f64 <= expected {
            return Err(LoadError::TooMany(expected));
        }
        let times = buckets.draw(&mut Dice::new(seed, Purpose::Arrivals));
        let mut dice = Dice::new(seed, Purpose::Sizes);
        let jobs = times.into_iter().map(|at| {
            let (seconds, class) = self.sizes.draw(&mut dice);
            // A job of no work at all would end before it began.
            let size = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
            Job { at, size: size.max(Duration::from_nanos(1)), class }
        });
        Ok(jobs.collect())
    }

    fn check(&self) -> Result<(), LoadError> {
        check_arrivals(&self.arrivals)?;
        check_sizes(&self.sizes)
    }
}

/// How long the parts of a load may be.
const LONG: &str = "from 1 ms to 1e9 s";

fn check_arrivals(arrivals: &Arrivals) -> Result<(), LoadError> {
    let rate = |value| within("the rate of arrivals", value, 0.0, 1e9, "a number from 0 to 1e9");
    let long = |what, span: Duration| within(what, span.as_secs_f64(), 1e-3, 1e9, LONG);
    match arrivals {
        Arrivals::Poisson { rate: value } => rate(*value),
        Arrivals::Mmpp { rates, stay } => {
            within("the number of rates", rates.len() as f64, 1.0, 1e3, "from 1 to 1,000")?;
            rates.iter().try_for_each(|value| rate(*value))?;
            long("the mean stay, in seconds,", *stay)
        }
        Arrivals::Step { before, after, .. } => rate(*before).and(rate(*after)),
        Arrivals::Ramp { from, to } => rate(*from).and(rate(*to)),
        Arrivals::Sine { mean, swing, period } => {
            rate(*mean)?;
            within("the swing", *swing, 0.0, *mean, "from 0 to the mean rate")?;
            long("the period, in seconds,", *period)
        }
        Arrivals::OnOff { rate: value, on, off } => {
            rate(*value)?;
            long("the length of on and off, in seconds,", on.saturating_add(*off))
        }
        Arrivals::SelfSimilar { mean, bias } => {
            rate(*mean)?;
            within("the bias", *bias, 0.5, 0.99, "from 0.5 to 0.99")
        }
        Arrivals::Traced(buckets) => long("the step of the trace, in seconds,", buckets.step()),
    }
}

fn check_sizes(sizes: &Sizes) -> Result<(), LoadError> {
    let long = |value: Duration| {
        let range = "more than 0 and at most 1e9";
        within("the size of a job, in seconds,", value.as_secs_f64(), 1e-9, 1e9, range)
    };
    match sizes {
        Sizes::Constant(mean) | Sizes::Exponential { mean } => long(*mean),
        Sizes::Lognormal { mean, scv } => {
            long(*mean)?;
            within("the variation of sizes", *scv, 0.0, 1e4, "from 0 to 10,000")
        }
        Sizes::Bimodal { short, long: longer, long_share } => {
            long(*short).and(long(*longer))?;
            within("the share of long jobs", *long_share, 0.0, 1.0, "from 0 to 1")
        }
        Sizes::Pareto { mean, shape } => {
            long(*mean)?;
            within("the shape", *shape, 1.05, 100.0, "from 1.05 to 100")
        }
        Sizes::Listed(list) => {
            within("the number of sizes", list.len() as f64, 1.0, 1e9, "at least 1")
        }
        Sizes::Classes(classes) => {
            within("the number of classes", classes.len() as f64, 1.0, 255.0, "from 1 to 255")?;
            classes.iter().try_for_each(|(weight, sizes)| {
                within("the weight of a class", *weight, 1e-9, 1e9, "more than 0")?;
                match sizes {
                    Sizes::Classes(_) => {
                        Err(LoadError::OutOfRange("classes in a class", 1.0, "none"))
                    }
                    sizes => check_sizes(sizes),
                }
            })
        }
    }
}

fn within(
    what: &'static str,
    value: f64,
    low: f64,
    high: f64,
    range: &'static str,
) -> Result<(), LoadError> {
    match low <= value && value <= high {
        true => Ok(()),
        false => Err(LoadError::OutOfRange(what, value, range)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(arrivals: Arrivals, sizes: Sizes, expected: &str) {
        let load = Load { arrivals, sizes, span: Duration::from_secs(100) };
        let told = load.jobs(1).map(|jobs| jobs.len()).map_err(|error| error.to_string());
        assert_eq!(told, Err(expected.to_owned()));
    }

    #[test]
    fn the_longest_spans_are_borne() {
        let (on, off) = (Duration::MAX, Duration::MAX);
        let arrivals = Arrivals::OnOff { rate: 1.0, on, off };
        let sizes = Sizes::Constant(Duration::from_secs(1));
        let told = Load { arrivals, sizes, span: Duration::from_secs(9) }.jobs(1);
        let told = told.expect_err("longer than anything").to_string();
        assert!(told.ends_with("it must be from 1 ms to 1e9 s"), "{told}");
    }

    #[test]
    fn nonsense_is_told_with_its_value() {
        let one = || Sizes::Constant(Duration::from_secs(1));
        let poisson = |rate| Arrivals::Poisson { rate };
        check(
            poisson(-1.0),
            one(),
            "the rate of arrivals is -1; it must be a number from 0 to 1e9",
        );
        let sine = Arrivals::Sine { mean: 1.0, swing: 2.0, period: Duration::from_secs(1) };
        check(sine, one(), "the swing is 2; it must be from 0 to the mean rate");
        let none = Sizes::Listed(vec![]);
        check(poisson(1.0), none, "the number of sizes is 0; it must be at least 1");
        let pareto = Sizes::Pareto { mean: Duration::from_secs(1), shape: 1.0 };
        check(poisson(1.0), pareto, "the shape is 1; it must be from 1.05 to 100");
        let bias = Arrivals::SelfSimilar { mean: 1.0, bias: 0.2 };
        check(bias, one(), "the bias is 0.2; it must be from 0.5 to 0.99");
        check(
            poisson(1e6),
            one(),
            "this is about 100000000 jobs, more than 20000000; make the span or the rate smaller",
        );
    }
}
