//! What the prices of the solver prove, and what its plan costs.

use super::program::Belief;
use super::slots::Slots;

/// What no plan is cheaper than, by prices moved to where they are allowed to be.
///
/// Weak duality: for any prices that are not negative, the cheapest plan of a program whose rules
/// may be broken at those prices costs no more than the cheapest that keeps them. It is easy to
/// find, as every number can be chosen by itself. Wrong prices make the bound weak, never false.
pub(super) fn proved(slots: &Slots, hire: f64, belief: &Belief) -> f64 {
    let len = slots.len();
    let rises = rise_prices(belief, hire);
    let works: Vec<f64> = (0..len)
        .map(|index| within(belief.work_price[index], 1.0 + rises[index] - rises[index + 1]))
        .collect();
    let knees: Vec<f64> = (0..len)
        .map(|index| match slots.knee[index].is_finite() {
            true => within(belief.knee_price[index], f64::MAX),
            false => 0.0,
        })
        .collect();

    let mut cost = -rises[0] * slots.workers_first;
    for index in 0..len {
        let (work, knee) = (works[index], knees[index]);
        let worker = 1.0 + rises[index] - rises[index + 1] - work;
        cost += worker.max(0.0) * slots.workers_min[index] + work * slots.arrived[index];
        if 0.0 < knee {
            cost += knee * (slots.arrived[index] - slots.knee[index]);
        }
        let later = |prices: &[f64]| prices.get(index + 1).copied().unwrap_or(0.0);
        let left = later(&works) - work + later(&knees) - knee;
        cost += left.min(0.0) * slots.slack[index];
    }
    cost
}

/// A hire is worth at most what it costs, and at most one slot of a worker more than a slot before.
/// One more at the end, where nobody is hired any more.
fn rise_prices(belief: &Belief, hire: f64) -> Vec<f64> {
    let mut before = hire;
    let price = |&price: &f64| {
        before = within(price, hire.min(1.0 + before));
        before
    };
    belief.rise_price.iter().map(price).chain([0.0]).collect()
}

/// A price that is allowed; nothing is made of one that is no number.
fn within(price: f64, max: f64) -> f64 {
    match price.is_nan() {
        true => 0.0,
        false => price.clamp(0.0, max.max(0.0)),
    }
}

/// A plan that keeps all the rules.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Plan {
    /// Workers, summed over the slots.
    pub(super) workers: f64,
    /// Hires.
    pub(super) spawns: f64,
}

/// Mends what the solver believes to be a plan.
pub(super) fn mended(slots: &Slots, belief: &Belief) -> Plan {
    let mut plan = Plan { workers: 0.0, spawns: 0.0 };
    let (mut left, mut before) = (0.0_f64, slots.workers_first);
    for index in 0..slots.len() {
        let there = left + slots.arrived[index];
        let least = (there - slots.knee[index]).max(0.0);
        let most = slots.slack[index].min(there).max(least);
        let wanted = belief.left[index];
        left = if wanted.is_nan() { least } else { wanted.clamp(least, most) };
        let needed = (there - left).max(slots.workers_min[index]);
        let workers = needed.max(belief.workers[index]);
        plan.workers += workers;
        plan.spawns += (workers - before).max(0.0);
        before = workers;
    }
    plan
}

/// The cheapest plan where hiring costs nothing, exactly and without a solver.
///
/// The minimum works whenever there is work; all else is done as late as is allowed, since what is
/// put off may still be done by those who are there anyway.
pub(super) fn plan_for_free_hires(slots: &Slots) -> Plan {
    let mut plan = Plan { workers: 0.0, spawns: 0.0 };
    let (mut left, mut before) = (0.0_f64, slots.workers_first);
    for index in 0..slots.len() {
        let there = left + slots.arrived[index];
        let min = slots.workers_min[index];
        let done = there.min(min.min(slots.knee[index])).max(there - slots.slack[index]);
        left = there - done;
        let workers = done.max(min);
        plan.workers += workers;
        plan.spawns += (workers - before).max(0.0);
        before = workers;
    }
    plan
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use headcount_core::Timestamp;
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::super::config::{BoundConfig, KneeStep};
    use super::super::program;
    use super::*;
    use crate::Promise;
    use crate::load::Job;

    const LEN: usize = 12;

    /// Ten jobs over ten seconds, a knee after two of them.
    fn slots() -> Slots {
        let second = Duration::from_secs(1);
        let job = |at| Job { at: Timestamp::from_secs(at), size: second * 2, class: 0 };
        let knee = KneeStep { from: Timestamp::from_secs(2), workers: 4.0 };
        let config = BoundConfig { knee: vec![knee], ..BoundConfig::of(Promise::Wait(second)) };
        let slots = Slots::of([0, 0, 0, 1, 3, 3, 7, 7, 9, 9].map(job), &config).unwrap();
        assert_eq!(slots.len(), LEN);
        slots
    }

    /// Beliefs that are wrong: those of the solver, and something added to each number.
    fn wrong(hire: f64, errors: &[Vec<f64>]) -> Belief {
        let right = program::solve(&slots(), hire);
        let off = |right: &[f64], errors: &[f64]| -> Vec<f64> {
            right.iter().zip(errors).map(|(right, error)| right + error).collect()
        };
        Belief {
            workers: off(&right.workers, &errors[0]).iter().map(|n| n.min(99.0)).collect(),
            left: off(&right.left, &errors[1]),
            work_price: off(&right.work_price, &errors[2]),
            rise_price: off(&right.rise_price, &errors[3]),
            knee_price: off(&right.knee_price, &errors[4]),
        }
    }

    fn errors() -> impl Strategy<Value = Vec<Vec<f64>>> {
        let strange = prop_oneof![Just(f64::NAN), Just(f64::INFINITY), Just(-1e300)];
        let error = prop_oneof![50 => -0.1..0.1_f64, 20 => -3.0..3.0_f64, 1 => strange];
        vec(vec(error, LEN), 5)
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            failure_persistence: None,
            rng_seed: proptest::test_runner::RngSeed::Fixed(5),
            ..Default::default()
        })]

        #[test]
        fn wrong_beliefs_make_the_bound_weak_and_never_false(
            errors in errors(), others in errors(), hire in 0.1..6.0_f64,
        ) {
            let slots = slots();
            let right = program::solve(&slots, hire);
            let (one, other) = (wrong(hire, &errors), wrong(hire, &others));
            let plans = [&right, &one, &other].map(|belief| mended(&slots, belief));
            let costs = plans.map(|plan| plan.workers + hire * plan.spawns);
            let least = costs.into_iter().fold(f64::INFINITY, f64::min);
            for belief in [right, one, other] {
                let proved = proved(&slots, hire, &belief);
                prop_assert!(proved <= least + 1e-9, "{proved} of {least}");
            }
        }
    }

    #[test]
    fn a_price_of_hires_leaps_by_no_more_than_a_worker_costs() {
        // One is there already and is kept for the job in the second slot: two slots of a worker.
        let slots = Slots {
            arrived: vec![0.0, 1.0],
            slack: vec![0.0; 2],
            workers_min: vec![0.0; 2],
            knee: vec![f64::INFINITY; 2],
            workers_first: 1.0,
        };
        let belief = Belief {
            work_price: vec![0.0, 9.0],
            rise_price: vec![0.0, 5.0],
            knee_price: vec![0.0; 2],
            ..Belief::default()
        };
        let proved = proved(&slots, 5.0, &belief);
        assert!((proved - 2.0).abs() < 1e-9, "{proved}");
    }
}
