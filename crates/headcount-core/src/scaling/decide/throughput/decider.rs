//! Puts ramp, stop and tries together.

use std::time::Duration;

use super::config::ThroughputConfig;
use super::generation::{Generation, Measure};
use super::settled::{LIMIT_MAX, REFUSED_MIN, Settled, whole};
use crate::decide::Decider;
use crate::scaling::notes::{Noted, Notes, NotesReader};
use crate::scaling::signal::Unit;
use crate::{
    Comparison, Evidence, Name, PoolSnapshot, Proposal, Reason, Situation, Staffing, Timestamp,
};

/// The share of those at work, on average, that have ended when a generation is over. Not all:
/// whoever began as the last ones ended counts among those at work, and would hold it up until the
/// next ones end.
const TURN_MIN: f64 = 0.8;
/// Generations that a measure of a settled pool lasts, and tasks in it.
const GENERATIONS_MIN: f64 = 2.0;
const TASKS_MIN_SETTLED: f64 = 16.0;
/// Tasks after which it ends all the same: where they differ so much, the next try may say more.
const TASKS_MAX_SETTLED: f64 = 1000.0;
/// Turns of all at work after which a generation is over that is still in doubt: a settled pool
/// finds out by trying.
const TURNS_MAX: f64 = 5.0;
/// How much more workers there must be to ask what they brought, on the logarithm.
const STEP_MIN: f64 = 0.2;
/// The share of the workers that must be busy for their number to be what holds the pool.
const FULL: f64 = 0.8;
/// Processors are idle below this share.
const CPU_BUSY_MAX: f64 = 0.75;
/// Where the ramp stops, a little more than was of use: to be right on average, not at most.
const SLACK: f64 = 1.05;
/// The share of its growth that was seen in throughput, where nearly all of it was.
const SHARE_SURE: f64 = 0.9;
/// The same where too little was asked for to tell.
const SHARE_UNKNOWN: f64 = 0.5;
/// How many more begin for every task that ends, and how far beyond the busy workers of the best
/// generation that goes, where all of the last growth was seen in throughput: up to three times as
/// many. Where less was seen, it goes less far.
const MORE_MAX: f64 = 2.0;

/// More workers for as long as more gets done.
///
/// ```
/// use headcount_core::decide::{Decider, ThroughputConfig};
/// use headcount_core::{History, Observation, PoolSnapshot, Situation, Staffing, Timestamp};
///
/// let mut throughput = ThroughputConfig::default().build();
/// let pool = PoolSnapshot::of(Staffing::between(0, 8));
/// let observation = Observation::new(Timestamp::ORIGIN, pool);
/// let history = History::default();
/// let situation = Situation { observation: &observation, readings: &[], history: &history };
/// let proposal = throughput.decide(&situation);
/// assert_eq!(proposal.wanted, Some(Staffing::between(0, 4)), "it begins small");
/// ```
#[derive(Clone, Debug)]
pub struct Throughput {
    config: ThroughputConfig,
    /// The ramp's limit, until it has settled.
    ramp: f64,
    settled: Option<Settled>,
    generation: Option<Generation>,
    /// Since when nothing has ended, and how much had ended by then.
    quiet_since: Timestamp,
    completed: u64,
    failed: u64,
    /// The best generation so far.
    peak: Option<Measure>,
    /// How much of its growth that one brought in throughput, at most all of it.
    share: f64,
    /// The gain that ended the ramp, or that was tried last, of one that was asked for.
    gain: Option<f64>,
    /// Workers that fill the cores, below which limit, where that ended the ramp.
    filled: Option<(f64, f64)>,
    /// Until so many have ended, those end that began under another limit, and nothing is measured.
    /// Not a span: in a crowd they take longer than anything that was measured before it.
    settled_after: u64,
}

/// What a generation says of the ramp.
enum Verdict {
    GoOn,
    Stop(Settled),
    /// Too little to tell; the generation goes on.
    Undecided,
}

