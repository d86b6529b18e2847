//! Finds the number of workers beyond which more bring nothing.
//!
//! A task takes longer for one of two reasons: it is a bigger task, or it stands in a queue
//! downstream that the pool's own workers make. By Little's law both raise service time and busy
//! workers together, and neither moves throughput while the load is served, so neither tells them
//! apart. Only an experiment does, and only where work waits: a [`Probe`].
//!
//! ```text
//!             doubt                    follows, void
//!   Free  --- alarm ------->  Bound, until it is known to be right, or Free
//!   Free  --------------->  Probing  ------------------>  Free
//!   Bound --------------->  Probing  ------------------>  Bound, as before
//!                           Probing  ----- stops ------>  Bound, lower
//!   Free, Bound ------------ refusal ------------------>  Bound, lower
//!   Bound ---------------- gone, spare ---------------->  Free
//! ```
//!
//! - *Alarm*: more workers than ever worked make tasks take much longer, or more are busy than
//!   should be, see [`Alarm`]. Where it cannot be told whether it was right, a probe follows.
//! - *Doubt*: held at the limit, and tasks take longer than at rest, by more than a limit that was
//!   found gives way to by itself; or it was never shown, or not of late, that all workers help.
//! - *Follows*: throughput fell with the workers, so what tasks take is what they take at rest.
//!   *Void*: nothing can be said, as the load went away. *Stops*: throughput did not fall.
//! - *Refusal*: failures that come with more workers, see [`Refusal`].
//! - *Gone*: a dozen clean windows in a row. *Spare*: twice what is needed, for a quarter of an
//!   hour.
//!
//! Bound, the limit is throughput times service time at rest: the workers that would be busy if
//! nobody stood in another's way. From there it moves by itself, see [`Bound`].

use std::time::Duration;

use super::alarm::{Alarm, Cause, Upshot, is_sick};
use super::bound::Bound;
use super::crowd::{Crowd, Ends};
use super::measure::{Basis, Measure};
use super::probe::{PROBE_BUSY_MIN, Probe, Verdict};
use super::refusal::Refusal;
use super::rest::Rest;
use super::trial::Trial;
use super::trust::{Finding, Trust};
use super::window::Window;
use crate::scaling::notes::{Noted, Notes, NotesReader};
use crate::scaling::observation::PoolSnapshot;
use crate::scaling::signal::Unit;
use crate::{Proposal, Situation, Timestamp};

/// Tasks in a window that is compared.
const TASKS_MIN: f64 = 80.0;
/// Tasks in the first window, in one that raises doubts, and in those of a bound pool.
const TASKS_MIN_SURE: f64 = 200.0;
/// Tasks that are enough where all take about as long, and the variance of the logarithms from
/// which on they do not: fewer tasks say as much there, and long ones are few.
const TASKS_MIN_ALIKE: f64 = 40.0;
const LOG_VARIANCE_ALIKE: f64 = 0.25;
/// Service times that the first window lasts: a shorter one holds the short tasks only.
const SERVICES_MIN_FIRST: f64 = 6.0;
/// The same where the busy workers become more or fewer meanwhile.
const SERVICES_MIN_UNSTEADY: f64 = 60.0;
/// First windows that are given up for that, at most.
const UNSTEADY_MAX: u32 = 10;
/// Service times that a later window lasts.
const SERVICES_MIN: f64 = 2.0;
/// Ticks in a window, and in one of a bound pool. Where service times are worked out from busy
/// workers, who are only seen at ticks, it takes more of them.
const TICKS_MIN: u32 = 3;
const TICKS_MIN_BOUND: u32 = 5;
const TICKS_MIN_COUNTERS: u32 = 10;
/// How long it is taken for granted that all workers help, once it was shown.
const PROOF_SPAN: Duration = Duration::from_secs(600);
/// Probes on suspicion take at most a fifth of the time, those out of habit a twentieth.
const PAUSE_SUSPICION: u32 = 4;
const PAUSE_HABIT: u32 = 20;

/// What the limiter is about.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    /// Free, or bound to a limit.
    At(Option<Bound>),
    /// Fewer workers are being tried, by a pool that was free or bound.
    Probing(Probe, Option<Bound>),
}

/// A complete window, and what it is seen against.
#[derive(Clone, Copy)]
pub(super) struct Look {
    pub(super) now: Timestamp,
    pub(super) measure: Measure,
    pub(super) rest: Rest,
    /// Whether tasks took longer than at rest, beyond what is allowed and beyond chance.
    pub(super) is_inflated: bool,
    /// Workers that demonstrably worked before.
    pub(super) worked: f64,
    /// Whether it is what rest was just learnt from.
    pub(super) is_first: bool,
}

