//! More threads for as long as throughput answers to them: the hill climbing of .NET's thread pool.
//!
//! A square wave is laid over the number of workers, and looked for in throughput, at its own
//! frequency (Goertzel's filter). What stands beside it, at the two neighbouring frequencies, is
//! noise. Where throughput swings with the workers, and by more than 0.15 of their swing, there
//! are to be more of them; where it swings less or the other way, fewer; the less noise, the
//! further. It moves by four workers a second at most, so it does not catch bursts, and it needs
//! seven ends of tasks for each worker in a sample, so it is of no use for tasks of seconds.
//!
//! Beside it there is a rule against starvation: where work waits and nobody took any for half a
//! second, one more.
//!
//! .NET draws the length of a sample by chance, from 10 to 200 ms; here it is a tick.

use std::f64::consts::PI;
use std::time::Duration;

use super::Range;
use super::meter::{Look, Meter};
use crate::Bounds;
use crate::decide::Decider;
use crate::policy::Inspection;
use crate::scaling::notes::{Noted, Notes, NotesReader};
use crate::scaling::signal::Unit;
use crate::{PoolSnapshot, Proposal, Reason, Situation, Staffing};

/// Samples in a period of the wave, and periods that are looked back on.
const PERIOD: usize = 4;
const SAMPLES: usize = PERIOD * 8;
/// The share of its own swing that throughput must answer with.
const TARGET_RATIO: f64 = 0.15;
/// How far a signal must stand above noise to be believed.
const SIGNAL_TO_NOISE: f64 = 3.0;
/// A sample is good where the workers, less one, are no more than this share of the tasks ended.
const SAMPLE_ERROR_MAX: f64 = 0.15;
/// How much the newest noise counts in its mean.
const NOISE_SMOOTHING: f64 = 0.01;
/// The largest wave.
const WAVE_MAX: f64 = 20.0;
/// The furthest that one sample moves.
const MOVE_MAX: f64 = 20.0;
/// Above this share of busy processors there is no growth.
const CPU_BUSY_MAX: f64 = 0.95;
/// More than any rate, size or sum comes to.
const VALUE_MAX: f64 = 1e60;

/// More workers for as long as throughput answers to them.
///
/// ```
/// use headcount_core::decide::HillClimbConfig;
///
/// assert_eq!(HillClimbConfig::default().change_max, 4.0, "workers a second");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct HillClimbConfig {
    /// Workers more or fewer within `change_span`, at most. Default: 4.
    pub change_max: f64,
    /// In what time. Default: 1 s.
    pub change_span: Duration,
    /// How long nobody may take a task that waits before there is one more. Default: 500 ms.
    pub starved_after: Duration,
}

impl Default for HillClimbConfig {
    fn default() -> Self {
        let (change_span, starved_after) = (Duration::from_secs(1), Duration::from_millis(500));
        Self { change_max: 4.0, change_span, starved_after }
    }
}

impl HillClimbConfig {
    pub(crate) fn inspect(&self, inspection: &mut Inspection) {
        inspection.positive("change_max", self.change_max);
        inspection.some_time("change_span", self.change_span);
        inspection.some_time("starved_after", self.starved_after);
    }

    pub(crate) fn build(&self, bounds: Bounds) -> HillClimb {
        let range = Range::of(bounds.min, bounds.max, bounds);
        HillClimb {
            config: *self,
            range,
            meter: Meter::default(),
            setting: range.min,
            noise: 0.0,
            samples: [(0.0, 0.0); SAMPLES],
            taken: 0,
            size: None,
            seconds: 0.0,
            ended: 0.0,
            starved_seconds: 0.0,
        }
    }
}

