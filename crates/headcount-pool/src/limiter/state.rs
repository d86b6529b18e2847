//! All that a limiter knows, kept under its one lock: the gate and its books.
//!
//! It is told the time, and it calls nobody. Wakers go in and come out by value, so that whoever
//! holds the lock can let it go before it calls or drops one.

use std::mem::{swap, take};
use std::task::Waker;

use headcount_core::spans::{Spans, Window};
use headcount_core::{PoolSnapshot, Staffing, Timestamp};

use super::gate::{Abandoned, Entry, Gate, Request, Standing, Ticket};
use super::ledger::{Ledger, Outcome};
use super::wicket::Passed;

#[derive(Debug)]
pub(super) struct State {
    gate: Gate<Waiter>,
    ledger: Ledger,
    held: Window,
    /// Whether all places were taken at some time since the last snapshot.
    was_full: bool,
    /// The first snapshot since which not all places were taken at once. `None`: they were.
    spare_since: Option<Timestamp>,
}

/// Who stands in the queue.
#[derive(Debug)]
pub(super) struct Waiter {
    pub(super) since: Timestamp,
    pub(super) waker: Waker,
}

/// What a look at a ticket showed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Look {
    Waiting,
    Admitted,
    TurnedAway,
}

impl State {
    pub(super) fn new(limit: u32, now: Timestamp) -> Self {
        Self {
            gate: Gate::new(limit),
            ledger: Ledger::default(),
            held: Window::default(),
            was_full: limit == 0,
            spare_since: Some(now),
        }
    }

    pub(super) fn gate(&self) -> &Gate<Waiter> {
        &self.gate
    }

    /// Those who passed the wicket are in the books as if they had come here.
    pub(super) fn passed(&mut self, passed: Passed) {
        let left = self.gate.passed(passed.entered, passed.free);
        self.ledger.entered(passed.entered);
        self.ledger.left(left);
        self.was_full |= passed.was_full;
    }

    /// So many were refused at the wicket.
    pub(super) fn refused(&mut self, count: u64) {
        self.ledger.refused(count);
    }

    /// Enters if there is room, and will not wait.
    pub(super) fn try_enter(&mut self) -> Entry {
        let entry = self.gate.enter();
        match entry {
            Entry::Admitted => self.ledger.entered(1),
            Entry::Full | Entry::Closed => self.ledger.refused(1),
        }
        self.note_full();
        entry
    }

    pub(super) fn request(&mut self, waiter: Waiter) -> Request<Waiter> {
        let request = self.gate.request(waiter);
        match request {
            Request::Admitted(_) => self.ledger.entered(1),
            Request::Waiting(_) => self.ledger.queued(),
            Request::Closed(_) => self.ledger.refused(1),
        }
        self.note_full();
        request
    }

    /// Looks at a ticket. If it still waits, what it left before is exchanged for `waiter`; if not,
    /// its wait ends here and not with the call: this is what the caller feels.
    pub(super) fn look(&mut self, ticket: &Ticket, waiter: &mut Waiter, now: Timestamp) -> Look {
        match self.gate.standing(ticket) {
            Standing::TurnedAway => Look::TurnedAway,
            Standing::Admitted => {
                self.ledger.collected(now.since(waiter.since));
                Look::Admitted
            }
            Standing::Waiting(before) => {
                swap(before, waiter);
                Look::Waiting
            }
        }
    }

    pub(super) fn abandon(&mut self, ticket: Ticket) -> Abandoned<Waiter> {
        let abandoned = self.gate.abandon(ticket);
        match &abandoned {
            Abandoned::Waiting(_) => self.ledger.gave_up(),
            Abandoned::Admitted(next) => {
                self.ledger.left(1);
                self.ledger.admitted(next.iter().len());
            }
            Abandoned::TurnedAway => {}
        }
        abandoned
    }

    /// Takes a permit back, and says whom to call.
    pub(super) fn release(&mut self, outcome: Outcome) -> Option<Waiter> {
        let next = self.gate.release();
        self.ledger.ended(outcome);
        self.ledger.admitted(next.iter().len());
        next
    }

    /// Sets the limit, and says whom to call.
    pub(super) fn resize(&mut self, limit: u32) -> Vec<Waiter> {
        let admitted = self.gate.resize(limit);
        self.ledger.admitted(admitted.len());
        self.note_full();
        admitted
    }

