//! The pools of a storm: any preset, any limits.

use std::time::Duration;

use headcount_core::roster::RosterConfig;
use headcount_core::{Policy, PolicyConfig, Preset};

use super::load;
use crate::Promise;
use crate::dice::Dice;
use crate::run::{PoolSetup, Setup};

/// The pool of that number, in the world that `setup` has so far.
pub(super) fn pool(index: usize, span: Duration, setup: &Setup, dice: &mut Dice) -> PoolSetup {
    let policy = policy(dice);
    let name = format!("{index} {}", policy.0);
    let pool = PoolSetup::new(&name, policy.1, load::jobs(span, dice).into());
    let spawn_delay = Duration::from_secs_f64(dice.sometimes(1e-5, 3.0));
    let idle_time = Duration::from_secs_f64(dice.sometimes(0.001, 30.0));
    let limit = Duration::from_secs_f64(dice.between(0.01, 5.0));
    PoolSetup {
        roster: RosterConfig { idle_time, ..pool.roster },
        spawn_delay,
        promise: if dice.happens(0.5) { Promise::Wait(limit) } else { Promise::Latency(limit) },
        queue_len_max: dice.maybe(0.4, |dice| 1 + dice.one_of(100) as u64),
        expire_after: dice.maybe(0.4, |dice| Duration::from_secs_f64(dice.between(0.001, 10.0))),
        newest_first_after: pool
            .newest_first_after
            .or_else(|| dice.maybe(0.3, |dice| Duration::from_secs_f64(dice.between(0.001, 5.0)))),
        downstream: one_of(setup.downstreams.len(), dice),
        host: one_of(setup.hosts.len(), dice),
        tick_min: Duration::from_secs_f64(dice.sometimes(0.01, 5.0)),
        ..pool
    }
}

/// Which of so many it is, if any.
fn one_of(len: usize, dice: &mut Dice) -> Option<usize> {
    let which = dice.one_of(len + 1);
    (which < len).then_some(which)
}

/// A preset, within bounds of its own, and what it is called.
fn policy(dice: &mut Dice) -> (&'static str, Policy) {
    let presets = Preset::all();
    let preset = match dice.happens(0.3) {
        true => Preset::slo(Duration::from_secs_f64(dice.between(0.01, 3.0))),
        false => presets[dice.one_of(presets.len())].clone(),
    };
    let min = u32::try_from(dice.one_of(5)).unwrap_or(1);
    let max = min.max(1) + u32::try_from(dice.one_of(60)).unwrap_or(1);
    let bounds = PolicyConfig {
        workers_min: Some(min),
        workers_max: Some(max),
        tick: dice.maybe(0.5, |dice| Duration::from_secs_f64(dice.between(0.05, 5.0))),
        ..PolicyConfig::default()
    };
    let config = preset.config();
    // Some presets are made for pools that are never empty.
    let checked = Policy::check(&bounds.or(config.clone()), 8);
    (preset.name(), checked.unwrap_or_else(|_| Policy::check(&config, 8).expect("a preset")))
}
