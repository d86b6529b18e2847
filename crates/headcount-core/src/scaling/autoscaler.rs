//! The heart: signals are read, the decider proposes, the guards rule, a decision comes out.
//!
//! Nothing here applies anything, and nothing can fail. Live, in the simulator and in replay the
//! very same code runs; only who gathers the observations differs.

use std::sync::Arc;
use std::time::Duration;

use super::decide::Decider;
use super::decision::{Decision, SIGNALS_MAX};
use super::guard::{Bounds, GUARDS_MAX, Guard, Review, Ruling};
use super::history::History;
use super::mode::{ManualTarget, Mode};
use super::notes::{Noted, Notes, NotesReader};
use super::observation::Observation;
use super::proposal::{Proposal, Reason};
use super::signal::{Reading, Signal, read_finite};
use super::situation::Situation;
use super::staffing::Staffing;
use super::stats::{Sample, Samples, Stats};
use crate::health::{Standing, Zone};
use crate::policy::{ExtraParts, REPLAYED};
use crate::{List, Name, Timestamp};

/// Decides what a pool's staffing should be, and says why.
///
/// ```
/// use headcount_core::{Mode, Observation, Policy, PoolSnapshot, Preset, Staffing, Timestamp};
///
/// let policy = Policy::check(&Preset::gopipe().config(), 8).expect("the preset is right");
/// let mut autoscaler = policy.build();
/// let busy = PoolSnapshot::at_work(Staffing::exactly(2), 2);
/// let observation = Observation::new(Timestamp::from_secs(1), busy);
///
/// // To ask changes nothing; to tick remembers; what was applied is told.
/// let asked = autoscaler.evaluate(&observation);
/// let decision = autoscaler.tick(&observation);
/// assert_eq!(asked, decision);
/// if let Some(staffing) = decision.resize() {
///     assert_eq!(staffing, Staffing::exactly(3));
///     autoscaler.applied(&decision);
/// }
/// assert_eq!(autoscaler.stats().grows, 1);
/// ```
#[derive(Clone, Debug)]
pub struct Autoscaler {
    signals: Vec<(Name, Box<dyn Signal>)>,
    decider: Box<dyn Decider>,
    guards: Vec<(Name, Arc<dyn Guard>)>,
    bounds: Bounds,
    /// Whether a guard looks after the machine's health.
    is_health_watched: bool,
    /// Which parts are not the policy's own.
    extras: Box<ExtraParts>,
    /// Behind how many guards theirs stand.
    extra_guards_at: usize,
    /// Says which policy the notes are of.
    fingerprint: u64,
    mode: Mode,
    manual: Option<ManualTarget>,
    history: History,
    stats: Stats,
    samples: Samples,
}

impl Autoscaler {
    /// Puts an autoscaler together from parts. Policies do this; so may a plug-in.
    ///
    /// The guards stand in the order in which they are asked. The bounds come after them, so that
    /// nothing can overrule them; where they cross, the maximum wins. A policy adds a warm-up,
    /// vetoes and more: see [`Policy::build_with`](crate::Policy::build_with) for parts beside a
    /// policy's.
    ///
    /// # Panics
    ///
    /// With more than [`SIGNALS_MAX`] signals, or more than 15 guards beside the bounds; when a
    /// signal or guard has a name that is no [`Name`], or two signals have the same.
    #[must_use]
    pub fn new(
        signals: Vec<Box<dyn Signal>>,
        decider: Box<dyn Decider>,
        guards: Vec<Arc<dyn Guard>>,
        bounds: Bounds,
    ) -> Self {
        let named = signals.into_iter().map(|signal| (name_of(signal.name()), signal));
        Self::with_names(named.collect(), decider, guards, bounds)
    }