impl Look {
    /// The workers that would have been busy if nobody had stood in another's way.
    fn unhindered(&self) -> f64 {
        self.measure.busy / self.rest.measure.inflation(&self.measure).max(1.0)
    }
}

/// Finds the number of workers beyond which more bring nothing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Knee {
    inflation_max: f64,
    phase: Phase,
    rest: Option<Rest>,
    latest: Option<Measure>,
    /// When the last probe ended, what it took, and how much of the workers it saw in throughput.
    probed: Timestamp,
    spent: Duration,
    effect: Option<f64>,
    window: Window,
    crowd: Crowd,
    trial: Trial,
    /// First windows that were given up.
    unsteady: u32,
    last_tick: Timestamp,
}

impl Knee {
    pub(super) fn new(inflation_max: f64) -> Self {
        Self {
            inflation_max,
            phase: Phase::At(None),
            rest: None,
            latest: None,
            probed: Timestamp::ORIGIN,
            spent: Duration::ZERO,
            effect: None,
            window: Window::default(),
            crowd: Crowd::default(),
            trial: Trial::default(),
            unsteady: 0,
            last_tick: Timestamp::ORIGIN,
        }
    }

    /// The most workers that may be, where there is a reason for it.
    pub(super) fn limit(&self) -> Option<f64> {
        match self.phase {
            Phase::At(bound) => bound.map(|bound| bound.limit),
            Phase::Probing(probe, _) => Some(probe.cap()),
        }
    }

    /// The knee, where one was found.
    pub(super) fn bound(&self) -> Option<Bound> {
        match self.phase {
            Phase::At(bound) | Phase::Probing(_, bound) => {
                bound.filter(|bound| bound.alarm.is_none())
            }
        }
    }

    /// Seconds that a task takes at rest, on average, once enough of them were seen.
    pub(super) fn task_seconds(&self) -> Option<f64> {
        Some(self.rest?.measure.mean)
    }

    /// How many times as long as at rest tasks took in the last window.
    pub(super) fn inflation(&self) -> Option<f64> {
        Some(self.rest?.measure.inflation(&self.latest?))
    }

    /// Takes in a tick of a pool in which so many workers are trusted.
    pub(super) fn observe(&mut self, situation: &Situation<'_>, trust: &Trust) -> Option<Finding> {
        let (worked, known) = (trust.worked(), trust.known());
        let now = situation.now();
        self.mind_the_clock(now);
        let measure = self.window.add(situation);
        let ends = self.crowd.observe(now, situation.pool(), self.rest.as_ref());
        let surge = self.surge(situation, ends, trust);
        match self.phase {
            Phase::Probing(probe, bound) if !probe.is_granted(situation.pool()) => {
                self.ask_again(situation, probe, bound);
                None
            }
            Phase::Probing(probe, bound) => self.probing(now, probe, bound, measure),
            Phase::At(Some(bound)) if bound.is_overruled(situation.pool()) => {
                self.window.restart(now);
                None
            }
            Phase::At(Some(Bound { alarm: Some(cause), .. })) => {
                let measure = measure?;
                let upshot = self.verify(now, &measure, cause);
                if matches!(upshot, Upshot::Right | Upshot::False) {
                    self.window.reopen(situation);
                }
                (upshot == Upshot::False).then_some(Finding::Works(measure.busy))
            }
            Phase::At(bound) => {
                let alarm = match bound {
                    None => self.alarm(measure.as_ref(), situation, known),
                    Some(_) => None,
                };
                if let Some(alarm) = alarm {
                    return Some(self.fall_back(now, alarm));
                }
                let Some(measure) =
                    measure.filter(|measure| self.suffices(measure, situation.pool()))
                else {
                    self.begin_again(situation, measure);
                    return surge;
                };
                self.window.reopen(situation);
                self.latest = Some(measure);
                let known = self.rest_for(&measure);
                let is_first = known.is_none();
                let rest = known.unwrap_or_else(|| Rest::first(now, measure));
                self.rest = Some(rest);
                let is_inflated = rest.is_exceeded(&measure, self.inflation_max);
                self.look(&Look { now, measure, rest, is_inflated, worked, is_first }, bound)
            }
        }
    }

    /// The first window should not hold the beginning: where the workers became more or fewer, the
    /// next one may be steady.
    fn begin_again(&mut self, situation: &Situation<'_>, measure: Option<Measure>) {
        let is_over = measure.is_some_and(|measure| {
            TASKS_MIN_SURE <= measure.count && is_long_enough(&measure, SERVICES_MIN_FIRST)
        });
        if is_over && self.rest.is_none() && self.unsteady < UNSTEADY_MAX {
            self.unsteady += 1;
            self.window.reopen(situation);
        }
    }

