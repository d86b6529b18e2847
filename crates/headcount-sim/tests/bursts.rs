//! Bursts that are over before anybody has looked twice are no knee.
//!
//! A pool at rest is looked at rarely, and called when a burst has filled it. What a look says of
//! the time before it is then mostly about the rest; taken for the burst, it made `slo` find a knee
//! where there was none, and stay at it.

use std::time::Duration;

use headcount_core::{Policy, PolicyConfig, Preset};
use headcount_sim::load::{Arrivals, Load, Sizes};
use headcount_sim::run::{PoolSetup, Setup, Simulation};

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// The share of jobs, in percent, that wait for longer than a job takes on average. So many come a
/// second, for a moment, and then none; nothing stands in anybody's way, and workers are there at
/// once.
fn late_percent(rate: f64, on: Duration, off: Duration, mean: Duration, seed: u64) -> f64 {
    let arrivals = Arrivals::OnOff { rate, on, off };
    let span = (on + off) * 200;
    let load = Load { arrivals, sizes: Sizes::Lognormal { mean, scv: 0.4 }, span };
    let config = PolicyConfig { workers_max: Some(2000), ..Preset::slo(mean).config() };
    let policy = Policy::check(&config, 8).expect("no fault");
    let pool = PoolSetup::new("bursts", policy, load.jobs(seed).expect("a load").into());
    let pool = PoolSetup { spawn_delay: Duration::from_micros(100), ..pool };
    let ended = Simulation::new(Setup::of(pool)).run_with_books().expect("no rule is broken");
    let score = &ended[0].0;
    100.0 * score.late as f64 / score.jobs as f64
}

#[track_caller]
fn check(rate: f64, on: Duration, off: Duration, mean: Duration) {
    for seed in 1..=4 {
        let late = late_percent(rate, on, off, mean, seed);
        // Of two hundred bursts the first few meet a pool that does not know what a job takes.
        assert!(late < 4.0, "{late} % are late, seed {seed}");
    }
}

#[test]
fn bursts_of_two_services_are_no_knee() {
    check(1000.0, ms(200), ms(4800), ms(100));
    check(2000.0, ms(100), ms(900), ms(50));
}

#[test]
fn bursts_of_half_a_service_are_no_knee() {
    check(750.0, ms(200), ms(5800), ms(400));
    check(300.0, ms(200), ms(9800), ms(400));
}