    /// The same, with signals under the names that a policy gave them.
    pub(crate) fn with_names(
        signals: Vec<(Name, Box<dyn Signal>)>,
        decider: Box<dyn Decider>,
        mut guards: Vec<Arc<dyn Guard>>,
        bounds: Bounds,
    ) -> Self {
        let bounds = Bounds { min: bounds.min.min(bounds.max), ..bounds };
        // Last, so that nothing can overrule it.
        guards.push(Arc::new(bounds));
        assert!(signals.len() <= SIGNALS_MAX, "an autoscaler reads at most {SIGNALS_MAX} signals");
        assert!(guards.len() <= GUARDS_MAX, "an autoscaler has at most {GUARDS_MAX} guards");
        for (index, (name, _)) in signals.iter().enumerate() {
            let is_new = signals[..index].iter().all(|(earlier, _)| earlier != name);
            assert!(is_new, "two signals are called {name}; a decider would read the first only");
        }
        let span = guards.iter().map(|guard| guard.looks_back()).max();
        let fingerprint = fingerprint(&signals, &*decider, &ExtraParts::default());
        let is_health_watched = guards.iter().any(|guard| guard.watches_health());
        Self {
            signals,
            decider,
            guards: guards.into_iter().map(|guard| (name_of(guard.name()), guard)).collect(),
            bounds,
            is_health_watched,
            extras: Box::default(),
            extra_guards_at: 0,
            fingerprint,
            mode: Mode::Automatic,
            manual: None,
            history: History::over(span.unwrap_or(Duration::ZERO)),
            stats: Stats::default(),
            samples: Samples::keeping(Samples::KEPT),
        }
    }

    /// Decides what the staffing should be. Applies nothing.
    pub fn tick(&mut self, observation: &Observation) -> Decision {
        self.tick_knowing(observation, None)
    }

    /// Decides as [`Autoscaler::tick`] does, but asks no part that is not the policy's own: what
    /// those said is taken from `recorded`, the decision that is replayed.
    pub fn tick_again(&mut self, observation: &Observation, recorded: &Decision) -> Decision {
        self.tick_knowing(observation, Some(recorded))
    }

    fn tick_knowing(&mut self, observation: &Observation, recorded: Option<&Decision>) -> Decision {
        self.follow_clock(observation.at);
        // Filled in place: a decision is large, and moving it about would cost more than making it.
        let mut decision = Decision::begun(observation, self.mode, self.bounds);
        self.read(observation, recorded, &mut decision.readings);
        let asked = self.propose(observation, recorded, &mut decision);
        self.review(observation, asked, recorded, &mut decision);
        self.history.decided(&decision);
        self.note_illness(observation, &decision);
        self.stats.decided(&decision, observation.pool.live);
        self.samples.add(observation);
        decision
    }

    /// Decides on a size that somebody asks for once, whatever the mode is: within what limits it,
    /// past everything else. Mode and manual target stay as they are.
    pub fn tick_by_hand(&mut self, observation: &Observation, workers: u32) -> Decision {
        self.tick_by_hand_knowing(observation, workers, None)
    }

    /// The same, as [`Autoscaler::tick_again`] does it.
    pub fn tick_by_hand_again(
        &mut self,
        observation: &Observation,
        workers: u32,
        recorded: &Decision,
    ) -> Decision {
        self.tick_by_hand_knowing(observation, workers, Some(recorded))
    }

    fn tick_by_hand_knowing(
        &mut self,
        observation: &Observation,
        workers: u32,
        recorded: Option<&Decision>,
    ) -> Decision {
        // On a copy, so that a part that panics leaves everything as it was.
        let mut by_hand = self.clone();
        by_hand.mode = Mode::Manual;
        by_hand.manual = Some(ManualTarget { workers, until: None });
        let decision = by_hand.tick_knowing(observation, recorded);
        *self = Self { mode: self.mode, manual: self.manual, ..by_hand };
        decision
    }

    /// Says what [`Autoscaler::tick`] would decide, and changes nothing.
    #[must_use]
    pub fn evaluate(&self, observation: &Observation) -> Decision {
        self.clone().tick(observation)
    }

    /// Says what the decider and all guards would make of it, whatever the mode and the manual
    /// target, and changes nothing.
    #[must_use]
    pub fn advise(&self, observation: &Observation) -> Decision {
        let mut adviser = self.clone();
        adviser.set_mode(Mode::Advise);
        adviser.tick(observation)
    }

    /// Takes note that the shell applied `decision`.
    pub fn applied(&mut self, decision: &Decision) {
        self.history.applied(decision.at, decision.from, decision.to);
        self.stats.applied(decision.at, decision.direction());
    }

    fn read(
        &mut self,
        observation: &Observation,
        recorded: Option<&Decision>,
        readings: &mut List<Reading, SIGNALS_MAX>,
    ) {
        for (name, signal) in &mut self.signals {
            let recorded = recorded.filter(|_| self.extras.signals.contains(name));
            let known = |recorded: &Decision| {
                recorded.readings.iter().find(|reading| reading.name == *name).copied()
            };
            let reading = recorded.and_then(known).unwrap_or_else(|| {
                let value = read_finite(signal.as_mut(), observation);
                let (unit, reason) = (signal.unit(), signal.reason());
                Reading { name: *name, unit, reason, value }
            });
            let fits = readings.push(reading);
            assert!(fits, "no more signals than there is room for readings");
        }
    }

