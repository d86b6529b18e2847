//! Another configuration while everything is at work.
//!
//! First everything that is new is made, beside what is there, and every new policy is tried on; if
//! anything in it cannot be, nothing changes. Then pools that stay get their new policy, those that
//! are new begin, and those that are gone take no more tasks, run what they have, and go.
//!
//! The budget keeps the minimums of all pools free, and for a while there are those of before and
//! those of after. So it is raised as far as both need, and set once everything is in its place.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::at_work::{Stage, System, sampler};
use super::error::SystemError;
use super::unit::{Unit, checked, fit};
use crate::config::{Config, PoolConfig};
use crate::live::{Budget, Fit};
use crate::probes::Sampler;
use crate::sync::lock;

/// What came of a reload.
///
/// ```
/// use headcount::config::{Config, Registry};
/// use headcount::System;
///
/// let read = |text: &str| Config::parse("a.yaml", text, &Registry::new());
/// let system = System::of(read("pools: {a: {}, b: {}}")?).start()?;
/// let reload = system.reload(read("pools: {b: {idle: 30s}, c: {}}")?)?;
/// assert_eq!((reload.added, reload.changed, reload.removed), (1, 1, 1));
/// assert_eq!(reload.notes, ["pools.b.idle changes with the next start, not now"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reload {
    /// How many pools are new.
    pub added: usize,
    /// How many stay and say something else now.
    pub changed: usize,
    /// How many are gone.
    pub removed: usize,
    /// What takes effect with the next start only, and what stayed as it was, with the reason.
    pub notes: Vec<String>,
}

/// What is about to be done.
struct Plan {
    made: BTreeMap<String, Unit>,
    fits: BTreeMap<String, Fit>,
    notes: Vec<String>,
}

impl System {
    /// Goes by another configuration from now on. No task that was taken in is lost.
    ///
    /// # Errors
    ///
    /// When something in it cannot be made, or when the system has been drained. Then nothing
    /// changes.
    pub fn reload(&self, mut config: Config) -> Result<Reload, SystemError> {
        let works = &self.works;
        let stage = lock(&works.stage);
        if *stage == Stage::Drained {
            return Err(SystemError::Drained);
        }
        check(&config)?;
        let before = lock(&works.config).clone();
        let health = self.health(&before, &config)?;
        let workers_max = config.budget.unwrap_or(u32::MAX);
        let mut raised = Raised::to(&works.shared.budget, self.room(&config).max(workers_max));
        let mut plan = self.plan(&config)?;
        note_fixed(&before, &config, &mut plan.notes);
        if let Some(sampler) = health {
            works.shared.health.set(sampler);
        }
        let reload = self.carry_out(plan, &mut config);
        raised.after = workers_max;
        *lock(&works.config) = config;
        Ok(reload)
    }

    /// Another sampler, if there are other rules.
    fn health(&self, before: &Config, after: &Config) -> Result<Option<Sampler>, SystemError> {
        if before.health == after.health {
            return Ok(None);
        }
        let make_sensor = Arc::clone(&lock(&self.works.watching).make_sensor);
        let watched = self.works.shared.health.sampler();
        sampler(&after.health, &make_sensor, &self.works.shared.driver, Some(&watched)).map(Some)
    }

    /// What the minimums of all pools take together, of before and of after.
    fn room(&self, config: &Config) -> u32 {
        let units = lock(&self.works.units);
        let before = units.iter().map(|(name, unit)| match config.pool(name) {
            Some(pool) if unit.can_become(pool) => unit.fewest().max(pool.fewest()),
            Some(pool) => unit.fewest().saturating_add(pool.fewest()),
            None => unit.fewest(),
        });
        let after = config.pools.iter().filter(|pool| !units.contains_key(&pool.name));
        let minimums = before.chain(after.map(PoolConfig::fewest));
        minimums.fold(self.works.retiring_min(), u32::saturating_add)
    }

