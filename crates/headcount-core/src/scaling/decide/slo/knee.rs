//! Finds the number of workers beyond which more bring nothing.
//!
//! A task takes longer for one of two reasons: it is a bigger task, or it stands in a queue
//! downstream that the pool's own workers make. By Little's law both raise service time and busy
//! workers together, so neither tells them apart. Only a comparison does: with more workers, did
//! throughput rise?
//!
//! ```text
//!            much longer than at rest            throughput did not follow
//!   Free ------------------------------> Probing ---------------------------> Bound
//!    ^  ^                                   |  throughput followed: they are     |
//!    |  +-----------------------------------+  bigger tasks, learn them          |
//!    +---------------------------------------------------------------------------+
//!                       the limit has been more than enough for a while
//! ```
//!
//! - *At rest* is learnt when few workers are busy, never when tasks are quick: choosing the quick
//!   windows would ratchet the limit down to nothing.
//! - Means are compared on the logarithm, with a z-test, over windows of 80 tasks (200 at first
//!   and when bound): service times have long tails.
//! - Bound, the limit is throughput times service time at rest. It grows again by 1 % a clean
//!   window, each time half as much again, so that a downstream that recovers is used.
//! - Errors that come with the inflation confirm it at once: a downstream that refuses says so.

use super::window::{Measure, Window};
use crate::scaling::notes::{Noted, Notes, NotesReader};
use crate::scaling::signal::Unit;
use crate::{Proposal, Situation};

/// Tasks in a window that is compared.
const TASKS_MIN: f64 = 80.0;
/// Tasks in the first window, and in those of a bound pool.
const TASKS_MIN_SURE: f64 = 200.0;
/// Tasks in the window that judges a probe.
const TASKS_MIN_PROBE: f64 = 250.0;
/// Service times that the first window lasts: a shorter one holds the short tasks only.
const SERVICES_MIN_FIRST: f64 = 6.0;
/// Service times that a later window lasts.
const SERVICES_MIN: f64 = 2.0;
/// Standard errors from which a difference counts.
const Z_MIN: f64 = 3.0;
/// The share of the limit below which few workers are busy, and service times are at rest.
const REST_SHARE: f64 = 0.7;
/// How far a probe goes beyond what was busy.
const PROBE_FACTOR: f64 = 1.3;
/// The rise of busy workers from which a probe tells anything.
const PROBE_RISE_MIN: f64 = 0.1;
/// The share of that rise that throughput must follow.
const EFFECT_MIN: f64 = 0.5;
/// Windows for which a probe may wait for the load to make use of it.
const PROBE_WINDOWS_MAX: u32 = 4;
/// The share of failures that confirms a knee.
const ERRORS_MIN: f64 = 0.1;
/// Inflation below which a window is clean.
const CLEAN_MAX: f64 = 1.15;
/// How fast a bound limit grows again, at first and at most.
const REGROW: f64 = 0.01;
const REGROW_MAX: f64 = 0.25;
/// Clean windows at under half of the limit after which it is lifted.
const SPARE_WINDOWS_MAX: u32 = 3;

/// What the limiter is about.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    /// No limit is known.
    Free,
    /// More workers are being tried.
    Probing { before: Measure, windows: u32 },
    /// There is a limit.
    Bound { limit: f64, regrow: f64, spare: u32 },
}

/// Finds the number of workers beyond which more bring nothing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Knee {
    inflation_max: f64,
    phase: Phase,
    rest: Option<Measure>,
    latest: Option<Measure>,
    window: Window,
}

impl Knee {
    pub(super) fn new(inflation_max: f64) -> Self {
        let window = Window::default();
        Self { inflation_max, phase: Phase::Free, rest: None, latest: None, window }
    }

    /// The most workers that help, where that is known.
    pub(super) fn limit(&self) -> Option<f64> {
        match self.phase {
            Phase::Bound { limit, .. } => Some(limit),
            _ => None,
        }
    }

    /// The workers that a probe asks for.
    pub(super) fn probe(&self) -> Option<f64> {
        match self.phase {
            Phase::Probing { before, .. } => Some(before.busy * PROBE_FACTOR),
            _ => None,
        }
    }

    /// How many times as long as at rest tasks took in the last window.
    pub(super) fn inflation(&self) -> Option<f64> {
        Some(self.rest?.inflation(&self.latest?))
    }

    /// Whether nothing speaks against the workers that were busy of late.
    pub(super) fn is_clean(&self) -> bool {
        self.phase == Phase::Free && self.inflation().is_none_or(|times| times < CLEAN_MAX)
    }

    /// Takes in a tick under a limit of `ceiling` workers.
    pub(super) fn observe(&mut self, situation: &Situation<'_>, ceiling: f64) {
        let (tasks_min, services_min) = match (self.phase, self.rest) {
            (_, None) => (TASKS_MIN_SURE, SERVICES_MIN_FIRST),
            (Phase::Free, _) => (TASKS_MIN, SERVICES_MIN),
            (Phase::Probing { .. }, _) => (TASKS_MIN_PROBE, SERVICES_MIN),
            (Phase::Bound { .. }, _) => (TASKS_MIN_SURE, SERVICES_MIN),
        };
        let Some(measure) = self.window.add(situation, tasks_min, services_min) else { return };
        self.latest = Some(measure);
        let Some(rest) = self.rest else {
            self.rest = Some(measure);
            return;
        };
        let before = self.phase;
        self.phase = match self.phase {
            Phase::Free => self.free(rest, measure, ceiling),
            Phase::Probing { before, windows } => self.probing(rest, before, windows, measure),
            Phase::Bound { limit, regrow, spare } => {
                self.bound(rest, measure, Bound { limit, regrow, spare })
            }
        };
        if before != self.phase {
            self.window.restart(situation.now());
        }
    }