impl Throughput {
    pub(super) fn new(config: ThroughputConfig) -> Self {
        Self {
            config,
            ramp: f64::from(config.start),
            settled: None,
            generation: None,
            quiet_since: Timestamp::ORIGIN,
            completed: 0,
            failed: 0,
            peak: None,
            share: SHARE_UNKNOWN,
            gain: None,
            filled: None,
            settled_after: 0,
        }
    }

    fn observe(&mut self, situation: &Situation<'_>) {
        let (now, pool) = (situation.now(), situation.pool());
        self.mind_another_past(now, pool);
        let (ended, well) = self.count(now, pool);
        let measure = match &mut self.generation {
            Some(generation) => generation.add(situation),
            None if self.completed < self.settled_after => None,
            None => {
                self.generation = Some(Generation::begin(now, pool));
                None
            }
        };
        if !is_held(pool) {
            // What is not held at its limit says nothing of it.
            self.generation = None;
            self.quiet_since = now;
            if let Some(settled) = &mut self.settled {
                settled.abandon();
            }
            return;
        }
        match self.settled {
            None => self.climb(situation, measure, (ended, well)),
            Some(settled) => self.watch(situation, measure, settled),
        }
    }

    /// Counters that fell are those of another pool, and an earlier clock that of another time.
    fn mind_another_past(&mut self, now: Timestamp, pool: &PoolSnapshot) {
        let is_other = |generation: &Generation| generation.is_of_another(now, pool);
        if self.generation.as_ref().is_some_and(is_other)
            || now < self.quiet_since
            || pool.counters.completed < self.completed
            || pool.counters.failed < self.failed
        {
            self.generation = None;
            self.quiet_since = now;
            (self.completed, self.failed) = (pool.counters.completed, pool.counters.failed);
            self.settled_after = self.completed;
            if let Some(settled) = &mut self.settled {
                settled.begin_anew(now);
            }
        }
    }

    /// Tasks that ended since the last tick, and those of them that went well.
    fn count(&mut self, now: Timestamp, pool: &PoolSnapshot) -> (u64, u64) {
        let ended = pool.counters.completed - self.completed;
        let failed = pool.counters.failed - self.failed;
        (self.completed, self.failed) = (pool.counters.completed, pool.counters.failed);
        if 0 < ended {
            self.quiet_since = now;
        }
        (ended, ended.saturating_sub(failed))
    }

    /// The ramp: up to two more for every task that ended well, and a look at every generation.
    fn climb(&mut self, situation: &Situation<'_>, measure: Option<Measure>, ended: (u64, u64)) {
        let (now, pool) = (situation.now(), situation.pool());
        let share = self.share;
        let complete = measure.filter(|m| (TURN_MIN * m.busy).max(m.tasks_min()) <= m.count);
        if let Some(measure) = complete {
            let is_held_back = self.is_held_back(pool, &measure);
            match self.judged(now, &measure) {
                Verdict::Stop(settled) => return self.settle(pool, settled),
                _ if is_held_back => {
                    let held = Settled::beyond(now, f64::from(pool.ceiling));
                    return self.settle(pool, held);
                }
                Verdict::Undecided => {}
                Verdict::GoOn => self.generation = Some(Generation::begin(now, pool)),
            }
        }
        let in_force = f64::from(pool.ceiling);
        let ramp = match ended {
            (0, _) if self.is_blind(situation) => {
                self.quiet_since = now;
                (in_force * 2.0).min(f64::from(self.config.blind_max))
            }
            // More than were in force cannot be asked for on the word of those.
            (_, well) => {
                // Those that ended before this was known bring as many as those after.
                let late = complete.map_or(0.0, |m| (self.share - share).max(0.0) * m.count);
                let more = MORE_MAX * (self.share * well as f64 + late);
                (self.ramp + more).min(in_force * 2.0).min(self.ahead_max())
            }
        };
        let ramp = ramp.max(self.ramp);
        let fill = situation.observation.externals.get("cpu_fill").filter(|fill| 0.0 < *fill);
        match fill {
            Some(fill) if fill + 0.5 < ramp => {
                self.filled = Some((fill, ramp));
                let limit = fill.max(f64::from(self.config.start));
                self.settle(pool, Settled::at(now, limit));
            }
            _ => self.ramp = ramp.min(LIMIT_MAX),
        }
    }