    /// Makes everything that is new, beside what is there.
    fn plan(&self, config: &Config) -> Result<Plan, SystemError> {
        let shared = &self.works.shared;
        let units = lock(&self.works.units);
        let mut plan = Plan { made: BTreeMap::new(), fits: BTreeMap::new(), notes: Vec::new() };
        for pool in &config.pools {
            match units.get(&pool.name).filter(|unit| unit.can_become(pool)) {
                Some(unit) if unit.config == *pool => {}
                Some(unit) => {
                    let fit = fit(pool, shared)?;
                    unit.try_on(&fit)?;
                    plan.fits.insert(pool.name.clone(), fit);
                    plan.notes.extend(unit.cannot_change(pool));
                }
                None => {
                    plan.made.insert(pool.name.clone(), Unit::make(pool, shared)?);
                }
            }
        }
        Ok(plan)
    }

    fn carry_out(&self, plan: Plan, config: &mut Config) -> Reload {
        let works = &self.works;
        let mut units = lock(&works.units);
        let mut reload = Reload { notes: plan.notes, ..Reload::default() };
        let gone: Vec<String> = units
            .keys()
            .filter(|name| config.pool(name).is_none() || plan.made.contains_key(*name))
            .cloned()
            .collect();
        reload.removed = gone.iter().filter(|name| config.pool(name).is_none()).count();
        let retired: Vec<Unit> = gone.iter().filter_map(|name| units.remove(name)).collect();
        reload.changed = gone.len() - reload.removed;
        reload.added = plan.made.len() + reload.removed - gone.len();
        for (name, fit) in plan.fits {
            let pool = config.pools.iter_mut().find(|pool| pool.name == name);
            let (Some(unit), Some(pool)) = (units.get_mut(&name), pool) else { continue };
            match unit.become_as(pool, fit) {
                Ok(()) => reload.changed += 1,
                // It was tried on; what only shows now stays as it was, and is told.
                Err(error) => {
                    reload.notes.push(format!("{error}; it stays as it was"));
                    *pool = unit.config.clone();
                }
            }
        }
        for (name, unit) in plan.made {
            unit.scaler.start();
            units.insert(name, unit);
        }
        drop(units);
        works.retire(retired.into_iter());
        reload
    }
}

/// A budget with room for what goes and what comes; from the end of the change on it is as large as
/// it is to be, or as it was.
struct Raised<'a> {
    budget: &'a Budget,
    after: u32,
}

impl<'a> Raised<'a> {
    fn to(budget: &'a Budget, room: u32) -> Self {
        let after = budget.workers_max();
        budget.set_workers_max(after.max(room));
        Self { budget, after }
    }
}

impl Drop for Raised<'_> {
    fn drop(&mut self) {
        self.budget.set_workers_max(self.after);
    }
}

/// What was read from a file is right already; what a program has changed since need not be.
pub(super) fn check(config: &Config) -> Result<(), SystemError> {
    for (index, pool) in config.pools.iter().enumerate() {
        checked(&pool.name, &pool.policy_of_scaler())?;
        if config.pools[..index].iter().any(|earlier| earlier.name == pool.name) {
            let why = "two pools have this name; give each a name of its own";
            return Err(SystemError::of(&pool.name, why));
        }
    }
    let fewest: u64 = config.pools.iter().map(|pool| u64::from(pool.fewest())).sum();
    match config.budget {
        Some(budget) if u64::from(budget) < fewest => Err(SystemError::Shared(format!(
            "budget.workers_max is {budget}; the pools have {fewest} workers at the fewest; allow \
             as many"
        ))),
        _ => Ok(()),
    }
}

fn note_fixed(before: &Config, after: &Config, notes: &mut Vec<String>) {
    let mut note = |field: &str, differs: bool| {
        if differs {
            notes.push(format!("{field} changes with the next start, not now"));
        }
    };
    note("trace", before.trace != after.trace);
    note("state", before.state != after.state);
}
