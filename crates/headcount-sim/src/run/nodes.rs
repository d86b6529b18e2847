//! One load on several nodes: processes that each have a pool, an autoscaler and a machine.
//!
//! Nodes know nothing of each other. What they have in common is what their jobs call, whose knee
//! they meet together, and, where it is asked for, a budget.

use std::num::NonZeroU32;

use super::setup::{PoolSetup, Setup};
use crate::dice::{Dice, Purpose};
use crate::load::Job;
use crate::world::{Downstream, Host};

/// Which node a job goes to.
///
/// ```
/// use headcount_core::{Policy, Preset, Timestamp};
/// use headcount_sim::load::Job;
/// use headcount_sim::run::{Dealing, PoolSetup};
/// use std::num::NonZeroU32;
/// use std::time::Duration;
///
/// let policy = Policy::check(&Preset::gopipe().config(), 8).expect("the preset is right");
/// let job = |secs| Job { at: Timestamp::from_secs(secs), size: Duration::from_secs(1), class: 0 };
/// let pool = PoolSetup::new("web", policy, [0, 1, 2].map(job).into());
/// let nodes = pool.dealt(NonZeroU32::MIN.saturating_add(1), Dealing::InTurn);
/// assert_eq!((nodes[0].jobs.len(), nodes[1].jobs.len()), (2, 1));
/// assert_eq!(nodes[1].name, "web node 2");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dealing {
    /// One after the other, as a balancer does that goes round.
    InTurn,
    /// By chance, as one does that knows nothing; a seed says where chance begins.
    ByChance(u64),
}

impl PoolSetup {
    /// As many pools like this one, among which its jobs are dealt. Bounds, limits and what a job
    /// was promised are those of each of them.
    #[must_use]
    pub fn dealt(&self, nodes: NonZeroU32, dealing: Dealing) -> Vec<Self> {
        let node = |(index, jobs): (usize, Vec<Job>)| Self {
            name: format!("{} node {}", self.name, index + 1),
            jobs: jobs.into(),
            ..self.clone()
        };
        hands(&self.jobs, nodes, dealing).into_iter().enumerate().map(node).collect()
    }
}

/// The jobs of each node, in order of time.
fn hands(jobs: &[Job], nodes: NonZeroU32, dealing: Dealing) -> Vec<Vec<Job>> {
    let nodes = nodes.get() as usize;
    let mut dice = match dealing {
        Dealing::InTurn => None,
        Dealing::ByChance(seed) => Some(Dice::new(seed, Purpose::Nodes)),
    };
    let mut hands = vec![Vec::new(); nodes];
    for (index, job) in jobs.iter().enumerate() {
        let node = dice.as_mut().map_or(index % nodes, |dice| dice.one_of(nodes));
        hands[node].push(*job);
    }
    hands
}

impl Setup {
    /// One load on several nodes in a world without trouble: as many pools as there are nodes, each
    /// on a machine of its own. It ends when it would with one.
    /// [`Simulation::run_as_one`](super::Simulation::run_as_one) says how it went for all of them
    /// together.
    ///
    /// ```
    /// use headcount_core::{Policy, Preset};
    /// use headcount_sim::load::{Arrivals, Load, Sizes};
    /// use headcount_sim::run::{Dealing, PoolSetup, Setup, Simulation};
    /// use headcount_sim::world::Downstream;
    /// use std::num::NonZeroU32;
    /// use std::time::Duration;
    ///
    /// let load = Load {
    ///     arrivals: Arrivals::Poisson { rate: 100.0 },
    ///     sizes: Sizes::Exponential { mean: Duration::from_millis(100) },
    ///     span: Duration::from_secs(60),
    /// };
    /// let policy = Preset::slo(Duration::from_millis(100)).config();
    /// let policy = Policy::check(&policy, 64).expect("the preset is right");
    /// let pool = PoolSetup::new("web", policy, load.jobs(7).expect("a load").into());
    /// let jobs = pool.jobs.len() as u64;
    ///
    /// let three = NonZeroU32::MIN.saturating_add(2);
    /// let setup = Setup::on_nodes(&pool, three, Dealing::InTurn)
    ///     .all_calling(Downstream::with_knee(40.0))
    ///     .all_within(50);
    /// let score = Simulation::new(setup).run_as_one("web").expect("no rule is broken");
    /// assert_eq!(score.jobs, jobs);
    /// assert!(score.peak <= 50, "{score:?}");
    /// ```
    #[must_use]
    pub fn on_nodes(pool: &PoolSetup, nodes: NonZeroU32, dealing: Dealing) -> Self {
        let alone = Self::of(pool.clone());
        let mut pools = pool.dealt(nodes, dealing);
        for (index, pool) in pools.iter_mut().enumerate() {
            pool.host = Some(index);
        }
        // Not by the jobs of each node: runs that are compared shall be as long.
        let end = Some(alone.end());
        Self { hosts: vec![Host::default(); pools.len()], pools, end, ..alone }
    }

    /// All pools call this, and meet its knee together.
    #[must_use]
    pub fn all_calling(mut self, downstream: Downstream) -> Self {
        self.downstreams.push(downstream);
        let which = Some(self.downstreams.len() - 1);
        self.pools.iter_mut().for_each(|pool| pool.downstream = which);
        self
    }

    /// All pools run so many workers together, at most. To be no less than the minima of all of
    /// them, which nobody takes away.
    #[must_use]
    pub fn all_within(mut self, budget: u32) -> Self {
        self.budgets.push(budget);
        let which = Some(self.budgets.len() - 1);
        self.pools.iter_mut().for_each(|pool| pool.budget = which);
        self
    }
}
