//! Another configuration while everything is at work.
//!
//! First everything that is new is made, beside what is there; if anything in it cannot be, nothing
//! changes. Then pools that stay get their new policy, those that are new begin, and those that are
//! gone take no more tasks, run what they have, and go.

use std::collections::BTreeMap;

use super::at_work::{System, sampler};
use super::error::SystemError;
use super::unit::{Unit, fit};
use crate::config::Config;
use crate::live::Fit;
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
    /// What takes effect with the next start only.
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
    /// When something in it cannot be made. Then nothing changes.
    pub fn reload(&self, config: Config) -> Result<Reload, SystemError> {
        let works = &self.works;
        let _turn = lock(&works.turn);
        let before = lock(&works.config).clone();
        let health = match before.health == config.health {
            true => None,
            false => Some(sampler(&config.health, &lock(&works.watching).make_sensor)?),
        };
        let mut plan = self.plan(&config)?;
        note_fixed(&before, &config, &mut plan.notes);
        if let Some(sampler) = health {
            works.shared.health.set(sampler);
        }
        works.shared.budget.set_workers_max(config.budget.unwrap_or(u32::MAX));
        let reload = self.carry_out(plan, &config);
        *lock(&works.config) = config;
        Ok(reload)
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
                    plan.fits.insert(pool.name.clone(), fit(pool, shared)?);
                    plan.notes.extend(unit.cannot_change(pool));
                }
                None => {
                    plan.made.insert(pool.name.clone(), Unit::make(pool, shared)?);
                }
            }
        }
        Ok(plan)
    }

    fn carry_out(&self, plan: Plan, config: &Config) -> Reload {
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
        reload.changed = plan.fits.len() + gone.len() - reload.removed;
        reload.added = plan.made.len() + reload.removed - gone.len();
        for (name, fit) in plan.fits {
            if let (Some(unit), Some(pool)) = (units.get_mut(&name), config.pool(&name)) {
                // Checked when it was read; what only shows now stays as it was, and is told.
                if let Err(error) = unit.become_as(pool, fit) {
                    reload.notes.push(error.to_string());
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

fn note_fixed(before: &Config, after: &Config, notes: &mut Vec<String>) {
    let mut note = |field: &str, differs: bool| {
        if differs {
            notes.push(format!("{field} changes with the next start, not now"));
        }
    };
    note("trace", before.trace != after.trace);
    note("state", before.state != after.state);
}
