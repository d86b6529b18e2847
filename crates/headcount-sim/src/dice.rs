//! Chance from a seed.
//!
//! Every purpose throws dice of its own, so that two policies that are tried on the same seed
//! meet the same arrivals and the same sizes, whatever else they make happen.

use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Exp1, Poisson, StandardNormal, StandardUniform};

use rand::SeedableRng;

/// What dice are thrown for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Arrivals = 1,
    Sizes = 2,
    Faults = 3,
    Scenario = 4,
    Storm = 5,
    Nodes = 6,
}

/// Chance from a seed: the same seed and purpose, the same throws.
#[derive(Clone, Debug)]
pub(crate) struct Dice(ChaCha8Rng);

impl Dice {
    pub(crate) fn new(seed: u64, purpose: Purpose) -> Self {
        let mut chacha = ChaCha8Rng::seed_from_u64(seed);
        chacha.set_stream(purpose as u64);
        Self(chacha)
    }

    /// Evenly from 0 up to 1.
    pub(crate) fn share(&mut self) -> f64 {
        StandardUniform.sample(&mut self.0)
    }

    /// Whether something happens that happens in this share of cases.
    pub(crate) fn happens(&mut self, share: f64) -> bool {
        self.share() < share
    }

    /// Evenly one of `0..n`.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Below `n`, not negative.
    pub(crate) fn one_of(&mut self, n: usize) -> usize {
        ((self.share() * n as f64) as usize).min(n.saturating_sub(1))
    }

    /// Exponential, of mean 1.
    pub(crate) fn exponential(&mut self) -> f64 {
        Exp1.sample(&mut self.0)
    }

    /// Normal, of mean 0 and deviation 1.
    pub(crate) fn normal(&mut self) -> f64 {
        StandardNormal.sample(&mut self.0)
    }

    /// How many come where so many are expected.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Whole, not negative.
    pub(crate) fn poisson(&mut self, expected: f64) -> u64 {
        match Poisson::new(expected) {
            Ok(poisson) => poisson.sample(&mut self.0) as u64,
            // Nothing is expected, so nothing comes.
            Err(_) => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_throws_the_same() {
        let throws = |seed, purpose| {
            let mut dice = Dice::new(seed, purpose);
            (0..8).map(|_| dice.share().to_bits()).collect::<Vec<_>>()
        };
        assert_eq!(throws(7, Purpose::Sizes), throws(7, Purpose::Sizes));
        assert_ne!(throws(7, Purpose::Sizes), throws(8, Purpose::Sizes));
        assert_ne!(throws(7, Purpose::Sizes), throws(7, Purpose::Arrivals));
    }

    #[test]
    fn throws_have_the_mean_they_promise() {
        let mut dice = Dice::new(1, Purpose::Sizes);
        let mut mean =
            |throw: fn(&mut Dice) -> f64| (0..100_000).map(|_| throw(&mut dice)).sum::<f64>() / 1e5;
        assert!((mean(Dice::share) - 0.5).abs() < 0.01);
        assert!((mean(Dice::exponential) - 1.0).abs() < 0.02);
        assert!(mean(Dice::normal).abs() < 0.02);
        assert!((mean(|dice| dice.poisson(3.5) as f64) - 3.5).abs() < 0.03);
        assert!((mean(|dice| dice.poisson(0.0) as f64)).abs() < 1e-9);
    }
}
