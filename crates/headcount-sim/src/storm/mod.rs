//! Storms: worlds that nobody would think of, made from a seed and run with every rule checked.
//!
//! A storm has up to four pools of any preset, the first of them on several nodes now and then, any
//! kind of load, and everything that goes wrong here and there: knees, brown-outs, drift, refusals,
//! sick hosts, stuck sensors, hires that fail, workers that die, retries, budgets and full lines.
//! The same seed makes the same storm.

mod load;
mod pools;
mod nodes;
mod world;

use crate::dice::{Dice, Purpose};
use crate::run::{Score, Setup, Simulation, Violation};

/// Runs the storm of a seed, and checks every rule after every event.
///
/// ```
/// let scores = headcount_sim::storm::storm(1).expect("no rule is broken");
/// assert!(!scores.is_empty());
/// ```
///
/// # Errors
///
/// When a rule was broken.
pub fn storm(seed: u64) -> Result<Vec<Score>, Violation> {
    Simulation::new(scenario(seed)).run()
}

/// The storm of a seed, to be looked at.
///
/// ```
/// let setup = headcount_sim::storm::scenario(1);
/// assert!((1..=7).contains(&setup.pools.len()));
/// ```
#[must_use]
pub fn scenario(seed: u64) -> Setup {
    let mut dice = Dice::new(seed, Purpose::Storm);
    let span = load::span(&mut dice);
    let mut setup = Setup {
        pools: Vec::new(),
        downstreams: world::downstreams(span, &mut dice),
        hosts: world::hosts(span, &mut dice),
        budgets: Vec::new(),
        faults: world::faults(&mut dice),
        seed,
        end: None,
        checked: true,
    };
    for index in 0..=dice.one_of(4) {
        setup.pools.push(pools::pool(index, span, &setup, &mut dice));
    }
    nodes::on_nodes(&mut setup, span);
    world::share(&mut setup, &mut dice);
    setup
}

impl Dice {
    /// Between `low` and `high`, each order of magnitude as often as the next.
    fn between(&mut self, low: f64, high: f64) -> f64 {
        low * (high / low).powf(self.share())
    }

    /// Often nothing, otherwise between `low` and `high`.
    fn sometimes(&mut self, low: f64, high: f64) -> f64 {
        match self.happens(0.5) {
            true => 0.0,
            false => self.between(low, high),
        }
    }

    /// `Some` in this share of cases.
    fn maybe<T>(&mut self, share: f64, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.happens(share).then(|| make(self))
    }
}