    /// A clock that runs back has a new origin, as after a restart. What is remembered keeps its
    /// age: as if no time had passed.
    fn follow_clock(&mut self, now: Timestamp) {
        let step = self.history.latest().map_or(Duration::ZERO, |latest| latest.since(now));
        if step.is_zero() {
            return;
        }
        self.history.shift(step);
        if let Some(manual) = &mut self.manual {
            manual.until = manual.until.map(|until| until.before(step));
        }
    }

    /// Puts in what is wanted, and says who is to be asked about it.
    fn propose(
        &mut self,
        observation: &Observation,
        recorded: Option<&Decision>,
        decision: &mut Decision,
    ) -> Asked {
        if self.manual.is_some_and(|manual| !manual.holds_at(observation.at)) {
            self.manual = None;
        }
        let (proposal, asked) = match (self.mode, self.manual) {
            (Mode::Off, _) => (Proposal::abstain(Reason::Off), Asked::Nobody),
            (Mode::Manual | Mode::Automatic, Some(manual)) => {
                let staffing = Staffing::exactly(manual.workers);
                (Proposal::want(staffing, Reason::Manual), Asked::Limits)
            }
            (Mode::Manual, None) => (Proposal::abstain(Reason::Manual), Asked::Nobody),
            (Mode::Automatic | Mode::Advise, _) => {
                let readings = decision.readings.as_slice();
                let situation = Situation { observation, readings, history: &self.history };
                let proposal = match recorded.filter(|_| self.extras.decider) {
                    Some(recorded) => recorded.proposal,
                    None => self.decider.decide(&situation),
                };
                (proposal, Asked::All)
            }
        };
        decision.proposal = proposal;
        decision.proposal.complete(decision.from);
        asked
    }

    /// Asks the guards in their order.
    fn review(
        &self,
        observation: &Observation,
        asked: Asked,
        recorded: Option<&Decision>,
        decision: &mut Decision,
    ) {
        let readings = decision.readings.as_slice();
        let situation = Situation { observation, readings, history: &self.history };
        let from = decision.from;
        let mut to = decision.proposal.wanted.unwrap_or(from);
        let recorded = recorded.map(|recorded| (recorded, self.extra_guards()));
        for (index, (name, guard)) in self.guards.iter().enumerate() {
            let is_asked = match asked {
                Asked::Nobody => false,
                Asked::Limits => guard.is_limit(),
                Asked::All => true,
            };
            let ruling = match &recorded {
                Some((recorded, extra)) if extra.contains(&index) => {
                    ruling_then(recorded, *name, &decision.rulings)
                }
                _ => is_asked.then(|| guard.review(&situation, to)),
            };
            let Some(ruling) = ruling else { continue };
            let left = ruling.applied_to(from, to);
            // A guard from outside may cross the ends.
            to = Staffing::between(left.floor, left.ceiling);
            let fits = decision.rulings.push(Review { guard: *name, ruling });
            assert!(fits, "no more guards than there is room for rulings");
        }
        decision.to = to;
    }

    /// Where the guards stand that are not the policy's own: before the first of its own that
    /// limits.
    fn extra_guards(&self) -> std::ops::Range<usize> {
        self.extra_guards_at..self.extra_guards_at + self.extras.guards.len()
    }

    /// Which parts are not the policy's own.
    #[must_use]
    pub fn extras(&self) -> &ExtraParts {
        &self.extras
    }

    /// Says which parts are not the policy's own, and behind how many guards theirs stand.
    pub(crate) fn set_extras(&mut self, extras: ExtraParts, guards_before: usize) {
        *self.extras = extras;
        self.extra_guards_at = guards_before;
    }

    /// Has a stand-in for every signal that is not the policy's own, with all that was wrapped
    /// around it: what is recorded is what came out in the end.
    pub(crate) fn take_as_recorded(&mut self, stand_in: impl Fn(Name) -> Box<dyn Signal>) {
        for (name, signal) in &mut self.signals {
            if self.extras.signals.contains(name) {
                *signal = stand_in(*name);
            }
        }
        self.fingerprint = fingerprint(&self.signals, &*self.decider, &self.extras);
    }