/// The decider.
#[derive(Clone, Debug)]
pub(crate) struct HillClimb {
    config: HillClimbConfig,
    range: Range,
    meter: Meter,
    /// The workers under the wave.
    setting: f64,
    /// The mean noise in throughput, as a share of it.
    noise: f64,
    /// Throughput and workers, in a ring.
    samples: [(f64, f64); SAMPLES],
    taken: u64,
    /// The workers that were last proposed.
    size: Option<u32>,
    /// What was counted for the next sample.
    seconds: f64,
    ended: f64,
    starved_seconds: f64,
}

/// What a wave comes to at one frequency.
#[derive(Clone, Copy, Debug)]
struct Wave {
    real: f64,
    imaginary: f64,
}

impl Wave {
    fn size(self) -> f64 {
        self.real.hypot(self.imaginary)
    }

    fn over(self, divisor: f64) -> Self {
        Self { real: self.real / divisor, imaginary: self.imaginary / divisor }
    }

    /// The part of this wave that goes with the other one, as a multiple of it.
    fn along(self, other: Self) -> f64 {
        let square = other.real * other.real + other.imaginary * other.imaginary;
        (self.real * other.real + self.imaginary * other.imaginary) / square
    }
}

/// How throughput answers: by how much, and how much of that to believe.
#[derive(Clone, Copy, Debug, Default)]
struct Answer {
    ratio: f64,
    confidence: f64,
}

impl HillClimb {
    fn observe(&mut self, situation: &Situation<'_>) {
        let pool = situation.pool();
        match self.meter.look(situation) {
            Look::First => self.forget(),
            Look::Again => {}
            Look::Next(passed) => {
                self.seconds = (self.seconds + passed.seconds).min(VALUE_MAX);
                self.ended = (self.ended + passed.ended).min(VALUE_MAX);
                let is_starved = passed.started == 0.0 && 0 < pool.queued;
                let starved = if is_starved { self.starved_seconds + passed.seconds } else { 0.0 };
                self.starved_seconds = starved.min(VALUE_MAX);
                self.follow(pool.ceiling);
                if self.is_good(pool.ceiling) {
                    self.sample(situation);
                }
                self.feed(pool);
            }
        }
    }

    fn forget(&mut self) {
        (self.samples, self.taken, self.noise) = ([(0.0, 0.0); SAMPLES], 0, 0.0);
        (self.seconds, self.ended, self.starved_seconds) = (0.0, 0.0, 0.0);
    }

    /// Somebody else set the size: the wave goes on from there.
    fn follow(&mut self, size: u32) {
        if let Some(was) = self.size.filter(|was| *was != size) {
            self.setting = self.range.clamp(self.setting + f64::from(size) - f64::from(was));
            self.size = Some(size);
        }
    }

    /// Whether enough tasks ended for a throughput to be believed.
    fn is_good(&self, size: u32) -> bool {
        let at_work = f64::from(size.saturating_sub(1));
        self.taken == 0 || at_work < SAMPLE_ERROR_MAX * self.ended
    }

    fn sample(&mut self, situation: &Situation<'_>) {
        let pool = situation.pool();
        let throughput = (self.ended / self.seconds.max(1e-9)).min(VALUE_MAX);
        let slot = slot(self.taken);
        self.samples[slot] = (throughput, f64::from(pool.ceiling));
        self.taken = self.taken.wrapping_add(1);
        let answer = self.answer();
        let spans = self.seconds / self.config.change_span.as_secs_f64();
        let wish = answer.ratio.clamp(-1.0, 1.0) * answer.confidence.clamp(0.0, 1.0);
        let further = wish.abs().powi(2) * wish.signum() * self.config.change_max * spans;
        let cpu_busy = situation.observation.externals.get("cpu_busy");
        let is_refused = 0.0 < further && cpu_busy.is_some_and(|busy| CPU_BUSY_MAX < busy);
        if !is_refused && further.is_finite() {
            self.setting += further.min(MOVE_MAX);
        }
        (self.seconds, self.ended) = (0.0, 0.0);
        self.size = Some(self.waved());
    }

