//! What a simulation begins with.

use std::sync::Arc;
use std::time::Duration;

use headcount_core::roster::RosterConfig;
use headcount_core::{Policy, Timestamp};

use crate::Promise;
use crate::load::Job;
use crate::world::{Downstream, Faults, Host};

/// A run goes on for so many mean services after the last arrival, so that what came last may end.
const GRACE_SERVICES: u32 = 20;
/// A run goes on for so long after the last arrival, at most.
const GRACE_MAX: Duration = Duration::from_secs(20 * 86_400);

/// Pools in a world, for a while.
///
/// ```
/// use headcount_core::{Policy, Preset, Timestamp};
/// use headcount_sim::load::{Arrivals, Load, Sizes};
/// use headcount_sim::run::{PoolSetup, Setup, Simulation};
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
/// let scores = Simulation::new(Setup::of(pool)).run().expect("no rule is broken");
/// assert!(scores[0].late_percent() < 1.0, "{:?}", scores[0]);
/// assert!(scores[0].cost_per_work() < 1.2, "{:?}", scores[0]);
/// ```
#[derive(Clone, Debug)]
pub struct Setup {
    /// The pools.
    pub pools: Vec<PoolSetup>,
    /// What their jobs call.
    pub downstreams: Vec<Downstream>,
    /// The machines that they run on.
    pub hosts: Vec<Host>,
    /// What some of them may run in all.
    pub budgets: Vec<u32>,
    /// What goes wrong by chance.
    pub faults: Faults,
    /// Where chance begins.
    pub seed: u64,
    /// When it ends. `None`: twenty mean services after the last arrival, or when every promise is
    /// over where that is later, and twenty days after it at most.
    pub end: Option<Timestamp>,
    /// Whether every rule is checked after every event, which takes a while.
    pub checked: bool,
}

impl Setup {
    /// One pool in a world without trouble.
    #[must_use]
    pub fn of(pool: PoolSetup) -> Self {
        Self {
            pools: vec![pool],
            downstreams: Vec::new(),
            hosts: Vec::new(),
            budgets: Vec::new(),
            faults: Faults::default(),
            seed: 1,
            end: None,
            checked: false,
        }
    }

    /// The first pool calls this.
    #[must_use]
    pub fn calling(mut self, downstream: Downstream) -> Self {
        self.downstreams.push(downstream);
        self.pools[0].downstream = Some(self.downstreams.len() - 1);
        self
    }

    /// The first pool runs on this machine.
    #[must_use]
    pub fn on(mut self, host: Host) -> Self {
        self.hosts.push(host);
        self.pools[0].host = Some(self.hosts.len() - 1);
        self
    }

    pub(super) fn end(&self) -> Timestamp {
        let last = self.pools.iter().filter_map(|pool| pool.jobs.last()).map(|job| job.at).max();
        let grace = self.pools.iter().map(PoolSetup::grace).max().unwrap_or_default();
        self.end.unwrap_or(last.unwrap_or_default() + grace)
    }
}

/// One pool of a simulation. [`Setup`] has an example.
///
/// ```
/// use headcount_core::{Policy, Preset};
/// use headcount_sim::run::PoolSetup;
/// use std::time::Duration;
///
/// let policy = Policy::check(&Preset::gopipe().config(), 8).expect("the preset is right");
/// let pool = PoolSetup::new("thumbs", policy, Vec::new().into());
/// let slow = PoolSetup { spawn_delay: Duration::from_secs(10), ..pool };
/// assert_eq!(slow.downstream, None, "its workers are in nobody's way");
/// ```
#[derive(Clone, Debug)]
pub struct PoolSetup {
    /// What it is called.
    pub name: String,
    /// What it is sized by.
    pub policy: Policy,
    /// What it has to do, in order of time.
    pub jobs: Arc<[Job]>,
    /// How it hires, apart from its size. As the policy has it, by default.
    pub roster: RosterConfig,
    /// How long a worker needs to start. 100 us by default.
    pub spawn_delay: Duration,
    /// What a start costs, in the time of a worker at work. 50 ms by default.
    pub spawn_cost: Duration,
    /// What jobs were promised. That they wait no longer than the wait budget, by default.
    pub promise: Promise,
    /// How many jobs may wait. No limit by default.
    pub queue_len_max: Option<u64>,
    /// After how long a waiting job is dropped. Never by default.
    pub expire_after: Option<Duration>,
    /// How long the oldest may wait before the newest go first. As the policy has it, by default.
    pub newest_first_after: Option<Duration>,
    /// Which of the downstreams its jobs call.
    pub downstream: Option<usize>,
    /// Which of the hosts it runs on.
    pub host: Option<usize>,
    /// Which of the budgets it shares.
    pub budget: Option<usize>,
    /// The looks are no closer together than this. 0 by default.
    pub tick_min: Duration,
    /// Whether it is told the knee of its downstream, as an allowance: what no live pool knows, and
    /// a reference for those that have to find it out. Not by default.
    pub knows_knee: bool,
}

impl PoolSetup {
    /// A pool with all the defaults.
    #[must_use]
    pub fn new(name: &str, policy: Policy, jobs: Arc<[Job]>) -> Self {
        let spawn_cost = Duration::from_millis(50);
        let budget = policy.wait_budget().unwrap_or(Duration::from_millis(100));
        Self {
            name: name.to_owned(),
            roster: RosterConfig {
                idle_time: policy.idle_time().unwrap_or(spawn_cost),
                ..policy.roster()
            },
            newest_first_after: policy.newest_first_after(),
            policy,
            jobs,
            spawn_delay: Duration::from_micros(100),
            spawn_cost,
            promise: Promise::Wait(budget),
            queue_len_max: None,
            expire_after: None,
            downstream: None,
            host: None,
            budget: None,
            tick_min: Duration::ZERO,
            knows_knee: false,
        }
    }

    /// How long a run goes on after its last job. A promise that is not over by the end is neither
    /// kept nor broken, and who does nothing at all would look as good as anybody.
    pub(crate) fn grace(&self) -> Duration {
        let services = self.mean_size().saturating_mul(GRACE_SERVICES);
        services.max(self.promise.span()).min(GRACE_MAX)
    }

    /// What a job takes, on average.
    #[must_use]
    pub fn mean_size(&self) -> Duration {
        let jobs = u32::try_from(self.jobs.len()).unwrap_or(u32::MAX).max(1);
        self.jobs.iter().map(|job| job.size).fold(Duration::ZERO, Duration::saturating_add) / jobs
    }
}
