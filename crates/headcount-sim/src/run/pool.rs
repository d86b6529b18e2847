//! One pool: a roster that decides, a line in which jobs wait, and the jobs under way.
//!
//! It does what the roster says, as the live pools do, at once and without a lock.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use headcount_core::roster::{Next, Order, Placement, Roster, RosterConfig, WorkerId};
use headcount_core::{
    Autoscaler, Decision, NextLook, Observation, PoolSnapshot, Pulse, Staffing, Timestamp,
};

use super::books::{Books, Moment};
use super::line::{Line, Queued};
use super::setup::PoolSetup;
use super::work::{Running, Work};

/// What happens next in a pool. At one moment, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Event {
    Arrival,
    Start,
    Retry,
    End,
    Alarm,
    Look,
}

/// How a job ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    Well,
    Failed,
    /// Its worker died.
    Orphaned,
}

/// One pool.
#[derive(Debug)]
pub(super) struct Pool {
    pub(super) setup: PoolSetup,
    pub(super) roster: Roster,
    pub(super) line: Line,
    pub(super) work: Work,
    pub(super) books: Books,
    /// Failed jobs that will be tried again.
    pub(super) retries: BTreeMap<(Timestamp, u32), Queued>,
    autoscaler: Autoscaler,
    pulse: Pulse,
    /// Workers that were hired, and when they will be there.
    starting: VecDeque<(Timestamp, WorkerId)>,
    next_job: usize,
    alarm: Option<Timestamp>,
    next_look: NextLook,
    /// Whether a full pool calls its autoscaler.
    may_call: bool,
    counted_at: Timestamp,
}

impl Pool {
    pub(super) fn new(setup: PoolSetup) -> Self {
        let PoolSetup { spawn_delay, queue_len_max, .. } = setup;
        let mut roster = RosterConfig { spawn_delay, queue_len_max, ..setup.roster };
        if setup.budget.is_some() {
            // What a policy begins with is not granted yet; its minimum is.
            roster.staffing = roster.staffing.at_most(setup.policy.bounds().min);
        }
        let at_once = NextLook { due: Timestamp::ORIGIN, called: Timestamp::ORIGIN };
        let mut pool = Self {
            autoscaler: setup.policy.build(),
            pulse: Pulse::of(&setup.policy),
            roster: Roster::new(roster),
            line: Line::default(),
            work: Work::default(),
            books: Books::default(),
            retries: BTreeMap::new(),
            starting: VecDeque::new(),
            next_job: 0,
            alarm: None,
            next_look: at_once,
            may_call: false,
            counted_at: Timestamp::ORIGIN,
            setup,
        };
        pool.settle(Timestamp::ORIGIN);
        pool
    }

    /// What happens next, and when.
    pub(super) fn next(&self) -> (Timestamp, Event) {
        let arrival = self.setup.jobs.get(self.next_job).map(|job| job.at);
        let start = self.starting.front().map(|(at, _)| *at);
        let retry = self.retries.first_key_value().map(|((at, _), _)| *at);
        let events = [
            (arrival, Event::Arrival),
            (start, Event::Start),
            (retry, Event::Retry),
            (self.work.next_end(), Event::End),
            (self.alarm, Event::Alarm),
        ];
        let mut next = (self.next_look.due, Event::Look);
        for (at, event) in events {
            if let Some(at) = at {
                next = next.min((at, event));
            }
        }
        next
    }

    /// Counts what there was until now. To be called before anything changes.
    pub(super) fn count(&mut self, now: Timestamp) {
        let live = self.roster.counts().live;
        self.books.worker_seconds += f64::from(live) * now.since(self.counted_at).as_secs_f64();
        self.counted_at = now;
    }

    /// The next job is here.
    pub(super) fn arrive(&mut self, now: Timestamp) {
        let job = self.setup.jobs[self.next_job];
        let number = u32::try_from(self.next_job).unwrap_or(u32::MAX);
        self.next_job += 1;
        self.books.arrived += 1;
        self.books.work_seconds += job.size.as_secs_f64();
        self.submit(Queued { job, number, since: now, failures: 0 }, now);
    }

    /// A failed job is tried again.
    pub(super) fn retry(&mut self, now: Timestamp) {
        if let Some((_, queued)) = self.retries.pop_first() {
            self.submit(Queued { since: now, ..queued }, now);
        }
    }