    /// What is found of a surge before a window is complete, in a pool that is free.
    fn surge(
        &mut self,
        situation: &Situation<'_>,
        ends: Option<Ends>,
        trust: &Trust,
    ) -> Option<Finding> {
        // What a sick machine brings says nothing of workers.
        if self.phase != Phase::At(None) || is_sick(situation.observation) {
            self.trial.give_up();
            return None;
        }
        let (now, pool) = (situation.now(), situation.pool());
        match &self.rest {
            Some(rest) => {
                let expected = self.crowd.expected(rest)?;
                self.trial.observe(pool, expected, ends, trust.worked())
            }
            None => self.trial.begin(now, pool, trust.region()),
        }
    }

    /// After a step back of the clock every span begins anew.
    fn mind_the_clock(&mut self, now: Timestamp) {
        if now < self.last_tick {
            self.probed = now;
            if let Some(rest) = &mut self.rest {
                rest.proven = rest.proven.map(|_| now);
            }
            if let Phase::At(Some(bound)) | Phase::Probing(_, Some(bound)) = &mut self.phase {
                bound.begin_anew(now);
            }
            if let Phase::Probing(probe, _) = &mut self.phase {
                probe.since = now;
            }
        }
        self.last_tick = now;
    }

    /// Whether what was measured so far is an alarm.
    fn alarm(
        &self,
        measure: Option<&Measure>,
        situation: &Situation<'_>,
        known: f64,
    ) -> Option<Alarm> {
        let pool = situation.pool();
        let rest = self.rest.filter(|_| measure.is_none_or(Measure::is_of_one_kind));
        let by_crowd =
            rest.and_then(|rest| Alarm::by_crowd(&rest, &self.crowd, situation.observation, known));
        by_crowd.or_else(|| {
            let measure = measure.filter(|measure| is_long_enough(measure, 1.0))?;
            Alarm::raised(&self.rest_for(measure)?, measure, pool, known)
        })
    }

    fn fall_back(&mut self, now: Timestamp, alarm: Alarm) -> Finding {
        let finding = self.bind(now, alarm.limit, None);
        if let Phase::At(Some(bound)) = &mut self.phase {
            bound.alarm = Some(alarm.cause);
        }
        finding
    }

    /// What tasks take at rest, where it can be compared with `measure`.
    fn rest_for(&self, measure: &Measure) -> Option<Rest> {
        self.rest.filter(|rest| rest.measure.basis == measure.basis)
    }

    fn suffices(&self, measure: &Measure, pool: &PoolSnapshot) -> bool {
        let rest = self.rest_for(measure);
        // In a burst that is over nobody is left out, so it tells as much as a steady window.
        let is_over = rest.is_none() && pool.busy == 0 && pool.queued == 0;
        let raises_doubts = rest.is_none_or(|rest| {
            let looks_inflated = self.inflation_max < rest.measure.inflation(measure);
            measure.is_held() && (looks_inflated || rest.proven.is_none())
        });
        let is_bound = self.bound().is_some();
        let tasks = match (raises_doubts || is_bound) && !is_over {
            true => TASKS_MIN_SURE,
            false => TASKS_MIN,
        };
        let alike = match measure.is_of_all() {
            true => (measure.log_variance / LOG_VARIANCE_ALIKE).min(1.0),
            false => 1.0,
        };
        let tasks = (tasks * alike).max(TASKS_MIN_ALIKE).min(tasks);
        let ticks = if is_bound { TICKS_MIN_BOUND } else { TICKS_MIN };
        let services = match rest {
            Some(_) => SERVICES_MIN,
            None if measure.is_steady() || is_over => SERVICES_MIN_FIRST,
            None => SERVICES_MIN_UNSTEADY,
        };
        tasks <= measure.count && ticks <= measure.ticks && is_long_enough(measure, services)
    }

