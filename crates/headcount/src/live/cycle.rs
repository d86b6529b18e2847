//! One turn of the loop: gather, tick, apply, record.

use std::sync::{Arc, MutexGuard};

use headcount_core::{Decision, NextLook, Observation, Timestamp};

use super::agenda::Member;
use super::event::ScalerEvent;
use super::inner::{Inner, State};
use super::surroundings::Tick;
use super::wall::calendar;
use crate::sync::lock;

impl Inner {
    /// Looks, decides and acts, and says when to look again. `None`: it was stopped meanwhile.
    pub(super) fn turn(&self, member: Member) -> Option<NextLook> {
        let mut state = lock(&self.state);
        if state.member != Some(member) {
            return None;
        }
        let observation = self.gather(self.now(), &state);
        let decision = state.autoscaler.tick(&observation);
        let next = state.pulse.looked(&observation, &decision);
        let pool = &observation.pool;
        let ended = pool.draining && pool.busy == 0 && pool.queued == 0;
        self.carry_out(state, &observation, &decision);
        if ended {
            self.end();
        }
        Some(next)
    }

    /// All that is known now.
    pub(super) fn gather(&self, now: Timestamp, state: &State) -> Observation {
        let mut observation = self.look_around(now, state);
        if let Some(seat) = &self.seat {
            seat.look(&mut observation);
        }
        observation
    }

    /// The same without asking for anything: the allowance is the one that would be granted.
    pub(super) fn peek(&self, now: Timestamp, state: &State) -> Observation {
        let mut observation = self.look_around(now, state);
        if let Some(seat) = &self.seat {
            seat.peek(&mut observation);
        }
        observation
    }

    fn look_around(&self, now: Timestamp, state: &State) -> Observation {
        let mut observation = Observation::new(now, self.resizable.snapshot());
        observation.calendar = calendar(state.utc_offset);
        observation.externals.clone_from(&state.externals);
        state.surroundings.iter().for_each(|around| around.look(&mut observation));
        observation
    }

    /// Does what was decided, records it, and tells whoever listens, in that order.
    ///
    /// Listeners are called after the lock has been released, for they may call the scaler; and
    /// what is recorded is handed over then, since it takes a while to put it into words.
    pub(super) fn carry_out(
        &self,
        mut state: MutexGuard<'_, State>,
        observation: &Observation,
        decision: &Decision,
    ) {
        let applied = self.apply(&mut state, observation, decision);
        state.remember(observation.clone(), decision);
        match self.records.is_empty() {
            // Most have nowhere to write to, and what would be written is not made then.
            true => drop(state),
            false => self.record(state, observation, decision),
        }
        if applied {
            self.audience.tell(&ScalerEvent::Scaled(Box::new(*decision)));
        }
    }

    fn record(&self, state: MutexGuard<'_, State>, observation: &Observation, decision: &Decision) {
        let footing = Arc::new(state.footing());
        // Taken before the other is released, so that rows stand in the order of their ticks.
        let recording = lock(&self.recording);
        drop(state);
        let tick = Tick { pool: &self.name, observation, decision, footing: &footing };
        self.records.iter().for_each(|record| record.record(&tick));
        drop(recording);
    }

    /// Resizes, if there is anything to do, and says whether there was. Nobody else resizes.
    fn apply(&self, state: &mut State, observation: &Observation, decision: &Decision) -> bool {
        let pool = &observation.pool;
        if decision.to.ceiling < decision.bounds.max
            && let Some(member) = state.member
        {
            self.resizable.poke_when_full(self.poke(member));
        }
        // A pool that is closed hears of no size any more. What is decided is within what the
        // budget grants, so it is what is done, and a recorded decision says all that came of it.
        let staffing = decision.resize().filter(|_| !pool.draining);
        if let Some(staffing) = staffing {
            self.resizable.resize(staffing);
            state.autoscaler.applied(decision);
        }
        if let Some(seat) = &self.seat {
            seat.holds(staffing.unwrap_or(decision.from).ceiling.max(pool.live));
        }
        staffing.is_some()
    }

    /// Notes down by which policy it goes from now on, and what it remembers.
    pub(super) fn record_policy(&self, state: MutexGuard<'_, State>) {
        if self.records.is_empty() {
            return;
        }
        let footing = Arc::new(state.footing());
        let recording = lock(&self.recording);
        drop(state);
        for record in &self.records {
            record.policy(&self.name, &footing);
        }
        drop(recording);
    }
}