    /// Turns away who waits, and says whom to call.
    pub(super) fn close(&mut self) -> Vec<Waiter> {
        let turned_away = self.gate.close();
        self.ledger.turned_away(turned_away.len());
        turned_away
    }

    /// A place that is free is a worker that is parked; one above the limit is about to leave.
    /// For how long permits were `held` is measured elsewhere.
    pub(super) fn snapshot(&mut self, held: &Spans, now: Timestamp) -> PoolSnapshot {
        self.note_room(now);
        let (limit, in_use) = (self.gate.limit(), self.gate.in_use());
        let mut snapshot = PoolSnapshot {
            live: limit.max(in_use),
            busy: in_use,
            parked: limit.saturating_sub(in_use),
            retiring: in_use.saturating_sub(limit),
            queued: self.gate.waiting() as u64,
            oldest_wait: self.gate.first_waiting().map(|waiter| now.since(waiter.since)),
            longest_idle: self.spare_since.map(|since| now.since(since)),
            draining: self.gate.is_closed(),
            service: self.held.statistics(held, now),
            service_logs: Some(held.log_sums()),
            ..PoolSnapshot::of(Staffing::exactly(limit))
        };
        self.ledger.write(now, &mut snapshot);
        snapshot
    }

    /// After somebody came, or the limit moved.
    fn note_full(&mut self) {
        self.was_full |= !self.gate.has_room();
    }

