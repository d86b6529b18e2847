//! How much work a job is.

use std::time::Duration;

use crate::dice::Dice;

/// How long jobs take, where nobody stands in their way.
///
/// ```
/// use headcount_sim::load::Sizes;
/// use std::time::Duration;
///
/// let sizes = Sizes::Lognormal { mean: Duration::from_millis(100), scv: 4.0 };
/// assert_eq!(sizes.mean(), Duration::from_millis(100));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Sizes {
    /// All the same.
    Constant(Duration),
    /// Exponential.
    Exponential {
        /// Their mean.
        mean: Duration,
    },
    /// Lognormal: many short ones and a few long ones.
    Lognormal {
        /// Their mean.
        mean: Duration,
        /// Their variance over the square of their mean.
        scv: f64,
    },
    /// Short ones, and now and then a long one.
    Bimodal {
        /// The short ones.
        short: Duration,
        /// The long ones.
        long: Duration,
        /// The share of jobs that are long.
        long_share: f64,
    },
    /// Pareto: without a longest one to speak of.
    Pareto {
        /// Their mean.
        mean: Duration,
        /// How quickly they thin out; above 1, and below 2 the variance has no bound.
        shape: f64,
    },
    /// As in a file; each job is one of them by chance.
    Listed(Vec<Duration>),
    /// Several classes, each with its weight.
    Classes(Vec<(f64, Sizes)>),
}

impl Sizes {
    /// What they are on average.
    #[must_use]
    pub fn mean(&self) -> Duration {
        Duration::try_from_secs_f64(self.mean_secs()).unwrap_or(Duration::MAX)
    }

    fn mean_secs(&self) -> f64 {
        match self {
            Self::Constant(mean)
            | Self::Exponential { mean }
            | Self::Lognormal { mean, .. }
            | Self::Pareto { mean, .. } => mean.as_secs_f64(),
            Self::Bimodal { short, long, long_share } => {
                short.as_secs_f64() * (1.0 - long_share) + long.as_secs_f64() * long_share
            }
            Self::Listed(sizes) => {
                sizes.iter().map(Duration::as_secs_f64).sum::<f64>() / sizes.len().max(1) as f64
            }
            Self::Classes(classes) => {
                let all: f64 = classes.iter().map(|(weight, _)| weight).sum();
                classes.iter().map(|(weight, sizes)| weight / all * sizes.mean_secs()).sum()
            }
        }
    }

    /// Draws a size, in seconds, and its class.
    pub(crate) fn draw(&self, dice: &mut Dice) -> (f64, u8) {
        match self {
            Self::Classes(classes) => {
                let all: f64 = classes.iter().map(|(weight, _)| weight).sum();
                let mut left = dice.share() * all;
                let chosen = classes.iter().position(|(weight, _)| {
                    left -= weight;
                    left < 0.0
                });
                let chosen = chosen.unwrap_or(0);
                let (seconds, _) = classes.get(chosen).map_or((0.0, 0), |(_, s)| s.draw(dice));
                (seconds, u8::try_from(chosen).unwrap_or(u8::MAX))
            }
            sizes => (sizes.draw_secs(dice), 0),
        }
    }

    fn draw_secs(&self, dice: &mut Dice) -> f64 {
        match self {
            Self::Constant(size) => size.as_secs_f64(),
            Self::Exponential { mean } => mean.as_secs_f64() * dice.exponential(),
            Self::Lognormal { mean, scv } => {
                let variance = scv.ln_1p();
                mean.as_secs_f64() * (dice.normal() * variance.sqrt() - variance / 2.0).exp()
            }
            Self::Bimodal { short, long, long_share } => {
                let is_long = dice.happens(*long_share);
                if is_long { long.as_secs_f64() } else { short.as_secs_f64() }
            }
            Self::Pareto { mean, shape } => {
                let least = mean.as_secs_f64() * (shape - 1.0) / shape;
                least * (dice.exponential() / shape).exp()
            }
            Self::Listed(sizes) => match sizes.len() {
                0 => 0.0,
                len => sizes[dice.one_of(len)].as_secs_f64(),
            },
            Self::Classes(_) => unreachable!("classes are drawn one level above"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dice::Purpose;

    /// Mean and squared coefficient of variation of many.
    fn check(sizes: &Sizes, mean: f64, scv: f64, within: f64) {
        let mut dice = Dice::new(11, Purpose::Sizes);
        let drawn: Vec<f64> = (0..200_000).map(|_| sizes.draw(&mut dice).0).collect();
        let got = drawn.iter().sum::<f64>() / drawn.len() as f64;
        let variance = drawn.iter().map(|x| (x - got).powi(2)).sum::<f64>() / drawn.len() as f64;
        assert!((got / mean - 1.0).abs() < within, "{sizes:?}: mean {got}");
        let got_scv = variance / (got * got);
        assert!((got_scv - scv).abs() <= 10.0 * within * scv + 1e-9, "{sizes:?}: scv {got_scv}");
        assert!((sizes.mean().as_secs_f64() / mean - 1.0).abs() < 1e-6, "{sizes:?}");
    }

    #[test]
    fn every_kind_has_the_mean_and_spread_it_says() {
        let secs = Duration::from_secs_f64;
        check(&Sizes::Constant(secs(2.0)), 2.0, 0.0, 1e-9);
        check(&Sizes::Exponential { mean: secs(0.1) }, 0.1, 1.0, 0.02);
        check(&Sizes::Lognormal { mean: secs(0.1), scv: 1.0 }, 0.1, 1.0, 0.02);
        check(&Sizes::Lognormal { mean: secs(3.0), scv: 4.0 }, 3.0, 4.0, 0.02);
        let (short, long) = (secs(0.001), secs(30.0));
        let bimodal = Sizes::Bimodal { short, long, long_share: 0.01 };
        check(&bimodal, 0.30099, 98.3, 0.04);
        check(&Sizes::Pareto { mean: secs(1.0), shape: 3.0 }, 1.0, 1.0 / 3.0, 0.03);
        check(&Sizes::Listed(vec![secs(1.0), secs(3.0)]), 2.0, 0.25, 0.01);
    }

    /// Where each draw looks at the whole list, this takes longer than any test may.
    #[test]
    fn to_draw_from_a_long_list_costs_no_more_than_from_a_short_one() {
        let sizes = Sizes::Listed(vec![Duration::from_secs(2); 2_000_000]);
        check(&sizes, 2.0, 0.0, 1e-9);
    }

    #[test]
    fn classes_come_by_their_weight() {
        let second = |n| Sizes::Constant(Duration::from_secs(n));
        let sizes = Sizes::Classes(vec![(3.0, second(1)), (1.0, second(9))]);
        check(&sizes, 3.0, 4.0 / 3.0, 0.02);
        let mut dice = Dice::new(1, Purpose::Sizes);
        let of_one = (0..1000).filter(|_| sizes.draw(&mut dice) == (9.0, 1)).count();
        assert!((200..300).contains(&of_one), "{of_one} of 1,000 are of the second class");
    }
}
