//! Short tasks and long ones in one pool.
//!
//! When a millisecond stands beside half a minute, the mean of the logarithms of what tasks took
//! says above all how many of those that ended were long, and that changes by chance, with the
//! limit, and while workers come and go. But the *variance* of the logarithms says the same: of two
//! kinds, a share `p` of them long and `d` apart on the logarithm, it is `p (1 - p) d^2`. So the
//! one is used to take the other out, and what is left is by how much tasks of either kind took
//! longer.
//!
//! How far apart the two kinds are follows from the three things that a window knows: mean and
//! variance of the logarithms, and the mean by Little's law, which is nearly all of the long ones.

use super::measure::Measure;

/// How much longer than those that ended tasks take by Little's law, were they spread as a
/// lognormal, where they are of two kinds; and how far their logarithms must be spread, for less of
/// a difference is seen while workers become busy, too.
const UNLIKE_MIN: f64 = 3.0;
const UNLIKE_MIN_WIDE: f64 = 1.5;
const WIDE_MIN: f64 = 2.0;
/// The fewest long ones that are looked for, as a share, and the most: of more, the short ones
/// would be the exception, and the logarithms hardly spread.
const LONG_MIN: f64 = 1e-4;
const LONG_MAX: f64 = 0.5;
/// Halvings of that span, on the logarithm: to a millionth of it.
const STEPS: u32 = 20;
/// No two kinds are further apart, and it can be raised to the power.
const DISTANCE_MAX: f64 = 300.0;

/// Two kinds of tasks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kinds {
    /// How far they are apart, on the logarithm.
    distance: f64,
}

impl Kinds {
    /// The kinds of which tasks are, if there is more than one.
    pub(super) fn of(measure: &Measure) -> Option<Self> {
        let unlike = measure.mean / measure.service_spread();
        let is_wide = WIDE_MIN < measure.log_variance;
        let unlike_min = if is_wide { UNLIKE_MIN_WIDE } else { UNLIKE_MIN };
        if unlike <= unlike_min {
            return None;
        }
        // The fewer are long, the longer they must be for all to be spread so, and the longer is
        // the mean.
        let (mut few, mut many) = (LONG_MIN, LONG_MAX);
        if excess(measure, few) < 0.0 || 0.0 < excess(measure, many) {
            return None;
        }
        for _ in 0..STEPS {
            let between = (few * many).sqrt();
            match 0.0 < excess(measure, between) {
                true => few = between,
                false => many = between,
            }
        }
        Some(Self { distance: distance(measure, few) })
    }

    /// By how much the mean of the logarithms rises from `one` to `other` only because more of the
    /// tasks are long.
    pub(super) fn rise(&self, one: &Measure, other: &Measure) -> f64 {
        self.distance * (self.long_share(other) - self.long_share(one))
    }

    /// The share of long ones that spreads the logarithms so.
    fn long_share(&self, measure: &Measure) -> f64 {
        let spread = (measure.log_variance / (self.distance * self.distance)).min(0.25);
        (1.0 - (1.0 - 4.0 * spread).sqrt()) / 2.0
    }
}

/// How far apart two kinds are that spread the logarithms so, where this share is long.
fn distance(measure: &Measure, long: f64) -> f64 {
    (measure.log_variance / (long * (1.0 - long))).sqrt().min(DISTANCE_MAX)
}

/// How much longer the mean would be than it is, as a logarithm, where this share is long.
fn excess(measure: &Measure, long: f64) -> f64 {
    let distance = distance(measure, long);
    let short_log = measure.log_mean - long * distance;
    let mean_log = short_log + (1.0 - long + long * distance.exp()).ln();
    mean_log - measure.mean.max(f64::MIN_POSITIVE).ln()
}

#[cfg(test)]
mod tests {
    use super::super::measure::tests::measure;
    use super::*;

    /// Tasks of so many seconds, this share of them of so many others.
    fn mixture(short: f64, long: f64, share: f64) -> Measure {
        let distance = (long / short).ln();
        Measure {
            log_mean: short.ln() + share * distance,
            log_variance: share * (1.0 - share) * distance * distance,
            mean: short * (1.0 - share) + long * share,
            ..measure(1.0, 20.0)
        }
    }

    #[test]
    fn more_long_ones_are_no_inflation() {
        let rest = Measure { count: 2000.0, ..mixture(0.001, 30.0, 0.0333) };
        for share in [0.02, 0.0333, 0.05, 0.1] {
            let inflation =
                |times: f64| rest.inflation(&mixture(0.001 * times, 30.0 * times, share));
            assert!((inflation(1.0) - 1.0).abs() < 0.02, "{} of {share}", inflation(1.0));
            assert!((inflation(1.3) / 1.3 - 1.0).abs() < 0.02, "{} of {share}", inflation(1.3));
        }
    }

    #[test]
    fn where_only_short_ones_had_ended_the_long_ones_are_no_inflation() {
        // The first long one has not ended yet, and keeps its worker busy.
        let first = Measure { log_variance: 1e-6, ..mixture(0.001, 30.0, 0.0) };
        let first = Measure { mean: 1.0, ..first };
        assert!(Kinds::of(&first).is_none(), "nothing is known of the others");
        let inflation = first.inflation(&mixture(0.001, 30.0, 0.0333));
        assert!((inflation - 1.0).abs() < 0.02, "{inflation}");
    }

    #[test]
    fn the_way_back_is_the_same() {
        let (rest, window) = (mixture(0.01, 10.0, 0.04), mixture(0.012, 12.0, 0.07));
        let rest = Measure { count: 2000.0, ..rest };
        let product = rest.inflation(&window) * window.inflation(&rest);
        assert!((product - 1.0).abs() < 1e-9, "{product}");
    }

    #[test]
    fn tasks_of_one_kind_are_left_alone() {
        for log_variance in [0.1, 0.7, 1.1, 1.6, 3.0] {
            let spread = (log_variance / 2.0_f64).exp();
            let one_kind =
                Measure { log_variance, log_mean: 0.0, mean: spread, ..measure(1.0, 9.0) };
            assert!(Kinds::of(&one_kind).is_none());
            // While workers become busy the mean by Little's law is longer.
            let ramp = Measure { mean: 1.4 * spread, ..one_kind };
            assert!(Kinds::of(&ramp).is_none(), "{log_variance}");
        }
    }
}
