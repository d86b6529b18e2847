//! What several pools may run in all.
//!
//! Each pool says at its look what it could use; what it is granted is its fair part of the whole,
//! as far as nobody else still holds it.

use headcount_core::PoolSnapshot;
use headcount_core::guard;
use headcount_core::share::{Demand, Remainders, divide};

/// What several pools may run in all, and what each of them holds.
#[derive(Clone, Debug)]
pub(super) struct Purse {
    workers_max: u32,
    demands: Vec<Demand>,
    held: Vec<u32>,
}

impl Purse {
    /// A budget of so many workers for as many pools; those without a seat want nothing.
    pub(super) fn new(workers_max: u32, pools: usize) -> Self {
        Self { workers_max, demands: vec![Demand::of(0); pools], held: vec![0; pools] }
    }

    /// A pool takes part, with these bounds.
    pub(super) fn join(&mut self, pool: usize, bounds: guard::Bounds) {
        self.demands[pool] = Demand { min: bounds.min, max: bounds.max, ..Demand::of(bounds.min) };
        self.held[pool] = bounds.min;
    }

    /// What the pool may have now.
    pub(super) fn grant(&mut self, pool: usize, snapshot: &PoolSnapshot) -> u32 {
        let wanted = u32::try_from(snapshot.pending()).unwrap_or(u32::MAX).saturating_add(1);
        let min = self.demands[pool].min;
        self.demands[pool].wanted = wanted.max(min);
        let parts = divide(self.workers_max, &self.demands, &mut Remainders::default());
        let spare = self.workers_max - parts.iter().sum::<u32>();
        let others = self.held.iter().enumerate().filter(|(other, _)| *other != pool);
        let taken: u32 = others.map(|(_, held)| held).sum();
        (parts[pool] + spare).min(self.workers_max.saturating_sub(taken))
    }

    /// The pool has taken up so many.
    pub(super) fn holds(&mut self, pool: usize, workers: u32) {
        self.held[pool] = workers;
    }

    /// What all pools hold together.
    pub(super) fn held(&self) -> u32 {
        self.held.iter().sum()
    }

    pub(super) fn workers_max(&self) -> u32 {
        self.workers_max
    }
}