    /// A window is complete: what does it say?
    fn look(&mut self, look: &Look, bound: Option<Bound>) -> Option<Finding> {
        let Look { now, measure, rest, .. } = *look;
        let first = bound.and_then(|bound| bound.refusal);
        if let Some(refusal) = Refusal::of(look, first) {
            return self.refused(look, first, refusal);
        }
        if let Some(bound) = bound.filter(|bound| bound.is_beyond(look)) {
            self.phase = Phase::At(Some(bound.given_way(&rest, &measure)));
            return None;
        }
        if self.is_doubtful(look) {
            self.phase = Phase::Probing(Probe { before: measure, since: now }, bound);
            self.window.restart(now);
            return None;
        }
        if !look.is_first {
            self.rest = Some(rest.taught(now, &measure, look.worked, self.inflation_max));
        }
        let Some(bound) = bound else {
            return (!look.is_inflated).then_some(Finding::Works(look.unhindered()));
        };
        self.phase = Phase::At(bound.after(now, &rest, &measure));
        // Held by the limit, or by trust that has faded while it was quiet, far below the limit:
        // there nothing else would renew it.
        let is_clean = measure.is_full() && rest.is_kept(&measure);
        is_clean.then_some(Finding::Works(look.unhindered()))
    }

    /// After an alarm: was it right?
    fn verify(&mut self, now: Timestamp, measure: &Measure, cause: Cause) -> Upshot {
        if measure.count < TASKS_MIN || !is_long_enough(measure, SERVICES_MIN) {
            return Upshot::Open;
        }
        self.latest = Some(*measure);
        let rest = self.rest_for(measure);
        let upshot = rest
            .map_or(Upshot::Right, |rest| Alarm::upshot(cause, &rest, measure, self.inflation_max));
        match (upshot, &mut self.phase) {
            (Upshot::Right, Phase::At(Some(bound))) => bound.alarm = None,
            (Upshot::Doubtful, phase) => {
                // Where their workers turn out to be needed the tasks are bigger, and it is free.
                *phase = Phase::Probing(Probe { before: *measure, since: now }, None);
                self.window.restart(now);
            }
            (Upshot::False, phase) => {
                // Far fewer workers, and tasks take as long: nobody is in the way.
                *phase = Phase::At(None);
                self.rest = Some(Rest { measure: *measure, proven: Some(now) });
            }
            _ => {}
        }
        upshot
    }

    /// The downstream itself says that it is too much, unless it always does.
    fn refused(
        &mut self,
        look: &Look,
        first: Option<Refusal>,
        refusal: Refusal,
    ) -> Option<Finding> {
        if refusal.is_unrelated(&look.measure) {
            let mut rest = look.rest;
            rest.measure.error_rate = look.measure.error_rate;
            self.rest = Some(rest);
            return None;
        }
        Some(self.bind(look.now, Refusal::limit(look, first), Some(refusal)))
    }

    /// Whether it should be tried out if all these workers are of use.
    fn is_doubtful(&self, look: &Look) -> bool {
        let Look { now, measure, rest, is_inflated, .. } = look;
        if !measure.is_held() || measure.busy < PROBE_BUSY_MIN {
            return false;
        }
        let pause = now.since(self.probed);
        let is_at_a_loss = self.bound().is_some_and(|bound| bound.is_at_a_loss(rest, measure));
        let Some(proven) = rest.proven.filter(|_| !is_inflated && !is_at_a_loss) else {
            return self.spent.saturating_mul(PAUSE_SUSPICION) <= pause;
        };
        let pause_min = self.spent.saturating_mul(PAUSE_HABIT).max(PROOF_SPAN);
        PROOF_SPAN <= now.since(proven) && pause_min <= pause
    }

    /// A guard holds the ceiling up. The probe waits for as long as there is something to try.
    fn ask_again(&mut self, situation: &Situation<'_>, probe: Probe, bound: Option<Bound>) {
        let now = situation.now();
        self.window.restart(now);
        self.phase = match situation.pool().queued {
            0 => Phase::At(bound),
            _ => Phase::Probing(Probe { since: now, ..probe }, bound),
        };
    }

    fn probing(
        &mut self,
        now: Timestamp,
        probe: Probe,
        bound: Option<Bound>,
        measure: Option<Measure>,
    ) -> Option<Finding> {
        let measure = measure.filter(|measure| {
            measure.basis == probe.before.basis
                && TASKS_MIN <= measure.count
                && is_long_enough(measure, SERVICES_MIN)
        });
        let verdict = match measure {
            _ if probe.is_over(now) => probe.settle(measure.as_ref()),
            Some(measure) => probe.judge(&measure),
            None => Verdict::Open,
        };
        if verdict == Verdict::Open {
            return None;
        }
        self.window.restart(now);
        (self.probed, self.spent) = (now, now.since(probe.since));
        self.phase = Phase::At(bound);
        let measure = measure?;
        self.latest = Some(measure);
        self.effect = Some(probe.effect(&measure));
        match verdict {
            Verdict::Follows => Some(self.follows(now, &probe, &measure)),
            Verdict::Stops => Some(self.stops(now, &probe, &measure)),
            Verdict::Open | Verdict::Void => None,
        }
    }

