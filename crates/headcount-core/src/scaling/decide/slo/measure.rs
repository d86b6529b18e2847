//! What one window measured, and how it compares with another.

use super::kinds::Kinds;
use crate::scaling::notes::{Noted, Notes, NotesReader};

/// The share of a window for which work must wait at the limit before the limit is what holds it.
const HELD_MIN: f64 = 0.7;
/// The share up to which a window is free of such waiting.
const HELD_MAX_FREE: f64 = 0.1;
/// Beyond so many tasks a mean is as sure as it needs to be; the world changes meanwhile.
const COUNT_MAX: f64 = 2000.0;
/// Bounds of the variation of service times where it stands for the noise of a count.
const SCV_MIN: f64 = 0.5;
const SCV_MAX: f64 = 25.0;

/// How much the busy workers of a steady window change, as a share of their mean; or as a share
/// of the tasks that ended, where these are so many that the few under way do not matter.
const STEADY_RISE_MAX: f64 = 0.3;
const STEADY_SHARE_MAX: f64 = 0.03;

/// How many times as long as those that ended all tasks may take by Little's law, before some of
/// them must be of another kind. While workers become busy it is up to about one and a half.
const UNSEEN_MAX: f64 = 3.0;
const UNSEEN_MAX_CROWDED: f64 = 10.0;

/// No task takes `exp(100)` seconds, and no pool does so much.
const LOG_MAX: f64 = 100.0;
const SIZE_MAX: f64 = 1e30;

/// Where a service time comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Basis {
    /// Little's law: the time that workers were busy over the tasks that ended.
    Counters,
    /// The logarithms of what each task took.
    Logs,
}

/// What one window measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Measure {
    pub(super) basis: Basis,
    /// Tasks that ended.
    pub(super) count: f64,
    /// Mean and variance of the logarithm of their service times.
    pub(super) log_mean: f64,
    pub(super) log_variance: f64,
    /// Their mean in seconds, by Little's law: busy time over tasks that ended. It knows of tasks
    /// that are under way, which logarithms do not.
    pub(super) mean: f64,
    /// Workers busy, over time.
    pub(super) busy: f64,
    /// How many more were busy at its end than at its beginning.
    pub(super) rise: f64,
    /// Tasks ended a second.
    pub(super) throughput: f64,
    /// The share of them that failed.
    pub(super) error_rate: f64,
    /// The share of the time in which work waited and every allowed worker was busy.
    pub(super) held: f64,
    /// The share of the work that was done in such times, and how many were busy around a task on
    /// average: in bursts most of the time is silence, and tells nothing of how the work was done.
    pub(super) full: f64,
    pub(super) around: f64,
    /// The share of the time in which work waited for workers that had not started yet.
    pub(super) ramping: f64,
    /// How long the window was, in seconds and in ticks.
    pub(super) seconds: f64,
    pub(super) ticks: u32,
}

impl Measure {
    /// The mean service time in seconds, by Little's law.
    pub(super) fn service(&self) -> f64 {
        self.busy / self.throughput.max(1e-9)
    }

    /// The mean service time in seconds, of tasks whose logarithms are spread like these.
    pub(super) fn service_spread(&self) -> f64 {
        match self.basis {
            Basis::Counters => self.log_mean.exp(),
            Basis::Logs => (self.log_mean + self.log_variance / 2.0).exp(),
        }
    }

    /// Whether the tasks that ended tell of all. Those that keep workers busy and do not end are in
    /// the busy time, and not among them: where quick ones end beside long ones, they look alike.
    pub(super) fn is_of_all(&self) -> bool {
        self.mean <= UNSEEN_MAX * self.service_spread()
    }

    /// Whether those that keep workers busy may well be like those that ended. Beyond a knee, where
    /// the short ones end first, it takes more than elsewhere to say that they are not.
    pub(super) fn is_of_one_kind(&self) -> bool {
        self.mean <= UNSEEN_MAX_CROWDED * self.service_spread()
    }

    /// Tasks that ended well, a second.
    pub(super) fn goodput(&self) -> f64 {
        (self.throughput * (1.0 - self.error_rate)).max(1e-9)
    }

    /// The variance of the logarithm of the throughput.
    pub(super) fn noise(&self) -> f64 {
        let scv = match self.basis {
            Basis::Counters => self.log_variance,
            Basis::Logs => self.log_variance.min(10.0).exp() - 1.0,
        };
        scv.clamp(SCV_MIN, SCV_MAX) / self.count.max(1.0)
    }

    /// Whether the limit held this window back: throughput then tells of the workers.
    pub(super) fn is_held(&self) -> bool {
        HELD_MIN < self.held
    }

    /// Whether most of the work was done at the limit: what its tasks take tells of the limit then.
    pub(super) fn is_full(&self) -> bool {
        HELD_MIN < self.full
    }

    /// Whether nothing but the load shaped this window: throughput then tells of the load only.
    pub(super) fn is_demand_limited(&self) -> bool {
        self.held < HELD_MAX_FREE && self.ramping < HELD_MAX_FREE
    }

    /// Whether about as many were busy in the end as in the beginning. While they become more, the
    /// tasks that end are the short ones; while they become fewer, the long ones.
    pub(super) fn is_steady(&self) -> bool {
        let most = (STEADY_RISE_MAX * self.busy).max(STEADY_SHARE_MAX * self.count);
        self.rise.abs() <= most
    }

    /// How surely `other` took longer: the difference of the means in standard errors.
    pub(super) fn z_score(&self, other: &Self) -> f64 {
        self.shift(other) / self.error(other)
    }

