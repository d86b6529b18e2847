//! One door to the rules of peers: a pool that stays as it is, looked at for a while.

use crate::decide::Decider;
use crate::{
    Counters, History, LogSums, Observation, PoolSnapshot, Proposal, Situation, Staffing, Timestamp,
};

/// A pool under a constant load, whose size follows at once.
#[derive(Clone, Debug)]
pub(in crate::scaling::decide) struct Pool {
    pub(in crate::scaling::decide) snapshot: PoolSnapshot,
    pub(in crate::scaling::decide) at: Timestamp,
    /// Milliseconds between two looks.
    pub(in crate::scaling::decide) every_ms: u64,
    arrivals_per_second: f64,
    service: f64,
    arrived: f64,
    ended: f64,
}

impl Pool {
    pub(in crate::scaling::decide) fn of(size: u32) -> Self {
        let snapshot = PoolSnapshot {
            service_logs: Some(LogSums::default()),
            ..PoolSnapshot::of(Staffing::exactly(size))
        };
        Self {
            snapshot,
            at: Timestamp::ORIGIN,
            every_ms: 1000,
            arrivals_per_second: 0.0,
            service: 0.1,
            arrived: 0.0,
            ended: 0.0,
        }
    }

    pub(in crate::scaling::decide) fn busy(mut self, busy: u32) -> Self {
        self.snapshot.busy = busy;
        self
    }

    pub(in crate::scaling::decide) fn queued(mut self, queued: u64) -> Self {
        self.snapshot.queued = queued;
        self
    }

    /// So many tasks a second come.
    pub(in crate::scaling::decide) fn arrivals(mut self, per_second: f64) -> Self {
        self.arrivals_per_second = per_second;
        self
    }

    /// What a task takes, in seconds.
    pub(in crate::scaling::decide) fn service(mut self, seconds: f64) -> Self {
        self.service = seconds;
        self
    }

    pub(in crate::scaling::decide) fn every_ms(mut self, millis: u64) -> Self {
        self.every_ms = millis;
        self
    }

    /// Looks, and lets the size follow.
    pub(in crate::scaling::decide) fn look(&mut self, decider: &mut impl Decider) -> Proposal {
        let observation = Observation::new(self.at, self.snapshot);
        let history = History::default();
        let situation = Situation { observation: &observation, readings: &[], history: &history };
        let proposal = decider.decide(&situation);
        if let Some(wanted) = proposal.wanted {
            (self.snapshot.floor, self.snapshot.ceiling) = (wanted.floor, wanted.ceiling);
            let was_full = self.snapshot.busy == self.snapshot.live;
            self.snapshot.live = self.snapshot.live.clamp(wanted.floor, wanted.ceiling);
            let busy = if was_full { self.snapshot.live } else { self.snapshot.busy };
            self.snapshot.busy = busy.min(self.snapshot.live);
        }
        proposal
    }

    /// Time goes by: tasks come, and those at work end.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    pub(in crate::scaling::decide) fn pass(&mut self) {
        let seconds = self.every_ms as f64 / 1000.0;
        self.at = Timestamp::from_nanos(self.at.as_nanos() + self.every_ms * 1_000_000);
        self.arrived += self.arrivals_per_second * seconds;
        self.ended += f64::from(self.snapshot.busy) * seconds / self.service;
        let before = self.snapshot.counters.completed;
        let (submitted, completed) = (self.arrived as u64, self.ended as u64);
        self.snapshot.counters =
            Counters { submitted, started: completed, completed, ..Counters::default() };
        let (count, log) = (completed - before, self.service.ln());
        let logs = self.snapshot.service_logs.get_or_insert_default();
        logs.count += count;
        logs.sum += count as f64 * log;
        logs.sum_of_squares += count as f64 * log * log;
    }
}

/// Looks for so many seconds, and tells each proposal with its time.
pub(in crate::scaling::decide) fn story(
    mut decider: impl Decider,
    mut pool: Pool,
    seconds: u64,
    expected: &str,
) {
    let mut told = Vec::new();
    while pool.at <= Timestamp::from_secs(seconds) {
        if let Some(wanted) = pool.look(&mut decider).wanted {
            told.push(format!("{}s:{wanted}", pool.at.as_nanos() / 1_000_000_000));
        }
        pool.pass();
    }
    assert_eq!(told.join(" "), expected);
}

/// Looks for so many seconds, and returns the pool as it is then.
pub(in crate::scaling::decide) fn run(
    decider: &mut impl Decider,
    mut pool: Pool,
    seconds: u64,
) -> Pool {
    let end = Timestamp::from_nanos(pool.at.as_nanos() + seconds * 1_000_000_000);
    while pool.at < end {
        pool.look(decider);
        pool.pass();
    }
    pool
}
