//! What the guards remember.
//!
//! Guards hold no state of their own; everything that must outlive a tick stands here, so that it
//! can be saved, restored, shown and replayed as one value. Its size is bounded whatever the tick
//! rate: proposals that lie close together are merged, on the safe side.

use std::collections::VecDeque;
use std::time::Duration;

use super::decision::Decision;
use super::direction::Direction;
use super::notes::{Noted, Notes, NotesReader};
use super::staffing::Staffing;
use crate::Timestamp;

/// What guards may know of the past.
///
/// ```
/// use headcount_core::{History, Staffing, Timestamp};
///
/// let mut history = History::default();
/// assert_eq!(history.last_grow(), None, "a new history knows of no change");
/// history.applied(Timestamp::from_secs(9), Staffing::exactly(4), Staffing::exactly(6));
/// assert_eq!(history.last_grow(), Some(Timestamp::from_secs(9)));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    began: Option<Timestamp>,
    latest: Option<Timestamp>,
    last_grow: Option<Timestamp>,
    last_shrink: Option<Timestamp>,
    moves: VecDeque<Move>,
    peaks: VecDeque<Peak>,
    peak_span: Duration,
    brake: Option<Brake>,
}

/// The highest proposal among those made close together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Peak {
    first: Timestamp,
    last: Timestamp,
    staffing: Staffing,
}

/// A change that was applied: when, and whether it was a growth.
type Move = (Timestamp, bool);

/// When the machine was last unwell, and how many workers it was left.
///
/// ```
/// use headcount_core::guard::HealthBrake;
/// use headcount_core::health::Health;
/// use headcount_core::{Brake, GuardsConfig, Observation, Policy, PolicyConfig, Timestamp};
///
/// let guards = GuardsConfig { health: Some(HealthBrake::default()), ..GuardsConfig::default() };
/// let config = PolicyConfig { guards, ..PolicyConfig::default() };
/// let mut autoscaler = Policy::check(&config, 8).expect("no fault").build();
/// let at = Timestamp::from_secs(7);
/// let health = Some(Health { measured_at: at, score: 20.0, worst: None });
/// autoscaler.tick(&Observation { at, health, ..Observation::default() });
/// // From here the pool recovers, step by step.
/// assert_eq!(autoscaler.history().brake(), Some(Brake { at, ceiling: 1 }));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Brake {
    /// When it last was.
    pub at: Timestamp,
    /// The most workers at that time.
    pub ceiling: u32,
}

impl History {
    /// How many moves are remembered, for counting reversals.
    pub const MOVES_MAX: usize = 32;
    /// How many peaks are remembered over the longest window that a guard looks back.
    pub const PEAKS_MAX: usize = 64;

    /// A history that remembers proposals for `span`.
    pub(crate) fn over(span: Duration) -> Self {
        Self {
            moves: VecDeque::with_capacity(Self::MOVES_MAX),
            peaks: VecDeque::with_capacity(Self::PEAKS_MAX + 1),
            peak_span: span,
            ..Self::default()
        }
    }

    /// When the first tick was.
    #[must_use]
    pub fn began(&self) -> Option<Timestamp> {
        self.began
    }

    /// When a growth was last applied.
    #[must_use]
    pub fn last_grow(&self) -> Option<Timestamp> {
        self.last_grow
    }

    /// When a shrink was last applied.
    #[must_use]
    pub fn last_shrink(&self) -> Option<Timestamp> {
        self.last_shrink
    }

    /// When anything was last applied.
    #[must_use]
    pub fn last_move(&self) -> Option<Timestamp> {
        self.last_grow.max(self.last_shrink)
    }

    /// When the last tick was.
    #[must_use]
    pub fn latest(&self) -> Option<Timestamp> {
        self.latest
    }

    /// When the machine was last unwell.
    #[must_use]
    pub fn brake(&self) -> Option<Brake> {
        self.brake
    }

    /// The highest floor and ceiling proposed since `start`, where anything was.
    #[must_use]
    pub fn peak_since(&self, start: Timestamp) -> Option<Staffing> {
        let recent = self.peaks.iter().filter(|peak| start <= peak.last);
        recent.map(|peak| peak.staffing).reduce(Staffing::no_less_than)
    }

    /// How often the pool turned around since `start`: grew after a shrink, or shrank after a
    /// growth.
    #[must_use]
    pub fn reversals_since(&self, start: Timestamp) -> u32 {
        let pairs = self.moves.iter().zip(self.moves.iter().skip(1));
        let turned = pairs.filter(|(before, after)| start <= after.0 && before.1 != after.1);
        u32::try_from(turned.count()).unwrap_or(u32::MAX)
    }