    /// The size under the wave and on it: the wave is up for two samples of four.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // `as` saturates.
    fn waved(&mut self) -> u32 {
        let height = (0.5 + self.setting * self.noise * SIGNAL_TO_NOISE * 2.0).floor();
        let height = height.clamp(1.0, WAVE_MAX);
        self.setting = self.setting.min(self.range.max - height).max(self.range.min);
        let is_up = (self.taken / (PERIOD as u64 / 2)) % 2 == 1;
        let size = self.setting.floor() + if is_up { height } else { 0.0 };
        self.range.clamp(size) as u32
    }

    /// One more where work waits and nobody took any for long.
    fn feed(&mut self, pool: &PoolSnapshot) {
        if self.starved_seconds < self.config.starved_after.as_secs_f64() {
            return;
        }
        self.starved_seconds = 0.0;
        let size = self.size.unwrap_or(pool.ceiling);
        self.setting = self.range.clamp(self.setting + 1.0);
        self.size = Some(size.saturating_add(1));
    }

    /// How throughput answers to the wave, over as many whole periods as there are.
    fn answer(&mut self) -> Answer {
        let known = usize::try_from(self.taken.saturating_sub(1)).unwrap_or(SAMPLES);
        let count = known.min(SAMPLES) / PERIOD * PERIOD;
        if count <= PERIOD {
            return Answer::default();
        }
        let (throughput, workers) = self.means(count);
        if throughput <= 0.0 || workers <= 0.0 {
            return Answer::default();
        }
        let periods = count as f64 / PERIOD as f64;
        let answer = self.wave(count, PERIOD as f64, |sample| sample.0).over(throughput);
        let swing = self.wave(count, PERIOD as f64, |sample| sample.1).over(workers);
        let beside = |periods: f64| {
            self.wave(count, count as f64 / periods, |sample| sample.0).over(throughput).size()
        };
        let noise = beside(periods + 1.0).max(beside(periods - 1.0)).min(VALUE_MAX);
        self.noise = match self.noise == 0.0 {
            true => noise,
            false => self.noise + NOISE_SMOOTHING * (noise - self.noise),
        };
        let noise = noise.max(self.noise);
        let ratio = match 0.0 < swing.size() {
            true => answer.along(swing) - TARGET_RATIO,
            false => 0.0,
        };
        let confidence = match 0.0 < noise {
            true => swing.size() / noise / SIGNAL_TO_NOISE,
            false => 1.0,
        };
        let ratio = if ratio.is_finite() { ratio } else { 0.0 };
        Answer { ratio, confidence: if confidence.is_finite() { confidence } else { 0.0 } }
    }

    /// The last `count` samples, oldest first.
    fn last(&self, count: usize) -> impl Iterator<Item = (f64, f64)> {
        let first = self.taken.saturating_sub(count as u64);
        (first..self.taken).map(|number| self.samples[slot(number)])
    }

    fn means(&self, count: usize) -> (f64, f64) {
        let sum = |sum: (f64, f64), sample: (f64, f64)| (sum.0 + sample.0, sum.1 + sample.1);
        let (throughput, workers) = self.last(count).fold((0.0, 0.0), sum);
        (throughput / count as f64, workers / count as f64)
    }

    /// Goertzel's filter.
    fn wave(&self, count: usize, period: f64, of: impl Fn((f64, f64)) -> f64) -> Wave {
        let turn = 2.0 * PI / period;
        let (mut newer, mut older) = (0.0, 0.0);
        for sample in self.last(count) {
            let next = 2.0 * turn.cos() * newer - older + of(sample);
            (older, newer) = (newer, next);
        }
        let (real, imaginary) = (newer - older * turn.cos(), older * turn.sin());
        Wave { real, imaginary }.over(count as f64)
    }
}

/// Where a sample stands in the ring.
fn slot(number: u64) -> usize {
    usize::try_from(number % SAMPLES as u64).unwrap_or(0)
}

