//! The simulator against reality: the same jobs, once on a pool of threads and once simulated.
//!
//! Agreement within a point and three in a hundred is claimed of a machine that has nothing else to
//! do: `cargo xtask reality` asks for that, for a minute each or as long as it is told. A run of
//! all tests shares its machine with others, so it asks for twice that.
//!
//! The slices are ones in which a little noise makes a little difference, and the knee a great one:
//! tasks that take 0.3 % longer and workers that start some milliseconds later change lateness by
//! less than a point and cost by less than 3 %, in the simulator alone. Not every load is like
//! that. A pool that sizes itself at a knee where crowding costs throughput either slips over the
//! edge early or does not, and two real runs of the same jobs then differ by ten points and more:
//! there is nothing for a single slice to agree with.

#![allow(clippy::print_stdout, reason = "how well it agrees is worth knowing where it does")]

mod gate;
mod real;

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use headcount_core::{Policy, PolicyConfig, Preset, Timestamp};
use headcount_sim::load::{Arrivals, Job, Load, Sizes};
use headcount_sim::run::{PoolSetup, Setup, Simulation};
use headcount_sim::world::Downstream;

use real::Measured;

/// What tasks may wait.
const BUDGET: Duration = Duration::from_millis(100);
/// How long somebody idle is kept, and what a start costs.
const START_COST: Duration = Duration::from_millis(50);
/// How long it goes on after the last task was to come.
const GRACE: Duration = Duration::from_secs(2);
/// The machine has other things to do at times, so a slice may be tried again.
const TRIES: u32 = 6;

/// One after the other: two at once would be in each other's way.
static ALONE: Mutex<()> = Mutex::new(());

struct Slice {
    policy: PolicyConfig,
    workers: (u32, u32),
    arrivals: Arrivals,
    sizes: Sizes,
    downstream: Option<Downstream>,
}

impl Slice {
    fn span() -> Duration {
        let told = std::env::var("HEADCOUNT_REALITY_SECONDS");
        Duration::from_secs(told.ok().and_then(|told| told.parse().ok()).unwrap_or(20))
    }

    /// How far late tasks may differ, in points, and cost, as a share.
    fn tolerance() -> (f64, f64) {
        match std::env::var_os("HEADCOUNT_REALITY_SECONDS") {
            Some(_) => (1.0, 0.03),
            None => (2.0, 0.06),
        }
    }

    fn policy(&self) -> PolicyConfig {
        let (min, max) = self.workers;
        let bounds = PolicyConfig {
            workers_min: Some(min),
            workers_max: Some(max),
            ..PolicyConfig::default()
        };
        bounds.or(self.policy.clone())
    }

    fn simulate(&self, jobs: &[Job], spawn_delay: Duration) -> Measured {
        let policy = Policy::check(&self.policy(), 8).expect("no fault");
        let pool = PoolSetup::new("slice", policy, jobs.into());
        let pool = PoolSetup { spawn_delay, ..pool };
        let end = Some(Timestamp::ORIGIN + Self::span() + GRACE);
        let setup = Setup { end, checked: true, ..Setup::of(pool) };
        let setup = match &self.downstream {
            Some(downstream) => setup.calling(downstream.clone()),
            None => setup,
        };
        let score = &Simulation::new(setup).run().expect("no rule is broken")[0];
        Measured {
            late_percent: score.late_percent(),
            cost_per_work: score.cost_per_work(),
            spawns: score.spawns,
            wait_p50: score.wait_p50,
            wait_p99: score.wait_p99,
            spawn_delay,
        }
    }
}

#[track_caller]
fn check(slice: &Slice) {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let (arrivals, sizes) = (slice.arrivals.clone(), slice.sizes.clone());
    let jobs = Load { arrivals, sizes, span: Slice::span() }.jobs(1).expect("a load");
    let (late_off_max, cost_off_max) = Slice::tolerance();
    let mut tries = Vec::new();
    for _ in 0..TRIES {
        let real = real::run(slice, &jobs);
        let simulated = slice.simulate(&jobs, real.spawn_delay);
        let late_off = (real.late_percent - simulated.late_percent).abs();
        let cost_off = (real.cost_per_work / simulated.cost_per_work - 1.0).abs();
        tries.push(format!("real      {real:?}\nsimulated {simulated:?}"));
        if late_off <= late_off_max && cost_off <= cost_off_max {
            println!("{}", tries.join("\n"));
            return;
        }
    }
    panic!("in {TRIES} tries they did not agree:\n{}", tries.join("\n"));
}

#[test]
fn a_pool_that_keeps_its_promise_does_so_as_simulated() {
    check(&Slice {
        policy: Preset::slo(BUDGET).config(),
        workers: (1, 64),
        arrivals: Arrivals::Sine { mean: 120.0, swing: 80.0, period: Duration::from_secs(10) },
        sizes: Sizes::Lognormal { mean: Duration::from_millis(60), scv: 1.0 },
        downstream: None,
    });
}

#[test]
#[ignore = "sensitive to every other process of the machine; cargo xtask reality runs it"]
fn a_pool_at_a_knee_pays_for_it_as_simulated() {
    check(&Slice {
        policy: Preset::slo(BUDGET).config(),
        workers: (1, 64),
        arrivals: busy(),
        sizes: Sizes::Exponential { mean: Duration::from_millis(60) },
        downstream: Some(Downstream { crowding: 0.0, ..Downstream::with_knee(12.0) }),
    });
}

#[test]
fn a_pool_of_one_size_beyond_a_knee_is_late_as_simulated() {
    check(&Slice {
        policy: Preset::gopipe().config(),
        workers: (16, 16),
        arrivals: busy(),
        sizes: Sizes::Exponential { mean: Duration::from_millis(60) },
        downstream: Some(Downstream::with_knee(12.0)),
    });
}

/// At most 10.8 workers' worth, where 12 go at full speed.
fn busy() -> Arrivals {
    Arrivals::Sine { mean: 120.0, swing: 60.0, period: Duration::from_secs(10) }
}
