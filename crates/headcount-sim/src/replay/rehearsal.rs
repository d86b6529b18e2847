//! The loop closed by simulation: policies on a load that is made of the recording.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use headcount_core::health::{Standing, Zone};
use headcount_core::roster::RosterConfig;
use headcount_core::{
    Breaker, Decision, Observation, Policy, PolicyConfig, PoolSnapshot, Reason, Timestamp,
};

use super::averages::Averages;
use super::caveat::Caveat;
use super::load::Came;
use crate::Promise;
use crate::load::{Job, LoadError};
use crate::run::{PoolSetup, Score, Setup, Simulation};

/// The seed of what is drawn: one load for all policies, and the same at every replay.
const SEED: u64 = 1;

/// How one policy fares on the load of a recording.
///
/// ```
/// use headcount_sim::replay::Simulated;
///
/// assert_eq!(Simulated::default().score.jobs, 0);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Simulated {
    /// How well it went.
    pub score: Score,
    /// Jobs that were refused, or not done when it ended.
    pub undone: u64,
    /// The workers there were, at its looks, for as long as the recording goes.
    pub averages: Averages,
}

/// How far the simulation of the recorded policy agrees with what was recorded.
///
/// ```
/// use headcount_sim::replay::Agreement;
///
/// let agreement = Agreement { live: (4.0, 4.2), busy: (2.0, 2.0) };
/// assert!((agreement.worst() - 0.05).abs() < 1e-9);
/// assert_eq!(agreement.to_string(), "close");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Agreement {
    /// Workers on average: as recorded, as simulated.
    pub live: (f64, f64),
    /// Busy workers on average: as recorded, as simulated.
    pub busy: (f64, f64),
}

impl Agreement {
    /// The larger of both deviations, as a share of what was recorded.
    #[must_use]
    pub fn worst(&self) -> f64 {
        deviation(self.live).abs().max(deviation(self.busy).abs())
    }
}

/// By how much the second is off, as a share of the first.
fn deviation((recorded, simulated): (f64, f64)) -> f64 {
    // Less than a twentieth of a worker is nothing to speak of.
    if (simulated - recorded).abs() < 0.05 {
        return 0.0;
    }
    (simulated - recorded) / recorded.max(0.05)
}

/// In a word: how far to trust the simulation.
impl fmt::Display for Agreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let worst = self.worst();
        f.write_str(match () {
            () if worst <= 0.1 => "close",
            () if worst <= 0.25 => "rough; take it as an estimate",
            () => "poor; do not go by it",
        })
    }
}

/// What is known of a recorded run, so that it can be simulated.
///
/// The load is taken as given: that tasks take longer where more of them run at once is not known
/// to it, nor that callers stay away from a slow service. [`Caveat`]s say what else it leaves out.
///
/// ```
/// use headcount_core::{Observation, Policy, Preset, Timestamp};
/// use headcount_sim::load::{Arrivals, Load, Sizes};
/// use headcount_sim::replay::Rehearsal;
/// use headcount_sim::run::{PoolSetup, Setup, Simulation};
/// use std::time::Duration;
///
/// // A run to be recorded, here itself a simulated one.
/// let load = Load {
///     arrivals: Arrivals::Poisson { rate: 40.0 },
///     sizes: Sizes::Exponential { mean: Duration::from_millis(100) },
///     span: Duration::from_secs(120),
/// };
/// let slo = Policy::check(&Preset::slo(Duration::from_millis(100)).config(), 64).expect("right");
/// let pool = PoolSetup::new("web", slo.clone(), load.jobs(7).expect("a load").into());
/// let mut rehearsal = Rehearsal::default();
/// let mut record = |_: usize, observation: &Observation, decision: &_| {
///     rehearsal.tick(observation, decision);
/// };
/// Simulation::new(Setup::of(pool)).watched(&mut record).run().expect("no rule is broken");
///
/// let promise = Duration::from_millis(100);
/// let again = rehearsal.simulate(&slo, promise).expect("few").expect("tasks ended");
/// assert!(again.score.late_percent() < 1.0);
/// assert!(rehearsal.agreement(&again).worst() < 0.1);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Rehearsal {
    came: Came,
    averages: Averages,
    first: Option<PoolSnapshot>,
    spawn_delay: Option<Duration>,
    queue_len_max: Option<u64>,
    policy: Option<PolicyConfig>,
    seen: Seen,
}

/// At how many looks there was something that is not simulated.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    full: u64,
    unwell: u64,
    shared: u64,
    broken: u64,
    by_hand: u64,
    changed: u64,
    external: u64,
}

impl Rehearsal {
    /// From here on the recorded one goes by this policy.
    pub fn policy(&mut self, written: &PolicyConfig) {
        let is_other = self.policy.as_ref().is_some_and(|before| before != written);
        self.seen.changed += u64::from(is_other);
        self.policy = Some(written.clone());
    }