    fn submit(&mut self, queued: Queued, now: Timestamp) {
        self.books.measured.counters.submitted += 1;
        self.drop_expired(now);
        let is_full = self.setup.queue_len_max.is_some_and(|most| most <= self.line.len());
        if is_full && self.roster.counts().parked == 0 {
            self.books.measured.counters.rejected += 1;
            self.books.late += 1;
            // Whoever held it may have died, and others wait.
            self.settle(now);
            return;
        }
        match self.roster.submitted(now, self.line.len()) {
            Placement::Wake(worker) => self.begin(worker, queued, now),
            Placement::Hire(worker) => {
                self.line.push(queued);
                self.hire(worker, now);
            }
            Placement::Wait { hire_at } => {
                self.line.push(queued);
                if self.may_call && hire_at.is_none() && self.is_at_ceiling() {
                    self.call(now);
                }
            }
        }
        self.settle(now);
    }

    /// Whether everybody is at work, and nobody more may be hired.
    fn is_at_ceiling(&self) -> bool {
        let counts = self.roster.counts();
        counts.parked == 0 && self.roster.config().staffing.ceiling <= counts.live
    }

    /// Asks for a look as soon as there may be one, which is now at the soonest.
    fn call(&mut self, now: Timestamp) {
        let NextLook { due, called } = self.next_look;
        self.next_look.due = due.min(called.max(now));
    }

    /// The worker that was hired first is there, or could not be started.
    pub(super) fn start(&mut self, now: Timestamp, fails: bool) {
        let Some((_, worker)) = self.starting.pop_front() else { return };
        match fails {
            true => {
                // Whoever waits, waits until the next try; there is nowhere else to run.
                let _ = self.roster.spawn_failed(worker, now);
            }
            false => {
                self.books.measured.started = true;
                self.drop_expired(now);
                let next = self.roster.started(worker, now, self.line.len());
                self.follow(worker, next, now);
            }
        }
        self.settle(now);
    }

    /// A job ends.
    pub(super) fn end(&mut self, now: Timestamp, ending: Ending, faults: &crate::world::Faults) {
        let running = self.work.end(now);
        match ending {
            Ending::Orphaned => {
                let _ = self.roster.died(running.worker, now);
                self.submit(Queued { since: now, ..running.queued }, now);
                return;
            }
            Ending::Failed => self.failed(&running, now, faults),
            Ending::Well => self.done(&running, now),
        }
        let took = now.since(running.began);
        self.books.measured.counters.completed += 1;
        self.books.measured.services.add(took);
        self.books.measured.logs.add(took);
        self.drop_expired(now);
        let next = self.roster.finished(running.worker, now, self.line.len());
        self.follow(running.worker, next, now);
        self.settle(now);
    }

    fn done(&mut self, running: &Running, now: Timestamp) {
        let (wait, latency) = (running.waited(), now.since(running.queued.job.at));
        self.books.waits.push(wait);
        self.books.done += 1;
        self.books.work_done_seconds += running.queued.job.size.as_secs_f64();
        match self.setup.promise.is_kept(wait, latency) {
            true => self.books.done_in_time += 1,
            false => self.books.late += 1,
        }
    }

    fn failed(&mut self, running: &Running, now: Timestamp, faults: &crate::world::Faults) {
        self.books.measured.counters.failed += 1;
        let Queued { failures, number, .. } = running.queued;
        if faults.retries <= failures {
            self.books.late += 1;
            self.books.waits.push(running.waited());
            return;
        }
        let delay = faults.retry_after.saturating_mul(1 << failures.min(16));
        let queued = Queued { failures: failures + 1, ..running.queued };
        self.retries.insert((now + delay, number), queued);
    }

    /// Does what a worker is told to do next.
    fn follow(&mut self, worker: WorkerId, next: Next, now: Timestamp) {
        match next {
            Next::Take => {
                let queued = self.line.pop(now, self.setup.newest_first_after);
                let queued = queued.expect("the roster was told that one waits");
                self.begin(worker, queued, now);
            }
            Next::Park { .. } => {}
            Next::Leave => self.roster.left(worker),
        }
    }

