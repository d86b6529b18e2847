//! A million jobs, in seconds on one core: what counts is how much happens, not how quick the
//! machine is.

use std::time::Duration;

use headcount_core::{Policy, PolicyConfig, Preset};
use headcount_sim::load::{Arrivals, Load, Sizes};
use headcount_sim::run::{PoolSetup, Setup, Simulation};
use headcount_sim::world::Downstream;

#[test]
fn a_million_jobs_are_a_few_events_each() {
    let load = Load {
        arrivals: Arrivals::Sine { mean: 1000.0, swing: 800.0, period: Duration::from_secs(60) },
        sizes: Sizes::Lognormal { mean: Duration::from_millis(50), scv: 2.0 },
        span: Duration::from_secs(1000),
    };
    let bounds = PolicyConfig { workers_max: Some(256), ..PolicyConfig::default() };
    let slo = Preset::slo(Duration::from_millis(100)).config();
    let policy = Policy::check(&bounds.or(slo), 8).expect("no fault");
    let pool = PoolSetup::new("web", policy, load.jobs(1).expect("a load").into());
    let setup = Setup::of(pool).calling(Downstream::with_knee(120.0));
    let ended = Simulation::new(setup).run_with_books().expect("no rule is broken");
    let (score, books) = &ended[0];
    assert!(990_000 < score.jobs, "{score:?}");
    // It comes and it ends; alarms, hires and looks are few beside that.
    assert!(2 * score.jobs - 1000 < books.events, "{} events", books.events);
    assert!(books.events < 3 * score.jobs, "{} events", books.events);
}