    /// When room is looked for. When it came is not noted: that would be a clock for each permit.
    fn note_room(&mut self, now: Timestamp) {
        if take(&mut self.was_full) {
            self.spare_since = None;
        }
        match self.gate.has_room() {
            true => self.spare_since = self.spare_since.or(Some(now)),
            false => (self.spare_since, self.was_full) = (None, true),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use headcount_core::{Counters, LogSums};

    use super::*;

    const fn second(n: u64) -> Timestamp {
        Timestamp::from_secs(n)
    }

    fn waiter(since: u64) -> Waiter {
        Waiter { since: second(since), waker: Waker::noop().clone() }
    }

    fn queue(state: &mut State, since: u64) -> Ticket {
        let Request::Waiting(ticket) = state.request(waiter(since)) else { panic!("it is full") };
        ticket
    }

    fn read(state: &mut State, at: u64) -> PoolSnapshot {
        state.snapshot(&Spans::default(), second(at))
    }

    /// How a ticket stands, and its wait if it was admitted.
    fn look(state: &mut State, ticket: &Ticket, since: u64, at: u64) -> Look {
        state.look(ticket, &mut waiter(since), second(at))
    }

    /// What must hold in every snapshot.
    fn check_books(snapshot: &PoolSnapshot) {
        let counted = snapshot.counters;
        let resolved = counted.started + counted.rejected + counted.expired;
        assert_eq!(counted.submitted, resolved + snapshot.queued, "{snapshot:?}");
        assert_eq!(counted.started - counted.completed, u64::from(snapshot.busy), "{snapshot:?}");
        assert_eq!(snapshot.busy + snapshot.parked, snapshot.live, "{snapshot:?}");
    }

    fn check(state: &mut State, at: u64, expected: &str) {
        let s = read(state, at);
        check_books(&s);
        let seconds = |span: Option<Duration>| span.map_or("-".into(), |s| s.as_secs().to_string());
        let told = format!(
            "live {} busy {} parked {} retiring {} queued {} oldest {} idle {}",
            s.live,
            s.busy,
            s.parked,
            s.retiring,
            s.queued,
            seconds(s.oldest_wait),
            seconds(s.longest_idle)
        );
        assert_eq!(told, expected);
    }

    #[test]
    fn a_limiter_looks_like_a_pool() {
        let mut state = State::new(2, second(0));
        let at_rest = PoolSnapshot {
            longest_idle: Some(Duration::ZERO),
            service_logs: Some(LogSums::default()),
            ..PoolSnapshot::of(Staffing::exactly(2))
        };
        assert_eq!(read(&mut state, 0), at_rest);
        state.try_enter();
        check(&mut state, 5, "live 2 busy 1 parked 1 retiring 0 queued 0 oldest - idle 5");
        state.try_enter();
        queue(&mut state, 6);
        queue(&mut state, 7);
        check(&mut state, 9, "live 2 busy 2 parked 0 retiring 0 queued 2 oldest 3 idle -");
        state.resize(1);
        check(&mut state, 11, "live 2 busy 2 parked 0 retiring 1 queued 2 oldest 5 idle -");
        state.resize(7);
        check(&mut state, 12, "live 7 busy 4 parked 3 retiring 0 queued 0 oldest - idle 0");
        check(&mut state, 15, "live 7 busy 4 parked 3 retiring 0 queued 0 oldest - idle 3");
    }

    /// It is the first reading that finds room from which they count.
    #[test]
    fn places_are_idle_since_they_were_last_all_taken() {
        let check = |state: &mut State, at, expected: Option<u64>| {
            assert_eq!(read(state, at).longest_idle, expected.map(Duration::from_secs), "at {at}");
        };
        let passed = |entered, free, was_full| Passed { entered, free, was_full };
        let mut state = State::new(2, second(0));
        check(&mut state, 3, Some(3));
        state.passed(passed(2, 0, true));
        check(&mut state, 4, None);
        state.release(Outcome::Success);
        check(&mut state, 6, Some(0));
        check(&mut state, 9, Some(3));
        // All were taken for a moment between two readings, here and at the wicket.
        state.try_enter();
        state.release(Outcome::Success);
        check(&mut state, 10, Some(0));
        state.passed(passed(3, 1, true));
        check(&mut state, 11, Some(0));
        state.passed(passed(0, 2, false));
        check(&mut state, 15, Some(4));
        state.resize(0);
        check(&mut state, 16, None);
    }

    /// Everything that can become of a request, once.
    #[test]
    fn every_request_is_counted_once() {
        let mut state = State::new(1, second(0));
        assert_eq!(state.try_enter(), Entry::Admitted);
        assert_eq!(state.try_enter(), Entry::Full);
        let [collects, passes_on, gives_up, _, _] = [1, 2, 3, 4, 5].map(|n| queue(&mut state, n));
        check_books(&read(&mut state, 5));
        state.abandon(gives_up);
        state.release(Outcome::Panicked);
        assert_eq!(look(&mut state, &collects, 1, 7), Look::Admitted);
        state.release(Outcome::Dropped);
        state.abandon(passes_on);
        check_books(&read(&mut state, 9));
        state.close();
        assert_eq!(state.try_enter(), Entry::Closed);
        assert!(matches!(state.request(waiter(9)), Request::Closed(_)));
        state.release(Outcome::Ignored);

        state.refused(3);

        let snapshot = read(&mut state, 10);
        check_books(&snapshot);
        assert!(snapshot.draining);
        let expected = Counters {
            submitted: 12,
            started: 4,
            completed: 4,
            failed: 2,
            panicked: 1,
            // One full, one in the queue as it closed, two after it, three at the wicket.
            rejected: 7,
            expired: 1,
            ..Counters::default()
        };
        assert_eq!(snapshot.counters, expected);
    }

    #[test]
    fn those_who_passed_are_counted_as_if_they_had_come_here() {
        let mut state = State::new(3, second(0));
        state.passed(Passed { entered: 7, free: 1, was_full: true });
        let snapshot = read(&mut state, 1);
        check_books(&snapshot);
        let expected = Counters { submitted: 7, started: 7, completed: 5, ..Counters::default() };
        assert_eq!((snapshot.busy, snapshot.counters), (2, expected));
        assert_eq!(snapshot.wait.map(|wait| (wait.count, wait.p99)), Some((7, Duration::ZERO)));
    }

    #[test]
    fn a_wait_ends_when_the_permit_is_collected() {
        let mut state = State::new(0, second(0));
        let ticket = queue(&mut state, 1);
        state.resize(1);
        assert_eq!(read(&mut state, 3).wait, None, "it was called, and has not come yet");
        assert_eq!(look(&mut state, &ticket, 1, 5), Look::Admitted);
        let wait = read(&mut state, 5).wait.expect("it has come");
        assert_eq!((wait.count, wait.mean), (1, Duration::from_secs(4)));
    }
}
