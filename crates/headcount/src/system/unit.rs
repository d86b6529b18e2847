//! One pool of a configuration, and its scaler.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use headcount_core::share::Weight;
use headcount_core::{Extras, Policy, PolicyConfig, Resizable};
use headcount_pool::{Limiter, Pool, PoolHandle, Threads};

use super::at_work::Shared;
use super::error::SystemError;
use crate::config::{PoolConfig, PoolKind};
use crate::live::{Downstream, Fit, MakeExtras, Scaler, Share, Surroundings};
use crate::probes::PerWorker;
use crate::sync::lock;

/// What is scaled.
#[derive(Debug)]
pub(super) enum Workers {
    Threads(Pool<Threads>),
    #[cfg(feature = "tokio")]
    Tasks(Pool<headcount_pool::Tasks>),
    Limiter(Limiter),
    Own(OwnWorkers),
}

/// Something that the user registered.
#[derive(Clone)]
pub(super) struct OwnWorkers(pub(super) Arc<dyn Resizable>);

impl std::fmt::Debug for OwnWorkers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("OwnWorkers")
    }
}

/// One pool and its scaler.
#[derive(Debug)]
pub(super) struct Unit {
    pub(super) config: PoolConfig,
    // Before the scaler, whose seat at the budget is not given back while there are workers on it.
    pub(super) workers: Workers,
    pub(super) scaler: Scaler,
    #[expect(dead_code, reason = "it is there to be dropped last")]
    seat: SeatKept,
}

/// The pool's seat at the budget, given back when this goes, whoever else holds its scaler.
#[derive(Debug)]
struct SeatKept(Scaler);

impl Drop for SeatKept {
    fn drop(&mut self) {
        self.0.leave_budget();
    }
}

impl Drop for Unit {
    /// Nothing is decided about a pool that is on its way out.
    fn drop(&mut self) {
        self.scaler.stop();
    }
}

impl Unit {
    /// Makes a pool, whose scaler is not started yet.
    pub(super) fn make(config: &PoolConfig, shared: &Shared) -> Result<Self, SystemError> {
        let workers = Workers::make(config, shared)?;
        let fit = fit(config, shared)?;
        let share = Share { priority: config.share.priority, weight: weight(config) };
        let mut builder = workers.scaler().name(&config.name).driver(&shared.driver).fit(fit);
        // One of another type may still be there; a configuration has no two of one name.
        builder = builder.budget(&shared.budget, share).in_place_of_another();
        if let Some(state) = &shared.state {
            builder = builder.state_file(state);
        }
        #[cfg(feature = "trace")]
        if let Some(recorder) = &shared.recorder {
            builder = builder.trace(recorder);
        }
        let scaler = builder.build().map_err(|error| SystemError::of(&config.name, error))?;
        let seat = SeatKept(scaler.clone());
        Ok(Self { config: config.clone(), workers, scaler, seat })
    }

    /// The workers that the budget keeps free for it.
    pub(super) fn fewest(&self) -> u32 {
        self.scaler.policy().workers_min.unwrap_or_default()
    }

    /// Whether it can go on as another configuration says, without being made anew.
    pub(super) fn can_become(&self, config: &PoolConfig) -> bool {
        self.config.kind == config.kind
    }

    /// What would only change if it were made anew, in words.
    pub(super) fn cannot_change(&self, config: &PoolConfig) -> Vec<String> {
        let (old, new) = (&self.config, config);
        let name = &new.name;
        let mut stays = Vec::new();
        let mut note = |field: &str, differs: bool| {
            if differs {
                stays.push(format!("pools.{name}.{field} changes with the next start, not now"));
            }
        };
        note("queue", old.queue != new.queue);
        note("idle", old.idle != new.idle);
        note("stack_size", old.stack_size != new.stack_size);
        note("stuck_after", old.stuck_after != new.stuck_after);
        note("replace_stuck_max", old.replace_stuck_max != new.replace_stuck_max);
        note("compensate_max", old.compensate_max != new.compensate_max);
        note("panic", old.panic != new.panic);
        note("share", old.share != new.share);
        stays
    }

    /// Whether it can go by this: what is wrong is told before anything has changed.
    pub(super) fn try_on(&self, fit: &Fit) -> Result<(), SystemError> {
        let in_force = self.scaler.policy();
        let policy = PolicyConfig {
            workers_min: fit.policy.workers_min.or(in_force.workers_min),
            workers_max: fit.policy.workers_max.or(in_force.workers_max),
            ..fit.policy.clone()
        };
        let policy = checked(&self.config.name, &policy)?;
        let extras = fit.make_extras.as_ref().map_or_else(Extras::default, |make| make());
        let built = policy.try_build_with(extras);
        built.map(drop).map_err(|fault| SystemError::of(&self.config.name, fault))
    }

    /// Goes on as another configuration says.
    pub(super) fn become_as(&mut self, config: &PoolConfig, fit: Fit) -> Result<(), SystemError> {
        self.scaler.refit(fit).map_err(|error| SystemError::of(&config.name, error))?;
        self.workers.set_wait_budget(config.wait_budget);
        self.config = config.clone();
        Ok(())
    }

    /// Takes no more tasks, and is not scaled any more. Dropping it sees its last task out.
    pub(super) fn close(&self) {
        self.scaler.stop();
        self.workers.close();
    }

