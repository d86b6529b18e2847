//! Several scalers: one budget, one downstream.

use std::time::Duration;

use headcount::{Budget, Downstream, PoolSnapshot, Preset, Resizable, Scaler, Share, Staffing};

use crate::support::{Paper, busy, by_hand, run_for};

const SECOND: Duration = Duration::from_secs(1);

fn held(pools: &[Paper]) -> u32 {
    pools.iter().map(|pool| pool.snapshot().ceiling.max(pool.snapshot().live)).sum()
}

#[test]
fn all_together_never_exceed_the_budget_whatever_happens() {
    let (driver, clock) = by_hand();
    let budget = Budget::new(20);
    let idle = || Paper::of(PoolSnapshot::of(Staffing::between(1, 1)));
    let pools: Vec<Paper> = (0..5).map(|_| idle()).collect();
    let slo = || headcount::PolicyConfig {
        workers_min: Some(1),
        workers_max: Some(16),
        ..Preset::slo(Duration::from_millis(100)).config()
    };
    let scalers: Vec<Scaler> = pools
        .iter()
        .map(|pool| {
            let scaler = Scaler::of(pool.clone()).policy(slo()).budget(&budget, Share::default());
            scaler.driver(&driver).start().expect("the minimums fit")
        })
        .collect();
    let mut dice = 0x2545_F491_4F6C_DD1D_u64;
    for step in 0..2_000_usize {
        dice ^= dice << 13;
        dice ^= dice >> 7;
        dice ^= dice << 17;
        let pool = &pools[step % pools.len()];
        pool.set(|pool| {
            // Hired up to the ceiling, or not yet gone after a shrink.
            pool.live = u32::try_from(dice % 17).expect("small").min(pool.ceiling.max(pool.live));
            pool.live = pool.live.max(pool.floor);
            (pool.busy, pool.queued) = (pool.live, (dice >> 8) % 40);
        });
        if dice.is_multiple_of(50) {
            scalers[step % scalers.len()].scale_to(16);
        }
        clock.pass(Duration::from_millis(50));
        driver.run_due();
        assert!(held(&pools) <= 20, "after step {step}: {}", held(&pools));
    }
    assert!(10 < held(&pools), "and it is made use of");
}

#[test]
fn minimums_that_do_not_fit_are_refused() {
    let (driver, _) = by_hand();
    let budget = Budget::new(3);
    let start = |min| {
        let policy =
            headcount::PolicyConfig { workers_min: Some(min), ..Preset::gopipe().config() };
        let scaler = Scaler::of(busy()).policy(policy).budget(&budget, Share::default());
        scaler.driver(&driver).start()
    };
    let _first = start(2).expect("it fits");
    let error = start(2).expect_err("it does not");
    let text = "workers_min is 2; the budget has 3 workers and the minimums of the other pools \
                take 2; raise the budget or lower a minimum";
    assert_eq!(error.to_string(), text);
}

#[test]
fn who_leaves_gives_its_part_back() {
    let (driver, clock) = by_hand();
    let budget = Budget::new(8);
    let pools = [busy(), busy()];
    let [first, second] = pools.clone().map(|pool| {
        let scaler = Scaler::of(pool).policy(Preset::gopipe()).budget(&budget, Share::default());
        scaler.driver(&driver).start().expect("no fault")
    });
    first.scale_to(8);
    assert!(pools[0].snapshot().ceiling < 8, "the other one has some");
    drop(second);
    run_for(&driver, &clock, SECOND);
    assert_eq!(first.scale_to(8).to, Staffing::exactly(8));
}

#[test]
fn while_the_downstream_fails_for_one_none_grows() {
    let (driver, clock) = by_hand();
    let database = Downstream::new("database", 0.1).expect("a name");
    let (failing, lucky) = (busy(), busy());
    let start = |pool: &Paper| {
        let scaler = Scaler::of(pool.clone()).policy(Preset::gopipe()).downstream(&database);
        scaler.driver(&driver).start().expect("no fault")
    };
    let (_failing, scaler) = (start(&failing), start(&lucky));
    run_for(&driver, &clock, SECOND / 2);
    assert_eq!(lucky.resized(), [Staffing::exactly(3)], "nothing has failed yet");
    failing.set(|pool| (pool.counters.completed, pool.counters.failed) = (100, 80));
    lucky.set(|pool| (pool.live, pool.busy, pool.counters.completed) = (3, 3, 20));
    run_for(&driver, &clock, 8 * SECOND);
    assert_eq!(lucky.resized().len(), 1, "{}", scaler.why());
    assert!(scaler.why().contains("error veto"), "{}", scaler.why());
    run_for(&driver, &clock, 12 * SECOND);
    assert!(1 < lucky.resized().len(), "long enough ago: {}", scaler.why());
}