    fn is_inflated(&self, rest: &Measure, measure: &Measure) -> bool {
        Z_MIN < rest.z_score(measure) && self.inflation_max < rest.inflation(measure)
    }

    fn free(&mut self, rest: Measure, measure: Measure, ceiling: f64) -> Phase {
        if self.is_inflated(&rest, &measure) && rest.busy * PROBE_FACTOR < measure.busy {
            if ERRORS_MIN < measure.error_rate || !followed(&rest, &measure) {
                return bind(&rest, &measure);
            }
            return Phase::Probing { before: measure, windows: 0 };
        }
        if measure.busy < REST_SHARE * ceiling && measure.busy <= rest.busy * PROBE_FACTOR {
            self.rest.get_or_insert(measure).drift(&measure, 0.1);
        }
        Phase::Free
    }

    fn probing(&mut self, rest: Measure, before: Measure, windows: u32, now: Measure) -> Phase {
        if !self.is_inflated(&rest, &now) {
            return Phase::Free;
        }
        let rise = now.busy / before.busy.max(1e-9) - 1.0;
        if ERRORS_MIN < now.error_rate {
            return bind(&rest, &now);
        }
        if rise < PROBE_RISE_MIN {
            // The load does not use what it was given, so it cannot be standing in its own way.
            return match windows < PROBE_WINDOWS_MAX {
                true => Phase::Probing { before, windows: windows + 1 },
                false => self.learn(now),
            };
        }
        match followed(&before, &now) {
            true => self.learn(now),
            false => bind(&rest, &now),
        }
    }

    /// The tasks themselves are bigger: this is what they take at rest from now on.
    fn learn(&mut self, measure: Measure) -> Phase {
        self.rest = Some(measure);
        Phase::Free
    }

    fn bound(&mut self, rest: Measure, measure: Measure, bound: Bound) -> Phase {
        let Bound { limit, regrow, spare } = bound;
        if self.is_inflated(&rest, &measure) {
            let Phase::Bound { limit: lower, .. } = bind(&rest, &measure) else {
                return Phase::Free;
            };
            return Phase::Bound { limit: lower.min(limit), regrow: REGROW, spare: 0 };
        }
        if CLEAN_MAX < rest.inflation(&measure) {
            return Phase::Bound { limit, regrow: REGROW, spare: 0 };
        }
        let spare = if measure.busy < limit / 2.0 { spare.saturating_add(1) } else { 0 };
        if SPARE_WINDOWS_MAX < spare {
            return Phase::Free;
        }
        let regrow_next = (regrow * 1.5).min(REGROW_MAX);
        Phase::Bound { limit: limit * (1.0 + regrow), regrow: regrow_next, spare }
    }

    /// Shows what is believed.
    pub(super) fn estimates(&self, proposal: &mut Proposal) {
        let phase = match self.phase {
            Phase::Free => 0.0,
            Phase::Probing { .. } => 1.0,
            Phase::Bound { .. } => 2.0,
        };
        proposal.estimate("knee_phase", Unit::Number, phase);
        if let Some(limit) = self.limit() {
            proposal.estimate("knee", Unit::Count, limit);
        }
        if let Some(rest) = self.rest {
            proposal.estimate("service_at_rest", Unit::Seconds, rest.service());
        }
        if let (Some(rest), Some(latest)) = (self.rest, self.latest) {
            proposal.estimate("inflation", Unit::Number, rest.inflation(&latest));
            proposal.estimate("z_score", Unit::Number, rest.z_score(&latest));
            proposal.estimate("busy_mean", Unit::Count, latest.busy);
            proposal.estimate("throughput", Unit::PerSecond, latest.throughput);
        }
    }

    pub(super) fn save(&self, notes: &mut Notes) {
        let (probing, bound) = match self.phase {
            Phase::Free => (None, None),
            Phase::Probing { before, windows } => (Some((before, windows)), None),
            Phase::Bound { limit, regrow, spare } => (None, Some((limit, (regrow, spare)))),
        };
        (probing, bound).write(notes);
        (self.rest, (self.latest, self.window)).write(notes);
    }

    pub(super) fn load(&mut self, notes: &mut NotesReader<'_>) -> Option<()> {
        let (probing, bound) = <(Option<(Measure, u32)>, Option<(f64, (f64, u32))>)>::read(notes)?;
        self.phase = match (probing, bound) {
            (Some((before, windows)), None) => Phase::Probing { before, windows },
            (None, Some((limit, (regrow, spare)))) => Phase::Bound { limit, regrow, spare },
            _ => Phase::Free,
        };
        (self.rest, (self.latest, self.window)) = Noted::read(notes)?;
        Some(())
    }
}

/// What a bound pool knows.
#[derive(Clone, Copy)]
struct Bound {
    limit: f64,
    regrow: f64,
    spare: u32,
}

/// Whether throughput followed the busy workers from one window to another.
fn followed(before: &Measure, after: &Measure) -> bool {
    let rise = after.busy / before.busy.max(1e-9) - 1.0;
    let effect = after.throughput / before.throughput.max(1e-9) - 1.0;
    EFFECT_MIN * rise <= effect
}

/// The limit that a congested window tells of: its throughput, at the service time of rest.
fn bind(rest: &Measure, congested: &Measure) -> Phase {
    let limit = (congested.throughput * rest.service()).max(1.0);
    Phase::Bound { limit, regrow: REGROW, spare: 0 }
}