    /// The workers were needed, so what their tasks take is what such tasks take at rest.
    fn follows(&mut self, now: Timestamp, probe: &Probe, measure: &Measure) -> Finding {
        self.rest = Some(Rest::proven_by(probe, now, measure, self.rest_for(measure)));
        Finding::Works(probe.before.busy)
    }

    /// The workers were of no use.
    fn stops(&mut self, now: Timestamp, probe: &Probe, measure: &Measure) -> Finding {
        let is_known = |rest: &Rest| {
            rest.proven.is_some() && !rest.is_far_quicker(measure, self.inflation_max)
        };
        // Otherwise tasks are quicker now than they were ever seen: a better rest, to be doubted
        // in its turn.
        let known = self.rest_for(measure).filter(is_known);
        let rest = known.unwrap_or(Rest { measure: *measure, proven: None });
        self.rest = Some(rest);
        // The next step back may follow at once, for as long as they find something.
        self.spent = Duration::ZERO;
        let unhindered = |measure: &Measure| measure.busy / rest.measure.inflation(measure);
        let limit = unhindered(&probe.before).max(unhindered(measure));
        self.bind(now, limit.min(probe.before.busy), None)
    }

    fn bind(&mut self, now: Timestamp, limit: f64, refusal: Option<Refusal>) -> Finding {
        let bound = Bound::new(now, limit, refusal);
        self.phase = Phase::At(Some(bound));
        self.window.restart(now);
        Finding::Stops(bound.limit)
    }

    /// Shows what is believed.
    pub(super) fn estimates(&self, proposal: &mut Proposal) {
        let phase = match self.phase {
            Phase::At(None) => 0.0,
            Phase::At(Some(bound)) if bound.alarm.is_some() => 1.0,
            Phase::Probing(..) => 1.0,
            Phase::At(Some(_)) => 2.0,
        };
        let yes = |is_so: bool| if is_so { 1.0 } else { 0.0 };
        proposal.estimate("knee_phase", Unit::Number, phase);
        if let Some(bound) = self.bound() {
            proposal.estimate("knee", Unit::Count, bound.limit);
        }
        if let Some(rest) = self.rest {
            proposal.estimate("service_at_rest", Unit::Seconds, rest.measure.service_spread());
            proposal.estimate("rest_proven", Unit::Number, yes(rest.proven.is_some()));
        }
        if let (Some(rest), Some(latest)) = (self.rest, self.latest) {
            proposal.estimate("inflation", Unit::Number, rest.measure.inflation(&latest));
            proposal.estimate("z_score", Unit::Number, rest.measure.z_score(&latest));
            proposal.estimate("busy_mean", Unit::Count, latest.busy);
            proposal.estimate("throughput", Unit::PerSecond, latest.throughput);
            proposal.estimate("held_share", Unit::Ratio, latest.held);
            proposal.estimate("by_logs", Unit::Number, yes(latest.basis == Basis::Logs));
        }
        if let Some(effect) = self.effect {
            proposal.estimate("probe_effect", Unit::Number, effect);
        }
    }

    pub(super) fn save(&self, notes: &mut Notes) {
        let (probe, bound) = match self.phase {
            Phase::At(bound) => (None, bound),
            Phase::Probing(probe, bound) => (Some(probe), bound),
        };
        (probe, bound).write(notes);
        (self.rest, (self.latest, self.window)).write(notes);
        (self.crowd, (self.trial, self.unsteady)).write(notes);
        (self.probed, (self.spent, (self.effect, self.last_tick))).write(notes);
    }

    pub(super) fn load(&mut self, notes: &mut NotesReader<'_>) -> Option<()> {
        let (probe, bound) = <(Option<Probe>, Option<Bound>)>::read(notes)?;
        self.phase = match probe {
            Some(probe) => Phase::Probing(probe, bound),
            None => Phase::At(bound),
        };
        (self.rest, (self.latest, self.window)) = Noted::read(notes)?;
        (self.crowd, (self.trial, self.unsteady)) = Noted::read(notes)?;
        (self.probed, (self.spent, (self.effect, self.last_tick))) = Noted::read(notes)?;
        Some(())
    }
}

fn is_long_enough(measure: &Measure, services: f64) -> bool {
    let ticks = match measure.basis {
        Basis::Counters => TICKS_MIN_COUNTERS,
        Basis::Logs => TICKS_MIN,
    };
    ticks <= measure.ticks && services * measure.service() <= measure.seconds
}
