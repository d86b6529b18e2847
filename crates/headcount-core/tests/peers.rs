//! Presets of other systems as a whole, guards and all, around a pool that follows at once.

use std::time::Duration;

use headcount_core::{
    Autoscaler, Observation, Policy, PolicyConfig, PoolSnapshot, Preset, Staffing, Timestamp,
};

/// A pool of at most 100 workers under one preset, looked at every second.
struct Story {
    autoscaler: Autoscaler,
    size: u32,
    second: u64,
}

impl Story {
    fn of(preset: &Preset, size: u32) -> Self {
        let config = PolicyConfig { workers_max: Some(100), ..PolicyConfig::default() };
        let policy = Policy::check(&config.or(preset.config()), 8).expect("presets are right");
        Self { autoscaler: policy.build(), size, second: 0 }
    }

    /// So many seconds with so many tasks at hand, of which as many run as there are workers; the
    /// sizes that it comes to, each with its second.
    fn run(&mut self, seconds: u64, tasks: u32) -> String {
        let mut told = Vec::new();
        for _ in 0..seconds {
            let mut pool =
                PoolSnapshot::at_work(Staffing::exactly(self.size), tasks.min(self.size));
            pool.queued = u64::from(tasks.saturating_sub(self.size));
            let observation = Observation::new(Timestamp::from_secs(self.second), pool);
            let decision = self.autoscaler.tick(&observation);
            if decision.resize().is_some() {
                self.autoscaler.applied(&decision);
                self.size = decision.to.ceiling;
                told.push(format!("{}s:{}", self.second, self.size));
            }
            self.second += 1;
        }
        told.join(" ")
    }
}

#[test]
fn kubernetes_grows_every_15_seconds_and_shrinks_after_300() {
    let mut hpa = Story::of(&Preset::hpa(), 4);
    // Utilization is never above 1, so each round is a quarter more, and no more.
    assert_eq!(hpa.run(61, 50), "15s:5 30s:7 45s:9 60s:12");
    // The last proposal of 15 stands until it is 300 s old; then four busy ones need five.
    assert_eq!(hpa.run(14, 50), "");
    assert_eq!(hpa.run(1, 50), "75s:15");
    assert_eq!(hpa.run(300, 4), "", "held at what was wanted within five minutes");
    assert_eq!(hpa.run(30, 4), "390s:5");
}

#[test]
fn keda_sees_the_queue_and_grows_by_four_or_twofold() {
    let mut keda = Story::of(&Preset::keda(), 1);
    assert_eq!(keda.run(91, 90), "0s:5 15s:10 30s:20 45s:40 60s:80 75s:90");
}

#[test]
fn celery_grows_at_once_and_shrinks_half_a_minute_after_growth() {
    let mut celery = Story::of(&Preset::celery(), 4);
    assert_eq!(celery.run(20, 4), "");
    assert_eq!(celery.run(2, 30), "20s:30");
    assert_eq!(celery.run(28, 3), "");
    assert_eq!(celery.run(2, 3), "50s:3");
}

#[test]
fn on_demand_leaves_the_pool_its_bounds() {
    for (preset, idle) in [(Preset::on_demand(), 1), (Preset::pond(), 0)] {
        let config = PolicyConfig {
            workers_min: Some(0),
            workers_max: Some(100),
            ..PolicyConfig::default()
        };
        let policy = Policy::check(&config.or(preset.config()), 8).expect("it comes back from 0");
        let roster = policy.roster();
        assert_eq!(roster.staffing, Staffing::between(0, 100));
        assert_eq!(roster.idle_time, Duration::from_secs(idle));
        assert_eq!(policy.idle_time(), Some(Duration::from_secs(idle)));
        assert_eq!(
            (roster.wait_budget, policy.wait_budget()),
            (Duration::ZERO, Some(Duration::ZERO))
        );
        let pool = PoolSnapshot::at_work(roster.staffing, 7);
        let decision = policy.build().tick(&Observation::new(Timestamp::ORIGIN, pool));
        assert_eq!(decision.resize(), None, "there is nothing to decide");
    }
    let silent = Policy::check(&Preset::hpa().config(), 8).expect("presets are right");
    assert_eq!(silent.idle_time(), None);
}

#[test]
fn limiters_begin_with_the_limit_of_their_origin() {
    let starts = [
        (Preset::gradient2(), 20),
        (Preset::vegas(), 20),
        (Preset::arc(), 1),
        (Preset::envoy(), 3),
    ];
    for (preset, start) in starts {
        let config = PolicyConfig { workers_max: Some(100), ..PolicyConfig::default() };
        let policy = Policy::check(&config.or(preset.config()), 8).expect("presets are right");
        assert_eq!(policy.roster().staffing, Staffing::exactly(start), "{}", preset.name());
        let pool = PoolSnapshot::of(Staffing::exactly(start));
        let decision = policy.build().tick(&Observation::new(Timestamp::ORIGIN, pool));
        assert_eq!(decision.to, Staffing::exactly(start), "{}", preset.name());
    }
}
