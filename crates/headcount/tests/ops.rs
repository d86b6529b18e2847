//! Scalers as the admin API sees and steers them.

#![cfg(feature = "ops")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use headcount::ops::{PoolView, Pools, PoolsError, Scale, ScalerPools, Throttling};
use headcount::{
    Driver, ManualClock, Observation, Preset, Scaler, ScalerBuilder, Surroundings, ThreadPool,
};
use headcount_core::health::Health;

/// A machine whose health is what was last said, from 0 to 100.
#[derive(Clone, Default)]
struct Machine(Arc<AtomicU32>);

impl Surroundings for Machine {
    fn look(&self, observation: &mut Observation) {
        let score = f64::from(self.0.load(Ordering::Relaxed));
        observation.health = Some(Health { measured_at: observation.at, score, worst: None });
    }
}

/// One pool of one to eight workers that grows whenever it can, on a machine told by hand.
struct Stage {
    pools: ScalerPools,
    machine: Machine,
    driver: Driver,
    clock: ManualClock,
    _pool: ThreadPool,
}

impl Stage {
    fn new() -> Self {
        let pool = ThreadPool::builder().workers(1..=8).build().expect("a pool");
        let (clock, machine) = (ManualClock::default(), Machine::default());
        machine.0.store(100, Ordering::Relaxed);
        let driver = Driver::by_hand(Arc::new(clock.clone()));
        let scaler: ScalerBuilder = Scaler::of(pool.handle()).name("thumbs").driver(&driver);
        let scaler = scaler.around(machine.clone()).policy(Preset::syshealth());
        let pools = ScalerPools::new();
        pools.add(&scaler.start().expect("a policy"));
        Self { pools, machine, driver, clock, _pool: pool }
    }

    fn pass(&self, minutes: u64) {
        for _ in 0..minutes * 12 {
            self.clock.advance(Duration::from_secs(5));
            self.driver.run_due();
        }
    }

    fn shown(&self) -> PoolView {
        self.pools.pool("thumbs").expect("it was added")
    }

    fn throttle(&self, throttling: Throttling) -> Result<(), PoolsError> {
        self.pools.throttle("thumbs", &throttling)
    }
}

#[test]
fn a_size_by_hand_is_held_and_let_go() {
    let stage = Stage::new();
    let span = Some(Duration::from_secs(600));
    let scale = Scale { workers: Some(5), span, reason: Some("the sale".to_owned()) };
    let shown = stage.pools.scale("thumbs", &scale).expect("it is there");
    assert_eq!((shown.state.as_str(), shown.ceiling), ("held", 5));
    stage.clock.advance(Duration::from_secs(200));
    let held = stage.shown().held.expect("it is held");
    assert_eq!((held.workers, held.left_ms), (5, Some(400_000)));
    assert_eq!(held.reason.as_deref(), Some("the sale"));

    stage.clock.advance(Duration::from_secs(401));
    assert_eq!(stage.shown().held, None, "the time is up");
    stage.pools.scale("thumbs", &scale).expect("it is there");
    let shown = stage.pools.scale("thumbs", &Scale::default()).expect("it is there");
    assert_eq!((shown.state.as_str(), shown.held), ("automatic", None));
}

#[test]
fn throttling_brings_it_down_where_the_machine_is_ill() {
    let stage = Stage::new();
    let on = Throttling {
        enable_adaptive_scaling: true,
        min_concurrency: 2,
        max_concurrency: 12,
        ..Throttling::default()
    };
    stage.throttle(on).expect("it can live by it");
    stage.pass(60);
    let shown = stage.shown();
    assert_eq!((shown.min, shown.max, shown.ceiling), (2, 12, 12), "{:?}", shown.decision);
    assert!(shown.throttled_by_health);
    assert_eq!(shown.health.map(|health| health.zone).as_deref(), Some("safe"));

    stage.machine.0.store(50, Ordering::Relaxed);
    stage.pass(1);
    assert_eq!(stage.shown().ceiling, 6);
    stage.machine.0.store(10, Ordering::Relaxed);
    stage.pass(1);
    assert_eq!(stage.shown().ceiling, 2);
}

#[test]
fn switched_off_it_has_its_fixed_number_and_its_own_minimum() {
    let stage = Stage::new();
    let on = Throttling {
        enable_adaptive_scaling: true,
        min_concurrency: 4,
        worker_concurrency: 6,
        ..Throttling::default()
    };
    stage.throttle(on).expect("it can live by it");
    stage.throttle(Throttling { enable_adaptive_scaling: false, ..on }).expect("it can");
    let shown = stage.shown();
    assert_eq!((shown.min, shown.max, shown.throttled_by_health), (1, 6, false));
}

#[test]
fn a_policy_goes_out_and_comes_back_as_json() {
    let stage = Stage::new();
    let policy = stage.pools.policy("thumbs").expect("it is there");
    let raised = policy.replace("\"workers_max\":10", "\"workers_max\":9");
    assert_ne!(raised, policy);
    stage.pools.set_policy("thumbs", &raised).expect("nothing is wrong");
    assert_eq!(stage.shown().max, 9);

    let check = |text: &str, said: &[&str]| {
        let PoolsError::Refused(faults) = stage.pools.set_policy("thumbs", text).expect_err(text)
        else {
            panic!("it is known");
        };
        for said in said {
            assert!(faults.iter().any(|fault| fault.contains(said)), "{faults:?}");
        }
    };
    check("{\"workers\": 3}", &["unknown field `workers`"]);
    let crossed = "{\"workers_min\": 9, \"workers_max\": 3, \"tick\": {\"secs\": 0, \"nanos\": 0}}";
    check(crossed, &["workers_max is 3", "tick"]);
    assert_eq!(stage.shown().max, 9, "nothing has changed");
}

#[test]
fn decisions_are_told_latest_first() {
    let stage = Stage::new();
    stage.pass(2);
    stage.machine.0.store(10, Ordering::Relaxed);
    stage.pass(2);
    let decisions = stage.pools.decisions("thumbs", 5).expect("it is there");
    assert_eq!(decisions.len(), 5);
    assert!(decisions.is_sorted_by_key(|decision| decision.ms_ago));
    assert!(stage.pools.why("thumbs").expect("it is there").lines().count() > 1);
    assert!(0 < stage.shown().totals.decisions);
    assert_eq!(stage.shown().decided_ms_ago, Some(decisions[0].ms_ago));
}

#[test]
fn a_pool_that_was_removed_is_not_known() {
    let stage = Stage::new();
    stage.pools.remove("thumbs");
    assert_eq!(stage.pools.pool("thumbs"), Err(PoolsError::Unknown));
    assert!(stage.pools.pools().is_empty());
    assert!(stage.driver.is_empty(), "nobody else held it, so it was stopped");
}
