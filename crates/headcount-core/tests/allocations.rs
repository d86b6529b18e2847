//! A tick that has settled touches the heap no more.
//!
//! `bench tick` measures its time; this proves the part that does not depend on the machine.

use std::time::Duration;

use headcount_core::{
    Autoscaler, LogSums, Observation, Policy, PoolSnapshot, Preset, Staffing, Statistics, Timestamp,
};

/// Ticks `count` times from second `from` on, under a load that swings.
fn tick(autoscaler: &mut Autoscaler, from: u64, count: u64) {
    let mut logs = LogSums::default();
    let mut pool = PoolSnapshot::of(Staffing::exactly(8));
    pool.wait = Statistics::of(&[Duration::from_millis(5)]);
    pool.service = Statistics::of(&[Duration::from_millis(20)]);
    let mut observation = Observation::new(Timestamp::ORIGIN, pool);
    let counted = allocation_counter::measure(|| {
        for second in from..from + count {
            observation.at = Timestamp::from_secs(second);
            observation.pool.busy = (second % 9) as u32;
            observation.pool.counters.completed = second * 100;
            observation.pool.counters.submitted = second * 100;
            logs.add(Duration::from_millis(20 + second % 7));
            observation.pool.service_logs = Some(logs);
            let decision = autoscaler.tick(&observation);
            if decision.resize().is_some() {
                autoscaler.applied(&decision);
            }
        }
    });
    // The first ticks may reserve what the later ones reuse.
    assert!(from == 0 || counted.count_total == 0, "{} allocations", counted.count_total);
}

#[test]
fn no_preset_allocates_once_it_has_settled() {
    for preset in Preset::all() {
        let policy = Policy::check(&preset.config(), 16).expect("presets are right");
        let mut autoscaler = policy.build();
        tick(&mut autoscaler, 0, 200);
        tick(&mut autoscaler, 200, 2000);
    }
}
