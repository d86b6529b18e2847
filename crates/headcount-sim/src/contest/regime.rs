//! What the world is like.

use std::fmt;
use std::time::Duration;

use headcount_core::Timestamp;

use super::entry::Entry;
use super::no_bound::NoBound;
use crate::Promise;
use crate::bound::{BoundConfig, KneeStep};
use crate::world::{Downstream, Host, Spell};

/// What the world is like.
///
/// ```
/// use headcount_sim::contest::Regime;
///
/// let names: Vec<String> = Regime::ALL.iter().map(ToString::to_string).collect();
/// assert_eq!(names.join(" "), "A B-knee B-brown-out B-drift C D E");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Regime {
    /// A: workers start in 0.1 ms and a start costs 50 ms of a worker.
    Cheap,
    /// B: the same, and beyond a fifth more than the peak they stand in each other's way.
    Knee,
    /// B: the same, and for a fifth of the time the knee is at half of that.
    BrownOut,
    /// B: the same, and the knee falls from one and a half times the peak to the peak.
    Drift,
    /// C: workers start in ten seconds or more, and a start costs as much.
    Dear,
    /// D: there may be four fifths of the workers that the peak needs.
    Overload,
    /// E: the machine is sick twice, and says so.
    SickHost,
}

impl fmt::Display for Regime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cheap => "A",
            Self::Knee => "B-knee",
            Self::BrownOut => "B-brown-out",
            Self::Drift => "B-drift",
            Self::Dear => "C",
            Self::Overload => "D",
            Self::SickHost => "E",
        })
    }
}

/// How many steps a knee drifts in.
const DRIFT_STEPS: u32 = 50;
/// The bound is worked out in so many slots, about, which takes some seconds.
const SLOTS_MAX: u32 = 20_000;

impl Regime {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Cheap,
        Self::Knee,
        Self::BrownOut,
        Self::Drift,
        Self::Dear,
        Self::Overload,
        Self::SickHost,
    ];

    /// Whether jobs are in each other's way beyond a knee.
    #[must_use]
    pub fn has_knee(self) -> bool {
        matches!(self, Self::Knee | Self::BrownOut | Self::Drift)
    }

    /// What jobs are promised: to wait for one service at most, or, where they slow each other
    /// down, to be done within five.
    pub(super) fn promise(self, entry: &Entry) -> Promise {
        let service = entry.service();
        match self {
            Self::Cheap | Self::Dear | Self::Overload => Promise::Wait(service),
            _ => Promise::Latency(service * 5),
        }
    }

    /// How long a worker needs to start, and what that costs.
    pub(super) fn spawn(self, entry: &Entry) -> (Duration, Duration) {
        let dear = (entry.service() * 10).clamp(Duration::from_secs(10), Duration::from_secs(60));
        match self {
            Self::Dear => (dear, dear),
            _ => (Duration::from_micros(100), Duration::from_millis(50)),
        }
    }

    /// The most workers there may be.
    pub(super) fn workers_max(self, entry: &Entry) -> u32 {
        let workers = match self {
            Self::Overload => 0.8 * entry.peak,
            _ => 10.0 * entry.peak,
        };
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // `as` saturates.
        let workers = workers.round() as u32;
        workers.max(1)
    }

    /// What jobs call.
    pub(super) fn downstream(self, entry: &Entry) -> Option<Downstream> {
        let (knee, span) = (1.2 * entry.peak, entry.load.span);
        let part = |share: f64| Timestamp::ORIGIN + span.mul_f64(share);
        match self {
            Self::Knee => Some(Downstream::with_knee(knee)),
            Self::BrownOut => {
                let changes = vec![(part(0.4), knee / 2.0), (part(0.6), knee)];
                Some(Downstream { changes, ..Downstream::with_knee(knee) })
            }
            Self::Drift => {
                let fallen = |step: u32| f64::from(step) / f64::from(DRIFT_STEPS);
                let changes = (1..=DRIFT_STEPS).map(fallen);
                let changes = changes.map(|f| (part(f), entry.peak * (1.5 - 0.5 * f))).collect();
                Some(Downstream { changes, ..Downstream::with_knee(1.5 * entry.peak) })
            }
            _ => None,
        }
    }

    /// The machine.
    pub(super) fn host(self, entry: &Entry) -> Option<Host> {
        let at = |share: f64| Timestamp::ORIGIN + entry.load.span.mul_f64(share);
        let spell =
            |from, score, share: f64| Spell { from: at(from), score, knee: share * entry.peak };
        let well = |from| Spell { from: at(from), ..Spell::WELL };
        let spells = vec![spell(0.3, 15.0, 0.25), well(0.35), spell(0.6, 50.0, 0.6), well(0.7)];
        (self == Self::SickHost).then(|| Host { spells, ..Host::default() })
    }

    /// What the clairvoyant bound is asked about, or why there is none.
    pub(super) fn bound(self, entry: &Entry) -> Result<BoundConfig, NoBound> {
        match self {
            Self::Overload => return Err(NoBound::TooFewWorkers),
            Self::SickHost => return Err(NoBound::SickMachine),
            _ => {}
        }
        let (spawn_delay, spawn_cost) = self.spawn(entry);
        let knee = self.downstream(entry).map(|downstream| {
            let first = KneeStep { from: Timestamp::ORIGIN, workers: downstream.knee };
            let changes = downstream.changes.into_iter();
            let changes = changes.map(|(from, workers)| KneeStep { from, workers });
            std::iter::once(first).chain(changes).collect()
        });
        // Fine enough for the promise to mean something, and not finer; but a trace in its own time
        // may last for days.
        let slot = entry.service().max(Duration::from_secs(1)).max(entry.load.span / SLOTS_MAX);
        let promise = self.promise(entry);
        let knee = knee.unwrap_or_default();
        Ok(BoundConfig { slot, spawn_delay, spawn_cost, knee, ..BoundConfig::of(promise) })
    }
}
