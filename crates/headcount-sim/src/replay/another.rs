//! Another policy on the recorded observations, beside the recorded one.
//!
//! It begins where a live scaler would whose policy is changed at that moment: with what the guards
//! of the recorded one remember, and with the size in force.

use headcount_core::{
    Autoscaler, Decision, Direction, ExtraParts, Observation, Policy, PolicyConfig, PoolSnapshot,
    Staffing, Timestamp,
};

use super::follower::{Follower, Unreplayable, applied};

/// Two policies at one look.
///
/// ```
/// use headcount_core::{Decision, Observation, Policy, Preset, Staffing};
/// use headcount_sim::replay::Beside;
///
/// let policy = Policy::check(&Preset::gopipe().config(), 8).expect("no fault");
/// let other = policy.build().tick(&Observation::default());
/// let sizes = [Staffing::exactly(3), other.to];
/// let beside = Beside { sizes, is_news: true, other };
/// assert!(beside.differs());
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Beside {
    /// The sizes in force from here on: the recorded one, and that of the other policy.
    pub sizes: [Staffing; 2],
    /// Whether one of them is new.
    pub is_news: bool,
    /// What the other policy decides, and why.
    pub other: Decision,
}

impl Beside {
    /// Whether the sizes in force are not the same.
    #[must_use]
    pub fn differs(&self) -> bool {
        self.sizes[0] != self.sizes[1]
    }
}

/// What the sizes of one policy add up to.
///
/// ```
/// use headcount_sim::replay::Totals;
///
/// assert_eq!(Totals::default().changes, 0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Totals {
    /// The ceiling over time: what it may cost at most, in seconds of workers.
    pub ceiling_seconds: f64,
    /// The floor over time: what it costs at least, in seconds of workers.
    pub floor_seconds: f64,
    /// How often the size was changed.
    pub changes: u64,
    /// How often a change went the other way than the one before.
    pub reversals: u64,
    last: Direction,
}

impl Totals {
    fn lasted(&mut self, size: Staffing, seconds: f64) {
        self.ceiling_seconds += f64::from(size.ceiling) * seconds;
        self.floor_seconds += f64::from(size.floor) * seconds;
    }

    fn changed(&mut self, from: Staffing, to: Staffing) {
        if from == to {
            return;
        }
        let direction = Direction::between(from, to);
        self.changes += 1;
        self.reversals += u64::from(self.last != Direction::Hold && self.last != direction);
        self.last = direction;
    }
}

/// Another policy beside the recorded one, in open loop.
///
/// The other policy is shown what was recorded. Where its size is another one, the tasks that were
/// there are divided anew between its workers and its line; counters, waits and services stay those
/// of the recording. What somebody asked for by hand, it is asked for too.
///
/// ```
/// use headcount_core::{
///     ExtraParts, Observation, Policy, PolicyConfig, PoolSnapshot, Preset, Staffing,
/// };
/// use headcount_sim::replay::Another;
///
/// let up_to = |max, preset: Preset| PolicyConfig { workers_max: Some(max), ..preset.config() };
/// let written = up_to(8, Preset::gopipe());
/// let mut live = Policy::check(&written, 1).expect("no fault").build();
/// let narrow = Policy::check(&up_to(2, Preset::gopipe()), 1).expect("no fault");
/// let notes = live.save();
/// let none = ExtraParts::default();
/// let mut another = Another::new(&narrow, &written, &none, notes.words()).expect("its own notes");
///
/// let busy = PoolSnapshot::at_work(Staffing::exactly(2), 2);
/// let observation = Observation { pool: busy, ..Observation::default() };
/// let beside = another.tick(&observation, &live.tick(&observation));
/// assert_eq!(beside.sizes, [Staffing::exactly(3), Staffing::exactly(2)]);
/// let why = beside.other.explain().to_string();
/// assert_eq!(why, "hold 2: wants 3 (all busy) -> bounds 2");
/// ```
#[derive(Clone, Debug)]
pub struct Another {
    recorded: Follower,
    other: Autoscaler,
    /// When was the last look, and which sizes are in force since.
    last: Option<(Timestamp, [Staffing; 2])>,
    totals: [Totals; 2],
    looks: u64,
    seconds: f64,
    seconds_apart: f64,
}

impl Another {
    /// `other` beside the recorded policy, which remembers what the notes say.
    ///
    /// # Errors
    ///
    /// When the recorded policy or its notes are none of ours.
    pub fn new(
        other: &Policy,
        written: &PolicyConfig,
        extras: &ExtraParts,
        notes: &[u64],
    ) -> Result<Self, Unreplayable> {
        let recorded = Follower::new(written, extras, notes)?;
        let mut other = other.build();
        other.succeed(&recorded.autoscaler);
        Ok(Self {
            recorded,
            other,
            last: None,
            totals: [Totals::default(); 2],
            looks: 0,
            seconds: 0.0,
            seconds_apart: 0.0,
        })
    }