    /// Closes it, lets it work until `deadline`, and says how many tasks did not run and how many
    /// are still at it. `None`: it has all the time there is.
    pub(super) fn drain(&self, deadline: Option<Instant>) -> (usize, u32) {
        let left = deadline
            .map_or(Duration::MAX, |deadline| deadline.saturating_duration_since(Instant::now()));
        match &self.workers {
            Workers::Threads(pool) => drained(pool, left),
            #[cfg(feature = "tokio")]
            Workers::Tasks(pool) => drained(pool, left),
            Workers::Limiter(limiter) => {
                limiter.close();
                (0, limiter.in_use())
            }
            Workers::Own(own) => (0, own.0.snapshot().busy),
        }
    }
}

/// A policy that nothing is wrong with.
pub(super) fn checked(pool: &str, policy: &PolicyConfig) -> Result<Policy, SystemError> {
    // They only count where nobody says how many workers there may be.
    let cores = policy.workers_max.unwrap_or(1);
    Policy::check(policy, cores).map_err(|faults| {
        let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
        SystemError::of(pool, faults.join("; "))
    })
}

fn drained<K: headcount_pool::Kind>(pool: &PoolHandle<K>, left: Duration) -> (usize, u32) {
    let drained = pool.drain(left);
    (drained.unrun.len(), drained.still_running)
}

/// All that the scaler of this pool goes by.
pub(super) fn fit(config: &PoolConfig, shared: &Shared) -> Result<Fit, SystemError> {
    let extras = config.extras(&shared.registry);
    let spare = Mutex::new(extras.map_err(|why| SystemError::of(&config.name, why))?);
    let (registry, parts) = (shared.registry.clone(), config.clone());
    // Made once already: where a maker fails the next time, nothing is left out for it.
    let make: MakeExtras =
        Arc::new(move || parts.extras(&registry).unwrap_or_else(|_| copy(&lock(&spare))));
    let surroundings: Vec<Arc<dyn Surroundings>> = vec![Arc::new(shared.health.clone())];
    let downstreams: Vec<Downstream> = shared.downstream(config).into_iter().collect();
    let mut fit = Fit::new(policy(config, shared), Some(make), surroundings, &downstreams);
    fit.utc_offset = config.utc_offset;
    Ok(fit)
}

/// The same parts once more.
fn copy(extras: &Extras) -> Extras {
    Extras {
        signals: extras.signals.clone(),
        decider: extras.decider.clone(),
        parts: extras.parts.clone(),
        guards: extras.guards.clone(),
    }
}

/// Its policy, with the ceiling that its container sets.
fn policy(config: &PoolConfig, shared: &Shared) -> PolicyConfig {
    let mut policy = config.policy_of_scaler();
    let ceiling = config.ceiling.and_then(|ceiling| {
        let (cpu, bytes) = (ceiling.cpu_per_worker, ceiling.bytes_per_worker);
        let container = shared.health.latest()?.sample.container();
        PerWorker { cpu, bytes, ..PerWorker::default() }.ceiling(&container)
    });
    if let (Some(ceiling), Some(max)) = (ceiling, policy.workers_max) {
        let max = max.min(ceiling.workers);
        policy.workers_max = Some(max);
        policy.workers_min = policy.workers_min.map(|min| min.min(max));
    }
    policy
}

fn weight(config: &PoolConfig) -> Weight {
    Weight::new(config.share.weight).unwrap_or_default()
}

impl Workers {
    fn make(config: &PoolConfig, shared: &Shared) -> Result<Self, SystemError> {
        let fault = |why: String| SystemError::of(&config.name, why);
        match &config.kind {
            PoolKind::Threads => {
                let pool =
                    config.thread_pool().build().map_err(|error| fault(error.to_string()))?;
                Ok(Self::Threads(pool))
            }
            PoolKind::Tasks => Self::tasks(config, shared),
            PoolKind::Limiter => Ok(Self::Limiter(config.limiter())),
            PoolKind::Registered(_) => {
                let own = config.resizable(&shared.registry).map_err(fault)?;
                Ok(Self::Own(OwnWorkers(own)))
            }
        }
    }

    #[cfg(feature = "tokio")]
    fn tasks(config: &PoolConfig, shared: &Shared) -> Result<Self, SystemError> {
        let builder = match &shared.runtime {
            Some(runtime) => config.task_pool().runtime(runtime.clone()),
            None => config.task_pool(),
        };
        let pool = builder.build().map_err(|error| SystemError::of(&config.name, error))?;
        Ok(Self::Tasks(pool))
    }

    #[cfg(not(feature = "tokio"))]
    fn tasks(config: &PoolConfig, _: &Shared) -> Result<Self, SystemError> {
        let why = "pools of async tasks need the feature `tokio` of this program";
        Err(SystemError::of(&config.name, why))
    }

    fn scaler(&self) -> crate::live::ScalerBuilder {
        match self {
            Self::Threads(pool) => Scaler::of(pool.handle()),
            #[cfg(feature = "tokio")]
            Self::Tasks(pool) => Scaler::of(pool.handle()),
            Self::Limiter(limiter) => Scaler::of(limiter.clone()),
            Self::Own(own) => Scaler::of_shared(Arc::clone(&own.0)),
        }
    }

    fn set_wait_budget(&self, wait_budget: Duration) {
        match self {
            Self::Threads(pool) => pool.set_wait_budget(wait_budget),
            #[cfg(feature = "tokio")]
            Self::Tasks(pool) => pool.set_wait_budget(wait_budget),
            Self::Limiter(_) => {}
            Self::Own(own) => own.0.set_wait_budget(wait_budget),
        }
    }

    pub(super) fn close(&self) {
        match self {
            Self::Threads(pool) => pool.close(),
            #[cfg(feature = "tokio")]
            Self::Tasks(pool) => pool.close(),
            Self::Limiter(limiter) => limiter.close(),
            Self::Own(_) => {}
        }
    }
}