    /// How much higher the logarithms of `other` are than ours; of short tasks beside long ones,
    /// how much higher they would be if as many of them were long.
    fn shift(&self, other: &Self) -> f64 {
        let rise = other.log_mean - self.log_mean;
        // By the one that saw more of them. It may have seen the short ones only.
        let by_count = if self.count < other.count { [other, self] } else { [self, other] };
        let are_logs = self.basis == Basis::Logs && other.basis == Basis::Logs;
        let kinds = by_count.into_iter().filter(|_| are_logs).find_map(Kinds::of);
        rise - kinds.map_or(0.0, |kinds| kinds.rise(self, other))
    }

    /// How surely `other` took `inflation` times as long.
    pub(super) fn z_of(&self, inflation: f64, other: &Self) -> f64 {
        inflation.max(1e-9).ln() / self.error(other)
    }

    /// By how much the logarithm of its service times may be off: one standard error.
    pub(super) fn own_error(&self) -> f64 {
        (self.log_variance / self.count).sqrt()
    }

    fn error(&self, other: &Self) -> f64 {
        let error = self.log_variance / self.count + other.log_variance / other.count;
        error.sqrt().max(1e-9)
    }

    /// How many times as long `other` took.
    pub(super) fn inflation(&self, other: &Self) -> f64 {
        self.shift(other).clamp(-50.0, 50.0).exp()
    }

    /// The same, as far as both ways to tell agree. While long tasks of another time are still
    /// ending, logarithms say too much.
    pub(super) fn inflation_at_least(&self, other: &Self) -> f64 {
        self.inflation(other).min(other.mean / self.mean.max(1e-9))
    }

    /// Takes in `other`, each for as many tasks as it tells of.
    pub(super) fn pool(&mut self, other: &Self) {
        self.drift(other, other.count / (self.count + other.count));
    }

    /// Moves the service times a share of the way to those of `other`. The concurrency stays the
    /// one they were first seen at: it must not creep up with the load.
    pub(super) fn drift(&mut self, other: &Self, share: f64) {
        let blend = |ours: &mut f64, theirs: f64| *ours += share * (theirs - *ours);
        blend(&mut self.log_mean, other.log_mean);
        blend(&mut self.log_variance, other.log_variance);
        blend(&mut self.mean, other.mean);
        blend(&mut self.error_rate, other.error_rate);
        self.count = (self.count + other.count).min(COUNT_MAX);
    }

    /// Whether these are numbers that a pool can have. Notes and counters may be damaged.
    pub(super) fn is_sound(&self) -> bool {
        let shares = [self.error_rate, self.held, self.full, self.ramping];
        let rise = self.rise.abs();
        let Self { mean, busy, around, throughput, seconds, count, .. } = *self;
        let sizes = [mean, busy, around, rise, throughput, seconds, count];
        shares.iter().all(|share| (0.0..=1.0).contains(share))
            && sizes.iter().all(|size| (0.0..=SIZE_MAX).contains(size))
            && 1.0 <= self.count
            && self.log_mean.abs() <= LOG_MAX
            && 0.0 < self.log_variance
            && self.log_variance <= LOG_MAX * LOG_MAX
    }
}

impl Noted for Basis {
    fn write(&self, notes: &mut Notes) {
        (*self == Self::Logs).write(notes);
    }
    fn read(notes: &mut NotesReader<'_>) -> Option<Self> {
        Some(if bool::read(notes)? { Self::Logs } else { Self::Counters })
    }
}

impl Noted for Measure {
    fn write(&self, notes: &mut Notes) {
        (self.basis, (self.count, (self.log_mean, (self.log_variance, self.mean)))).write(notes);
        (self.busy, (self.rise, (self.throughput, self.error_rate))).write(notes);
        (self.held, (self.ramping, (self.seconds, self.ticks))).write(notes);
        (self.full, self.around).write(notes);
    }
    fn read(notes: &mut NotesReader<'_>) -> Option<Self> {
        let (basis, (count, (log_mean, (log_variance, mean)))) = Noted::read(notes)?;
        let (busy, (rise, (throughput, error_rate))) = Noted::read(notes)?;
        let (held, (ramping, (seconds, ticks))) = Noted::read(notes)?;
        let (full, around) = Noted::read(notes)?;
        let measure = Self {
            basis,
            count,
            log_mean,
            log_variance,
            mean,
            busy,
            rise,
            throughput,
            error_rate,
            held,
            full,
            around,
            ramping,
            seconds,
            ticks,
        };
        Some(measure).filter(Self::is_sound)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Two hundred tasks of so many seconds, give or take, by so many busy workers.
    pub(crate) fn measure(service: f64, busy: f64) -> Measure {
        Measure {
            basis: Basis::Logs,
            count: 200.0,
            log_mean: service.ln(),
            log_variance: 1.1,
            mean: service,
            busy,
            rise: 0.0,
            throughput: busy / service,
            error_rate: 0.0,
            held: 0.0,
            full: 0.0,
            around: busy,
            ramping: 0.0,
            seconds: 200.0 * service / busy,
            ticks: 20,
        }
    }

    #[test]
    fn a_few_under_way_do_not_matter_where_many_ended() {
        let check = |rise, count, expected| {
            let measure = Measure { count, rise, ..measure(1.0, 4.0) };
            assert_eq!(measure.is_steady(), expected, "{rise} of {count}");
        };
        check(1.0, 20.0, true);
        check(3.0, 20.0, false);
        check(-3.0, 200.0, true);
        check(-8.0, 200.0, false);
    }
}
