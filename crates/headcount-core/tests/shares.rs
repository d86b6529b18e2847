//! Shares of a budget: tables for what is promised, and random demands for what must always hold.

mod dice;

use dice::Dice;
use headcount_core::share::{Demand, Remainders, Weight, WeightError, divide};

fn weight(weight: f64) -> Weight {
    Weight::new(weight).expect("a weight within its limits")
}

fn weighing(of: f64, wanted: u32) -> Demand {
    Demand { weight: weight(of), ..Demand::of(wanted) }
}

fn urgent(priority: u8, wanted: u32) -> Demand {
    Demand { priority, ..Demand::of(wanted) }
}

fn at_least(min: u32, wanted: u32) -> Demand {
    Demand { min, ..Demand::of(wanted) }
}

#[track_caller]
fn check(budget: u32, demands: &[Demand], expected: &[u32]) {
    assert_eq!(divide(budget, demands, &mut Remainders::default()), expected);
}

#[test]
fn nobody_gets_more_than_is_wanted_or_allowed() {
    check(100, &[Demand::of(3), Demand { max: 2, ..Demand::of(9) }, Demand::of(0)], &[3, 2, 0]);
}

#[test]
fn equal_demands_share_equally() {
    check(9, &[Demand::of(9), Demand::of(9), Demand::of(9)], &[3, 3, 3]);
    check(8, &[Demand::of(9), Demand::of(9), Demand::of(9)], &[3, 3, 2]);
}

#[test]
fn what_one_does_not_need_goes_to_the_others() {
    check(12, &[Demand::of(2), Demand::of(9), Demand::of(9)], &[2, 5, 5]);
    check(12, &[Demand::of(2), Demand::of(4), Demand::of(9)], &[2, 4, 6]);
}

#[test]
fn shares_follow_the_weights() {
    check(12, &[weighing(1.0, 99), weighing(3.0, 99)], &[3, 9]);
    check(12, &[weighing(1.0, 99), weighing(3.0, 5)], &[7, 5]);
    check(10, &[weighing(0.5, 99), weighing(2.0, 99)], &[2, 8]);
}

#[test]
fn minimums_come_first_and_are_part_of_the_share() {
    check(10, &[at_least(6, 99), Demand::of(99)], &[6, 4]);
    check(20, &[at_least(6, 99), Demand::of(99)], &[10, 10]);
    check(10, &[at_least(6, 2), Demand::of(99)], &[2, 8]);
}

#[test]
fn minimums_that_do_not_fit_go_by_priority() {
    let low = at_least(4, 9);
    let high = Demand { priority: 1, ..at_least(4, 9) };
    check(5, &[low, high], &[1, 4]);
    check(3, &[low, high], &[0, 3]);
    check(4, &[low, low], &[2, 2]);
}

#[test]
fn the_maximum_wins_over_the_minimum() {
    check(10, &[Demand { min: 5, max: 2, ..Demand::of(9) }], &[2]);
}

#[test]
fn everybody_gets_one_before_anybody_gets_more_than_its_minimum() {
    check(4, &[urgent(9, 99), urgent(1, 99), urgent(0, 99)], &[2, 1, 1]);
    check(2, &[urgent(0, 99), urgent(1, 99), urgent(9, 99)], &[0, 1, 1]);
    check(4, &[Demand { min: 3, ..urgent(9, 99) }, urgent(0, 9), urgent(0, 9)], &[3, 1, 0]);
}

#[test]
fn higher_priorities_are_filled_before_lower_ones() {
    check(10, &[urgent(0, 99), urgent(2, 5), urgent(1, 99)], &[1, 5, 4]);
}

#[test]
fn the_largest_numbers_do_not_overflow() {
    let all = Demand { min: u32::MAX, weight: weight(Weight::MAX), ..Demand::of(u32::MAX) };
    let least = Demand { weight: weight(Weight::MIN), ..Demand::of(u32::MAX) };
    check(u32::MAX, &[all], &[u32::MAX]);
    check(u32::MAX, &[all, all], &[u32::MAX / 2 + 1, u32::MAX / 2]);
    check(u32::MAX, &[least, least], &[u32::MAX / 2 + 1, u32::MAX / 2]);
    check(u32::MAX, &[Demand { min: 0, ..all }, least], &[u32::MAX - 1, 1]);
    check(0, &[all, least], &[0, 0]);
    check(7, &[], &[]);
}

