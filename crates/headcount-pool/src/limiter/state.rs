//! All that a limiter knows, kept under its one lock: the gate and its books.
//!
//! It is told the time, and it calls nobody. Wakers go in and come out by value, so that whoever
//! holds the lock can let it go before it calls or drops one.

use std::mem::swap;
use std::task::Waker;
use std::time::Duration;

use headcount_core::{PoolSnapshot, Staffing, Timestamp};

use super::gate::{Abandoned, Entry, Gate, Request, Standing, Ticket};
use super::ledger::{Ledger, Outcome};

#[derive(Debug)]
pub(super) struct State {
    gate: Gate<Waiter>,
    ledger: Ledger,
    /// Since when not all places were taken at once. `None`: they are.
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
        let mut state =
            Self { gate: Gate::new(limit), ledger: Ledger::default(), spare_since: None };
        state.note_room(now);
        state
    }

    pub(super) fn gate(&self) -> &Gate<Waiter> {
        &self.gate
    }

    /// Enters if there is room. Only then is it counted: whoever was refused may yet wait.
    pub(super) fn enter(&mut self) -> Entry {
        let entry = self.gate.enter();
        if entry == Entry::Admitted {
            self.ledger.entered();
            self.note_full();
        }
        entry
    }

    /// Enters if there is room, and will not wait.
    pub(super) fn try_enter(&mut self) -> Entry {
        let entry = self.enter();
        if entry != Entry::Admitted {
            self.ledger.refused();
        }
        entry
    }

    pub(super) fn request(&mut self, waiter: Waiter) -> Request<Waiter> {
        let request = self.gate.request(waiter);
        match request {
            Request::Admitted(_) => self.ledger.entered(),
            Request::Waiting(_) => self.ledger.queued(),
            Request::Closed(_) => self.ledger.refused(),
        }
        self.note_full();
        request
    }

    /// Looks at a ticket. If it still waits, what it left before is exchanged for `waiter`.
    pub(super) fn look(&mut self, ticket: &Ticket, waiter: &mut Waiter, now: Timestamp) -> Look {
        match self.gate.standing(ticket) {
            Standing::TurnedAway => Look::TurnedAway,
            Standing::Waiting(before) => {
                swap(before, waiter);
                Look::Waiting
            }
            Standing::Admitted => {
                // The wait ends here and not with the call: this is what the caller feels.
                self.ledger.collected(now.since(waiter.since));
                Look::Admitted
            }
        }
    }

    pub(super) fn abandon(&mut self, ticket: Ticket, now: Timestamp) -> Abandoned<Waiter> {
        let abandoned = self.gate.abandon(ticket);
        match &abandoned {
            Abandoned::Waiting(_) => self.ledger.gave_up(),
            Abandoned::Admitted(next) => {
                self.ledger.passed_on();
                self.ledger.admitted(next.iter().len());
            }
            Abandoned::TurnedAway => {}
        }
        self.note_room(now);
        abandoned
    }

    /// Takes a permit back, and says whom to call.
    pub(super) fn release(
        &mut self,
        outcome: Outcome,
        held: Duration,
        now: Timestamp,
    ) -> Option<Waiter> {
        let next = self.gate.release();
        self.ledger.ended(outcome, held);
        self.ledger.admitted(next.iter().len());
        self.note_room(now);
        next
    }

    /// Sets the limit, and says whom to call.
    pub(super) fn resize(&mut self, limit: u32, now: Timestamp) -> Vec<Waiter> {
        let admitted = self.gate.resize(limit);
        self.ledger.admitted(admitted.len());
        self.note_room(now);
        admitted
    }

    /// Turns away who waits, and says whom to call.
    pub(super) fn close(&mut self) -> Vec<Waiter> {
        let turned_away = self.gate.close();
        self.ledger.turned_away(turned_away.len());
        turned_away
    }

    /// A place that is free is a worker that is parked; one above the limit is about to leave.
    pub(super) fn snapshot(&mut self, now: Timestamp) -> PoolSnapshot {
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
            ..PoolSnapshot::of(Staffing::exactly(limit))
        };
        self.ledger.write(now, &mut snapshot);
        snapshot
    }

    /// After somebody came.
    fn note_full(&mut self) {
        if !self.gate.has_room() {
            self.spare_since = None;
        }
    }

    /// After somebody left, or the limit moved.
    fn note_room(&mut self, now: Timestamp) {
        match self.gate.has_room() {
            true => self.spare_since = self.spare_since.or(Some(now)),
            false => self.spare_since = None,
        }
    }
}

