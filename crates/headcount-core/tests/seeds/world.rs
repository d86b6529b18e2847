//! A pool in virtual time that does what its autoscaler says.
//!
//! Workers are modelled as far as the documents look at them: how many there are, how many have a
//! task, and since when the others have none. The last one parked is the first one woken, so the
//! surplus stays idle; a shrink takes the one that has been parked for longest.

use std::time::Duration;

use headcount_core::guard::WarmUp;
use headcount_core::health::Health;
use headcount_core::{
    Autoscaler, Decision, ManualTarget, Observation, Policy, PolicyConfig, PoolSnapshot, Preset,
    Staffing, Statistics, Timestamp,
};

/// A pool under a policy.
pub(crate) struct World {
    pub(crate) autoscaler: Autoscaler,
    pub(crate) now: Timestamp,
    /// Workers that exist.
    pub(crate) size: u32,
    /// Tasks that want a worker at once.
    pub(crate) demand: u32,
    /// Tasks that wait behind those.
    pub(crate) queued: u64,
    tick: Duration,
    /// Since when each idle worker is parked, the longest first.
    parked: Vec<Timestamp>,
}

impl World {
    /// A pool of `size` under a preset, on a machine with `cores`.
    pub(crate) fn under(preset: &Preset, cores: u32, size: u32) -> Self {
        Self::with(&preset.config(), cores, size)
    }

    /// A pool of `size` under a policy, on a machine with `cores`.
    ///
    /// The documents know no hold at the beginning; it is ours, and tested by itself.
    pub(crate) fn with(config: &PolicyConfig, cores: u32, size: u32) -> Self {
        let mut config = config.clone();
        config.guards.warm_up.get_or_insert(WarmUp { span: Duration::ZERO });
        let policy = Policy::check(&config, cores).expect("a policy without faults");
        Self {
            autoscaler: policy.build(),
            now: Timestamp::ORIGIN,
            size,
            demand: 0,
            queued: 0,
            tick: policy.tick(),
            parked: vec![Timestamp::ORIGIN; size as usize],
        }
    }

    /// Ticks for so many seconds, and tells each resize as `5s:3`.
    pub(crate) fn run(&mut self, secs: u64) -> String {
        self.run_with(secs, |_| {})
    }

    /// The same, with every observation changed before it is shown.
    pub(crate) fn run_with(&mut self, secs: u64, change: impl Fn(&mut Observation)) -> String {
        let end = self.now + Duration::from_secs(secs);
        let mut resizes = Vec::new();
        while self.now < end {
            let decision = self.step_with(&change);
            if let Some(staffing) = decision.resize() {
                let seconds = decision.at.since(Timestamp::ORIGIN).as_secs_f64();
                resizes.push(format!("{seconds}s:{staffing}"));
            }
        }
        resizes.join(" ")
    }

    /// One tick.
    pub(crate) fn step(&mut self) -> Decision {
        self.step_with(|_| {})
    }

    /// One tick, with the observation changed before it is shown.
    pub(crate) fn step_with(&mut self, change: impl Fn(&mut Observation)) -> Decision {
        let mut observation = self.observe();
        change(&mut observation);
        let decision = self.autoscaler.tick(&observation);
        if let Some(staffing) = decision.resize() {
            self.resize(staffing.ceiling);
            self.autoscaler.applied(&decision);
        }
        self.now = self.now + self.tick;
        decision
    }

    /// What can be seen of the pool now.
    pub(crate) fn observe(&mut self) -> Observation {
        let busy = self.demand.min(self.size);
        let idle = self.size - busy;
        self.parked.resize(idle as usize, self.now);
        let mut pool = PoolSnapshot::of(Staffing::exactly(self.size));
        pool.busy = busy;
        pool.parked = idle;
        pool.queued = self.queued;
        pool.longest_idle = self.parked.first().map(|since| self.now.since(*since));
        Observation::new(self.now, pool)
    }

    /// Asks for a size, or takes the wish back.
    pub(crate) fn ask_for(&mut self, workers: Option<u32>) {
        let target = workers.map(|workers| ManualTarget { workers, until: None });
        self.autoscaler.set_manual(target);
    }

    fn resize(&mut self, size: u32) {
        let leaving = self.size.saturating_sub(size) as usize;
        self.parked.drain(..leaving.min(self.parked.len()));
        // Who comes has no task yet.
        for _ in self.size..size {
            self.parked.push(self.now);
        }
        self.size = size;
    }
}

/// Sets the busy workers, and the rest as parked.
pub(crate) fn busy(pool: &mut PoolSnapshot, busy: u32) {
    pool.busy = busy;
    pool.parked = pool.live - busy;
}

/// Every wait was `millis` long.
pub(crate) fn waits(pool: &mut PoolSnapshot, millis: u64) {
    pool.wait = Statistics::of(&[Duration::from_millis(millis)]);
}

/// A machine with this score, measured just now.
pub(crate) fn healthy(score: f64) -> impl Fn(&mut Observation) {
    move |observation| {
        let measured_at = observation.at;
        observation.health = Some(Health { measured_at, score, worst: None });
    }
}

/// Compares everything that is wrong with a policy, a line each.
#[track_caller]
pub(crate) fn faults(config: &PolicyConfig, expected: &[&str]) {
    let found = Policy::check(config, 8).err().unwrap_or_default();
    assert_eq!(found.iter().map(ToString::to_string).collect::<Vec<_>>(), expected);
}

/// Compares everything that is unwise about a policy, a line each.
#[track_caller]
pub(crate) fn hints(config: &PolicyConfig, expected: &[&str]) {
    let policy = Policy::check(config, 8).expect("a policy without faults");
    assert_eq!(policy.hints().iter().map(ToString::to_string).collect::<Vec<_>>(), expected);
}
