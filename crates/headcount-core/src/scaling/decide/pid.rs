//! A PID controller that cannot wind up.
//!
//! It works on increments: what it adds is added to the size in force, so the integral *is* the
//! size, and a size that a guard refuses is forgotten with it. Proportional and derivative terms
//! look at the reading, not at the error, so moving the set-point does not kick. The increment is
//! a share of the present size: one gain serves a pool of five and a pool of five thousand.
//!
//! *Gain*: with a reading that is `d` ticks late the loop is stable while
//! `ki * tick < 2 sin(pi / (2 (2 d + 1)))`, that is 2, 1, 0.618, 0.445 for d = 0..3, and does not
//! overshoot below `d^d / (d + 1)^(d + 1)`, that is 1, 0.25, 0.148, 0.105. The default of 0.1 a
//! second stays below all of these at one tick a second.

use super::Decider;
use std::time::Duration;

use super::steps::{EPSILON, staying};
use super::threshold::evidence;
use crate::policy::Inspection;
use crate::scaling::notes::{Noted, Notes, NotesReader};
use crate::scaling::signal::Unit;
use crate::{Comparison, Name, Proposal, Reason, Situation, Staffing, Timestamp};

/// The written form of a [`Pid`].
///
/// ```
/// use headcount_core::decide::{DeciderConfig, PidConfig};
/// use headcount_core::{Observation, Policy, PolicyConfig, PoolSnapshot, Staffing, Timestamp};
///
/// let size_after_a_second = |ki| {
///     let decider = Some(DeciderConfig::Pid(PidConfig { ki, ..PidConfig::default() }));
///     let config = PolicyConfig { decider, ..PolicyConfig::default() };
///     let mut autoscaler = Policy::check(&config, 200).expect("no fault").build();
///     let pool = PoolSnapshot { busy: 100, ..PoolSnapshot::of(Staffing::exactly(100)) };
///     autoscaler.tick(&Observation::new(Timestamp::ORIGIN, pool));
///     autoscaler.tick(&Observation::new(Timestamp::from_secs(1), pool)).to.ceiling
/// };
/// assert_eq!([0.1, 0.2].map(size_after_a_second), [104, 109], "twice the gain, twice the step");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct PidConfig {
    /// The signal. Default: `utilization`.
    pub signal: Name,
    /// What it should read. Default: 0.7.
    pub setpoint: f64,
    /// The share by which the size follows a relative change of the reading. Default: 0.
    pub kp: f64,
    /// The share a second by which the size follows a relative error. Default: 0.1.
    pub ki: f64,
    /// The share by which the size follows a change of the reading's slope. Default: 0.
    pub kd: f64,
}

impl Default for PidConfig {
    fn default() -> Self {
        Self { signal: Name::cut("utilization"), setpoint: 0.7, kp: 0.0, ki: 0.1, kd: 0.0 }
    }
}

impl PidConfig {
    pub(crate) fn inspect(&self, inspection: &mut Inspection) {
        inspection.signal("signal", &self.signal);
        inspection.positive("setpoint", self.setpoint);
        inspection.not_negative("kp", self.kp);
        inspection.not_negative("ki", self.ki);
        inspection.not_negative("kd", self.kd);
        if self.kp == 0.0 && self.ki == 0.0 && self.kd == 0.0 {
            inspection.fault("ki", 0.0, "at least one of kp, ki and kd must be above 0");
        }
        if 1.0 < self.ki {
            let advice = format!("{} a second oscillates if readings come a tick late", self.ki);
            inspection.hint("ki", advice);
        }
    }

    /// Builds the decider.
    #[must_use]
    pub fn build(&self) -> Pid {
        Pid { config: *self, last: None, remainder: 0.0, proposed: None }
    }
}