    /// Nothing has ended for long, and not because the processors are busy with it.
    fn is_blind(&self, situation: &Situation<'_>) -> bool {
        let cpu_busy = situation.observation.externals.get("cpu_busy");
        self.config.blind_span <= situation.now().since(self.quiet_since)
            && cpu_busy.is_some_and(|busy| busy < CPU_BUSY_MAX)
    }

    /// What a generation says of the ramp.
    fn judged(&mut self, now: Timestamp, measure: &Measure) -> Verdict {
        let Some(peak) = self.peak else {
            self.peak = Some(*measure);
            // Nothing speaks against the first ones, as they are few.
            self.share = 1.0;
            return Verdict::GoOn;
        };
        let (step, gain) = (measure.step(&peak), measure.first_gain(&peak));
        let is_refused = peak.error_rate + REFUSED_MIN < measure.error_rate;
        if is_refused {
            self.gain = Some(0.0);
            return Verdict::Stop(Settled::beyond(now, measure.useful(&peak).max(1.0)));
        }
        let shortfall = self.config.gain_min * step - gain;
        if shortfall <= 0.0 {
            self.peak = Some(*measure);
            // Of both ways to count the lesser, as more will be asked for on its word.
            let seen = gain.min(measure.counted_gain(&peak)) / step;
            self.share = match step < STEP_MIN {
                true => SHARE_UNKNOWN,
                false => seen.clamp(self.config.gain_min, 1.0),
            };
            return Verdict::GoOn;
        }
        if step < STEP_MIN {
            self.share = SHARE_UNKNOWN;
            return Verdict::GoOn;
        }
        let is_short = measure.count < TURNS_MAX * measure.busy.max(measure.tasks_min());
        if is_short && shortfall < measure.first_doubt(&peak) {
            return Verdict::Undecided;
        }
        let was_sure = SHARE_SURE <= self.share;
        self.gain = Some(gain / step);
        let useful = measure.useful(&peak);
        // Those of the peak all helped, so more are tried first; else the knee is rather below.
        Verdict::Stop(match was_sure && useful <= peak.busy {
            true => Settled::at(now, peak.busy * SLACK),
            false => Settled::beyond(now, peak.busy.max(useful) * SLACK),
        })
    }

    /// Others hold the ceiling below the ramp, so no generation will say what more would bring,
    /// and as many as before get far less done: a knee below the ceiling that came later.
    fn is_held_back(&self, pool: &PoolSnapshot, measure: &Measure) -> bool {
        let Some(peak) = &self.peak else { return false };
        let lost = measure.step(peak).min(0.0) - measure.gain(peak);
        pool.ceiling < whole(self.ramp) && STEP_MIN + measure.noise(peak) < lost
    }

    /// As far as the ramp may go on what is known so far.
    fn ahead_max(&self) -> f64 {
        let begin = f64::from(self.config.start.max(1)) * 2.0;
        self.peak.map_or(begin, |peak| peak.busy * (1.0 + MORE_MAX * self.share)).max(begin)
    }

    fn settle(&mut self, pool: &PoolSnapshot, settled: Settled) {
        self.settled = Some(settled);
        self.leave_the_past(pool);
    }

    /// The limit is about to change: whatever is at work began under another one.
    fn leave_the_past(&mut self, pool: &PoolSnapshot) {
        self.settled_after = self.completed.saturating_add(u64::from(pool.busy));
        self.generation = None;
    }