    /// Remembers that the machine is unwell, where a guard looks after it.
    fn note_illness(&mut self, observation: &Observation, decision: &Decision) {
        if !self.is_health_watched || !self.mode.applies() {
            return;
        }
        let standing = Standing::of(observation.health.as_ref(), observation.at);
        if standing.zone != Zone::Safe {
            self.history.braked(observation.at, decision.to.ceiling);
        }
    }

    /// How far it may go by itself.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Sets how far it may go by itself.
    pub fn set_mode(&mut self, mode: Mode) {
        self.mode = mode;
    }

    /// The manual target in force, if any.
    #[must_use]
    pub fn manual(&self) -> Option<ManualTarget> {
        self.manual
    }

    /// Asks for a size, until it expires or is taken back with `None`.
    ///
    /// It counts in the modes manual and automatic. In the mode off nothing counts, and to advise
    /// is to say what the decider would do.
    pub fn set_manual(&mut self, target: Option<ManualTarget>) {
        self.manual = target;
    }

    /// What the guards remember.
    #[must_use]
    pub fn history(&self) -> &History {
        &self.history
    }

    /// What was counted since the start or the last reset.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.stats
    }

    /// Begins to count anew. Nothing that decides is forgotten.
    pub fn reset_stats(&mut self) {
        self.stats = Stats::default();
    }

    /// The last samples, oldest first.
    #[must_use]
    pub fn samples(&self) -> impl ExactSizeIterator<Item = &Sample> {
        self.samples.iter()
    }

    /// Keeps the last `count` samples, [`Samples::KEPT_MAX`] at most.
    pub(crate) fn keep_samples(&mut self, count: usize) {
        self.samples = Samples::keeping(count);
    }

    /// Writes down all that it remembers: history, signals, decider, manual target.
    ///
    /// The mode is the policy's; statistics and samples are for people. They are left out.
    ///
    /// ```
    /// use headcount_core::{Notes, Observation, Policy, PoolSnapshot, Preset, Staffing, Timestamp};
    ///
    /// let policy = Policy::check(&Preset::gopipe().config(), 8).expect("the preset is right");
    /// let busy = |second, workers| {
    ///     let pool = PoolSnapshot::at_work(Staffing::exactly(workers), workers);
    ///     Observation::new(Timestamp::from_secs(second), pool)
    /// };
    /// let mut before = policy.build();
    /// let grown = before.tick(&busy(0, 2));
    /// before.applied(&grown);
    /// // To a file, and back in a new process:
    /// let words: Vec<u64> = before.save().words().to_vec();
    ///
    /// let mut after = policy.build();
    /// after.restore(&Notes::of_words(words)).expect("of the same policy");
    /// assert_eq!(after.tick(&busy(1, 3)).resize(), None, "the cooldown spans the restart");
    /// ```
    #[must_use]
    pub fn save(&self) -> Notes {
        self.save_without(&ExtraParts::default(), self.fingerprint)
    }

    /// Writes down all that it remembers but for parts that are not the policy's own: for
    /// [`Policy::build_to_replay`](crate::Policy::build_to_replay).
    #[must_use]
    pub fn save_to_replay(&self) -> Notes {
        let fingerprint = fingerprint(&self.signals, &*self.decider, &self.extras);
        self.save_without(&self.extras, fingerprint)
    }

    fn save_without(&self, left_out: &ExtraParts, fingerprint: u64) -> Notes {
        let mut notes = Notes::default();
        (NOTES_VERSION, fingerprint).write(&mut notes);
        self.history.save(&mut notes);
        self.manual.map(|manual| (manual.workers, manual.until)).write(&mut notes);
        let own = self.signals.iter().filter(|(name, _)| !left_out.signals.contains(name));
        own.for_each(|(_, signal)| signal.save(&mut notes));
        if !left_out.decider {
            self.decider.save(&mut notes);
        }
        notes
    }

    /// Takes back what an autoscaler of the same policy wrote, and decides from then on as that
    /// one would have.
    ///
    /// # Errors
    ///
    /// When the notes are of another version, of another kind of policy (other signals, another
    /// decider), or damaged. Then nothing is changed, and the autoscaler goes on as it was.
    pub fn restore(&mut self, notes: &Notes) -> Result<(), RestoreError> {
        let mut reader = notes.reader();
        let (version, fingerprint) =
            <(u64, u64)>::read(&mut reader).ok_or(RestoreError::Damaged)?;
        if version != NOTES_VERSION {
            return Err(RestoreError::OtherVersion(version));
        }
        if fingerprint != self.fingerprint {
            return Err(RestoreError::OtherPolicy);
        }
        let mut restored = self.clone();
        match restored.load(&mut reader) {
            Some(()) if reader.is_at_end() => {
                *self = restored;
                Ok(())
            }
            _ => Err(RestoreError::Damaged),
        }
    }

    /// Takes the place of `former`, at work: goes on from what that one remembers, as far as both
    /// remember the same kinds of things. Who holds it, statistics and samples stay in any case,
    /// and so does what guards look back on.
    pub fn succeed(&mut self, former: &Self) {
        if self.restore(&former.save()).is_err() {
            let mut notes = Notes::default();
            former.history.save(&mut notes);
            let span = self.guards.iter().map(|(_, guard)| guard.looks_back()).max();
            let span = span.unwrap_or(Duration::ZERO);
            // What was written a moment ago can be read; if not, it begins by holding.
            self.history =
                History::load(span, &mut notes.reader()).unwrap_or_else(|| History::over(span));
            self.manual = former.manual;
        }
        self.stats = former.stats;
        self.samples.follow(&former.samples);
    }

    fn load(&mut self, notes: &mut NotesReader<'_>) -> Option<()> {
        let span = self.guards.iter().map(|(_, guard)| guard.looks_back()).max();
        self.history = History::load(span.unwrap_or(Duration::ZERO), notes)?;
        let manual = Option::<(u32, Option<Timestamp>)>::read(notes)?;
        self.manual = manual.map(|(workers, until)| ManualTarget { workers, until });
        self.signals.iter_mut().try_for_each(|(_, signal)| signal.load(notes))?;
        self.decider.load(notes)
    }
}