#[test]
fn bad_weights_are_refused_in_a_sentence() {
    for (bad, said) in [
        (0.0, "weight is 0; allowed is from 0.000001 to 1000000"),
        (-1.5, "weight is -1.5; allowed is from 0.000001 to 1000000"),
        (f64::NAN, "weight is NaN; allowed is from 0.000001 to 1000000"),
        (f64::INFINITY, "weight is inf; allowed is from 0.000001 to 1000000"),
        (1e7, "weight is 10000000; allowed is from 0.000001 to 1000000"),
    ] {
        let error: WeightError = Weight::new(bad).unwrap_err();
        assert_eq!(error.to_string(), said);
    }
    assert!(Weight::new(Weight::MIN).is_ok());
    assert!(Weight::new(Weight::MAX).is_ok());
}

#[test]
fn those_who_do_not_all_get_one_take_turns() {
    let demands = [Demand::of(1), Demand::of(1), Demand::of(1)];
    let mut remainders = Remainders::default();
    let rounds: Vec<_> = (0..4).map(|_| divide(1, &demands, &mut remainders)).collect();
    assert_eq!(rounds, [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]]);
}

#[test]
fn whoever_wants_nothing_or_has_enough_is_owed_nothing() {
    let owed_after = |budget, second: Demand| {
        let mut remainders = Remainders::default();
        let _ = divide(1, &[Demand::of(9), Demand::of(9), Demand::of(9)], &mut remainders);
        assert!(0.3 < remainders.owed(1));
        let _ = divide(budget, &[Demand::of(9), second, Demand::of(9)], &mut remainders);
        remainders.owed(1).abs()
    };
    assert!(owed_after(1, Demand::of(0)) < 1e-6, "it wants nothing");
    assert!(owed_after(5, Demand::of(1)) < 1e-6, "it has its one");
    assert!(owed_after(10, Demand::of(2)) < 1e-6, "the level is above what it wants");
    assert!(owed_after(99, Demand::of(9)) < 1e-6, "there is enough for all");
}

#[test]
fn what_is_owed_never_gives_more_than_is_wanted() {
    let others = [weighing(0.75, 99), weighing(0.75, 99)];
    let mut remainders = Remainders::default();
    let _ = divide(6, &[Demand::of(99), others[0], others[1]], &mut remainders);
    assert!(0.3 < remainders.owed(0), "it is owed more than the others");
    // The level ends exactly where the first has enough, and the others have a half each to go.
    let grants = divide(5, &[Demand::of(2), others[0], others[1]], &mut remainders);
    assert_eq!(grants, [2, 2, 1]);
}

#[test]
fn a_party_that_leaves_takes_its_remainder_with_it() {
    let mut remainders = Remainders::default();
    let _ = divide(1, &[Demand::of(9), Demand::of(9)], &mut remainders);
    remainders.remove(0);
    assert!((remainders.owed(0) - 0.5).abs() < 1e-6, "the second is now the first");
    remainders.remove(7);
}

// What must always hold.

const SEEDS: u64 = 20_000;

fn random_demand(dice: &mut Dice) -> Demand {
    let of = f64::from(1 + dice.below(400)) / 40.0;
    Demand {
        priority: u8::try_from(dice.below(3)).expect("less than three"),
        weight: weight(of),
        min: if dice.below(3) == 0 { dice.below(8) } else { 0 },
        max: if dice.below(3) == 0 { dice.below(12) } else { u32::MAX },
        wanted: dice.below(20),
    }
}

fn random_demands(dice: &mut Dice) -> Vec<Demand> {
    let len = 1 + dice.below(19);
    (0..len).map(|_| random_demand(dice)).collect()
}

/// What a round starts from, or leads up to.
type Bound = fn(&Demand) -> u32;

fn most(demand: &Demand) -> u32 {
    demand.wanted.min(demand.max)
}

fn least(demand: &Demand) -> u32 {
    demand.min.min(most(demand))
}

/// What is had before anybody gets more than its minimum and its one.
fn base(demand: &Demand) -> u32 {
    least(demand).max(most(demand).min(1))
}

fn sum(parts: impl Iterator<Item = u32>) -> u32 {
    parts.sum()
}

#[test]
fn promises_hold_for_any_demands() {
    for seed in 0..SEEDS {
        let mut dice = Dice::new(seed);
        let demands = random_demands(&mut dice);
        let budget = dice.below(150);
        let mut remainders = Remainders::default();
        // Some history, so that remainders of all sizes are met.
        for _ in 0..dice.below(4) {
            let _ = divide(dice.below(150), &demands, &mut remainders);
        }
        let grants = divide(budget, &demands, &mut remainders);
        check_promises(seed, budget, &demands, &grants);
    }
}