    /// A settled pool: measures, and now and then a try.
    fn watch(&mut self, situation: &Situation<'_>, measure: Option<Measure>, was: Settled) {
        let mut settled = was;
        let (now, pool) = (situation.now(), situation.pool());
        let Some(measure) = measure else { return };
        let Some(generation) = self.generation else { return };
        let span = Duration::try_from_secs_f64(measure.service()).unwrap_or(Duration::MAX);
        let lasted = now.since(generation.begun);
        let seen = measure.tasks_to_see(settled.step()).min(TASKS_MAX_SETTLED);
        let enough = (GENERATIONS_MIN * measure.busy).max(TASKS_MIN_SETTLED).max(seen);
        if measure.count < enough || lasted < span.saturating_mul(2) {
            return;
        }
        self.generation = Some(Generation::begin(now, pool));
        match (settled.trying, settled.followed(pool.ceiling)) {
            (Some(_), Some(limit)) => {
                let gain = |base: Measure| measure.gain(&base) / measure.step(&base);
                self.gain = settled.base.map(gain).filter(|gain| gain.is_finite());
                settled.tried(now, limit, &measure, self.config.gain_min);
            }
            (Some(_), None) => settled.untested(now),
            (None, _) => Self::rested(now, &measure, &mut settled, pool.ceiling),
        }
        if whole(settled.cap()) != whole(was.cap()) {
            self.leave_the_past(pool);
        }
        self.settled = Some(settled);
    }

    /// A measure of a pool in which nothing is being tried.
    fn rested(now: Timestamp, measure: &Measure, settled: &mut Settled, ceiling: u32) {
        match settled.base {
            Some(base) if base.error_rate + REFUSED_MIN < measure.error_rate => {
                settled.refused(now, measure.useful(&base));
            }
            _ => settled.rested(now, *measure, ceiling),
        }
    }

    /// What decided the limit.
    fn evidence(&self) -> Option<Evidence> {
        if let (Some((value, limit)), None) = (self.filled, self.gain) {
            let (name, comparison) = (Name::cut("cpu_fill"), Comparison::Below);
            return Some(Evidence { name, unit: Unit::Count, value, comparison, limit });
        }
        let value = self.gain?;
        let limit = self.config.gain_min;
        let comparison = if value < limit { Comparison::Below } else { Comparison::AtLeast };
        Some(Evidence { name: Name::cut("gain"), unit: Unit::Ratio, value, comparison, limit })
    }
}

/// Work waits, and nearly everybody who is there is busy. Hiring takes its time: those who have not
/// begun yet are no sign that more are not needed.
fn is_held(pool: &PoolSnapshot) -> bool {
    let there = pool.live.saturating_sub(pool.starting).min(pool.ceiling).max(1);
    0 < pool.queued && FULL * f64::from(there) <= f64::from(pool.busy)
}

impl Decider for Throughput {
    fn decide(&mut self, situation: &Situation<'_>) -> Proposal {
        self.observe(situation);
        let (limit, reason) = match &self.settled {
            None => (self.ramp, Reason::Backlog),
            Some(settled) if settled.trying.is_some() => (settled.cap(), Reason::Probe),
            Some(settled) => (settled.cap(), Reason::Knee),
        };
        let ceiling = whole(limit).max(1);
        let mut proposal = Proposal::want(Staffing::between(0, ceiling), reason);
        if reason == Reason::Knee {
            proposal.evidence = self.evidence();
        }
        if let Some(peak) = &self.peak {
            proposal.estimate("busy_at_peak", Unit::Count, peak.busy);
            proposal.estimate("service", Unit::Seconds, peak.service());
        }
        if let Some(base) = self.settled.and_then(|settled| settled.base) {
            proposal.estimate("busy_mean", Unit::Count, base.busy);
            proposal.estimate("error_rate", Unit::Ratio, base.error_rate);
        }
        proposal
    }

    fn save(&self, notes: &mut Notes) {
        (self.ramp, (self.settled, self.generation)).write(notes);
        (self.quiet_since, (self.completed, self.failed)).write(notes);
        (self.peak, (self.share, (self.gain, (self.filled, self.settled_after)))).write(notes);
    }

    fn load(&mut self, notes: &mut NotesReader<'_>) -> Option<()> {
        (self.ramp, (self.settled, self.generation)) = Noted::read(notes)?;
        (self.quiet_since, (self.completed, self.failed)) = Noted::read(notes)?;
        (self.peak, (self.share, (self.gain, (self.filled, self.settled_after)))) =
            Noted::read(notes)?;
        let waits_for = self.settled_after.saturating_sub(self.completed);
        let is_sound = (1.0..=LIMIT_MAX).contains(&self.ramp) && u32::try_from(waits_for).is_ok();
        (is_sound && (0.0..=1.0).contains(&self.share)).then_some(())
    }
}
