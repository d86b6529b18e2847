//! One turn of the loop: gather, tick, apply, record.

use headcount_core::{Decision, Observation, Timestamp};

use super::agenda::{Member, Next};
use super::event::ScalerEvent;
use super::inner::{Inner, State};
use super::surroundings::{Surroundings, Tick};
use super::wall::calendar;
use crate::sync::lock;

impl Inner {
    /// Looks, decides and acts, and says when to look again. `None`: it was stopped meanwhile.
    ///
    /// Whoever listens is told after the lock has been released, so it may call the scaler.
    pub(super) fn turn(&self, member: Member, now: Timestamp) -> Option<Next> {
        let mut state = lock(&self.state);
        if state.member != Some(member) {
            return None;
        }
        let observation = self.gather(now, &state);
        let decision = state.autoscaler.tick(&observation);
        self.apply(&mut state, &decision);
        let next = state.pulse.looked(&observation, &decision);
        let ended = observation.pool.draining && observation.pool.live == 0;
        self.record(&mut state, observation, &decision);
        drop(state);
        self.tell(&decision);
        if ended {
            self.end();
        }
        Some(next)
    }

    /// All that is known now.
    pub(super) fn gather(&self, now: Timestamp, state: &State) -> Observation {
        let mut observation = Observation::new(now, self.resizable.snapshot());
        observation.calendar = calendar();
        observation.externals.clone_from(&state.externals);
        state.surroundings.iter().for_each(|around| around.look(&mut observation));
        if let Some(seat) = &self.seat {
            seat.look(&mut observation);
        }
        observation
    }

    /// Does what was decided, if there is anything to do. Nobody else resizes.
    pub(super) fn apply(&self, state: &mut State, decision: &Decision) {
        if let Some(staffing) = decision.resize() {
            self.resizable.resize(staffing);
            state.autoscaler.applied(decision);
        }
        if let Some(member) = state.member {
            self.resizable.poke_when_full(self.poke(member));
        }
    }

    pub(super) fn record(&self, state: &mut State, observation: Observation, decision: &Decision) {
        let (pool, autoscaler, policy) = (self.name.as_str(), &state.autoscaler, &state.written);
        let tick = Tick { pool, observation: &observation, decision, autoscaler, policy };
        self.records.iter().for_each(|record| record.record(&tick));
        state.remember(observation, decision);
    }

    /// Notes down by which policy it goes from now on.
    pub(super) fn record_policy(&self, state: &State) {
        let notes = state.autoscaler.save();
        for record in &self.records {
            record.policy(&self.name, &state.written, notes.words());
        }
    }

    /// Tells of a change, if there was one.
    pub(super) fn tell(&self, decision: &Decision) {
        if decision.resize().is_some() {
            self.audience.tell(&ScalerEvent::Scaled(Box::new(*decision)));
        }
    }
}
