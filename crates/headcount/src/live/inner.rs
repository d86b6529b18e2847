//! What the handles of one scaler share.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex};

use headcount_core::guard::Ruling;
use headcount_core::{
    Autoscaler, Decision, Externals, Extras, Mode, NextLook, Observation, Poke, Policy,
    PolicyConfig, Pulse, Resizable, Staffing, Timestamp,
};

use super::agenda::Member;
use super::budget::Seat;
use super::driver::Driver;
use super::event::{Audience, ScalerEvent};
use super::names::TakenName;
use super::surroundings::{Footing, Record, Surroundings};
use super::wall::UtcOffset;
use crate::sync::lock;

/// Makes the parts of one's own anew for each policy.
pub(crate) type MakeExtras = Arc<dyn Fn() -> Extras + Send + Sync>;

/// What a scaler goes by: all that can be changed while it is at work.
pub(crate) struct Fit {
    pub(crate) policy: PolicyConfig,
    pub(crate) make_extras: Option<MakeExtras>,
    pub(crate) surroundings: Vec<Arc<dyn Surroundings>>,
    /// By which clock its schedules are.
    pub(crate) utc_offset: UtcOffset,
}

/// How many decisions are kept.
const DECISIONS_KEPT_MAX: usize = 64;

pub(super) struct Inner {
    pub(super) name: String,
    pub(super) resizable: Arc<dyn Resizable>,
    /// Its seat at a budget, if it shares one.
    pub(super) seat: Option<Seat>,
    pub(super) records: Vec<Arc<dyn Record>>,
    /// Its name, where it is known by that and nothing else.
    #[expect(dead_code, reason = "it is there to be dropped")]
    pub(super) names: Vec<TakenName>,
    pub(super) audience: Audience,
    pub(super) driver: Driver,
    /// Held while something is recorded, so that rows keep their order.
    pub(super) recording: Mutex<()>,
    /// Held while it looks, decides and acts, so that nobody does so at the same time. Nobody takes
    /// it who was called by the pool.
    pub(super) state: Mutex<State>,
}

pub(super) struct State {
    pub(super) autoscaler: Autoscaler,
    pub(super) policy: Policy,
    pub(super) written: PolicyConfig,
    pub(super) pulse: Pulse,
    pub(super) make_extras: Option<MakeExtras>,
    pub(super) surroundings: Vec<Arc<dyn Surroundings>>,
    pub(super) utc_offset: UtcOffset,
    pub(super) externals: Externals,
    /// Under which number the driver knows it. `None`: it is stopped.
    pub(super) member: Option<Member>,
    /// The mode that somebody set by hand, which outlives a change of policy.
    pub(super) mode_by_hand: Option<Mode>,
    pub(super) latest: Option<(Observation, Decision)>,
    pub(super) decisions: VecDeque<Box<Decision>>,
    pub(super) panics: u64,
    /// Tasks that came while the machine's health held the pool down, and had to wait.
    pub(super) throttled: u64,
}

impl State {
    pub(super) fn new(autoscaler: Autoscaler, policy: Policy, fit: Fit) -> Self {
        Self {
            autoscaler,
            pulse: Pulse::of(&policy),
            policy,
            written: fit.policy,
            make_extras: fit.make_extras,
            surroundings: fit.surroundings,
            utc_offset: fit.utc_offset,
            externals: Externals::default(),
            member: None,
            mode_by_hand: None,
            latest: None,
            decisions: VecDeque::new(),
            panics: 0,
            throttled: 0,
        }
    }

    /// The same with another policy.
    pub(super) fn fit_for(&self, policy: PolicyConfig) -> Fit {
        let (make_extras, surroundings) = (self.make_extras.clone(), self.surroundings.clone());
        Fit { policy, make_extras, surroundings, utc_offset: self.utc_offset }
    }