impl Decider for HillClimb {
    fn decide(&mut self, situation: &Situation<'_>) -> Proposal {
        self.observe(situation);
        let Some(size) = self.size else {
            self.setting = self.range.clamp(f64::from(situation.pool().ceiling));
            self.size = Some(situation.pool().ceiling);
            return Proposal::want(situation.from(), Reason::Steady);
        };
        let mut proposal = Proposal::want(Staffing::exactly(size), Reason::Knee);
        proposal.estimate("setting", Unit::Number, self.setting);
        proposal.estimate("noise", Unit::Ratio, self.noise);
        proposal
    }

    fn save(&self, notes: &mut Notes) {
        (self.meter, (self.setting, (self.noise, (self.taken, self.size)))).write(notes);
        (self.seconds, (self.ended, self.starved_seconds)).write(notes);
        self.samples.iter().for_each(|sample| sample.write(notes));
    }

    fn load(&mut self, notes: &mut NotesReader<'_>) -> Option<()> {
        (self.meter, (self.setting, (self.noise, (self.taken, self.size)))) = Noted::read(notes)?;
        (self.seconds, (self.ended, self.starved_seconds)) = Noted::read(notes)?;
        let is_sound = |value: f64| (0.0..=VALUE_MAX).contains(&value);
        for sample in &mut self.samples {
            *sample = Noted::read(notes)?;
            if !(is_sound(sample.0) && is_sound(sample.1)) {
                return None;
            }
        }
        let values = [self.setting, self.noise, self.seconds, self.ended, self.starved_seconds];
        values.into_iter().all(is_sound).then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::harness::{Pool, run};
    use super::*;

    const BOUNDS: Bounds = Bounds { min: 1, max: 200 };

    #[test]
    fn it_climbs_while_throughput_answers() {
        let mut climb = HillClimbConfig::default().build(BOUNDS);
        let pool = Pool::of(4).busy(4).service(0.002).every_ms(100);
        let pool = run(&mut climb, pool, 20);
        assert!(20 < pool.snapshot.ceiling, "each does its part: {}", pool.snapshot.ceiling);
        assert!(pool.snapshot.ceiling < 90, "at four a second: {}", pool.snapshot.ceiling);
    }

    #[test]
    fn it_comes_down_while_it_does_not() {
        // Four are busy whatever the size: there is nothing to do for more.
        let mut climb = HillClimbConfig::default().build(BOUNDS);
        let mut pool = Pool::of(40).busy(4).service(0.002).every_ms(100);
        let mut sizes = Vec::new();
        for _ in 0..600 {
            pool.look(&mut climb);
            pool.snapshot.live = pool.snapshot.ceiling;
            pool.snapshot.busy = 4.min(pool.snapshot.live);
            pool.pass();
            sizes.push(pool.snapshot.ceiling);
        }
        assert!(*sizes.last().expect("looks") < 36, "{sizes:?}");
    }

    #[test]
    fn who_starves_gets_one_more_every_half_second() {
        let mut climb = HillClimbConfig::default().build(BOUNDS);
        let pool = Pool::of(4).busy(4).queued(9).service(1e9).every_ms(100);
        let pool = run(&mut climb, pool, 5);
        assert!((12..=14).contains(&pool.snapshot.ceiling), "{}", pool.snapshot.ceiling);
    }

    #[test]
    fn the_filter_finds_a_wave_of_its_period_only() {
        let mut climb = HillClimbConfig::default().build(BOUNDS);
        for number in 0..SAMPLES {
            let is_up = (number / 2) % 2 == 1;
            climb.samples[number] = (if is_up { 110.0 } else { 90.0 }, 1.0);
        }
        climb.taken = SAMPLES as u64;
        let size = |period| climb.wave(SAMPLES, period, |sample| sample.0).size();
        assert!((size(4.0) - 7.07).abs() < 0.01, "{}", size(4.0));
        assert!(size(SAMPLES as f64 / 9.0) < 1e-9 && size(SAMPLES as f64 / 7.0) < 1e-9);
    }
}
