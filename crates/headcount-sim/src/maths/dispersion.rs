//! How bursty arrivals are, from their counts.

use std::num::NonZeroU32;

/// The index of dispersion of counts at a horizon: their variance over their mean.
///
/// It is 1 for arrivals by chance at every horizon, and tends to grow with the horizon for real
/// ones: so it is taken at the horizon of the wait in question. Counts come in one after the
/// other and are not kept.
///
/// ```
/// use headcount_sim::maths::Dispersion;
/// use std::num::NonZeroU32;
///
/// // Counts of one second each, looked at over two seconds.
/// let mut dispersion = Dispersion::over(NonZeroU32::new(2).expect("not zero"));
/// for count in [3, 3, 9, 9, 3, 3, 9, 9] {
///     dispersion.add(count);
/// }
/// assert_eq!(dispersion.mean(), Some(12.0));
/// assert_eq!(dispersion.index(), Some(4.0), "6, 18, 6, 18 vary by 48 around 12");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Dispersion {
    merged: NonZeroU32,
    /// Of the window that is not full yet.
    filled: u32,
    count: u64,
    /// Of those that are: how many, their mean, and the squares of how far they are from it.
    windows: u64,
    mean: f64,
    squares: f64,
    /// The last one, and the squares of how far each is from the one before.
    last: f64,
    steps: f64,
}

impl Dispersion {
    /// Nothing counted yet, with a horizon of so many counts.
    #[must_use]
    pub fn over(merged: NonZeroU32) -> Self {
        Self {
            merged,
            filled: 0,
            count: 0,
            windows: 0,
            mean: 0.0,
            squares: 0.0,
            last: 0.0,
            steps: 0.0,
        }
    }

    /// The next count, of as long a time as all others.
    pub fn add(&mut self, count: u64) {
        self.count = self.count.saturating_add(count);
        self.filled += 1;
        if self.filled == self.merged.get() {
            let window = self.count as f64;
            (self.filled, self.count) = (0, 0);
            self.add_window(window);
        }
    }

    fn add_window(&mut self, window: f64) {
        if 0 < self.windows {
            self.steps += (window - self.last).powi(2);
        }
        self.last = window;
        self.windows += 1;
        let off = window - self.mean;
        self.mean += off / self.windows as f64;
        self.squares += off * (window - self.mean);
    }

    /// The mean count at the horizon. `None`: too little was counted to fill it once.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        (0 < self.windows).then_some(self.mean)
    }

    /// Variance over mean, slow changes of the rate included. `None`: fewer than two windows, or
    /// nothing came.
    #[must_use]
    pub fn index(&self) -> Option<f64> {
        self.over_mean(self.squares)
    }

    /// The same without slow changes: from the steps between neighbours, each of which counts the
    /// variation of both. A rate that follows the hours of the day leaves it as it is.
    #[must_use]
    pub fn index_of_neighbours(&self) -> Option<f64> {
        self.over_mean(self.steps / 2.0)
    }

    fn over_mean(&self, squares: f64) -> Option<f64> {
        let is_known = 2 <= self.windows && 0.0 < self.mean;
        is_known.then(|| squares / (self.windows - 1) as f64 / self.mean)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;
    use rand_distr::{Distribution, Poisson};

    fn of(merged: u32, counts: impl IntoIterator<Item = u64>) -> Dispersion {
        let mut dispersion = Dispersion::over(NonZeroU32::new(merged).unwrap());
        counts.into_iter().for_each(|count| dispersion.add(count));
        dispersion
    }

    /// A day of seconds by chance, with a rate that depends on the second.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small counts")]
    fn day(rate: impl Fn(f64) -> f64) -> Vec<u64> {
        let mut dice = ChaCha8Rng::seed_from_u64(1);
        let second = |second: u32| {
            let chance = Poisson::new(rate(f64::from(second))).expect("a rate");
            let count: f64 = chance.sample(&mut dice);
            count as u64
        };
        (0..86_400).map(second).collect()
    }

    #[track_caller]
    fn near(found: Option<f64>, expected: f64) {
        let found = found.expect("enough was counted");
        assert!((found / expected - 1.0).abs() < 0.05, "{found}, not {expected}");
    }

    #[test]
    fn chance_is_1_at_every_horizon() {
        let counts = day(|_| 20.0);
        for merged in [1, 10, 60] {
            let dispersion = of(merged, counts.iter().copied());
            near(dispersion.index(), 1.0);
            near(dispersion.index_of_neighbours(), 1.0);
            near(dispersion.mean(), 20.0 * f64::from(merged));
        }
    }

    #[test]
    fn the_hours_of_the_day_are_no_burst_between_neighbours() {
        let hours = |second: f64| 20.0 + 15.0 * (second / 86_400.0 * std::f64::consts::TAU).sin();
        let dispersion = of(1, day(hours));
        near(dispersion.index(), 1.0 + 15.0 * 15.0 / 2.0 / 20.0);
        near(dispersion.index_of_neighbours(), 1.0);
    }

    #[test]
    fn too_little_says_nothing() {
        assert_eq!(of(3, [1, 2]).mean(), None);
        assert_eq!(of(3, [1, 2, 3]).mean(), Some(6.0));
        assert_eq!(of(3, [1, 2, 3]).index(), None);
        assert_eq!(of(1, [0, 0, 0]).index(), None);
        assert_eq!(of(1, [4, 4, 4]).index(), Some(0.0));
        assert_eq!(of(1, [u64::MAX, u64::MAX]).index(), Some(0.0));
    }
}