#[cfg(test)]
mod tests {
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

    fn end(state: &mut State, outcome: Outcome, held: u64, at: u64) {
        drop(state.release(outcome, Duration::from_secs(held), second(at)));
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
        let s = state.snapshot(second(at));
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
        assert_eq!(state.snapshot(second(0)), at_rest);
        state.enter();
        check(&mut state, 5, "live 2 busy 1 parked 1 retiring 0 queued 0 oldest - idle 5");
        state.enter();
        queue(&mut state, 6);
        queue(&mut state, 7);
        check(&mut state, 9, "live 2 busy 2 parked 0 retiring 0 queued 2 oldest 3 idle -");
        state.resize(1, second(10));
        check(&mut state, 11, "live 2 busy 2 parked 0 retiring 1 queued 2 oldest 5 idle -");
        state.resize(7, second(12));
        check(&mut state, 15, "live 7 busy 4 parked 3 retiring 0 queued 0 oldest - idle 3");
    }

    #[test]
    fn places_are_idle_since_they_were_last_all_taken() {
        let mut state = State::new(2, second(0));
        state.enter();
        state.enter();
        end(&mut state, Outcome::Success, 1, 3);
        end(&mut state, Outcome::Success, 1, 4);
        state.enter();
        check(&mut state, 9, "live 2 busy 1 parked 1 retiring 0 queued 0 oldest - idle 6");
        state.resize(0, second(10));
        check(&mut state, 11, "live 1 busy 1 parked 0 retiring 1 queued 0 oldest - idle -");
    }

    /// Everything that can become of a request, once.
    #[test]
    fn every_request_is_counted_once() {
        let mut state = State::new(1, second(0));
        assert_eq!(state.try_enter(), Entry::Admitted);
        assert_eq!(state.try_enter(), Entry::Full);
        let [collects, passes_on, gives_up, _, _] = [1, 2, 3, 4, 5].map(|n| queue(&mut state, n));
        check_books(&state.snapshot(second(5)));
        state.abandon(gives_up, second(6));
        end(&mut state, Outcome::Panicked, 1, 6);
        assert_eq!(state.look(&collects, &mut waiter(1), second(7)), Look::Admitted);
        end(&mut state, Outcome::Dropped, 1, 8);
        state.abandon(passes_on, second(9));
        check_books(&state.snapshot(second(9)));
        state.close();
        assert_eq!(state.try_enter(), Entry::Closed);
        assert!(matches!(state.request(waiter(9)), Request::Closed(_)));
        end(&mut state, Outcome::Ignored, 1, 10);

        let snapshot = state.snapshot(second(10));
        check_books(&snapshot);
        assert!(snapshot.draining);
        let expected = Counters {
            submitted: 9,
            started: 4,
            completed: 4,
            failed: 2,
            panicked: 1,
            // One full, one in the queue as it closed, two after it.
            rejected: 4,
            expired: 1,
        };
        assert_eq!(snapshot.counters, expected);
    }

    #[test]
    fn what_is_ignored_is_not_timed() {
        let mut state = State::new(3, second(0));
        for (outcome, held) in [(Outcome::Success, 2), (Outcome::Ignored, 9), (Outcome::Dropped, 4)]
        {
            state.enter();
            end(&mut state, outcome, held, 10);
        }
        let snapshot = state.snapshot(second(10));
        let service = snapshot.service.expect("two were timed");
        assert_eq!((service.count, service.mean), (2, Duration::from_secs(3)));
        assert_eq!(snapshot.service_logs.map(|logs| logs.count), Some(2));
        assert_eq!(snapshot.wait.map(|wait| (wait.count, wait.p99)), Some((3, Duration::ZERO)));
    }

    #[test]
    fn a_wait_ends_when_the_permit_is_collected() {
        let mut state = State::new(0, second(0));
        let ticket = queue(&mut state, 1);
        state.resize(1, second(3));
        assert_eq!(state.snapshot(second(3)).wait, None, "it was called, and has not come yet");
        assert_eq!(state.look(&ticket, &mut waiter(1), second(5)), Look::Admitted);
        let wait = state.snapshot(second(5)).wait.expect("it has come");
        assert_eq!((wait.count, wait.mean), (1, Duration::from_secs(4)));
    }
}