    /// Takes in a look and what was decided.
    pub fn tick(&mut self, observation: &Observation, decision: &Decision) {
        let (at, pool) = (observation.at, &observation.pool);
        self.came.look(at, pool);
        self.averages.look(at, pool);
        self.first.get_or_insert(*pool);
        self.spawn_delay = pool.spawn_delay.or(self.spawn_delay);
        // Where nobody is refused, whoever finds the line full waits, which is no limit to it.
        if 0 < pool.counters.rejected {
            self.queue_len_max = pool.queue_len_max.or(self.queue_len_max);
        }
        self.seen.look(observation, decision);
    }

    /// How many tasks came.
    #[must_use]
    pub fn tasks(&self) -> u64 {
        self.came.tasks()
    }

    /// What the simulation leaves out.
    #[must_use]
    pub fn caveats(&self) -> Vec<Caveat> {
        let seen = &self.seen;
        let caveats = [
            (seen.full, Caveat::LineFull(seen.full)),
            (seen.unwell, Caveat::Unwell(seen.unwell)),
            (seen.shared, Caveat::Shared(seen.shared)),
            (seen.broken, Caveat::Broken(seen.broken)),
            (seen.by_hand, Caveat::ByHand(seen.by_hand)),
            (seen.changed, Caveat::Changed(seen.changed)),
            (seen.external, Caveat::External(seen.external)),
        ];
        caveats.into_iter().filter(|(looks, _)| 0 < *looks).map(|(_, caveat)| caveat).collect()
    }

    /// Runs `policy` on the recorded load; jobs are promised to wait no longer than `promise`.
    /// `None`: no task has ended, so nobody knows how long they take.
    ///
    /// # Errors
    ///
    /// When there are more tasks than can be simulated.
    pub fn simulate(
        &self,
        policy: &Policy,
        promise: Duration,
    ) -> Result<Option<Simulated>, LoadError> {
        let Some(jobs) = self.came.jobs(SEED)? else { return Ok(None) };
        let recorded_end = Timestamp::ORIGIN + self.came.span();
        let last = jobs.last().map_or(recorded_end, |job| job.at.max(recorded_end));
        let pool = self.pool(policy, jobs.into(), promise);
        // What came last may end too, so that it costs what it costs.
        let end = Some(last + pool.grace());
        let mut averages = Averages::default();
        let mut look = |_: usize, observation: &Observation, _: &Decision| {
            if observation.at <= recorded_end {
                averages.look(observation.at, &observation.pool);
            }
        };
        let setup = Setup { end, ..Setup::of(pool) };
        let ended = Simulation::new(setup).watched(&mut look).run_with_books();
        // Rules are not checked, so none is broken.
        let (score, books) = ended.unwrap_or_default().pop().unwrap_or_default();
        let undone = books.arrived - books.done;
        Ok(Some(Simulated { score, undone, averages }))
    }

    fn pool(&self, policy: &Policy, jobs: Arc<[Job]>, promise: Duration) -> PoolSetup {
        let pool = PoolSetup::new("replay", policy.clone(), jobs);
        let bounds = policy.bounds();
        let first = self.first.map_or(pool.roster.staffing, |first| first.staffing());
        let staffing = first.within(bounds.min, bounds.max);
        PoolSetup {
            roster: RosterConfig { staffing, ..pool.roster },
            spawn_delay: self.spawn_delay.unwrap_or(pool.spawn_delay),
            promise: Promise::Wait(promise),
            queue_len_max: self.queue_len_max,
            ..pool
        }
    }

    /// How far `simulated`, a run of the recorded policy, agrees with what was recorded.
    #[must_use]
    pub fn agreement(&self, simulated: &Simulated) -> Agreement {
        let (was, is) = (&self.averages, &simulated.averages);
        Agreement { live: (was.live(), is.live()), busy: (was.busy(), is.busy()) }
    }
}

impl Seen {
    fn look(&mut self, observation: &Observation, decision: &Decision) {
        let pool = &observation.pool;
        let is_full = pool.queue_len_max.is_some_and(|most| 0 < most && most <= pool.queued);
        let standing = Standing::of(observation.health.as_ref(), observation.at);
        let is_unwell = observation.health.is_some() && standing.zone != Zone::Safe;
        let is_shared = observation.allowance.is_some_and(|most| most < decision.bounds.max);
        let is_open = observation.breaker.is_some_and(|breaker| breaker != Breaker::Closed);
        self.full += u64::from(is_full);
        self.unwell += u64::from(is_unwell);
        self.shared += u64::from(is_shared);
        self.broken += u64::from(is_open);
        self.by_hand += u64::from(decision.reason() == Reason::Manual);
        self.external += u64::from(observation.externals.iter().next().is_some());
    }
}