    /// Takes note of a decision, applied or not.
    pub(crate) fn decided(&mut self, decision: &Decision) {
        self.began.get_or_insert(decision.at);
        self.latest = Some(decision.at);
        if let Some(wanted) = decision.proposal.wanted {
            self.proposed(decision.at, wanted);
        }
    }

    /// Takes note that the machine was unwell.
    pub(crate) fn braked(&mut self, at: Timestamp, ceiling: u32) {
        self.brake = Some(Brake { at, ceiling });
    }

    /// Moves everything that is remembered `step` into the past.
    pub(crate) fn shift(&mut self, step: Duration) {
        let earlier = |at: &mut Timestamp| *at = at.before(step);
        let times = [&mut self.began, &mut self.latest, &mut self.last_grow, &mut self.last_shrink];
        times.into_iter().flatten().for_each(earlier);
        self.moves.iter_mut().for_each(|(at, _)| earlier(at));
        for peak in &mut self.peaks {
            earlier(&mut peak.first);
            earlier(&mut peak.last);
        }
        self.brake.iter_mut().for_each(|brake| earlier(&mut brake.at));
    }

    /// Takes note of a change that was applied. A growth of either end is a growth, a fall of
    /// either end a shrink; one change can be both.
    pub fn applied(&mut self, at: Timestamp, from: Staffing, to: Staffing) {
        let grew = from.floor < to.floor || from.ceiling < to.ceiling;
        let shrank = to.floor < from.floor || to.ceiling < from.ceiling;
        if grew {
            self.last_grow = Some(at);
        }
        if shrank {
            self.last_shrink = Some(at);
        }
        if !grew && !shrank {
            return;
        }
        if self.moves.len() == Self::MOVES_MAX {
            self.moves.pop_front();
        }
        self.moves.push_back((at, Direction::between(from, to) == Direction::Grow));
    }

    /// Takes note of a proposal, applied or not.
    pub fn proposed(&mut self, at: Timestamp, staffing: Staffing) {
        let stale = at.before(self.peak_span);
        while self.peaks.front().is_some_and(|peak| peak.last < stale) {
            self.peaks.pop_front();
        }
        #[allow(clippy::cast_possible_truncation)] // PEAKS_MAX is 64.
        let width = self.peak_span / (Self::PEAKS_MAX as u32 - 1) + Duration::from_nanos(1);
        if let Some(peak) = self.peaks.back_mut()
            && at.since(peak.first) < width
        {
            // Merged to the later time and the higher size: a peak is held too long rather than
            // too short.
            peak.last = at.max(peak.last);
            peak.staffing = peak.staffing.no_less_than(staffing);
            return;
        }
        // Time that stands still or runs back can fill the row; then the oldest goes.
        if self.peaks.len() == Self::PEAKS_MAX {
            self.peaks.pop_front();
        }
        self.peaks.push_back(Peak { first: at, last: at, staffing });
    }

    pub(crate) fn save(&self, notes: &mut Notes) {
        self.began.write(notes);
        self.latest.write(notes);
        self.last_grow.write(notes);
        self.last_shrink.write(notes);
        self.moves.write(notes);
        self.peaks.write(notes);
        self.brake.map(|brake| (brake.at, brake.ceiling)).write(notes);
    }

    /// Reads what `save` wrote into a history over `span`.
    pub(crate) fn load(span: Duration, notes: &mut NotesReader<'_>) -> Option<Self> {
        let mut history = Self::over(span);
        history.began = Noted::read(notes)?;
        history.latest = Noted::read(notes)?;
        history.last_grow = Noted::read(notes)?;
        history.last_shrink = Noted::read(notes)?;
        history.moves.extend(newest(VecDeque::<Move>::read(notes)?, Self::MOVES_MAX));
        history.peaks.extend(newest(VecDeque::<Peak>::read(notes)?, Self::PEAKS_MAX));
        let brake = Option::<(Timestamp, u32)>::read(notes)?;
        history.brake = brake.map(|(at, ceiling)| Brake { at, ceiling });
        Some(history)
    }
}

/// The last `most` of them.
fn newest<T>(items: VecDeque<T>, most: usize) -> impl Iterator<Item = T> {
    let surplus = items.len().saturating_sub(most);
    items.into_iter().skip(surplus)
}

impl Noted for Peak {
    fn write(&self, notes: &mut Notes) {
        (self.first, self.last).write(notes);
        (self.staffing.floor, self.staffing.ceiling).write(notes);
    }
    fn read(notes: &mut NotesReader<'_>) -> Option<Self> {
        let (first, last) = Noted::read(notes)?;
        let (floor, ceiling) = Noted::read(notes)?;
        (floor <= ceiling).then_some(Self { first, last, staffing: Staffing { floor, ceiling } })
    }
}