/// Steers a reading to its set-point by proportion, integral and derivative.
///
/// ```
/// use headcount_core::decide::{DeciderConfig, PidConfig};
/// use headcount_core::{Observation, Policy, PolicyConfig, PoolSnapshot, Staffing, Timestamp};
///
/// let decider = Some(DeciderConfig::Pid(PidConfig::default()));
/// let config = PolicyConfig { decider, ..PolicyConfig::default() };
/// let mut autoscaler = Policy::check(&config, 32).expect("no fault").build();
/// let pool = PoolSnapshot { busy: 20, ..PoolSnapshot::of(Staffing::exactly(25)) };
/// let mut size_at = |second| {
///     autoscaler.tick(&Observation::new(Timestamp::from_secs(second), pool)).to.ceiling
/// };
/// // A small error adds up until it makes a worker.
/// assert_eq!([0, 1, 2].map(&mut size_at), [25, 25, 26]);
/// ```
#[derive(Clone, Debug)]
pub struct Pid {
    config: PidConfig,
    last: Option<Sample>,
    /// The part of a worker that rounding left over.
    remainder: f64,
    /// What was last proposed, to see whether it was taken.
    proposed: Option<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Sample {
    at: Timestamp,
    /// The reading as a multiple of the set-point.
    relative: f64,
    slope: f64,
}

impl Pid {
    /// The increment as a share of the present size, and the new sample.
    fn increment(&self, now: Timestamp, relative: f64, size: f64) -> (f64, Sample) {
        let fresh = Sample { at: now, relative, slope: 0.0 };
        let Some(last) = self.last else { return (0.0, fresh) };
        if now < last.at {
            // A clock with a new origin: there is nothing to compare with.
            return (0.0, fresh);
        }
        let gap = now.since(last.at);
        if gap.is_zero() {
            return (0.0, last);
        }
        // Whatever it was that happened in a long gap, this error did not last all through it.
        let seconds = gap.min(GAP_MAX).as_secs_f64();
        let moved = relative - last.relative;
        let slope = moved / seconds;
        // Where one worker fewer would be one too few, the error is as small as it gets.
        let spare = relative * size <= size - 1.0;
        let error = if relative < 1.0 && !spare { 0.0 } else { relative - 1.0 };
        let PidConfig { kp, ki, kd, .. } = self.config;
        let increment = kp * moved + ki * error * seconds + kd * (slope - last.slope);
        // Gains out of this world can add up to no number; then nothing is added.
        (if increment.is_finite() { increment } else { 0.0 }, Sample { slope, ..fresh })
    }
}

impl Decider for Pid {
    fn decide(&mut self, situation: &Situation<'_>) -> Proposal {
        let Some(known) = situation.reading(self.config.signal.as_str()) else {
            return Proposal::abstain(Reason::NoData);
        };
        let (pool, from) = (situation.pool(), situation.from());
        let size = f64::from(from.ceiling.max(1));
        let relative = (known.value / self.config.setpoint).clamp(-RELATIVE_MAX, RELATIVE_MAX);
        let (increment, sample) = self.increment(situation.now(), relative, size);
        self.last = Some(sample);

        // Anti-windup: what was not taken is not carried on, and while the pool has not come to
        // the size in force there is no asking for more of the same.
        if self.proposed != Some(from.ceiling) {
            self.remainder = 0.0;
        }
        let growing = staying(pool) < from.ceiling && 0.0 < increment;
        let shrinking = from.ceiling < pool.live && increment < 0.0;
        let change = if growing || shrinking { 0.0 } else { increment * size };
        let wish = (f64::from(from.ceiling) + self.remainder + change).clamp(0.0, SIZE_MAX);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Clamped above.
        let target = wish.round() as u32;
        self.remainder = wish - f64::from(target);
        self.proposed = Some(target);

        let mut proposal = Proposal::want(Staffing::exactly(target), Reason::SetPoint);
        if target != from.ceiling {
            let above = self.config.setpoint + EPSILON < known.value;
            let comparison = if above { Comparison::Above } else { Comparison::AtMost };
            proposal = proposal.because(evidence(known, comparison, self.config.setpoint));
        }
        proposal.estimate("increment", Unit::Ratio, increment);
        proposal.estimate("remainder", Unit::Number, self.remainder);
        proposal
    }

    fn save(&self, notes: &mut Notes) {
        self.last.map(|last| (last.at, (last.relative, last.slope))).write(notes);
        (self.remainder, self.proposed).write(notes);
    }

    fn load(&mut self, notes: &mut NotesReader<'_>) -> Option<()> {
        let last = Option::<(Timestamp, (f64, f64))>::read(notes)?;
        self.last = last.map(|(at, (relative, slope))| Sample { at, relative, slope });
        (self.remainder, self.proposed) = Noted::read(notes)?;
        Some(())
    }
}

/// The largest multiple of the set-point that is told apart; its slope over a nanosecond is finite.
const RELATIVE_MAX: f64 = 1e100;

/// The longest time for which an error is taken to have lasted.
const GAP_MAX: Duration = Duration::from_secs(10);

/// The largest size that is proposed; the bounds are far below it.
const SIZE_MAX: f64 = 4e9;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scaling::decide::harness::story;

    #[test]
    fn follows_the_error_by_a_share_of_the_size() {
        story(PidConfig::default().build(), 100, "utilization", &[0.7, 1.4, 1.4], "100 110 121");
        story(PidConfig::default().build(), 100, "utilization", &[0.7, 0.35, 0.35], "100 95 90");
    }

    #[test]
    fn a_small_error_adds_up_until_it_makes_a_worker() {
        let readings = [0.784; 9];
        story(
            PidConfig::default().build(),
            10,
            "utilization",
            &readings,
            "10 10 10 10 10 11 11 11 11",
        );
    }

    #[test]
    fn a_moved_set_point_does_not_kick() {
        let pid = PidConfig { kp: 5.0, ki: 0.0, kd: 5.0, setpoint: 0.1, ..PidConfig::default() };
        story(pid.build(), 10, "utilization", &[0.7, 0.7, 0.7], "10 10 10");
    }

    #[test]
    fn an_hour_without_ticks_is_no_hour_of_error() {
        let mut pid = PidConfig::default().build();
        let at = |seconds| Timestamp::from_secs(seconds);
        pid.last = Some(Sample { at: at(0), relative: 1.03, slope: 0.0 });
        let (increment, _) = pid.increment(at(3600), 1.03, 100.0);
        assert!((increment - 0.03).abs() < 1e-9, "ten seconds of it: {increment}");
        let (increment, sample) = pid.increment(at(7), 2.0, 100.0);
        assert!(0.0 < increment && sample.at == at(7));
        pid.last = Some(sample);
        let (increment, sample) = pid.increment(at(3), 2.0, 100.0);
        assert_eq!((increment, sample.at), (0.0, at(3)), "it goes on from the new origin");
    }

    #[test]
    fn a_reading_out_of_this_world_does_not_break_it() {
        story(
            PidConfig::default().build(),
            10,
            "utilization",
            &[0.7, 1e308, -1e308],
            "10 4000000000 0",
        );
    }
}