    /// From here on the recorded one goes by this policy.
    ///
    /// # Errors
    ///
    /// When the policy or the notes are none of ours. Then it goes on by the one before.
    pub fn policy(
        &mut self,
        written: &PolicyConfig,
        extras: &ExtraParts,
        notes: &[u64],
    ) -> Result<(), Unreplayable> {
        self.recorded = Follower::new(written, extras, notes)?;
        // Who holds the pool is a person, and would have held it whatever its policy is.
        self.other.set_manual(self.recorded.autoscaler.manual());
        Ok(())
    }

    /// Lets the other policy decide, beside what was recorded.
    pub fn tick(&mut self, observation: &Observation, recorded: &Decision) -> Beside {
        let now = observation.pool.staffing();
        let (at, before) = self.last.unwrap_or((observation.at, [now, now]));
        self.passed(observation.at.since(at).as_secs_f64(), before);
        let by_hand = self.recorded.asked_by_hand(recorded);
        self.recorded.tick(observation, recorded);

        let seen = seen_under(observation, before[1]);
        let other = match by_hand {
            Some(workers) => self.other.tick_by_hand(&seen, workers),
            None => self.other.tick(&seen),
        };
        let size = applied(&seen, &other);
        if size.is_some() {
            self.other.applied(&other);
        }
        let sizes = [applied(observation, recorded).unwrap_or(now), size.unwrap_or(before[1])];
        for (index, totals) in self.totals.iter_mut().enumerate() {
            totals.changed(before[index], sizes[index]);
        }
        let is_news = self.last.is_none() || sizes != before;
        self.last = Some((observation.at, sizes));
        self.looks += 1;
        Beside { sizes, is_news, other }
    }

    fn passed(&mut self, seconds: f64, sizes: [Staffing; 2]) {
        self.seconds += seconds;
        if sizes[0] != sizes[1] {
            self.seconds_apart += seconds;
        }
        for (totals, size) in self.totals.iter_mut().zip(sizes) {
            totals.lasted(size, seconds);
        }
    }

    /// What the sizes add up to: those of the recorded policy, and those of the other.
    #[must_use]
    pub fn totals(&self) -> [Totals; 2] {
        self.totals
    }

    /// How many looks there were.
    #[must_use]
    pub fn looks(&self) -> u64 {
        self.looks
    }

    /// How long it went on, in seconds, and for how long the sizes were not the same.
    #[must_use]
    pub fn seconds(&self) -> (f64, f64) {
        (self.seconds, self.seconds_apart)
    }
}

/// What would have been seen with `size` in force, as far as that can be told: as many tasks, of
/// which as many run as there are workers for.
fn seen_under(observation: &Observation, size: Staffing) -> Observation {
    let mut seen = observation.clone();
    let pool = &mut seen.pool;
    if pool.staffing() == size {
        return seen;
    }
    let pending = pool.pending();
    (pool.floor, pool.ceiling) = (size.floor, size.ceiling);
    pool.live = workers_of(pool, pending);
    pool.busy = u32::try_from(pending).unwrap_or(u32::MAX).min(pool.live);
    pool.parked = pool.live - pool.busy;
    (pool.starting, pool.retiring) = (0, 0);
    pool.queued = pending - u64::from(pool.busy);
    if pool.queued == 0 {
        pool.oldest_wait = None;
    }
    if pool.parked == 0 {
        pool.longest_idle = None;
    }
    seen
}

/// As many as there were, or as there is work for, within what is allowed.
fn workers_of(pool: &PoolSnapshot, pending: u64) -> u32 {
    let work = u32::try_from(pending).unwrap_or(u32::MAX);
    let wanted = if pool.queued == 0 { pool.live } else { pool.live.max(work) };
    Staffing::exactly(wanted).within(pool.floor, pool.ceiling).ceiling
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pool as it was and as it would be: floor, ceiling, live, busy, queued.
    fn check(was: (u32, u32, u32, u32, u64), size: (u32, u32), expected: (u32, u32, u64)) {
        let (floor, ceiling, live, busy, queued) = was;
        let pool = PoolSnapshot {
            live,
            busy,
            queued,
            parked: live - busy,
            ..PoolSnapshot::of(Staffing::between(floor, ceiling))
        };
        let observation = Observation { pool, ..Observation::default() };
        let seen = seen_under(&observation, Staffing::between(size.0, size.1)).pool;
        assert_eq!((seen.live, seen.busy, seen.queued), expected, "{was:?} under {size:?}");
        assert_eq!(seen.pending(), pool.pending(), "no task is lost");
        assert_eq!(seen.parked, seen.live - seen.busy);
    }

    #[test]
    fn the_tasks_that_were_there_are_divided_anew() {
        check((4, 4, 4, 4, 10), (4, 4), (4, 4, 10));
        check((4, 4, 4, 4, 10), (6, 6), (6, 6, 8));
        check((4, 4, 4, 4, 10), (20, 20), (20, 14, 0));
        check((4, 4, 4, 3, 0), (2, 2), (2, 2, 1));
        check((1, 8, 5, 5, 0), (1, 3), (3, 3, 2));
        check((1, 8, 8, 8, 2), (1, 64), (10, 10, 0));
        check((1, 8, 3, 1, 0), (1, 64), (3, 1, 0));
    }
}
