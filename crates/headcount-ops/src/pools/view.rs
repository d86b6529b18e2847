//! A pool as people and metrics see it.

use serde::Serialize;

/// A pool at one instant.
///
/// ```
/// use headcount_ops::PoolView;
///
/// let pool = PoolView { name: "thumbs".to_owned(), live: 3, busy: 2, ..PoolView::default() };
/// assert!(pool.busy <= pool.live);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PoolView {
    /// What it is called.
    pub name: String,
    /// In a word: the mode it is in, or `held`, `stopped`, `draining`.
    pub state: String,
    /// Workers that exist.
    pub live: u32,
    /// Workers that run a task.
    pub busy: u32,
    /// Tasks that wait or run.
    pub demand: u64,
    /// The most workers wanted now: the ceiling.
    pub target: u32,
    /// The fewest workers allowed now.
    pub floor: u32,
    /// The most workers allowed now.
    pub ceiling: u32,
    /// The fewest workers that its policy allows at all.
    pub min: u32,
    /// The most workers that its policy allows at all.
    pub max: u32,
    /// The size that somebody asked for by hand.
    pub held: Option<Held>,
    /// Whether the machine's health may hold it down.
    pub throttled_by_health: bool,
    /// The machine, as the pool last knew it.
    pub health: Option<PoolHealth>,
    /// The last decision, in one line.
    pub decision: Option<String>,
    /// How long ago that was, in milliseconds.
    pub decided_ms_ago: Option<u64>,
    /// What has happened since it began.
    pub totals: PoolTotals,
}

/// A size that somebody asked for by hand.
///
/// ```
/// use headcount_ops::Held;
///
/// let held = Held { workers: 4, left_ms: None, reason: Some("tests".to_owned()) };
/// assert_eq!(held.workers, 4);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Held {
    /// How many workers.
    pub workers: u32,
    /// For how much longer, in milliseconds. `None`: until it is let go.
    pub left_ms: Option<u64>,
    /// Why, where it was said.
    pub reason: Option<String>,
}

/// How the machine is.
///
/// ```
/// use headcount_ops::PoolHealth;
///
/// let health = PoolHealth { score: 100.0, zone: "safe".to_owned(), measured_ms_ago: 20 };
/// assert_eq!(health.zone, "safe");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PoolHealth {
    /// From 0 (ill) to 100 (well).
    pub score: f64,
    /// `safe`, `warning` or `critical`.
    pub zone: String,
    /// How long ago it was measured, in milliseconds.
    pub measured_ms_ago: u64,
}

/// What has happened to a pool since it began. Numbers only rise.
///
/// ```
/// use headcount_ops::PoolTotals;
///
/// assert_eq!(PoolTotals::default().grows, 0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PoolTotals {
    /// Growths that were applied.
    pub grows: u64,
    /// Shrinks that were applied.
    pub shrinks: u64,
    /// Decisions made.
    pub decisions: u64,
    /// Decisions in which a change was wanted and none came of it.
    pub suppressed: u64,
    /// Tasks that had to wait because of the machine's health.
    pub throttled: u64,
    /// Decisions that panicked.
    pub panics: u64,
}

/// A decision about a pool.
///
/// ```
/// use headcount_ops::DecisionView;
///
/// let decision = DecisionView { from: 2, to: 3, applied: true, ..DecisionView::default() };
/// assert!(decision.from < decision.to);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DecisionView {
    /// How long ago it was made, in milliseconds.
    pub ms_ago: u64,
    /// The ceiling in force then.
    pub from: u32,
    /// The ceiling that should be.
    pub to: u32,
    /// Whether it was for doing: something changes, and the mode allows it.
    pub applied: bool,
    /// Why, in one line.
    pub why: String,
}