    fn begin(&mut self, worker: WorkerId, queued: Queued, now: Timestamp) {
        let wait = now.since(queued.since);
        self.books.measured.counters.started += 1;
        self.books.measured.waits.add(wait);
        self.work.begin(worker, queued, now);
    }

    fn hire(&mut self, worker: WorkerId, now: Timestamp) {
        self.books.spawns += 1;
        self.starting.push_back((now + self.setup.spawn_delay, worker));
    }

    /// Lets go of the jobs that have waited for too long.
    fn drop_expired(&mut self, now: Timestamp) {
        let Some(after) = self.setup.expire_after else { return };
        while let Some(expired) = self.line.pop_expired(now, after) {
            self.books.measured.counters.expired += 1;
            self.books.late += 1;
            self.books.waits.push(now.since(expired.job.at));
        }
    }

    /// Does what the roster orders, and sets the alarm for the next time.
    pub(super) fn settle(&mut self, now: Timestamp) {
        while let Some(order) = self.roster.next_order(now, &self.line) {
            match order {
                Order::Hire(worker) => self.hire(worker, now),
                Order::Dismiss(worker) => self.roster.left(worker),
            }
        }
        self.alarm = self.roster.next_look(&self.line);
        let live = self.roster.counts().live;
        self.books.peak = self.books.peak.max(live);
        self.books.reversals += u64::from(self.books.turns.turned(live));
    }

    /// The pool as its autoscaler sees it.
    pub(super) fn snapshot(&mut self, now: Timestamp) -> PoolSnapshot {
        let measured = &mut self.books.measured;
        PoolSnapshot {
            counters: measured.counters,
            wait: measured.waits.statistics(now),
            service: measured.services.statistics(now),
            service_logs: Some(measured.logs),
            spawn_delay: measured.started.then_some(self.setup.spawn_delay),
            queue_len_max: self.setup.queue_len_max,
            ..self.roster.snapshot(now, &self.line)
        }
    }

    /// Asks the autoscaler; what it may have at most is `granted`.
    pub(super) fn decide(&mut self, observation: &Observation, granted: u32) -> Decision {
        let decision = self.autoscaler.tick(observation);
        let next = self.pulse.looked(observation, &decision);
        let soonest = observation.at + self.setup.tick_min;
        self.next_look = NextLook { due: next.due.max(soonest), called: next.called.max(soonest) };
        self.may_call = decision.to.ceiling < decision.bounds.max;
        let staffing = decision.resize().map(|wanted| wanted.at_most(granted));
        if let Some(staffing) = staffing.filter(|staffing| *staffing != decision.from) {
            self.resize(staffing, observation.at);
            self.autoscaler.applied(&decision);
        }
        decision
    }

    fn resize(&mut self, staffing: Staffing, now: Timestamp) {
        self.roster.resize(staffing);
        self.settle(now);
    }

    pub(super) fn remember(&mut self, observation: &Observation) {
        self.books.moments.push(Moment::of(observation.at, &observation.pool));
    }

    /// Workers that were hired and are not there yet.
    pub(super) fn hired_len(&self) -> usize {
        self.starting.len()
    }

    pub(super) fn alarm(&self) -> Option<Timestamp> {
        self.alarm
    }

    /// Jobs that have come and are neither done nor given up.
    pub(super) fn unfinished(&self) -> u64 {
        self.line.len() + self.work.len() as u64 + self.retries.len() as u64
    }

    /// It is over: what is not done, and did not or cannot keep its promise, is late.
    pub(super) fn close(&mut self, now: Timestamp) {
        self.count(now);
        let promise = self.setup.promise;
        for queued in self.line.drain() {
            let (waited, size) = (now.since(queued.job.at), queued.job.size);
            self.books.late += u64::from(!promise.can_be_kept(waited, size));
            self.books.waits.push(waited);
        }
        while 0 < self.work.len() {
            let running = self.work.end(now);
            let wait = running.waited();
            // It ends later than now.
            let latency = now.since(running.queued.job.at) + Duration::from_nanos(1);
            self.books.late += u64::from(!promise.is_kept(wait, latency));
            self.books.waits.push(wait);
        }
        self.books.late += self.retries.len() as u64;
        let retries = self.retries.values().map(|queued| now.since(queued.job.at));
        self.books.waits.extend(retries);
    }
}