#[test]
fn what_fails_is_counted_together_and_borne_by_each_as_it_says() {
    let (driver, clock) = by_hand();
    let database = Downstream::new("database", 0.1).expect("a name");
    let (failing, patient) = (busy(), busy());
    let start = |pool: &Paper, downstream: &Downstream| {
        let scaler = Scaler::of(pool.clone()).policy(Preset::gopipe()).downstream(downstream);
        scaler.driver(&driver).start().expect("no fault")
    };
    let _failing = start(&failing, &database);
    let scaler = start(&patient, &database.with_rate_max(0.5));
    run_for(&driver, &clock, SECOND / 2);
    let grow_to = |ceiling| {
        failing.set(|pool| (pool.live, pool.busy) = (pool.ceiling, pool.ceiling));
        patient.set(|pool| (pool.live, pool.busy) = (pool.ceiling, pool.ceiling));
        run_for(&driver, &clock, 5 * SECOND);
        assert_eq!(patient.snapshot().ceiling, ceiling, "{}", scaler.why());
        assert_eq!(failing.resized().len(), 1, "it bears a tenth");
    };
    failing.set(|pool| (pool.counters.completed, pool.counters.failed) = (100, 40));
    grow_to(4);
    failing.set(|pool| (pool.counters.completed, pool.counters.failed) = (300, 240));
    grow_to(4);
}

fn scaler_of(pool: &Paper, min: u32, budget: &Budget, driver: &headcount::Driver) -> Scaler {
    let bounds = (Some(min), Some(8));
    let policy = headcount::PolicyConfig {
        workers_min: bounds.0,
        workers_max: bounds.1,
        ..Preset::gopipe().config()
    };
    let scaler = Scaler::of(pool.clone()).policy(policy).budget(budget, Share::default());
    scaler.driver(driver).build().expect("the minimums fit")
}

#[test]
fn not_even_a_minimum_goes_beyond_the_budget() {
    let (driver, clock) = by_hand();
    let budget = Budget::new(10);
    let one = || Paper::of(PoolSnapshot::at_work(Staffing::exactly(1), 1));
    let (early, late) = (one(), one());
    let first = scaler_of(&early, 1, &budget, &driver);
    first.start();
    assert_eq!(first.scale_to(8).to, Staffing::exactly(8));
    early.set(|pool| (pool.live, pool.busy) = (8, 8));

    let second = scaler_of(&late, 5, &budget, &driver);
    assert_eq!(late.snapshot().ceiling, 2, "the rest is still at work elsewhere");
    second.start();
    run_for(&driver, &clock, 5 * SECOND);
    assert!(5 <= late.snapshot().ceiling, "{}", second.why());
    assert!(held(&[early, late]) <= 10);
}

#[test]
fn to_evaluate_takes_nothing_from_others() {
    let (driver, _) = by_hand();
    let budget = Budget::new(10);
    let (idle, other) = (busy(), busy());
    let asking = scaler_of(&idle, 1, &budget, &driver);
    idle.set(|pool| pool.queued = 1000);
    let before = budget.held();
    for _ in 0..3 {
        let _decision = asking.evaluate_now();
    }
    assert_eq!(budget.held(), before);
    let scaler = scaler_of(&other, 1, &budget, &driver);
    assert_eq!(scaler.scale_to(8).to, Staffing::exactly(5), "half of it, as before");
}

#[test]
fn a_pool_that_was_closed_gives_its_part_back_whoever_holds_its_scaler() {
    let (driver, clock) = by_hand();
    let budget = Budget::new(8);
    let (gone, other) = (busy(), busy());
    let held_by_somebody = scaler_of(&gone, 1, &budget, &driver);
    held_by_somebody.start();
    gone.set(|pool| (pool.draining, pool.busy, pool.queued) = (true, 0, 0));
    run_for(&driver, &clock, SECOND);
    let scaler = scaler_of(&other, 1, &budget, &driver);
    assert_eq!(scaler.scale_to(8).to, Staffing::exactly(8));
    assert!(!held_by_somebody.is_active());
}