    /// What it goes by now: the policy as it was written, in the mode that somebody may have set by
    /// hand, and what it remembers.
    pub(super) fn footing(&self) -> Footing {
        let extras = self.autoscaler.extras();
        Footing {
            notes: self.autoscaler.save(),
            policy: PolicyConfig { mode: Some(self.autoscaler.mode()), ..self.written.clone() },
            notes_to_replay: (!extras.is_empty()).then(|| self.autoscaler.save_to_replay()),
            extras: extras.clone(),
        }
    }

    /// Takes over what does not depend on the policy.
    pub(super) fn go_on_from(&mut self, before: Self) {
        self.externals = before.externals;
        self.member = before.member;
        self.mode_by_hand = before.mode_by_hand;
        self.latest = before.latest;
        self.decisions = before.decisions;
        (self.panics, self.throttled) = (before.panics, before.throttled);
    }

    pub(super) fn remember(&mut self, observation: Observation, decision: &Decision) {
        self.count_throttled(&observation, decision);
        if self.decisions.len() == DECISIONS_KEPT_MAX {
            self.decisions.pop_front();
        }
        self.decisions.push_back(Box::new(*decision));
        self.latest = Some((observation, *decision));
    }

    fn count_throttled(&mut self, observation: &Observation, decision: &Decision) {
        let is_braked = decision
            .rulings
            .iter()
            .any(|review| review.guard.as_str() == "health" && review.ruling != Ruling::Allow);
        let submitted = observation.pool.counters.submitted;
        let before = self.latest.as_ref().map(|(before, _)| before.pool.counters.submitted);
        let came = submitted.saturating_sub(before.unwrap_or(submitted));
        self.throttled += if is_braked { came.min(observation.pool.queued) } else { 0 };
    }
}

impl Inner {
    pub(super) fn now(&self) -> Timestamp {
        self.driver.now()
    }

    /// A tick panicked, saying this.
    pub(super) fn panicked(&self, message: String) -> NextLook {
        let now = self.now();
        let next = {
            let mut state = lock(&self.state);
            state.panics += 1;
            state.pulse.missed(now)
        };
        self.audience.tell(&ScalerEvent::Panicked(message));
        next
    }

    /// What the pool calls when it is full.
    pub(super) fn poke(&self, member: Member) -> Poke {
        let driver = self.driver.clone();
        Arc::new(move || driver.call(member))
    }

    pub(super) fn start(self: &Arc<Self>) -> bool {
        let mut state = lock(&self.state);
        let starts = state.member.is_none();
        if starts {
            let member = self.driver.add(Arc::downgrade(self));
            state.member = Some(member);
            if let Some(seat) = &self.seat {
                seat.set_poke(self.poke(member));
            }
        }
        starts
    }

    /// Nothing is decided or done any more when this returns, and everything that was recorded is
    /// on the disk.
    pub(super) fn stop(&self) {
        self.leave_driver();
        self.records.iter().for_each(|record| record.flush());
    }

    fn leave_driver(&self) -> bool {
        let member = lock(&self.state).member.take();
        if let Some(member) = member {
            self.driver.remove(member);
            self.records.iter().for_each(|record| record.finish());
        }
        member.is_some()
    }

    /// What it scales is gone. This is a turn of the driver, which waits for no disk: whoever drops
    /// the scaler does.
    pub(super) fn end(&self) {
        self.leave_budget();
        if self.leave_driver() {
            self.audience.tell(&ScalerEvent::Ended);
        }
    }

    /// Takes no part in a budget any more.
    pub(super) fn leave_budget(&self) {
        if let Some(seat) = &self.seat {
            seat.leave();
        }
    }

    /// As much of it as the budget grants.
    pub(super) fn granted(&self, staffing: Staffing) -> Staffing {
        match &self.seat {
            Some(seat) => staffing.at_most(seat.granted()),
            None => staffing,
        }
    }
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scaler").field("name", &self.name).finish_non_exhaustive()
    }
}