/// Who is asked about a proposal. It follows from the mode, and no decider can change it.
#[derive(Clone, Copy)]
enum Asked {
    Nobody,
    Limits,
    All,
}

/// The form of the notes; another one is not read.
const NOTES_VERSION: u64 = 7;

/// What the next guard called `name` ruled in a recorded decision, where so much has been ruled
/// again. `None`: it was not asked then.
fn ruling_then(
    recorded: &Decision,
    name: Name,
    ruled: &List<Review, GUARDS_MAX>,
) -> Option<Ruling> {
    // The policy may have a guard of the same name, which comes first.
    let before = ruled.iter().filter(|review| review.guard == name).count();
    let mut of_that_name = recorded.rulings.iter().filter(|review| review.guard == name);
    of_that_name.nth(before).map(|review| review.ruling)
}

/// A number for the kinds of signals and decider (FNV-1a over their names): what remembers the
/// same kinds of things has the same number, however it is tuned. Parts of which only the names
/// are `known` all have the same kind.
fn fingerprint(
    signals: &[(Name, Box<dyn Signal>)],
    decider: &dyn Decider,
    known: &ExtraParts,
) -> u64 {
    let mut text = String::new();
    for (name, signal) in signals {
        text.push_str(name.as_str());
        match known.signals.contains(name) {
            true => text.push_str(REPLAYED),
            false => signal.kind(&mut text),
        }
    }
    match known.decider {
        true => text.push_str(REPLAYED),
        false => decider.kind(&mut text),
    }
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

/// A name that came from code: a mistake in it is ours or a plug-in author's, and said at once.
pub(crate) fn name_of(text: &str) -> Name {
    match Name::new(text) {
        Ok(name) => name,
        Err(error) => panic!("{text:?} is no name for a signal or guard: {error}"),
    }
}

/// Why notes were not taken.
///
/// ```
/// use headcount_core::{Policy, Preset, RestoreError};
///
/// let build = |preset: Preset| Policy::check(&preset.config(), 8).expect("no fault").build();
/// let notes = build(Preset::gopipe()).save();
/// assert_eq!(build(Preset::gopipe()).restore(&notes), Ok(()));
/// assert_eq!(build(Preset::spool()).restore(&notes), Err(RestoreError::OtherPolicy));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RestoreError {
    /// They are written in this version of their form, which is not ours.
    OtherVersion(u64),
    /// They are of other signals or of another decider.
    OtherPolicy,
    /// They cannot be what an autoscaler wrote.
    Damaged,
}

impl std::fmt::Display for RestoreError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::OtherVersion(version) => {
                write!(f, "the notes are of version {version}, and {NOTES_VERSION} is read")?;
            }
            Self::OtherPolicy => {
                f.write_str("the notes are of other signals or another decider")?;
            }
            Self::Damaged => f.write_str("the notes are damaged or cut off")?,
        }
        f.write_str("; start without them, and the pool does not shrink at first")
    }
}

impl std::error::Error for RestoreError {}