fn check_promises(seed: u64, budget: u32, demands: &[Demand], grants: &[u32]) {
    let told = format!("seed {seed}: {budget} among {demands:?} is {grants:?}");
    let pairs: Vec<_> = demands.iter().zip(grants.iter().copied()).collect();
    let all = sum(demands.iter().map(most));
    assert_eq!(sum(grants.iter().copied()), budget.min(all), "conserving; {told}");
    assert!(pairs.iter().all(|(demand, grant)| *grant <= most(demand)), "not too much; {told}");

    let minimums_met = pairs.iter().all(|(demand, grant)| least(demand) <= *grant);
    let bases_met = pairs.iter().all(|(demand, grant)| base(demand) <= *grant);
    assert_eq!(minimums_met, sum(demands.iter().map(least)) <= budget, "minimums; {told}");
    assert_eq!(bases_met, sum(demands.iter().map(base)) <= budget, "mandatory ones; {told}");
    // The round in which the budget ran out.
    let (low, high): (Bound, Bound) = match (minimums_met, bases_met) {
        (false, _) => (|_| 0, least),
        (true, false) => (least, base),
        (true, true) => (base, most),
    };
    assert!(pairs.iter().all(|(demand, grant)| *grant <= high(demand)), "no later round; {told}");
    for (one, granted) in &pairs {
        for (other, other_granted) in &pairs {
            let wants_more = *granted < high(one);
            let has_gained = low(other) < *other_granted;
            if wants_more && has_gained {
                assert!(one.priority <= other.priority, "higher priority first; {told}");
            }
            if wants_more && has_gained && one.priority == other.priority {
                // No further than one worker off the level that both stand at.
                let level = (f64::from(*granted) + 1.0) / f64::from(one.weight);
                let other_level = (f64::from(*other_granted) - 1.0) / f64::from(other.weight);
                assert!(other_level <= level + 1e-9, "fair; {told}");
            }
        }
    }
}

#[test]
fn a_larger_budget_takes_from_nobody_but_the_rounding() {
    for seed in 0..2_000 {
        let demands = random_demands(&mut Dice::new(seed));
        let mut before = vec![0; demands.len()];
        for budget in 0..150 {
            let grants = divide(budget, &demands, &mut Remainders::default());
            for (index, (less, more)) in before.iter().zip(&grants).enumerate() {
                assert!(*less <= *more + 1, "seed {seed}: budget {budget}, demand {index}");
            }
            before = grants;
        }
    }
}

#[test]
fn over_many_rounds_shares_are_as_the_weights_say() {
    for seed in 0..500 {
        let mut dice = Dice::new(seed);
        let weights: Vec<f64> =
            (0..2 + dice.below(10)).map(|_| f64::from(1 + dice.below(9))).collect();
        let demands: Vec<_> = weights.iter().map(|of| weighing(*of, 10_000)).collect();
        let total: f64 = weights.iter().sum();
        let mut remainders = Remainders::default();
        let mut had = vec![0.0; demands.len()];
        let mut fair = vec![0.0; demands.len()];
        for _ in 0..300 {
            // Enough for everybody's one, or that would outweigh the weights.
            let budget = 100 + dice.below(100);
            let grants = divide(budget, &demands, &mut remainders);
            for index in 0..demands.len() {
                had[index] += f64::from(grants[index]);
                fair[index] += f64::from(budget) * weights[index] / total;
                let off = had[index] - fair[index];
                assert!(off.abs() < 2.0, "seed {seed}: demand {index} is off by {off}");
            }
        }
    }
}

#[test]
fn with_a_steady_budget_nobody_is_off_by_more_than_one() {
    for (budget, weights) in
        [(1, vec![1.0; 3]), (11, vec![1.0, 2.0, 4.5]), (10, vec![3.0, 3.0, 3.0, 1.0])]
    {
        let demands: Vec<_> = weights.iter().map(|of| weighing(*of, 99)).collect();
        let total: f64 = weights.iter().sum();
        let mut remainders = Remainders::default();
        let mut had = vec![0.0; demands.len()];
        for round in 1..=1_000 {
            let grants = divide(budget, &demands, &mut remainders);
            for index in 0..demands.len() {
                had[index] += f64::from(grants[index]);
                let fair = f64::from(round * budget) * weights[index] / total;
                let off: f64 = had[index] - fair;
                assert!(off.abs() <= 1.0, "round {round}: demand {index} is off by {off}");
            }
        }
    }
}

#[test]
fn equal_arguments_give_equal_grants() {
    for seed in 0..500 {
        let demands = random_demands(&mut Dice::new(seed));
        let mut left = Remainders::default();
        let mut right = Remainders::default();
        for budget in [5, 50, 20, 1, 0, 99] {
            assert_eq!(divide(budget, &demands, &mut left), divide(budget, &demands, &mut right));
            assert_eq!(left, right);
        }
    }
}
