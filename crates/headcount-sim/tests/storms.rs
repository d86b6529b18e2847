//! Storms: worlds made from a seed, with every rule checked after every event.

use headcount_sim::storm::{scenario, storm};

/// Seeds that once broke a rule, and what they found.
const FOUND: [u64; 1] = [
    17, // A pool began with more than its budget.
];

#[test]
fn no_storm_breaks_a_rule() {
    for seed in (0..200).chain(FOUND) {
        if let Err(violation) = storm(seed) {
            panic!("{violation}\nrepeat it with: cargo xtask sim --seed {seed}");
        }
    }
}

#[test]
fn storms_have_everything_in_them() {
    let all: Vec<_> = (0..200).map(scenario).collect();
    let count = |holds: &dyn Fn(&headcount_sim::run::Setup) -> bool| {
        all.iter().filter(|setup| holds(setup)).count()
    };
    let any_pool = |holds: fn(&headcount_sim::run::PoolSetup) -> bool| {
        count(&|setup| setup.pools.iter().any(holds))
    };
    let counts = [
        count(&|setup| setup.pools.len() == 4),
        any_pool(|pool| pool.name.ends_with("node 3")),
        count(&|setup| 0 < setup.pools.iter().filter(|pool| pool.budget.is_some()).count()),
        count(&|setup| setup.downstreams.iter().any(|down| !down.changes.is_empty())),
        count(&|setup| setup.downstreams.iter().any(|down| down.refusal.is_some())),
        count(&|setup| setup.hosts.iter().any(|host| !host.spells.is_empty())),
        count(&|setup| setup.hosts.iter().any(|host| host.stuck_from.is_some())),
        count(&|setup| 0.0 < setup.faults.spawn_fails),
        count(&|setup| 0.0 < setup.faults.worker_dies),
        count(&|setup| 0.0 < setup.faults.job_fails && 0 < setup.faults.retries),
        any_pool(|pool| pool.queue_len_max.is_some()),
        any_pool(|pool| pool.expire_after.is_some()),
        any_pool(|pool| pool.policy.bounds().min == 0),
    ];
    assert!(counts.iter().all(|count| 10 < *count), "{counts:?} of 200");
}
