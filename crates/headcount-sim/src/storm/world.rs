//! What a storm happens in, and what goes wrong there.

use std::time::Duration;

use headcount_core::Timestamp;

use crate::dice::Dice;
use crate::run::Setup;
use crate::world::{Downstream, Faults, Host, Refusal, Spell};

pub(super) fn downstreams(span: Duration, dice: &mut Dice) -> Vec<Downstream> {
    (0..dice.one_of(3)).map(|_| downstream(span, dice)).collect()
}

fn downstream(span: Duration, dice: &mut Dice) -> Downstream {
    let knee = dice.between(1.0, 60.0);
    let changes = match dice.one_of(3) {
        0 => Vec::new(),
        1 => brown_out(knee, span, dice),
        _ => drift(knee, span, dice),
    };
    let refusal = dice
        .maybe(0.3, |dice| Refusal { above: knee * dice.between(0.5, 3.0), share: dice.share() });
    Downstream { knee, crowding: dice.sometimes(0.001, 0.1), changes, refusal }
}

fn brown_out(knee: f64, span: Duration, dice: &mut Dice) -> Vec<(Timestamp, f64)> {
    let from = Timestamp::ORIGIN + span.mul_f64(dice.share());
    let to = from + span.mul_f64(0.3 * dice.share());
    vec![(from, knee * dice.between(0.05, 1.0)), (to, knee)]
}

fn drift(knee: f64, span: Duration, dice: &mut Dice) -> Vec<(Timestamp, f64)> {
    let steps = 2 + dice.one_of(30);
    let mut knee = knee;
    let step = |index: usize| {
        knee = (knee * dice.between(0.7, 1.4)).clamp(0.5, 100.0);
        (Timestamp::ORIGIN + span.mul_f64(index as f64 / steps as f64), knee)
    };
    (1..=steps).map(step).collect()
}

pub(super) fn hosts(span: Duration, dice: &mut Dice) -> Vec<Host> {
    (0..dice.one_of(2)).map(|_| host(span, dice)).collect()
}

pub(super) fn host(span: Duration, dice: &mut Dice) -> Host {
    let mut from = Timestamp::ORIGIN;
    let spells = (0..dice.one_of(6)).map(|_| {
        from = from + span.mul_f64(0.3 * dice.share());
        match dice.happens(0.3) {
            true => Spell { from, ..Spell::WELL },
            false => Spell { from, score: 100.0 * dice.share(), knee: dice.between(1.0, 60.0) },
        }
    });
    let spells = spells.collect();
    let stuck_from = dice.maybe(0.3, |dice| Timestamp::ORIGIN + span.mul_f64(dice.share()));
    Host { spells, sampled_every: Duration::from_secs_f64(dice.between(0.05, 10.0)), stuck_from }
}

pub(super) fn faults(dice: &mut Dice) -> Faults {
    Faults {
        spawn_fails: dice.sometimes(0.001, 0.9),
        job_fails: dice.sometimes(0.001, 0.5),
        worker_dies: dice.sometimes(0.001, 0.2),
        retries: u8::try_from(dice.one_of(5)).unwrap_or(u8::MAX),
        retry_after: Duration::from_secs_f64(dice.between(0.001, 5.0)),
    }
}

/// Some of the pools share what they may run.
pub(super) fn share(setup: &mut Setup, dice: &mut Dice) {
    if dice.happens(0.5) {
        return;
    }
    for pool in &mut setup.pools {
        pool.budget = dice.maybe(0.7, |_| 0);
    }
    let members = || setup.pools.iter().filter(|pool| pool.budget.is_some());
    let min: u32 = members().map(|pool| pool.policy.bounds().min).sum();
    let max: u32 = members().map(|pool| pool.policy.bounds().max).sum();
    let spare = dice.one_of(usize::try_from(max - min).unwrap_or(usize::MAX) + 1);
    // Everybody's minimum is there, so that no pool begins with more than its part.
    setup.budgets = vec![min + u32::try_from(spare).unwrap_or(u32::MAX)];
}
